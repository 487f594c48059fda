"""A stream in Redis that is listened to here: what was passed on of it, and whether it is still stored.

The law of this file: entries are passed on in order and once, and a gap is read. What was passed on
and is no longer stored, a failover has lost: until the stream is known to hold the last entry that was
passed on, nothing is appended to it from here. What is appended from here is passed on by its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

import structlog

from croupier_server.journal.base import Append, JournalError, JournalUnavailable, NotWritten, Stored
from croupier_server.journal.local import Listeners
from croupier_server.journal.redis_forms import StoredRow
from croupier_server.journal.redis_names import shard_of

_log: Final = structlog.get_logger()

_AGAIN_SECONDS: Final = 0.2


class Reads(Protocol):
    """What is read to find what was missed."""

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """See ``Journal.read``."""

    async def last_seq(self, stream: str) -> int:
        """See ``Journal.last_seq``."""

    async def stored_row(self, stream: str) -> StoredRow | None:
        """A stream's row."""

    async def stored_rows_of(self, subject: str) -> list[StoredRow]:
        """The rows that concern a subject."""


class Repeated:
    """One piece of work in the background, done anew whenever it was asked for meanwhile."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        """``work`` is tried again a little later when it raises ``JournalError``."""
        self._work: Final = work
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """Have it done, once more if it is under way."""
        self._wanted = True
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Give it up."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                try:
                    await self._work()
                except JournalError:
                    self._wanted = True
                    await asyncio.sleep(_AGAIN_SECONDS)
        finally:
            self._task = None


class Followed:
    """A stream that is listened to here: ``_last`` is the last entry passed on, None at first."""

    def __init__(self, stream: str, reads: Reads, listeners: Listeners) -> None:
        self.shard: Final = shard_of(stream)
        self.listening = 0
        self.ready: Final[asyncio.Future[None]] = asyncio.get_running_loop().create_future()
        self.missed: Final = Repeated(self._read)
        self._stream: Final = stream
        self._reads: Final = reads
        self._listeners: Final = listeners
        self._last: Stored | None = None
        self._awaited: list[tuple[int, asyncio.Future[None]]] = []
        self._doubts = 0
        self._dispelled = 0
        self._uncertain: list[asyncio.Future[None]] = []
        self._own: Final[list[Append]] = []
        self._left_out = False

    @contextmanager
    def appending(self, batch: Append) -> Iterator[None]:
        """While a batch is under way from here its news are left to its answer, which comes with its result.

        So both leave in one write to whoever moved; and with ``wait`` none is shown here before it is
        confirmed, unless others go on from it.
        """
        self._own.append(batch)
        try:
            yield
        finally:
            self._own.remove(batch)
            if self._left_out and self._last is not None and self._last.seq <= batch.after:
                self.missed.ask()  # it is stored, but there was no such answer
            self._left_out = self._left_out and bool(self._own)

    def hear(self, entries: Sequence[Stored]) -> None:
        """Take what was told of the stream."""
        if any((own.after + 1, own.entries[0]) == entries[0] for own in self._own):
            self._left_out = True
        else:
            self.take(entries)

    @property
    def doubted(self) -> bool:
        """True while the store may have lost what was passed on."""
        return self._doubts != self._dispelled

    def doubt(self) -> None:
        """Another server, or the same after an outage, has the stream now."""
        if self._last is not None:
            self._doubts += 1

    def certain(self) -> asyncio.Future[None]:
        """Done once the store is known to have the last entry; raises ``NotWritten`` if it has not."""
        certain: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._uncertain.append(certain)
        self.missed.ask()
        return certain

    def take(self, entries: Sequence[Stored]) -> bool:
        """Pass on what is next, and have read what is missing; False when that has yet to come."""
        if self._last is None or entries[-1].seq <= self._last.seq:
            return True
        first, end = entries[0].seq, entries[-1].seq
        if first > self._last.seq + 1:
            self.missed.ask()
            return False
        after, self._last = self._last.seq, entries[-1]
        datas = tuple(entry.data for entry in entries[after + 1 - first :])
        self._listeners.publish(Append(self._stream, after, datas), ())
        for seq, reached in self._awaited:
            if seq <= end and not reached.done():
                reached.set_result(None)
        self._awaited = [(seq, reached) for seq, reached in self._awaited if not reached.done()]
        return True

    def reached(self, seq: int) -> asyncio.Future[None]:
        """Done once that entry, which is yet to come, was passed on."""
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._awaited.append((seq, reached))
        return reached

    async def _read(self) -> None:
        """Find where the stream ends, at first; later what came behind the last that was passed on."""
        last, doubts = self._last, self._doubts
        if last is None:
            self._last = await self._end()
            self.ready.set_result(None)
            return
        stored = await self._reads.read(self._stream, max(last.seq - 1, 0))
        if last.seq and (not stored or stored[0] != last):
            self._set_back(last, await self._end())
        else:
            if new := [entry for entry in stored if entry.seq > last.seq]:
                self.take(new)
            self._dispel(doubts)

    async def _end(self) -> Stored:
        """The last entry that is stored; number 0 when there is none."""
        while last := await self._reads.last_seq(self._stream):
            stored = await self._reads.read(self._stream, last - 1, 1)
            if stored:
                return stored[0]
        return Stored(0, b"")

    def _set_back(self, was: Stored, now: Stored) -> None:
        """Entries that were passed on are lost: say so, and go on from where the stream ends now."""
        if now.seq:
            _log.error("journal.went_back", stream=self._stream, was=was.seq, now=now.seq)
        else:  # it was retired, or lost: who listens finds out
            _log.warning("journal.stream_gone", stream=self._stream, was=was.seq)
        self._last = now
        self._listeners.set_back(self._stream)
        lost = NotWritten("Redis has lost entries of this stream")
        for _, reached in self._awaited:
            if not reached.done():
                reached.set_exception(JournalUnavailable(str(lost)))
        self._awaited = []
        self._dispel(self._doubts, lost)

    def _dispel(self, doubts: int, lost: NotWritten | None = None) -> None:
        self._dispelled = doubts
        if self.doubted:
            self.missed.ask()
            return
        uncertain, self._uncertain = self._uncertain, []
        for certain in uncertain:
            if certain.done():
                continue
            if lost is None:
                certain.set_result(None)
            else:
                certain.set_exception(NotWritten(*lost.args))
