"""A journal in Redis, 7 or later, or Valkey: for any number of processes at once.

The law of this file: an append is one script on one connection, and is acknowledged when Redis
says that it went in; whatever else comes of it (time passes, the connection breaks) the outcome is
unknown, and says so within seconds. Nothing is ever sent twice.

One connection carries appends, one reads, one news; see ``redis_link``, ``redis_scripts`` for how
it all lies in Redis, ``redis_news`` for how others hear of it. How durable an acknowledged append
is, Redis's own settings say: ``durability_warnings`` tells where they fall short.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from functools import partial
from typing import Any, Final, Self

import hiredis
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
    Row,
    RowFilter,
    SequenceConflict,
    Stored,
)
from croupier_server.journal.local import check_append
from croupier_server.journal.redis_checks import check_server, warnings_of
from croupier_server.journal.redis_link import Link, Outages
from croupier_server.journal.redis_news import News
from croupier_server.journal.redis_scripts import (
    APPEND,
    CLOCK,
    DUE,
    PAGE,
    PUT_OFF,
    RETIRE,
    ROWS_OF,
    Names,
    Script,
    StoredRow,
    pack_row,
    unpack_row,
)
from croupier_server.journal.redis_url import Address, parse_url
from croupier_server.journal.redis_wire import (
    ANSWER_SECONDS,
    NotConfirmed,
    Part,
    ScriptForgotten,
    Wire,
    pack,
    refusal,
    settle,
)

_log: Final = structlog.get_logger()

MAX_WAITING: Final = 4096
"""How many commands may wait on a connection before more are refused with ``QueueFull``."""

_LATEST: Final = 1 << 53
"""The last deadline: a score is a floating-point number, exact up to here."""


class RedisJournal:
    """A ``Journal`` that other processes may share. Made by ``open``."""

    shared: bool = True

    def __init__(self, address: Address, max_waiting: int) -> None:
        self._names: Final = Names(address.database)
        self._wait: Final = address.wait
        self._refusals: Final = Outages("journal.write_failed", "journal.write_recovered")
        self._news: Final = News(self, self._names)
        self._told: tuple[int, float] | None = None
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        outages = Outages("journal.lost", "journal.found_again")
        connect = partial(Link, address, outages, most_waiting=max_waiting)
        self._writing: Final = connect("append", self._ready_to_write, wait=address.wait)
        self._reading: Final = connect("read", self._ready_to_read)
        self._hearing: Final = connect("news", self._news.greet, news=self._news.hear)

    @classmethod
    async def open(cls, url: str, *, max_waiting: int = MAX_WAITING) -> Self:
        """Open the journal in the Redis that ``url`` names; see ``redis_url`` for its forms.

        Logs what ``durability_warnings`` says. Raises ``ValueError`` for another URL, and
        ``JournalError`` for a server that cannot be reached or cannot hold a journal.
        """
        journal = cls(parse_url(url), max_waiting)
        try:
            for link in journal._links():
                await link.open()
            for warning in await journal.durability_warnings():
                _log.warning("journal.durability", problem=warning)
        except BaseException:
            await journal.close()
            raise
        return journal

    async def durability_warnings(self) -> list[str]:
        """How this Redis may lose what it has acknowledged, a line each; [] when it may not.

        Raises ``JournalUnavailable``.
        """
        return await warnings_of(await self._reading.wire(), self._wait)

    @property
    def waiting(self) -> int:
        """How many changes wait for Redis."""
        return self._writing.waiting

    async def append(self, batch: Append) -> None:
        """Store a batch; see ``Journal.append``.

        ``NotWritten`` is a ``JournalUnavailable`` after which it is known that nothing was written,
        ``NotConfirmed`` one after which the primary has it. Cancelled, it may be stored all the
        same. Raises ``OverflowError`` for a deadline above 2**53.
        """
        check_append(batch)
        self._check_open()
        if isinstance(batch.deadline_ms, int) and batch.deadline_ms > _LATEST:
            raise OverflowError("a deadline is at most 2**53")
        rest = (1, self._names.entries(batch.stream), *self._arguments(batch))
        answer: asyncio.Future[asyncio.Future[None] | None] = asyncio.get_running_loop().create_future()
        wire = await self._writing.wire()
        packed = pack(("EVALSHA", APPEND.sha, *rest))
        wire.send(packed, partial(self._appended, batch, wire, rest, answer))
        late = await answer
        if late is not None:
            await _delivered(late)

    def _arguments(self, batch: Append) -> tuple[Part, ...]:
        deadline = batch.deadline_ms
        cleared = "-" if batch.retire_ms is None else f"-{batch.retire_ms}"
        set_to = cleared if deadline is None else deadline if isinstance(deadline, int) else ""
        row = b"" if batch.row is None else pack_row(batch.row, batch.after + len(batch.entries))
        shard = self._names.shard(batch.stream)
        return (shard, batch.stream, batch.after, set_to, self._names.rows, row, *batch.entries)

    def _appended(
        self, batch: Append, wire: Wire, rest: tuple[Part, ...], answer: asyncio.Future[Any], reply: Any
    ) -> None:
        """Deliver what went in, before anybody who waits goes on; tell them what became of it."""
        if isinstance(reply, Exception):
            error = refusal(reply)
            if isinstance(error, ScriptForgotten):
                again = partial(self._appended, batch, wire, rest, answer)
                wire.send(pack(("EVAL", APPEND.source, *rest)), again)
                return
            self._append_failed(error, reply)
            settle(answer, error)
            return
        if self._refusals:
            self._refusals.ended("append")
        if isinstance(reply, int):
            if not answer.done():
                answer.set_exception(SequenceConflict(batch.stream, batch.after, reply))
        else:
            settle(answer, self._news.appended(batch, reply))

    def _append_failed(self, error: JournalUnavailable, reply: Exception) -> None:
        if isinstance(reply, hiredis.ReplyError | NotConfirmed):  # else the connection was lost
            self._refusals.began("append", error)
        if str(reply).startswith("READONLY"):
            # Another is the primary now. It may have our address by the next connection.
            for link in self._links():
                link.cut(JournalUnavailable("the primary has become a replica"))

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """Entries above ``after``; see ``Journal.read``."""
        self._check_open()
        if limit <= 0:
            return []
        after = max(after, 0)
        found = await self._reading.call("LRANGE", self._names.entries(stream), after, after + limit - 1)
        return [Stored(seq, data) for seq, data in enumerate(found, after + 1)]

    async def last_seq(self, stream: str) -> int:
        """The last number; see ``Journal.last_seq``."""
        self._check_open()
        last: int = await self._reading.call("LLEN", self._names.entries(stream))
        return last

    async def listen(self, stream: str, after: int, deliver: Deliver) -> Cancel:
        """Deliver entries; see ``Journal.listen``."""
        self._check_open()
        return await self._news.listen(stream, after, deliver)

    async def clock_ms(self) -> int:
        """Now, by the clock of Redis; see ``Journal.clock_ms``."""
        self._check_open()
        by_now = 0
        if self._told is not None:
            ms, at = self._told
            by_now = ms + int((time.monotonic() - at) * 1000)
        ms = int(await self._run(self._writing, CLOCK, 1, self._names.clock, by_now))
        self._told = ms, time.monotonic()
        return ms

    async def due(self, now_ms: int, limit: int = 100) -> list[Deadline]:
        """Deadlines that have come; see ``Journal.due``."""
        self._check_open()
        if limit <= 0:
            return []
        found = await self._run(self._reading, DUE, 0, self._names.root, now_ms, limit, "deadlines")
        come = (Deadline(stream.decode(), int(seq), at_ms) for stream, seq, at_ms in found)
        return heapq.nsmallest(limit, come, key=lambda deadline: (deadline.at_ms, deadline.stream))

    async def finished(self, now_ms: int, limit: int = 100) -> list[Finished]:
        """Streams that may be retired; see ``Journal.finished``."""
        self._check_open()
        if limit <= 0:
            return []
        found = await self._run(self._reading, DUE, 0, self._names.root, now_ms, limit, "finished")
        come = (Finished(stream.decode(), at_ms) for stream, _, at_ms in found)
        return heapq.nsmallest(limit, come, key=lambda finished: (finished.at_ms, finished.stream))

    async def put_off(self, finished: Finished, until_ms: int) -> bool:
        """Name another time; see ``Journal.put_off``."""
        self._check_open()
        at = f"{self._names.shard(finished.stream)}finished"
        is_ours = await self._run(self._writing, PUT_OFF, 1, at, *finished, until_ms)
        return bool(is_ours)

    async def retire(self, stream: str, last: int) -> None:
        """Free all of a stream; see ``Journal.retire``."""
        self._check_open()
        names = self._names
        rest = (1, names.entries(stream), names.shard(stream), stream, last)
        found = await self._run(self._writing, RETIRE, *rest)
        if found:
            raise SequenceConflict(stream, last, found)

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby; see ``Journal.page``."""
        self._check_open()
        if limit <= 0:
            return []
        begin: Part = "" if after is None else after.created_ms
        wanted: tuple[Part, ...] = (where.game, int(where.with_free_seats), *dict.fromkeys(where.states))
        found = await self._run(self._reading, PAGE, 0, self._names.root, limit, begin, *wanted)
        rows = (unpack_row(stored).row for stored in found)
        return heapq.nlargest(limit, (row for row in rows if after is None or _age(row) < after), key=_age)

    async def row(self, stream: str) -> Row | None:
        """A stream's row; see ``Journal.row``."""
        found = await self.stored_row(stream)
        return found.row if found else None

    async def stored_row(self, stream: str) -> StoredRow | None:
        """A stream's row and which it is. Raises ``JournalUnavailable``."""
        self._check_open()
        found = await self._reading.call("HGET", f"{self._names.shard(stream)}rows", stream)
        return unpack_row(found) if found else None

    async def rows_of(self, subject: str) -> list[Row]:
        """All rows of a subject; see ``Journal.rows_of``."""
        return sorted((found.row for found in await self.stored_rows_of(subject)), key=_age)

    async def stored_rows_of(self, subject: str) -> list[StoredRow]:
        """All rows of a subject and which they are, in no order. Raises ``JournalUnavailable``."""
        self._check_open()
        found = await self._run(self._reading, ROWS_OF, 0, self._names.root, subject)
        return [unpack_row(stored) for stored in found]

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver rows of a subject; see ``Journal.listen_rows``."""
        self._check_open()
        return await self._news.listen_rows(subject, deliver)

    async def key(self, name: str, fresh: bytes, *, replace: bool = False) -> bytes:
        """Get or create a key; see ``Journal.key``."""
        self._check_open()
        at = self._names.key(name)
        how = () if replace else ("NX", "GET")
        found = await self._writing.call("SET", at, fresh, *how)
        return fresh if replace or found is None else bytes(found)

    async def close(self) -> None:
        """Let the changes under way finish, then let go of Redis; see ``Journal.close``."""
        self._closed = True
        self._closing = self._closing or asyncio.create_task(self._let_go())
        await asyncio.shield(self._closing)

    async def _let_go(self) -> None:
        await self._writing.close()
        self._news.stop()
        await self._reading.close()
        await self._hearing.close()

    def _links(self) -> tuple[Link, ...]:
        return self._writing, self._reading, self._hearing

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable("the journal is closed")

    async def _ready_to_write(self, wire: Wire) -> None:
        await check_server(wire)
        await wire.call("SPUBLISH", self._names.probe, "")  # rights that scripts need, which fail late
        await wire.call("TIME")
        for script in (APPEND, CLOCK, PUT_OFF, RETIRE):
            await wire.call("SCRIPT", "LOAD", script.source)

    async def _ready_to_read(self, wire: Wire) -> None:
        await check_server(wire)
        for script in (DUE, PAGE, ROWS_OF):
            await wire.call("SCRIPT", "LOAD", script.source)

    async def _run(self, link: Link, script: Script, *rest: Part) -> Any:
        """What a script answers. Raises ``JournalUnavailable``."""
        try:
            return await link.call("EVALSHA", script.sha, *rest)
        except ScriptForgotten:
            return await link.call("EVAL", script.source, *rest)


async def _delivered(late: asyncio.Future[None]) -> None:
    """Until what came before an append was read and delivered, and so was the append."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await late
    except TimeoutError:
        raise JournalUnavailable("stored, but entries before it cannot be read now") from None


def _age(row: Row) -> PageKey:
    return PageKey(row.created_ms, row.stream)
