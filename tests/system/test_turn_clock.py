"""The turn clock over the wire: who does not move in time has the default move made for it."""

from __future__ import annotations

import asyncio

import croupier
from croupier.bots import make_bot
from croupier_games import GAMES
from system.players import Ledger, check_table, clients, play
from system.processes import server_process

LEAST_SECONDS = 5


async def test_the_default_move_is_made_for_who_is_late_and_marked_so() -> None:
    async with server_process() as server, clients(server.address, 3) as seated:
        for ledgers in await asyncio.gather(*(first_turn_left(seated, game) for game in GAMES)):
            verified = await check_table(seated[0], ledgers)
            assert verified.result == "finished"
            by = [by for _, _, by in ledgers[0].moves()]
            assert by == ["timeout", *[None] * (verified.moves - 1)]
            check_deadline(ledgers[0])


async def first_turn_left(seated: list[croupier.Client], game: str) -> list[Ledger]:
    """A game with the shortest clock in which nobody answers the first turn; the players' ledgers."""
    table = await seated[0].create_table(game, players=3, move_seconds=LEAST_SECONDS)
    seats = [await client.join(table.name, after_seq=0) for client in seated]
    ledgers = [Ledger(table.name, seat.number) for seat in seats]
    await asyncio.gather(*map(play_but_the_first_turn, seats, ledgers))
    return ledgers


async def play_but_the_first_turn(seat: croupier.Seat, ledger: Ledger) -> None:
    bot = make_bot(seat.game, "easy", seat.number)
    await play(seat, ledger, bot, leaves=lambda _: not ledger.moves())


def check_deadline(ledger: Ledger) -> None:
    """The step before the timeout told the deadline, and the default move was not made before it."""
    late = next(n for n, event in enumerate(ledger.steps) if event.WhichOneof("kind") == "moved")
    deadline, made = ledger.steps[late - 1].deadline, ledger.steps[late].time
    assert 0 < deadline.ToMilliseconds() <= made.ToMilliseconds()
