"""A journal in dicts, gone with its process: for tests and for tables that need not last.

The law of this file: it behaves as a journal on disk does, short of lasting. Every call lets
other tasks run before it looks, so that races show here as they do elsewhere.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable
from typing import Final

from croupier_server.journal.base import (
    Append,
    Cancel,
    Deadline,
    Deliver,
    DeliverRow,
    Finished,
    JournalUnavailable,
    PageKey,
    Row,
    RowFilter,
    SequenceConflict,
    SetBack,
    Stored,
)
from croupier_server.journal.local import Clock, Listeners, check_append


class MemoryJournal:
    """A ``Journal`` that keeps all in memory. Nothing is bounded: it grows with what is appended."""

    shared: bool = False

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock: Final = clock or Clock()
        self._listeners: Final = Listeners()
        self._streams: Final[dict[str, list[bytes]]] = {}
        self._deadlines: Final[dict[str, Deadline]] = {}
        self._finished: Final[dict[str, Finished]] = {}
        self._rows: Final[dict[str, Row]] = {}
        self._keys: Final[dict[str, bytes]] = {}
        self._closed = False

    def append(self, batch: Append) -> Awaitable[None]:
        """Store a batch; see ``Journal.append``."""
        check_append(batch)
        self._check_open()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[None] = loop.create_future()
        loop.call_soon(self._append, batch, answer)
        return answer

    def _append(self, batch: Append, answer: asyncio.Future[None]) -> None:
        try:
            self._store(batch)
        except SequenceConflict as conflict:
            if not answer.done():
                answer.set_exception(conflict)
        else:
            if not answer.done():
                answer.set_result(None)

    def _store(self, batch: Append) -> None:
        entries = self._streams.get(batch.stream, [])
        if batch.after != len(entries):
            raise SequenceConflict(batch.stream, batch.after, len(entries))
        self._streams[batch.stream] = entries
        entries.extend(batch.entries)
        if batch.deadline_ms is None:
            self._deadlines.pop(batch.stream, None)
        elif isinstance(batch.deadline_ms, int):
            self._deadlines[batch.stream] = Deadline(batch.stream, len(entries), batch.deadline_ms)
        if batch.retire_ms is not None:
            self._finished[batch.stream] = Finished(batch.stream, batch.retire_ms)
        self._listeners.publish(batch, self._put_row(batch.row))

    def _put_row(self, row: Row | None) -> tuple[str, ...]:
        if row is None:
            return ()
        before = self._rows.get(row.stream)
        self._rows[row.stream] = row
        return before.subjects if before else ()

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """Entries above ``after``; see ``Journal.read``."""
        await self._turn()
        after = max(after, 0)
        entries = self._streams.get(stream, [])[after : after + max(limit, 0)]
        return [Stored(seq, data) for seq, data in enumerate(entries, after + 1)]

    @property
    def failing(self) -> bool:
        """Memory is always there."""
        return False

    async def confirm(self, stream: str) -> None:  # noqa: ARG002 (as in ``Journal``)
        """What can be read is stored; see ``Journal.confirm``."""
        await self._turn()

    async def last_seq(self, stream: str) -> int:
        """The last number; see ``Journal.last_seq``."""
        await self._turn()
        return len(self._streams.get(stream, []))

    async def listen(
        self, stream: str, after: int, deliver: Deliver, set_back: SetBack | None = None
    ) -> Cancel:
        """Deliver entries; see ``Journal.listen``."""
        return await self._listeners.listen(stream, after, deliver, self.read, set_back)

    async def clock_ms(self) -> int:
        """Now; see ``Journal.clock_ms``."""
        await self._turn()
        return self._clock.now_ms()

    async def due(self, now_ms: int, limit: int = 100) -> list[Deadline]:
        """Deadlines that have come; see ``Journal.due``."""
        await self._turn()
        come = (deadline for deadline in self._deadlines.values() if deadline.at_ms <= now_ms)
        return heapq.nsmallest(limit, come, key=lambda deadline: (deadline.at_ms, deadline.stream))

    async def finished(self, now_ms: int, limit: int = 100) -> list[Finished]:
        """Streams that may be retired; see ``Journal.finished``."""
        await self._turn()
        come = (finished for finished in self._finished.values() if finished.at_ms <= now_ms)
        return heapq.nsmallest(limit, come, key=lambda finished: (finished.at_ms, finished.stream))

    async def put_off(self, finished: Finished, until_ms: int) -> bool:
        """Name another time; see ``Journal.put_off``."""
        await self._turn()
        if self._finished.get(finished.stream) != finished:
            return False
        self._finished[finished.stream] = Finished(finished.stream, until_ms)
        return True

    async def retire(self, stream: str, last: int) -> None:
        """Free all of a stream; see ``Journal.retire``."""
        await self._turn()
        found = len(self._streams.get(stream, ()))
        if found not in (0, last):
            raise SequenceConflict(stream, last, found)
        for kept in (self._streams, self._deadlines, self._finished, self._rows):
            kept.pop(stream, None)

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby; see ``Journal.page``."""
        await self._turn()
        matching = (row for row in self._rows.values() if _shown(row, where, after))
        return heapq.nlargest(limit, matching, key=_age)

    async def row(self, stream: str) -> Row | None:
        """A stream's row; see ``Journal.row``."""
        await self._turn()
        return self._rows.get(stream)

    async def rows_of(self, subject: str) -> list[Row]:
        """All rows of a subject; see ``Journal.rows_of``."""
        await self._turn()
        return sorted((row for row in self._rows.values() if subject in row.subjects), key=_age)

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver rows of a subject; see ``Journal.listen_rows``."""
        await self._turn()
        return self._listeners.listen_rows(subject, deliver)

    async def key(self, name: str, fresh: bytes, *, replace: bool = False) -> bytes:
        """Get or create a key; see ``Journal.key``."""
        await self._turn()
        if replace:
            self._keys[name] = fresh
        return self._keys.setdefault(name, fresh)

    async def close(self) -> None:
        """Let the calls under way finish; see ``Journal.close``."""
        self._closed = True
        await asyncio.sleep(0)

    async def _turn(self) -> None:
        self._check_open()
        await asyncio.sleep(0)

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable("the journal is closed")


def _age(row: Row) -> PageKey:
    return PageKey(row.created_ms, row.stream)


def _shown(row: Row, where: RowFilter, after: PageKey | None) -> bool:
    return (
        row.listed
        and (not where.game or row.game == where.game)
        and (not where.states or row.state in where.states)
        and (not where.with_free_seats or row.free_seats > 0)
        and (after is None or _age(row) < after)
    )
