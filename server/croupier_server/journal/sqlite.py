"""A journal in one SQLite file, for one process.

The law of this file: an append is acknowledged when its transaction is on disk and never
before; the event loop waits for no disk; whatever the disk does, the writer goes on, and each
append that it took gets an answer.

All changes go through one thread, which stores whatever has queued up meanwhile as one
transaction and answers the group with one call into the event loop. Reads have a connection
and a thread of their own: a long one (a lobby page, a table of a thousand moves) then delays
no append, and the write-ahead log lets both go on at once. A read sees every append that has
been acknowledged, and may see one just before it is.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Self, TypeVar, TypeVarTuple

import structlog

from croupier_server.journal.base import (
    Append,
    Cancel,
    Deadline,
    Deliver,
    DeliverRow,
    Finished,
    JournalUnavailable,
    PageKey,
    QueueFull,
    Row,
    RowFilter,
    SetBack,
    Stored,
)
from croupier_server.journal.local import Clock, Listeners, check_append
from croupier_server.journal.sqlite_file import OpenFile, open_file
from croupier_server.journal.sqlite_store import (
    Change,
    Clearing,
    KeyRequest,
    Outcome,
    PutOff,
    Reader,
    Retire,
    Writer,
)

_log: Final = structlog.get_logger()

MAX_WAITING: Final = 4096
"""How many changes, and as many reads, may wait before more are refused with ``QueueFull``."""

_GROUP: Final = 256
_LINGER_SECONDS: Final = 0.002
"""What a group waits for more once appends come side by side: a commit costs ten appends' CPU, and
one in flight alone never waits."""

_CANNOT_BE_STORED: Final = (
    OverflowError,
    TypeError,
    ValueError,
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
)

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")

_Waiting = tuple[Change, asyncio.Future[Any]]


class SqliteJournal:
    """A ``Journal`` in a SQLite file that this process has to itself. Made by ``open``."""

    shared: bool = False

    def __init__(self, file: OpenFile, readers: ThreadPoolExecutor, max_waiting: int, clock: Clock) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._file: Final = file
        self._clock: Final = clock
        self._listeners: Final = Listeners()
        self._writer: Final = Writer(file.writer, clock, file.not_before_ms)
        self._reader: Final = Reader(file.reader)
        self._read_thread: Final = readers
        self._queue: Final[SimpleQueue[_Waiting | None]] = SimpleQueue()
        self._max_waiting: Final = max_waiting
        self._changes_waiting = 0
        self._reads_waiting = 0
        self._failing = False
        self._unreadable = False
        self._closed = False
        self._finished: Final[asyncio.Future[None]] = self._loop.create_future()
        # A daemon: a process that ends without closing is not held up; the file stays sound.
        threading.Thread(target=self._write_all, name="journal-writer", daemon=True).start()

    @classmethod
    async def open(
        cls, path: Path | str, *, max_waiting: int = MAX_WAITING, clock: Clock | None = None
    ) -> Self:
        """Open or create the journal at ``path``, mode 0600; its folder must exist.

        Beside it lie ``-wal`` and ``-shm``, which belong to it, and ``.lock``, which is empty.
        Raises ``JournalLocked``, ``JournalRefused``, or ``JournalError`` for a file that is
        no journal or of a newer form.
        """
        read_thread = ThreadPoolExecutor(1, "journal-reader")
        opening = asyncio.get_running_loop().run_in_executor(read_thread, open_file, Path(path))
        try:
            return cls(await asyncio.shield(opening), read_thread, max_waiting, clock or Clock())
        except BaseException:
            # A thread is not cancelled: what it opens is let go of before anybody opens it again.
            await asyncio.wait((opening,))
            read_thread.shutdown(wait=False)
            if opening.exception() is None:
                opening.result().close()
            raise

    @property
    def waiting(self) -> int:
        """How many changes wait for the disk."""
        return self._changes_waiting

    def append(self, batch: Append) -> asyncio.Future[None]:
        """Store a batch; see ``Journal.append``.

        Cancelled while it waits, it may be stored all the same. A batch with a value that
        SQLite cannot hold (an integer above 64 bits) fails alone, with the error for that.
        """
        check_append(batch)
        return self._change(batch)

    async def key(self, name: str, fresh: bytes, *, replace: bool = False) -> bytes:
        """Get or create a key; see ``Journal.key``."""
        key: bytes = await self._change(KeyRequest(name, fresh, replace))
        return key

    def _change(self, change: Change) -> asyncio.Future[Any]:
        self._check_open()
        if self._changes_waiting >= self._max_waiting:
            raise QueueFull(f"{self._changes_waiting} changes wait for the disk already")
        self._changes_waiting += 1
        answer = self._loop.create_future()
        self._queue.put((change, answer))
        return answer

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """Entries above ``after``; see ``Journal.read``."""
        return await self._read(self._reader.entries, stream, after, limit)

    @property
    def failing(self) -> bool:
        """True while the file cannot be written or read; see ``Journal.failing``."""
        return self._failing or self._unreadable

    async def confirm(self, stream: str) -> None:  # noqa: ARG002 (as in ``Journal``)
        """What can be read is stored; see ``Journal.confirm``."""
        self._check_open()

    async def last_seq(self, stream: str) -> int:
        """The last number; see ``Journal.last_seq``."""
        return await self._read(self._reader.last_seq, stream)

    async def listen(
        self, stream: str, after: int, deliver: Deliver, set_back: SetBack | None = None
    ) -> Cancel:
        """Deliver entries; see ``Journal.listen``."""
        return await self._listeners.listen(stream, after, deliver, self.read, set_back)

    async def clock_ms(self) -> int:
        """Now; see ``Journal.clock_ms``.

        Also after a restart it is never less than a time given out before a stored append. For
        that the file keeps a time up to a second ahead, where a restart may have to go on from.
        """
        self._check_open()
        return self._clock.now_ms()

    async def due(self, now_ms: int, limit: int = 100) -> list[Deadline]:
        """Deadlines that have come; see ``Journal.due``."""
        return await self._read(self._reader.due, now_ms, limit)

    async def finished(self, now_ms: int, limit: int = 100) -> list[Finished]:
        """Streams that may be retired; see ``Journal.finished``."""
        return await self._read(self._reader.finished, now_ms, limit)

    async def put_off(self, finished: Finished, until_ms: int) -> bool:
        """Name another time; see ``Journal.put_off``."""
        is_ours: bool = await self._change(PutOff(finished, until_ms))
        return is_ours

    async def retire(self, stream: str, last: int) -> None:
        """Free all of a stream; see ``Journal.retire``."""
        await self._change(Retire(stream, last))

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby; see ``Journal.page``."""
        return await self._read(self._reader.page, where, after, limit)

    async def row(self, stream: str) -> Row | None:
        """A stream's row; see ``Journal.row``."""
        return await self._read(self._reader.row, stream)

    async def rows_of(self, subject: str) -> list[Row]:
        """All rows of a subject; see ``Journal.rows_of``."""
        return await self._read(self._reader.rows_of, subject)

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver rows of a subject; see ``Journal.listen_rows``."""
        self._check_open()
        return self._listeners.listen_rows(subject, deliver)

    async def close(self) -> None:
        """Store and answer what is queued, then let go of the file; see ``Journal.close``."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.shield(self._finished)

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable("the journal is closed")

    async def _read(self, query: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        self._check_open()
        if self._reads_waiting >= self._max_waiting:
            raise QueueFull(f"{self._reads_waiting} reads wait for the disk already")
        self._reads_waiting += 1
        try:
            found = await self._loop.run_in_executor(self._read_thread, query, *arguments)
            if self._unreadable:
                self._unreadable = False
                _log.info("journal.read_recovered")
            return found
        except sqlite3.Error as error:
            if not self._unreadable:
                self._unreadable = True
                _log.error("journal.read_failed", error=str(error))
            raise JournalUnavailable(f"the journal cannot be read: {error}") from error
        finally:
            self._reads_waiting -= 1

    # The event loop runs what follows when a group is done.

    def _answer(self, group: list[_Waiting], outcomes: list[Outcome | Exception]) -> None:
        self._changes_waiting -= len(group)
        for (change, answer), outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, Exception):
                if not answer.done():
                    answer.set_exception(outcome)
                continue
            if isinstance(change, Append) and isinstance(outcome, tuple):
                self._listeners.publish(change, outcome)
            if not answer.done():
                answer.set_result(None if isinstance(change, Append) else outcome)

    def _finish(self) -> None:
        self._finished.set_result(None)

    # The writer's thread runs what follows.

    def _write_all(self) -> None:
        """Write group after group until the end of the queue, then close the file."""
        more, side_by_side = True, False
        while more:
            group, more = self._next_group(_LINGER_SECONDS if side_by_side else 0.0)
            side_by_side = len(group) > 1
            more = self._call(self._answer, group, self._write_in_order(group)) and more
        self._read_thread.shutdown()
        try:
            self._file.close()
        except sqlite3.Error as error:
            _log.error("journal.close_failed", error=str(error))
        self._call(self._finish)

    def _next_group(self, linger: float) -> tuple[list[_Waiting], bool]:
        """Wait for a change, then take what else has queued up; whether there can be more."""
        taken = [self._queue.get()]
        if linger and taken[0] is not None:
            time.sleep(linger)
        for _ in range(min(self._queue.qsize(), _GROUP - 1)):
            taken.append(self._queue.get())  # noqa: PERF401 (takes what is counted, and no more)
        group = [waiting for waiting in taken if waiting is not None]
        return group, len(group) == len(taken)

    def _write_in_order(self, group: list[_Waiting]) -> list[Outcome | Exception]:
        """Write what frees streams apart from what appends to them, in the order they came."""
        runs = itertools.groupby(group, key=lambda waiting: isinstance(waiting[0], Clearing))
        return [outcome for _, run in runs for outcome in self._write(list(run))]

    def _write(self, group: list[_Waiting]) -> list[Outcome | Exception]:
        try:
            outcomes = self._writer.write([change for change, _ in group])
        except _CANNOT_BE_STORED as error:
            # Somebody's values are at fault: whose, shows when each goes alone.
            return [error] if len(group) == 1 else [self._write([waiting])[0] for waiting in group]
        except Exception as error:  # noqa: BLE001 (whatever it is, all must hear, and the thread goes on)
            if not self._failing:
                _log.error("journal.write_failed", error=str(error))
            self._failing = True
            return [JournalUnavailable(f"the journal cannot be written: {error}") for _ in group]
        if self._failing and any(not isinstance(outcome, Exception) for outcome in outcomes):
            _log.info("journal.write_recovered")
            self._failing = False
        return list(outcomes)

    def _call(self, what: Callable[[*_Arguments], None], *arguments: *_Arguments) -> bool:
        """Have the event loop call ``what``; False when it was closed and the journal was not."""
        try:
            self._loop.call_soon_threadsafe(what, *arguments)
        except RuntimeError:
            return False
        return True
