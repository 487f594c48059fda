"""A journal in Redis, 7 or later, or Valkey: for any number of processes at once.

The law of this file: an append is one script on one connection, and is acknowledged when Redis
says that it went in; whatever else comes of it (time passes, the connection breaks) the outcome is
unknown, and says so within seconds. Nothing is ever sent twice, but for what a node of a cluster
has refused as not its own.

One connection carries appends, one reads, one news, to each primary; see ``redis_link``,
``redis_cluster`` for which of them, ``redis_scripts`` for how it all lies in Redis, ``redis_news``
for how others hear of it. How durable an acknowledged append
is, Redis's own settings say: ``durability_warnings`` tells where they fall short.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Final, Self

import hiredis
import structlog

from croupier_server.journal.base import (
    KEEP,
    Append,
    Cancel,
    Deadline,
    Deliver,
    DeliverRow,
    Finished,
    JournalError,
    JournalUnavailable,
    NotWritten,
    PageKey,
    Row,
    RowFilter,
    SequenceConflict,
    SetBack,
    Stored,
)
from croupier_server.journal.local import check_append
from croupier_server.journal.redis_checks import Server, check_server, warnings_of
from croupier_server.journal.redis_cluster import Cluster
from croupier_server.journal.redis_followed import Followed
from croupier_server.journal.redis_link import Link
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
    shard_of,
    slot_of,
    unpack_row,
)
from croupier_server.journal.redis_servers import Node, OneServer, Servers, Way, call
from croupier_server.journal.redis_troubles import Troubles
from croupier_server.journal.redis_url import Address, parse_url
from croupier_server.journal.redis_wire import (
    ANSWER_SECONDS,
    Confirm,
    NotConfirmed,
    Part,
    Redirected,
    ScriptForgotten,
    Wire,
    pack,
    refusal,
    settle,
)

_log: Final = structlog.get_logger()

MAX_WAITING: Final = 4096
"""How many commands may wait on a connection before more are refused with ``QueueFull``."""

_LASTING: Final = -1
"""What PTTL says of a key that does not expire."""

_LATEST: Final = 1 << 53
"""The last deadline: a score is a floating-point number, exact up to here."""

_Late = asyncio.Future[None] | None
"""Done once entries before those that were appended were read and passed on."""


class RedisJournal:
    """A ``Journal`` that other processes may share. Made by ``open``."""

    shared: bool = True

    def __init__(self, address: Address, max_waiting: int) -> None:
        self._names: Final = Names(address.database)
        self._address: Final = address
        self._confirm: Final = (
            Confirm(address.waitaof or address.wait, on_disk=bool(address.waitaof))
            if address.waitaof or address.wait
            else None
        )
        self._news: Final = News(self, self._names)
        self._told: tuple[int, float] | None = None
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        self._troubles: Final = Troubles(lambda: self._servers.look())
        self._most_waiting: Final = max_waiting
        self._servers: Final[Servers] = (
            Cluster(address, self._troubles, self._node, self._news.moved)
            if address.cluster
            else OneServer(self._node(address))
        )
        self._news.servers = self._servers

    def _node(self, address: Address) -> Node:
        """A server that has all of the journal or a part of it, and connections that are yet to open."""
        of = f" {address.shown}" if address.cluster else ""
        connect = partial(Link, address, self._troubles.lost, most_waiting=self._most_waiting)
        node: Node = Node(
            address.shown,
            connect(f"append{of}", lambda wire: self._ready_to_write(node, wire), confirm=self._confirm),
            connect(f"read{of}", self._ready_to_read),
            connect(
                f"news{of}",
                lambda wire: self._news.greet(node, wire),
                news=lambda reply: self._news.hear(node, reply),
            ),
        )
        return node

    @classmethod
    async def open(cls, url: str, *, max_waiting: int = MAX_WAITING) -> Self:
        """Open the journal in the Redis that ``url`` names; see ``redis_url`` for its forms.

        Logs what ``durability_warnings`` says. Raises ``ValueError`` for another URL, and
        ``JournalError`` for a server that cannot be reached or cannot hold a journal.
        """
        journal = cls(parse_url(url), max_waiting)
        try:
            await journal._servers.open()
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
        found: dict[str, None] = {}
        for node in self._servers.nodes:
            told = await warnings_of(await node.read.wire(), self._address)
            found |= dict.fromkeys(f"{node.shown}: {one}" if self._address.cluster else one for one in told)
        return list(found)

    @property
    def failing(self) -> bool:
        """True while a connection is lost or something is refused; see ``Journal.failing``."""
        return bool(self._troubles)

    @property
    def waiting(self) -> int:
        """How many changes wait for Redis."""
        return sum(node.append.waiting for node in self._servers.nodes)

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
        shard = self._names.shard(batch.stream)
        entries = f"{shard}e:{batch.stream}"
        rest = (1, entries, *_arguments(batch, shard))
        packed = pack(("EVALSHA", APPEND.sha, *rest))
        followed = self._news.followed(entries)

        def send(wire: Wire) -> asyncio.Future[_Late]:
            if followed is not None and followed.doubted:
                raise _Doubted
            answer: asyncio.Future[_Late] = asyncio.get_running_loop().create_future()
            wire.send(packed, partial(self._appended, batch, wire, rest, answer))
            return answer

        with nullcontext() if followed is None else followed.appending(batch):
            late = await self._sent(batch, entries, send, followed)
        if late is not None:
            await _in_time(late, JournalUnavailable("stored, but entries before it cannot be read now"))

    async def _sent(
        self, batch: Append, entries: str, send: Callable[[Wire], Awaitable[_Late]], followed: Followed | None
    ) -> _Late:
        """What the answer to an append gives, once nothing is known to be lost. Raises as ``append``."""
        slot = slot_of(entries)
        plain = batch.row is None and isinstance(batch.deadline_ms, type(KEEP))
        while True:
            try:
                return await self._servers.attempt("append", slot, send, one_key=plain)
            except _Doubted:
                assert followed is not None
                await _in_time(
                    followed.certain(), NotWritten("it is not known yet whether Redis lost entries")
                )
            except SequenceConflict as conflict:
                if followed is not None and conflict.last < batch.after:
                    await _in_time(followed.certain(), conflict)
                raise
            except NotWritten as error:
                self._troubles.write_refused(self._part(batch.stream), entries, error)
                raise

    def _appended(
        self, batch: Append, wire: Wire, rest: tuple[Any, ...], answer: asyncio.Future[Any], reply: Any
    ) -> None:
        """Deliver what went in, before anybody who waits goes on; tell them what became of it."""
        if isinstance(reply, Exception):
            error = refusal(reply)
            if isinstance(error, ScriptForgotten):
                again = partial(self._appended, batch, wire, rest, answer)
                wire.send(pack(("EVAL", APPEND.source, *rest)), again)
                return
            self._append_failed(batch.stream, rest[1], error, reply)
            settle(answer, error)
            return
        if self._troubles:
            self._troubles.written(self._part(batch.stream), rest[1])
        if isinstance(reply, int):
            if not answer.done():
                answer.set_exception(SequenceConflict(batch.stream, batch.after, reply))
        else:
            settle(answer, self._news.appended(batch, rest[1], reply))

    def _part(self, stream: str) -> str:
        """Where appends to a stream go, as far as they fail there or not."""
        node = self._servers.of_shard(shard_of(stream))
        return "append" if node is None else node.append.part

    def _append_failed(self, stream: str, key: str, error: JournalUnavailable, reply: Exception) -> None:
        if isinstance(error, Redirected):
            return  # it goes elsewhere
        if isinstance(reply, hiredis.ReplyError | NotConfirmed):  # else the connection was lost
            self._troubles.write_refused(self._part(stream), key, error)
        if str(reply).startswith("READONLY"):
            # Another is the primary now. It may have our address by the next connection.
            for node in self._servers.nodes:
                for link in node.links:
                    link.cut(JournalUnavailable("the primary has become a replica"))

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """Entries above ``after``; see ``Journal.read``."""
        self._check_open()
        if limit <= 0:
            return []
        after = max(after, 0)
        entries = self._names.entries(stream)
        found = await self._call("read", entries, "LRANGE", entries, after, after + limit - 1)
        return [Stored(seq, data) for seq, data in enumerate(found, after + 1)]

    async def last_seq(self, stream: str) -> int:
        """The last number; see ``Journal.last_seq``."""
        self._check_open()
        entries = self._names.entries(stream)
        last: int = await self._call("read", entries, "LLEN", entries)
        return last

    async def confirm(self, stream: str) -> None:
        """Wait until as many replicas have a stream as an append waits for; see ``Journal.confirm``."""
        self._check_open()
        if self._confirm is not None:
            # WAIT counts what its own connection has written: this comes after all that others have.
            mark = f"{self._names.shard(stream)}mark"
            await self._call("append", mark, "SET", mark, "", "PX", 1000)

    async def listen(
        self, stream: str, after: int, deliver: Deliver, set_back: SetBack | None = None
    ) -> Cancel:
        """Deliver entries; see ``Journal.listen``."""
        self._check_open()
        return await self._news.listen(stream, after, deliver, set_back)

    async def clock_ms(self) -> int:
        """Now, by the clock of Redis; see ``Journal.clock_ms``."""
        self._check_open()
        by_now = 0
        if self._told is not None:
            ms, at = self._told
            by_now = ms + int((time.monotonic() - at) * 1000)
        clock = self._names.clock
        ms = int(await self._change(slot_of(clock), CLOCK, 1, clock, by_now))
        self._told = ms, time.monotonic()
        return ms

    async def due(self, now_ms: int, limit: int = 100) -> list[Deadline]:
        """Deadlines that have come; see ``Journal.due``."""
        self._check_open()
        if limit <= 0:
            return []
        found, _ = await self._ask_all(DUE, now_ms, limit, "deadlines")
        come = (Deadline(stream.decode(), int(seq), at_ms) for stream, seq, at_ms in found)
        return heapq.nsmallest(limit, come, key=lambda deadline: (deadline.at_ms, deadline.stream))

    async def finished(self, now_ms: int, limit: int = 100) -> list[Finished]:
        """Streams that may be retired; see ``Journal.finished``."""
        self._check_open()
        if limit <= 0:
            return []
        found, _ = await self._ask_all(DUE, now_ms, limit, "finished")
        come = (Finished(stream.decode(), at_ms) for stream, _, at_ms in found)
        return heapq.nsmallest(limit, come, key=lambda finished: (finished.at_ms, finished.stream))

    async def put_off(self, finished: Finished, until_ms: int) -> bool:
        """Name another time; see ``Journal.put_off``."""
        self._check_open()
        at = f"{self._names.shard(finished.stream)}finished"
        rest = (1, at, *finished, until_ms)
        return bool(await self._change(slot_of(at), PUT_OFF, *rest))

    async def retire(self, stream: str, last: int) -> None:
        """Free all of a stream; see ``Journal.retire``."""
        self._check_open()
        shard = self._names.shard(stream)
        rest = (1, self._names.entries(stream), shard, stream, last)
        found = await self._change(self._names.slots[shard], RETIRE, *rest, one_key=False)
        if found:
            raise SequenceConflict(stream, last, found)

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby; see ``Journal.page``."""
        self._check_open()
        if limit <= 0:
            return []
        begin: Part = "" if after is None else after.created_ms
        wanted: tuple[Part, ...] = (where.game, int(where.with_free_seats), *dict.fromkeys(where.states))
        found, _ = await self._ask_all(PAGE, limit, begin, *wanted)
        rows = {row.stream: row for row in (unpack_row(stored).row for stored in found)}.values()
        return heapq.nlargest(limit, (row for row in rows if after is None or _age(row) < after), key=_age)

    async def row(self, stream: str) -> Row | None:
        """A stream's row; see ``Journal.row``."""
        found = await self.stored_row(stream)
        return found.row if found else None

    async def stored_row(self, stream: str) -> StoredRow | None:
        """A stream's row and which it is. Raises ``JournalUnavailable``."""
        self._check_open()
        rows = self._names.rows(shard_of(stream))
        found = await self._call("read", rows, "HGET", rows, stream)
        return unpack_row(found) if found else None

    async def rows_of(self, subject: str) -> list[Row]:
        """All rows of a subject; see ``Journal.rows_of``."""
        return sorted((found.row for found in await self.stored_rows_of(subject)), key=_age)

    async def stored_rows_of(self, subject: str) -> list[StoredRow]:
        """All rows of a subject and which they are, in no order. Raises ``JournalUnavailable``."""
        self._check_open()
        found, elsewhere = await self._ask_all(ROWS_OF, subject)
        if elsewhere:
            found += [row for shard in elsewhere for row in await self._rows_in(shard, subject)]
        newest: dict[str, StoredRow] = {}
        for stored in map(unpack_row, found):
            if subject not in stored.row.subjects:
                continue  # a crash has left it behind
            if (known := newest.get(stored.row.stream)) is None or known.seq < stored.seq:
                newest[stored.row.stream] = stored
        return list(newest.values())

    async def _rows_in(self, shard: int, subject: str) -> list[bytes]:
        """The rows of a subject in a shard that is on its way: a key at a time, wherever it is."""
        of, rows = self._names.of(shard, subject), self._names.rows(shard)
        streams = await self._call("read", of, "SMEMBERS", of)
        stored = await self._call("read", rows, "HMGET", rows, *streams) if streams else []
        return [row for row in stored if row]

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver rows of a subject; see ``Journal.listen_rows``."""
        self._check_open()
        return await self._news.listen_rows(subject, deliver)

    async def key(self, name: str, fresh: bytes, *, replace: bool = False) -> bytes:
        """Get or create a key; see ``Journal.key``."""
        self._check_open()
        at = self._names.key(name)
        how = () if replace else ("NX", "GET")
        found = await self._call("append", at, "SET", at, fresh, *how)
        return fresh if replace or found is None else bytes(found)

    async def streams(self, prefix: str) -> AsyncIterator[str]:
        """All streams whose name begins so, but for those that are about to expire.

        Some may come twice. Raises ``JournalUnavailable``.
        """
        self._check_open()
        for node in self._servers.nodes:
            cursor = b"0"
            while True:
                wire = await node.read.wire()
                match = ("MATCH", self._names.entries_like(prefix), "COUNT", 1000)
                cursor, keys = await wire.call("SCAN", cursor, *match)
                left = await asyncio.gather(*(wire.call("PTTL", key) for key in keys))
                for key, ms in zip(keys, left, strict=True):
                    if ms == _LASTING:
                        yield key.decode().partition(":e:")[2]
                if cursor == b"0":
                    break

    async def reindex(self, row: Row, last: int, then: Deadline | Finished) -> bool:
        """Write a stream's row and its deadline, or end, anew; False when its last number is another by now.

        An end that is known there is left as it is: it may have been put off. Raises ``JournalUnavailable``.
        """
        self._check_open()
        shard = self._names.shard(row.stream)
        set_to = f"-{then.at_ms}" if isinstance(then, Finished) else f"{then.at_ms}@{then.seq}"
        rest = (
            f"{shard}e:{row.stream}",
            shard,
            row.stream,
            last,
            set_to,
            f"{shard}rows",
            pack_row(row, last),
        )
        return not isinstance(
            await self._change(self._names.slots[shard], APPEND, 1, *rest, one_key=False), int
        )

    async def close(self) -> None:
        """Let the changes under way finish, then let go of Redis; see ``Journal.close``."""
        self._closed = True
        self._closing = self._closing or asyncio.create_task(self._let_go())
        await asyncio.shield(self._closing)

    async def _let_go(self) -> None:
        await self._servers.close_appends()
        self._news.stop()
        await self._servers.close()

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable("the journal is closed")

    async def _ready_to_write(self, node: Node, wire: Wire) -> None:
        server = await check_server(wire, cluster=self._address.cluster)
        self._check_confirm(server)
        shards = self._servers.shards_of(node)
        for shard in list(shards)[:1]:  # rights that scripts need, which fail late
            await wire.call("SPUBLISH", f"{self._names.rows(shard)}:probe", "")
        await wire.call("TIME")
        for script in (APPEND, CLOCK, PUT_OFF, RETIRE):
            await wire.call("SCRIPT", "LOAD", script.source)
        self._news.doubt(shards)  # it may be another server, or have lost what it had

    def _check_confirm(self, server: Server) -> None:
        if self._confirm is not None and self._confirm.on_disk and not server.has_waitaof:
            raise JournalError(
                f"waitaof=N needs Redis 7.2 or later, this is {server.version}; there is wait=N"
            )

    async def _ready_to_read(self, wire: Wire) -> None:
        await check_server(wire, cluster=self._address.cluster)
        for script in (DUE, PAGE, ROWS_OF):
            await wire.call("SCRIPT", "LOAD", script.source)

    async def _change(self, slot: int, script: Script, *rest: Part, one_key: bool = True) -> Any:
        """What a script answers that writes in a slot. Raises ``JournalUnavailable``."""
        return await self._servers.attempt(
            "append", slot, lambda wire: _run(wire, script, *rest), one_key=one_key
        )

    async def _call(self, way: Way, key: str, *command: Part) -> Any:
        """The reply to a command for one key. Raises ``JournalUnavailable``."""
        try:
            reply = await call(self._servers, way, slot_of(key), *command)
        except NotWritten as error:
            self._troubles.read_refused(key, error)
            raise
        self._troubles.read(key)
        return reply

    async def _ask_all(self, script: Script, *rest: Part) -> tuple[list[Any], list[int]]:
        """What a script finds in all shards, and those of which nothing was to be had: on their way.

        Raises ``JournalUnavailable``.
        """

        async def ask(node: Node) -> list[Any]:
            shards = self._servers.shards_of(node)
            if not shards:
                return [[], []]
            which = self._names.some(shards)
            found: list[Any] = await _run(await node.read.wire(), script, 0, which, *rest)
            return found

        try:
            answers = await asyncio.gather(*map(ask, self._servers.nodes))
        except NotWritten as error:
            self._troubles.read_refused(self._names.root, error)
            raise
        self._troubles.read(self._names.root)
        elsewhere = [shard for shards, _ in answers for shard in shards]
        if elsewhere:
            self._servers.look()
        return [one for _, found in answers for one in found], elsewhere


def _arguments(batch: Append, shard: str) -> tuple[Part, ...]:
    deadline = batch.deadline_ms
    cleared = "-" if batch.retire_ms is None else f"-{batch.retire_ms}"
    set_to = cleared if deadline is None else deadline if isinstance(deadline, int) else ""
    row = b"" if batch.row is None else pack_row(batch.row, batch.after + len(batch.entries))
    return (shard, batch.stream, batch.after, set_to, f"{shard}rows", row, *batch.entries)


class _Doubted(Exception):
    """It is to be found out first whether the stream still has what was delivered of it."""


async def _run(wire: Wire, script: Script, *rest: Part) -> Any:
    """What a script answers. Raises ``JournalUnavailable``."""
    try:
        return await wire.call("EVALSHA", script.sha, *rest)
    except ScriptForgotten:
        return await wire.call("EVAL", script.source, *rest)


async def _in_time(done: asyncio.Future[None], otherwise: JournalError) -> None:
    """Wait, but for long enough only. Raises ``otherwise``."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await done
    except TimeoutError:
        raise otherwise from None


def _age(row: Row) -> PageKey:
    return PageKey(row.created_ms, row.stream)
