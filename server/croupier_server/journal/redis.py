"""A journal in Redis, 7 or later, or Valkey: for any number of processes at once.

The law of this file: whatever is asked gets an outcome within seconds, and where it is not known
that is what is said. Nothing is ever sent twice, but for what a node of a cluster has refused as
not its own. ``redis_append`` has appends, ``redis_asks`` all else that is read and changed.

One connection carries appends, one reads, one news, to each primary; see ``redis_link``,
``redis_cluster`` for which of them, ``redis_names`` for how it all lies in Redis, ``redis_news``
for how others hear of it. How durable an acknowledged append is, Redis's own settings say:
``durability_warnings`` tells where they fall short.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Final, Self

import structlog

from croupier_server.journal.base import (
    Append,
    Cancel,
    Deadline,
    Deliver,
    DeliverRow,
    Finished,
    JournalError,
    JournalUnavailable,
    PageKey,
    Row,
    RowFilter,
    SequenceConflict,
    SetBack,
    Stored,
)
from croupier_server.journal.local import check_append
from croupier_server.journal.redis_append import Appends
from croupier_server.journal.redis_asks import Asks, age
from croupier_server.journal.redis_checks import Server, check_server, warnings_of
from croupier_server.journal.redis_cluster import Cluster
from croupier_server.journal.redis_forms import StoredRow, pack_row
from croupier_server.journal.redis_link import Link
from croupier_server.journal.redis_names import Names, slot_of
from croupier_server.journal.redis_news import News
from croupier_server.journal.redis_scripts import APPEND, CLOCK, DUE, PAGE, PUT_OFF, RETIRE, ROWS_OF
from croupier_server.journal.redis_servers import Node, OneServer, Servers
from croupier_server.journal.redis_troubles import Troubles
from croupier_server.journal.redis_url import Address, parse_url
from croupier_server.journal.redis_wire import Confirm, Wire

_log: Final = structlog.get_logger()

MAX_WAITING: Final = 4096
"""How many commands may wait on a connection before more are refused with ``QueueFull``."""

_LASTING: Final = -1
"""What PTTL says of a key that does not expire."""


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
        self._asks: Final = Asks(self._servers, self._names, self._troubles)
        self._appends: Final = Appends(self._servers, self._names, self._troubles, self._news)

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
        await self._appends.append(batch)

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """Entries above ``after``; see ``Journal.read``."""
        self._check_open()
        if limit <= 0:
            return []
        after = max(after, 0)
        entries = self._names.entries(stream)
        found = await self._asks.one("read", entries, "LRANGE", entries, after, after + limit - 1)
        return [Stored(seq, data) for seq, data in enumerate(found, after + 1)]

    async def last_seq(self, stream: str) -> int:
        """The last number; see ``Journal.last_seq``."""
        self._check_open()
        entries = self._names.entries(stream)
        last: int = await self._asks.one("read", entries, "LLEN", entries)
        return last

    async def confirm(self, stream: str) -> None:
        """Wait until as many replicas have a stream as an append waits for; see ``Journal.confirm``."""
        self._check_open()
        if self._confirm is not None:
            # WAIT counts what its own connection has written: this comes after all that others have.
            mark = f"{self._names.shard(stream)}mark"
            await self._asks.one("append", mark, "SET", mark, "", "PX", 1000)

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
        ms = int(await self._asks.change(slot_of(clock), CLOCK, 1, clock, by_now))
        self._told = ms, time.monotonic()
        return ms

    async def due(self, now_ms: int, limit: int = 100) -> list[Deadline]:
        """Deadlines that have come; see ``Journal.due``."""
        self._check_open()
        if limit <= 0:
            return []
        return await self._asks.due(now_ms, limit)

    async def finished(self, now_ms: int, limit: int = 100) -> list[Finished]:
        """Streams that may be retired; see ``Journal.finished``."""
        self._check_open()
        if limit <= 0:
            return []
        return await self._asks.finished(now_ms, limit)

    async def put_off(self, finished: Finished, until_ms: int) -> bool:
        """Name another time; see ``Journal.put_off``."""
        self._check_open()
        at = f"{self._names.shard(finished.stream)}finished"
        rest = (1, at, *finished, until_ms)
        return bool(await self._asks.change(slot_of(at), PUT_OFF, *rest))

    async def retire(self, stream: str, last: int) -> None:
        """Free all of a stream; see ``Journal.retire``."""
        self._check_open()
        shard = self._names.shard(stream)
        rest = (1, self._names.entries(stream), shard, stream, last)
        found = await self._asks.change(self._names.slots[shard], RETIRE, *rest, one_key=False)
        if found:
            raise SequenceConflict(stream, last, found)

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby; see ``Journal.page``."""
        self._check_open()
        if limit <= 0:
            return []
        return await self._asks.page(where, after, limit)

    async def row(self, stream: str) -> Row | None:
        """A stream's row; see ``Journal.row``."""
        found = await self.stored_row(stream)
        return found.row if found else None

    async def stored_row(self, stream: str) -> StoredRow | None:
        """A stream's row and which it is. Raises ``JournalUnavailable``."""
        self._check_open()
        return await self._asks.row(stream)

    async def rows_of(self, subject: str) -> list[Row]:
        """All rows of a subject; see ``Journal.rows_of``."""
        return sorted((found.row for found in await self.stored_rows_of(subject)), key=age)

    async def stored_rows_of(self, subject: str) -> list[StoredRow]:
        """All rows of a subject and which they are, in no order. Raises ``JournalUnavailable``."""
        self._check_open()
        return await self._asks.rows_of(subject)

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver rows of a subject; see ``Journal.listen_rows``."""
        self._check_open()
        return await self._news.listen_rows(subject, deliver)

    async def key(self, name: str, fresh: bytes, *, replace: bool = False) -> bytes:
        """Get or create a key; see ``Journal.key``."""
        self._check_open()
        at = self._names.key(name)
        how = () if replace else ("NX", "GET")
        found = await self._asks.one("append", at, "SET", at, fresh, *how)
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
            await self._asks.change(self._names.slots[shard], APPEND, 1, *rest, one_key=False), int
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
