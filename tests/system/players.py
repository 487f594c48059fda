"""Players over the wire, and what each of them was told.

The law of this file: a ledger takes each step of its table once, in order and from the first on;
whatever else it is told (a gap, a repeat, a snapshot) fails the test that plays. Two ledgers of one
table must agree on all that everybody may see, and the table's record on every move.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import croupier
from croupier.bots import make_bot
from croupier.v1 import tables_pb2
from croupier_games import records

# Nothing is given up, and nobody waits long for a server that comes back soon.
WISHES: dict[str, Any] = {
    "retry_for": None,
    "timeout": 2.0,
    "event_limit": 1_000_000,
    "backoff": croupier.Backoff(first=0.02, most=0.5),
}


class Steps:
    """Counts what all ledgers of a test are told, so that it can wait for that much play."""

    def __init__(self) -> None:
        self.count = 0
        self._reached: list[tuple[int, asyncio.Event]] = []

    def one(self, audience: tuple[str, int | None]) -> None:
        """One more was told to an audience: a table's name and the seat, None for a spectator."""
        self.count += 1
        for mark, event in self._reached:
            if self.count >= mark:
                event.set()

    async def more(self, steps: int) -> None:
        """Wait until so many more were told."""
        event = asyncio.Event()
        self._reached.append((self.count + steps, event))
        await event.wait()


class Ledger:
    """What one client was told of one table through one seat (None: as a spectator).

    ``steps`` are the events by their number, less one; ``made`` the moves that the server said are
    stored, as (number of the event, text).
    """

    def __init__(self, table: str, seat: int | None = None, steps: Steps | None = None) -> None:
        self.table = table
        self.seat = seat
        self.steps: list[tables_pb2.TableEvent] = []
        self.made: list[tuple[int, str]] = []
        self._count = steps or Steps()

    def note(self, event: croupier.Event) -> None:
        """Take one event of an iteration."""
        assert not isinstance(event, croupier.Snapshot), f"{self}: a snapshot after {len(self.steps)}"
        if isinstance(event, croupier.Step):
            assert event.seq == len(self.steps) + 1, f"{self}: {event.seq} after {len(self.steps)}"
            self.steps.append(event.message)
            self._count.one((self.table, self.seat))

    def moves(self) -> list[tuple[int, str, str | None]]:
        """All moves told of: seat, text, and who made it when it was not the player."""
        moved = (event.moved for event in self.steps if event.WhichOneof("kind") == "moved")
        return [(m.seat, m.text, _BY[m.by]) for m in moved]

    def public(self) -> list[tables_pb2.TableEvent]:
        """The steps without what not everybody may see."""
        return [_public(event) for event in self.steps]

    def __repr__(self) -> str:
        return f"{self.table} seat {self.seat}"


_BY = {
    tables_pb2.MOVED_BY_PLAYER: None,
    tables_pb2.MOVED_BY_TIMEOUT: "timeout",
    tables_pb2.MOVED_BY_TAKEOVER: "takeover",
}


def _public(event: tables_pb2.TableEvent) -> tables_pb2.TableEvent:
    shown = tables_pb2.TableEvent()
    shown.CopyFrom(event)
    shown.ClearField("effects")
    return shown


async def play(
    seat: croupier.Seat,
    ledger: Ledger,
    bot: croupier.Bot,
    leaves: Callable[[croupier.Turn], bool] = lambda _: False,
) -> None:
    """Play a seat to the end of its table, but for turns that it ``leaves``; a refusal fails the test."""
    async for event in seat:
        ledger.note(event)
        if isinstance(event, croupier.Turn) and not leaves(event):
            legal = await seat.legal_moves() if event.truncated else event.legal_moves
            text = bot.choose(event.view or {}, legal)
            assert isinstance(text, str)
            ledger.made.append((await seat.play(text), text))


async def look_on(watch: croupier.Watch, ledger: Ledger) -> None:
    """Watch a table to its end."""
    async for event in watch:
        ledger.note(event)


async def first_turn(seats: Sequence[croupier.Seat]) -> croupier.Turn:
    """The first turn of a game, whichever seat has it."""

    async def of(seat: croupier.Seat) -> croupier.Turn:
        async for event in seat:
            if isinstance(event, croupier.Turn):
                return event
        raise AssertionError("the table has ended")

    waiting = [asyncio.create_task(of(seat)) for seat in seats]
    done, others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.wait(others)
    return done.pop().result()


@asynccontextmanager
async def clients(address: str, count: int, **wishes: Any) -> AsyncIterator[list[croupier.Client]]:
    """So many players with a connection each."""
    async with AsyncExitStack() as opened:
        connecting = [
            opened.enter_async_context(croupier.connect(address, name=f"P{n}", **{**WISHES, **wishes}))
            for n in range(count)
        ]
        yield await asyncio.gather(*connecting)


async def play_game(
    seated: Sequence[croupier.Client],
    game: str,
    options: dict[str, Any] | None = None,
    *,
    level: str = "easy",
    spectators: Iterable[croupier.Client] = (),
    steps: Steps | None = None,
) -> list[Ledger]:
    """Open a table for these players and play it to its end; the ledgers, spectators' first."""
    table = await seated[0].create_table(game, players=len(seated), options=options)
    ledgers = []
    async with asyncio.TaskGroup() as group:
        for client in spectators:
            ledgers.append(Ledger(table.name, None, steps))
            watch = await client.watch(table.name, after_seq=0)
            group.create_task(look_on(watch, ledgers[-1]))
        for number, client in enumerate(seated):
            seat = await client.join(table.name, after_seq=0)
            ledgers.append(Ledger(table.name, seat.number, steps))
            group.create_task(play(seat, ledgers[-1], make_bot(game, level, number)))
    return ledgers


async def play_until(
    enough: asyncio.Event, seated: Sequence[croupier.Client], game: str, **how: Any
) -> list[list[Ledger]]:
    """Play table after table, the last to its end; the ledgers of each. ``how`` as in ``play_game``."""
    tables = []
    while not enough.is_set():
        tables.append(await play_game(seated, game, **how))
    return tables


async def check_table(client: croupier.Client, ledgers: Sequence[Ledger]) -> records.Verified:
    """Hold the ledgers of one ended table to each other and to its record, which must hold itself."""
    name = ledgers[0].table
    record = await client.record(name)
    verified = records.verify(record)
    recorded = [(m["s"], m["m"], m.get("by")) for m in record["moves"]]
    last = (await client.get_table(name)).seq
    for ledger in ledgers:
        assert len(ledger.steps) == last, f"{ledger} was told {len(ledger.steps)} steps of {last}"
        assert ledger.public() == ledgers[0].public(), f"{ledger} differs"
        assert ledger.moves() == recorded
        if ledger.seat is not None:
            _check_made(ledger)
    return verified


def _check_made(ledger: Ledger) -> None:
    """Each move that was said to be stored is there once, under its number; and no other of its player."""
    told = [(event.seq, event.moved) for event in ledger.steps if event.WhichOneof("kind") == "moved"]
    own = [(seq, m.text) for seq, m in told if m.seat == ledger.seat and _BY[m.by] is None]
    assert ledger.made == own, ledger


async def check_again(client: croupier.Client, ledger: Ledger) -> None:
    """Read the whole table again: everything is as it was told while it happened."""
    if ledger.seat is None:
        again = await client.watch(ledger.table, after_seq=0)
    else:
        again = await client.resume(ledger.table, seat=ledger.seat, after_seq=0)
    reread = Ledger(ledger.table, ledger.seat)
    await look_on(again, reread)
    assert reread.steps == ledger.steps, ledger


async def check_all(seated: Sequence[croupier.Client], ledgers: Sequence[Sequence[Ledger]]) -> None:
    """Every table, and what each audience was told of it against what the journal has."""
    for told in ledgers:
        assert (await check_table(seated[0], told)).result == "finished"
        for ledger in told:
            names = [seat.player for seat in (await seated[0].get_table(ledger.table)).seats]
            owners = [c for c in seated if ledger.seat is not None and c.player.name == names[ledger.seat]]
            await check_again((owners or seated[-1:])[0], ledger)
