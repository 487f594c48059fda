"""Whole games over the wire, from the first seat to a record that anybody can check."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

import croupier
from croupier.bots import make_bot
from croupier_games import GAMES
from system.commands import command
from system.players import Ledger, check_again, check_table, clients, play, play_game
from system.processes import ServerProcess, server_process

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERY_SIZE = [(game.name, players) for game in GAMES.values() for players in game.players]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ServerProcess]:
    async with server_process(house_bots=1) as started:
        yield started


@pytest.mark.parametrize(("game", "players"), EVERY_SIZE)
async def test_a_game_of_every_size_is_played_to_its_end(
    server: ServerProcess, game: str, players: int
) -> None:
    async with clients(server.address, players + 2) as (*seated, one, other):
        ledgers = await play_game(seated, game, spectators=(one, other))
        verified = await check_table(one, ledgers)
        assert (verified.game, verified.players, verified.result) == (game, players, "finished")
        assert verified.committed
        await asyncio.gather(*map(check_again, [one, other, *seated], ledgers))


@pytest.mark.parametrize("game", list(GAMES))
async def test_house_bots_of_several_levels_sit_down_at_one_table(server: ServerProcess, game: str) -> None:
    others = GAMES[game].players[-1] - 1
    levels = [("random", "easy")[n % 2] for n in range(others)]
    async with clients(server.address, 1) as [client]:
        table = await client.create_table(game, players=others + 1)
        seat = await client.join(table.name, after_seq=0)
        for level in levels:
            await client.invite_bot(table.name, level=level)
        ledger = Ledger(table.name, seat.number)
        await play(seat, ledger, make_bot(game, "easy", 1))
        await check_table(client, [ledger])
        seats = (await client.get_table(table.name)).seats
        assert sorted(s.bot_level for s in seats) == sorted(["", *levels])
        assert len({s.display_name for s in seats}) == len(seats)


async def test_the_house_plays_many_tables_at_once(server: ServerProcess) -> None:
    async with clients(server.address, 1) as [client]:

        async def one_game(game: str) -> None:
            table = await client.create_table(game)
            seat = await client.join(table.name, after_seq=0)
            for _ in range(len(table.seats) - 1):
                await client.invite_bot(table.name)
            ledger = Ledger(table.name, seat.number)
            await play(seat, ledger, make_bot(game, "easy", 1))
            await check_table(client, [ledger])

        await asyncio.gather(*(one_game(game) for game in GAMES for _ in range(4)))


@pytest.mark.parametrize("game", list(GAMES))
async def test_bots_of_ones_own_take_invitations(server: ServerProcess, game: str) -> None:
    outcomes: asyncio.Queue[croupier.Outcome] = asyncio.Queue()
    async with clients(server.address, 3) as (host, *owners):
        serving = [
            asyncio.create_task(
                croupier.serve_invitations(
                    owner,
                    lambda table, seat: make_bot(table.game, "easy", seat),
                    on_outcome=outcomes.put_nowait,
                )
            )
            for owner in owners
        ]
        table = await host.create_table(game, players=3)
        seat = await host.join(table.name, after_seq=0)
        for owner in owners:
            await host.invite(table.name, owner.player.name)
        ledger = Ledger(table.name, seat.number)
        await play(seat, ledger, make_bot(game, "easy", 1))
        await check_table(host, [ledger])
        ended = [await outcomes.get() for _ in owners]
        assert {(o.result, o.faults, o.scores) for o in ended} == {("finished", 0, tuple(seat.info.scores))}
        for task in serving:
            task.cancel()
        await asyncio.wait(serving)


async def test_the_bot_command_plays_where_it_is_invited(server: ServerProcess) -> None:
    at = ("--server", server.address)
    async with (
        command("bot", "basic_rummy", "easy", *at, "--json") as bot,
        clients(server.address, 1) as [host],
    ):
        ready = await bot.event()
        assert ready is not None
        for _ in range(2):
            table = await host.create_table("basic_rummy")
            seat = await host.join(table.name, after_seq=0)
            await host.invite(table.name, ready["player"])
            ledger = Ledger(table.name, seat.number)
            await play(seat, ledger, make_bot("basic_rummy", "easy", 1))
            await check_table(host, [ledger])
            outcome = await bot.event()
            assert outcome is not None
            assert (outcome["table"], outcome["result"], outcome["faults"]) == (table.name, "finished", 0)
        bot.send(signal.SIGTERM)
        assert await bot.ended() == (0, "")
