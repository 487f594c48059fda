"""Players that log all they are told.

The law of this file: a player acts by the client library alone, as a bot's author would, and
gives nothing up: what fails is retried by the library, or ends the seat and is in the log.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Self

import croupier
from chaos.log import Log
from chaos.recording import recorded
from chaos.workload import Plan
from croupier.bots import make_bot
from croupier.v1 import games_pb2
from croupier.v1 import tables_pb2 as pb

WISHES: dict[str, Any] = {
    "retry_for": None,
    "timeout": 3.0,
    "event_limit": 1_000_000,
    "backoff": croupier.Backoff(first=0.02, most=1.0),
}


class Player:
    """One player: a client that plays, another connection for second thoughts, and an inbox."""

    def __init__(self, name: str, address: str, log: Log, second_address: str = "") -> None:
        self.log = log
        self.client = croupier.connect(
            address, name=name, transport=recorded(log, name, lambda: self.name), **WISHES
        )
        self._second_address = second_address or address
        self._second: croupier.Client | None = None
        self._items: dict[str, croupier.InboxItem] = {}
        self._changed = asyncio.Condition()
        self._reading: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The player's name, ``players/{id}``."""
        return self.client.player.name

    async def __aenter__(self) -> Self:
        await self.client.open()
        self._second = croupier.connect(
            self._second_address, token=self.client.token, sign_in=False, **WISHES
        )
        await self._second.open()
        self._reading = asyncio.create_task(self._read_inbox())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        for client in (self._second, self.client):
            if client is not None:
                await client.close()

    async def _read_inbox(self) -> None:
        async with aclosing(self.client.inbox()) as inbox:
            async for item in inbox:
                async with self._changed:
                    self._items[item.table.name] = item
                    self._changed.notify_all()

    async def invited_to(self, table: str) -> int:
        """The seat that is kept for this player, once the inbox says so."""
        async with self._changed:
            await self._changed.wait_for(lambda: table in self._items and self._items[table].invited_seats)
        return self._items[table].invited_seats[0]

    async def second_thought(self, table: str, seat: int, text: str, turn: int) -> bool:
        """A move over the other connection; false when the first was quicker."""
        assert self._second is not None
        move = pb.MakeMoveRequest(
            table=table,
            move=games_pb2.Move(text=text),
            expected_seq=turn,
            request_id=uuid.uuid4().hex,
            seat=seat,
        )
        self.log.sent(self.name, move)
        try:
            answer = await self._second.connection.call(lambda r: r.tables.MakeMove, move, table=table)
        except croupier.Error as error:
            self.log.refused(table, move.request_id, error)
            return False
        self.log.answered(table, move.request_id, answer.seq)
        return True


class Sitting:
    """A player in a seat of a planned table."""

    def __init__(self, player: Player, plan: Plan, seat: croupier.Seat, told: Callable[[], None]) -> None:
        self._player = player
        self._plan = plan
        self._seat = seat
        self._told = told
        self._rng = random.Random(f"{plan.number}/{seat.number}")
        level = self._rng.choice(("random", "easy", "easy"))
        self._bot = make_bot(plan.game, level, self._rng.randrange(1 << 30))
        self._answered = 0

    async def play(self, think: Callable[[], float] = lambda: 0.0) -> None:
        """To the end of the table. ``think`` says the mean time before a move, in seconds."""
        log, table = self._player.log, self._seat.table
        reader = f"{table} seat {self._seat.number}"
        try:
            async for event in self._seat:
                if isinstance(event, croupier.Turn):
                    if mean := think():
                        await asyncio.sleep(
                            self._rng.uniform(0, 2 * mean)
                        )  # as people do; nothing is awaited
                    await self._answer(event)
                else:
                    note(log, reader, event, self._told)
        except croupier.Error as error:
            log.over(table, reader, repr(error))
        else:
            log.over(table, reader)

    async def _answer(self, turn: croupier.Turn) -> None:
        plan, rng, seat = self._plan, self._rng, self._seat
        if turn.seq < self._answered or rng.random() < plan.dozes:
            return
        legal = await seat.legal_moves() if turn.truncated else turn.legal_moves
        if not legal:
            return  # the turn is over
        text = self._bot.choose(turn.view or {}, legal)
        assert isinstance(text, str)
        others = [other for other in legal if other != text]
        first: asyncio.Future[Any] | None = None
        if others and rng.random() < plan.wavers:
            first = asyncio.ensure_future(
                self._player.second_thought(seat.table, seat.number, rng.choice(others), turn.seq)
            )
        try:
            self._answered = await seat.play(text, expected_seq=turn.seq)
        except (croupier.StaleMove, croupier.WrongState):
            pass  # the other move or the clock was quicker: the table tells which
        finally:
            if first is not None:
                await first


def note(log: Log, reader: str, event: croupier.Event, told: Callable[[], None]) -> None:
    """Log what a reader is given."""
    if isinstance(event, croupier.Step):
        log.given(event.table, reader, event.seq)
        told()
    elif isinstance(event, croupier.Snapshot):
        log.given(event.table, reader, None)


async def look_on(watch: croupier.Watch, log: Log, reader: str, told: Callable[[], None]) -> None:
    """Read a table to its end."""
    try:
        async for event in watch:
            note(log, reader, event, told)
    except croupier.Error as error:
        log.over(watch.table, reader, repr(error))
    else:
        log.over(watch.table, reader)
