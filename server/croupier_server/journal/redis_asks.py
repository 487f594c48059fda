"""What is asked of Redis, and changed in it, apart from appends.

The law of this file: what concerns one key goes to the server that has it; what spans streams is
asked of every server at once, each for the shards that it has, and put in order here. A shard that
is on its way to another server is named, never left out in silence.
"""

from __future__ import annotations

import asyncio
import heapq
from typing import Any, Final

from croupier_server.journal.base import Deadline, Finished, NotWritten, PageKey, Row, RowFilter
from croupier_server.journal.redis_forms import StoredRow, unpack_row
from croupier_server.journal.redis_names import Names, shard_of, slot_of
from croupier_server.journal.redis_scripts import DUE, PAGE, ROWS_OF, Script, run
from croupier_server.journal.redis_servers import Node, Servers, Way, call
from croupier_server.journal.redis_troubles import Troubles
from croupier_server.journal.redis_wire import Part


class Asks:
    """Commands and scripts of one journal. All raise ``JournalUnavailable``."""

    def __init__(self, servers: Servers, names: Names, troubles: Troubles) -> None:
        self._servers: Final = servers
        self._names: Final = names
        self._troubles: Final = troubles

    async def one(self, way: Way, key: str, *command: Part) -> Any:
        """The reply to a command for one key."""
        try:
            reply = await call(self._servers, way, slot_of(key), *command)
        except NotWritten as error:
            self._troubles.read_refused(key, error)
            raise
        self._troubles.read(key)
        return reply

    async def change(self, slot: int, script: Script, *rest: Part, one_key: bool = True) -> Any:
        """What a script answers that writes in a slot."""
        return await self._servers.attempt(
            "append", slot, lambda wire: run(wire, script, *rest), one_key=one_key
        )

    async def everywhere(self, script: Script, *rest: Part) -> tuple[list[Any], list[int]]:
        """What a script finds in all shards, and those of which nothing was to be had: on their way."""

        async def ask(node: Node) -> list[Any]:
            shards = self._servers.shards_of(node)
            if not shards:
                return [[], []]
            which = self._names.some(shards)
            found: list[Any] = await run(await node.read.wire(), script, 0, which, *rest)
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

    async def due(self, now_ms: int, limit: int) -> list[Deadline]:
        """Deadlines that have come; see ``Journal.due``."""
        found, _ = await self.everywhere(DUE, now_ms, limit, "deadlines")
        come = (Deadline(stream.decode(), int(seq), at_ms) for stream, seq, at_ms in found)
        return heapq.nsmallest(limit, come, key=lambda deadline: (deadline.at_ms, deadline.stream))

    async def finished(self, now_ms: int, limit: int) -> list[Finished]:
        """Streams that may be retired; see ``Journal.finished``."""
        found, _ = await self.everywhere(DUE, now_ms, limit, "finished")
        come = (Finished(stream.decode(), at_ms) for stream, _, at_ms in found)
        return heapq.nsmallest(limit, come, key=lambda finished: (finished.at_ms, finished.stream))

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby; see ``Journal.page``."""
        begin: Part = "" if after is None else after.created_ms
        wanted: tuple[Part, ...] = (where.game, int(where.with_free_seats), *dict.fromkeys(where.states))
        found, _ = await self.everywhere(PAGE, limit, begin, *wanted)
        rows = {row.stream: row for row in (unpack_row(stored).row for stored in found)}.values()
        return heapq.nlargest(limit, (row for row in rows if after is None or age(row) < after), key=age)

    async def row(self, stream: str) -> StoredRow | None:
        """A stream's row and which it is."""
        rows = self._names.rows(shard_of(stream))
        found = await self.one("read", rows, "HGET", rows, stream)
        return unpack_row(found) if found else None

    async def rows_of(self, subject: str) -> list[StoredRow]:
        """All rows of a subject and which they are, in no order."""
        found, elsewhere = await self.everywhere(ROWS_OF, subject)
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
        streams = await self.one("read", of, "SMEMBERS", of)
        stored = await self.one("read", rows, "HMGET", rows, *streams) if streams else []
        return [row for row in stored if row]


def age(row: Row) -> PageKey:
    """Where a row is among others: the key of pages."""
    return PageKey(row.created_ms, row.stream)
