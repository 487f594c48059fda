"""One table seen through one seat: what its reader is given, whatever the connection does.

The law of this file: the reader gets the steps in order, each once and none left out, from one
position on; only a snapshot moves the position otherwise, and it stands for what it skips. What
comes twice (from a repeat, or from two streams at a handover) is dropped; where something is
missing it is asked for again. No I/O here: ``take`` says what the stream must do.

The queue is bounded. When its reader does not keep up, all of it is dropped, the server is told
to stop, and the next read asks for a snapshot (``Snapshot.missed`` is true then).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from croupier.errors import Error, error_from_status
from croupier.events import Event, event_of
from croupier.v1 import tables_pb2

Key = tuple[str, int | None]
"""A table's name and the seat that it is seen through (None: whatever the server chooses)."""

_ASKS: Final = 3
"""How often missing steps are asked for before a snapshot is."""


class Need(Enum):
    """What a stream must do for a subscription after an update."""

    NOTHING = "nothing"
    SUBSCRIBE = "subscribe (again) from its position"
    UNSUBSCRIBE = "stop: its reader is behind"
    RETRY = "subscribe again after a while"
    FORGET = "it is over"


class Subscription:
    """The position, the bounded queue and the one reader of one subscription.

    ``wish`` says which table and how; with ``after_seq`` it begins there, else with a snapshot.
    ``limit`` is the most events that may wait. ``seen`` is called with each update that is new,
    even when nobody reads.
    """

    def __init__(
        self,
        wish: tables_pb2.Subscription,
        *,
        limit: int,
        seen: Callable[[tables_pb2.TableUpdate], None] = lambda _: None,
    ) -> None:
        self._wish: Final = wish
        self._limit: Final = limit
        self._seen: Final = seen
        self.table: Final = wish.table
        self.seat: Final = wish.seat if wish.HasField("seat") else None
        self.position: int | None = wish.after_seq if wish.HasField("after_seq") else None
        self.epoch = wish.epoch
        self.behind = False
        self.on_catching_up: Callable[[], None] = lambda: None
        self._queue: deque[Event] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._end: Error | StopAsyncIteration | None = None
        self._missed = False
        self._ahead = 0
        self._turn_ahead = 0
        self._asked = 0
        self._game_seq = 0
        self._turn: tuple[int, int, int] | None = None
        self._present: dict[int, bool] = {}

    @property
    def key(self) -> Key:
        """What tells it from the other subscriptions of a stream."""
        return self.table, self.seat

    def command(self) -> tables_pb2.PlayCommand:
        """The command that asks the server for what comes after the position."""
        wish = tables_pb2.Subscription()
        wish.CopyFrom(self._wish)
        wish.ClearField("after_seq")
        if self.position is not None:
            wish.after_seq = self.position
            wish.epoch = self.epoch
        return tables_pb2.PlayCommand(subscribe=wish)

    # --- what comes from the server -----------------------------------------------------------

    def take(self, update: tables_pb2.TableUpdate) -> Need:
        """Queue what is new in an update; what the stream must do now."""
        if self.behind or self._end is not None:
            return Need.NOTHING
        match update.WhichOneof("update"):
            case "event":
                return self._take_step(update)
            case "turn":
                return self._take_turn(update)
            case "snapshot":
                return self._take_snapshot(update)
            case "presence":
                return self._take_presence(update)
            case "ended":
                return self._take_end(update)
            case _:
                return Need.NOTHING

    def _take_step(self, update: tables_pb2.TableUpdate) -> Need:
        event = update.event
        if self.position is None or event.seq <= self.position:
            return Need.NOTHING
        if event.seq > self.position + 1:
            return self._ask_again(event.seq)
        self.position = event.seq
        self._closed_hole()
        if event.WhichOneof("kind") in ("dealt", "moved", "ended"):
            self._game_seq = event.seq
        return self._give(update, "event")

    def _ask_again(self, seq: int) -> Need:
        """Steps before ``seq`` are missing: ask for them, and if the hole stays, for a snapshot.

        Numbers go up within a stream. So when one comes that is no higher than another seen
        beyond the hole, it is the new stream that has the hole too (or somebody repeats himself).
        """
        if seq > self._ahead > 0:
            self._ahead = seq
            return Need.NOTHING
        self._ahead = seq
        self._asked += 1
        return Need.SUBSCRIBE if self._asked <= _ASKS else self._start_over()

    def _start_over(self) -> Need:
        self.position = None
        self._missed = True
        self._closed_hole()
        return Need.SUBSCRIBE

    def _closed_hole(self) -> None:
        self._ahead = self._turn_ahead = self._asked = 0

    def _take_turn(self, update: tables_pb2.TableUpdate) -> Need:
        turn = update.turn
        if self.position is None or turn.seq < self._game_seq:
            return Need.NOTHING
        if turn.seq > self.position:
            return self._turn_beyond(turn.seq)
        key = (turn.seq, turn.deadline.seconds, turn.deadline.nanos)
        if key == self._turn:
            return Need.NOTHING
        self._turn = key
        return self._give(update, "turn")

    def _turn_beyond(self, seq: int) -> Need:
        """A turn after steps that never came: the hole is asked for, again when the turn comes again."""
        again = self._turn_ahead == seq
        self._turn_ahead = seq
        return self._ask_again(seq) if again or not self._ahead else Need.NOTHING

    def _take_snapshot(self, update: tables_pb2.TableUpdate) -> Need:
        snapshot = update.snapshot
        if self.position is not None and snapshot.seq <= self.position and not snapshot.reset:
            return Need.NOTHING
        missed = self._missed or (self.position is not None and not snapshot.reset)
        self.position = snapshot.seq
        self.epoch = snapshot.epoch
        self._missed = False
        self._closed_hole()
        self._game_seq = 0
        self._turn = None
        self._present.clear()
        return self._give(update, "snapshot", missed=missed)

    def _take_presence(self, update: tables_pb2.TableUpdate) -> Need:
        presence = update.presence
        if self._present.get(presence.seat) == presence.connected:
            return Need.NOTHING
        self._present[presence.seat] = presence.connected
        return self._give(update, "presence")

    def _take_end(self, update: tables_pb2.TableUpdate) -> Need:
        if update.ended.code == 0:
            if self._ahead:
                return Need.NOTHING  # the steps that were asked for again come, and the end after them
            self.finish()
            return Need.FORGET
        error = error_from_status(update.ended)
        if error.transient:
            return Need.RETRY
        self.fail(error)
        return Need.FORGET

    def _give(self, update: tables_pb2.TableUpdate, kind: str, *, missed: bool = False) -> Need:
        self._seen(update)
        if len(self._queue) >= self._limit:
            self._queue.clear()
            self.behind = True
            return Need.UNSUBSCRIBE
        self._queue.append(event_of(update, kind, missed=missed))
        self._wake()
        return Need.NOTHING

    # --- the end --------------------------------------------------------------------------------

    def finish(self) -> None:
        """Nothing more comes; the reader gets what is queued and then stops."""
        self._set_end(StopAsyncIteration())

    def fail(self, error: Error) -> None:
        """Nothing more comes; the reader gets what is queued and then ``error``."""
        self._set_end(error)

    def _set_end(self, end: Error | StopAsyncIteration) -> None:
        if self._end is None:
            self._end = end
            self._wake()

    # --- the reader -----------------------------------------------------------------------------

    async def next(self) -> Event:
        """The next event, as soon as there is one.

        Raises ``StopAsyncIteration`` when the table has ended and all was given, the ``Error``
        that ended the subscription, and ``RuntimeError`` for a second reader at the same time.
        """
        if self._waiter is not None:
            raise RuntimeError("this table is already being read by another task")
        while not self._queue:
            if self._end is not None:
                raise self._end
            if self.behind:
                self._catch_up()
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._queue.popleft()

    def _catch_up(self) -> None:
        self.behind = False
        self._start_over()
        self.on_catching_up()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
