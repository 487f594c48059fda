"""What every journal does in its own process, whatever stores it: checks, time and delivery.

The law of this file: the clock never runs backwards and never stands still; a listener gets
each entry above its starting point once, in order, whatever is appended while it catches up.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Generic, TypeVar

import structlog

from croupier_server.journal.base import Append, Cancel, Deliver, DeliverRow, Row, SetBack, Stored

_log: Final = structlog.get_logger()

_Told = TypeVar("_Told")


def check_append(batch: Append) -> None:
    """Refuse a batch that no journal stores: ``ValueError``."""
    if not batch.entries:
        raise ValueError("an append needs at least one entry")
    if isinstance(batch.deadline_ms, int) and batch.deadline_ms < 0:
        raise ValueError("a deadline is in Unix milliseconds and not negative")
    if batch.retire_ms is not None and (batch.deadline_ms is not None or batch.retire_ms < 0):
        raise ValueError("an append that ends a stream clears its deadline, at a time that is not negative")
    if batch.row is not None and batch.row.stream != batch.stream:
        raise ValueError("an append carries the row of its own stream only")


class Clock:
    """Unix milliseconds: the wall clock, carried on by the steady clock whenever it is set back.

    A wall clock that was set back by an hour is not believed until it has caught up; meanwhile
    time goes on at its usual pace, so that deadlines still come.
    """

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        steady_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall_ns: Final = wall_ns
        self._steady_ns: Final = steady_ns
        self._ahead_ns = wall_ns() - steady_ns()
        self.latest_ms = 0
        """The last time that ``now_ms`` gave."""

    def not_before(self, ms: int) -> None:
        """Go on from ``ms`` where that is later than now."""
        self._ahead_ns = max(self._ahead_ns, ms * 1_000_000 - self._steady_ns())

    def now_ms(self) -> int:
        """The time; never less than before."""
        steady = self._steady_ns()
        self._ahead_ns = max(self._ahead_ns, self._wall_ns() - steady)
        self.latest_ms = (steady + self._ahead_ns) // 1_000_000
        return self.latest_ms


class Subscribers(Generic[_Told]):
    """Callables to tell things to, by name. One that cancels while others are told hears no more."""

    def __init__(self) -> None:
        self._tell: Final[dict[str, dict[object, Callable[[_Told], None]]]] = {}

    def add(self, name: str, tell: Callable[[_Told], None]) -> Cancel:
        """Subscribe under ``name``; the same callable may do so more than once."""
        subscription = object()
        self._tell.setdefault(name, {})[subscription] = tell

        def cancel() -> None:
            others = self._tell.get(name, {})
            others.pop(subscription, None)
            if not others:
                self._tell.pop(name, None)

        return cancel

    def __contains__(self, name: str) -> bool:
        return name in self._tell

    def tell(self, name: str, what: _Told) -> None:
        """Tell all of that name. One that raises is logged, and the others still hear."""
        for subscription in tuple(self._tell.get(name, ())):
            tell = self._tell.get(name, {}).get(subscription)
            if tell is None:
                continue
            try:
                tell(what)
            except Exception as error:  # noqa: BLE001 (whoever raises must not stop the journal)
                # Neither the message nor a frame's variables: they may hold cards.
                where = traceback.extract_tb(error.__traceback__)[-1]
                _log.error(
                    "journal.listener_raised",
                    error=type(error).__name__,
                    where=f"{where.filename}:{where.lineno}",
                )


class _CatchingUp:
    """A listener to a stream. What is appended while it reads what is stored waits its turn."""

    def __init__(self, after: int, deliver: Deliver) -> None:
        self._last = after
        self._deliver: Final = deliver
        self._waiting: list[Stored] | None = []

    def take(self, entries: Sequence[Stored]) -> None:
        if self._waiting is not None:
            self._waiting.extend(entries)
            return
        if entries and entries[0].seq <= self._last:
            entries = [entry for entry in entries if entry.seq > self._last]
        if entries:
            self._last = entries[-1].seq
            self._deliver(entries)

    def caught_up(self, stored: list[Stored]) -> None:
        waiting, self._waiting = self._waiting or [], None
        read_to = stored[-1].seq if stored else 0
        self.take([*stored, *(entry for entry in waiting if entry.seq > read_to)])


class Listeners:
    """Who hears of which stream and whose rows. Used on the event loop only."""

    def __init__(self) -> None:
        self._streams: Final[Subscribers[Sequence[Stored]]] = Subscribers()
        self._subjects: Final[Subscribers[Row]] = Subscribers()
        self._set_back: Final[Subscribers[None]] = Subscribers()

    async def listen(
        self,
        stream: str,
        after: int,
        deliver: Deliver,
        read: Callable[[str, int], Awaitable[list[Stored]]],
        set_back: SetBack | None = None,
    ) -> Cancel:
        """Deliver what ``read(stream, after)`` finds, then all that is published."""
        listener = _CatchingUp(after, deliver)
        cancels = [self._streams.add(stream, listener.take)]
        if set_back is not None:
            cancels.append(self._set_back.add(stream, lambda _: set_back()))

        def cancel() -> None:
            for cancel_one in cancels:
                cancel_one()

        try:
            listener.caught_up(await read(stream, after))
        except BaseException:
            cancel()
            raise
        return cancel

    def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver all rows of ``subject`` that are published."""
        return self._subjects.add(subject, deliver)

    def set_back(self, stream: str) -> None:
        """Tell that entries of a stream which were delivered are no longer stored."""
        self._set_back.tell(stream, None)

    def publish(self, batch: Append, subjects_before: Iterable[str]) -> None:
        """Deliver a stored batch; ``subjects_before`` are those of the row that it replaced."""
        if batch.stream in self._streams:
            entries = [Stored(seq, data) for seq, data in enumerate(batch.entries, batch.after + 1)]
            self._streams.tell(batch.stream, entries)
        if batch.row is not None:
            for subject in dict.fromkeys((*subjects_before, *batch.row.subjects)):
                self._subjects.tell(subject, batch.row)
