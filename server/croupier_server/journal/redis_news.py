"""What is heard from Redis by publish and subscribe, and how what was missed is found.

The law of this file: news may be lost, late or heard twice; it is passed on whole, in order and
once; see ``redis_followed`` for how a stream's gaps are filled. Whenever a subscription was made anew
(the connection was lost, a slot has moved), every stream and every subject that somebody listens to is
read again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, Final

import structlog

from croupier_server.journal.base import (
    Append,
    Cancel,
    Deliver,
    DeliverRow,
    JournalUnavailable,
    Row,
    SetBack,
    Stored,
)
from croupier_server.journal.local import Listeners, Subscribers
from croupier_server.journal.redis_followed import Followed, Reads, Repeated
from croupier_server.journal.redis_forms import StoredRow, subjects_in, unpack_news, unpack_row
from croupier_server.journal.redis_names import Names
from croupier_server.journal.redis_servers import Node, Servers
from croupier_server.journal.redis_wire import ANSWER_SECONDS, Redirected, Wire, refusal

_log: Final = structlog.get_logger()

_AGAIN_SECONDS: Final = 0.2
_ROWS_REMEMBERED: Final = 10_000
_CHANNELS_A_COMMAND: Final = 500


class _Rows:
    """Who hears of whose rows, and what they have heard."""

    def __init__(self, reads: Reads) -> None:
        self.missed: Final = Repeated(self._read)
        self._reads: Final = reads
        self._subscribers: Final[Subscribers[Row]] = Subscribers()
        self._known: Final[dict[str, dict[str, int]]] = {}
        """For each subject that is listened to, the streams whose row concerns it, and which row."""
        self._heard: Final[OrderedDict[str, int]] = OrderedDict()
        """The newest rows: news come twice, and those who dropped out are to hear of it once."""

    async def listen(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Tell of rows from now on. Raises ``JournalUnavailable``."""
        unsubscribe = self._subscribers.add(subject, deliver)
        known = self._known.setdefault(subject, {})

        def cancel() -> None:
            unsubscribe()
            if subject not in self._subscribers:
                self._known.pop(subject, None)

        try:
            for row, seq in await self._reads.stored_rows_of(subject):
                known[row.stream] = max(seq, known.get(row.stream, 0))
        except BaseException:
            cancel()
            raise
        return cancel

    def take(self, subjects_before: Iterable[str], stored: StoredRow) -> None:
        """Tell those whom the row concerns or concerned, unless they have heard of it or a newer one."""
        row, seq = stored
        if seq <= self._heard.get(row.stream, 0):
            return
        self._heard[row.stream] = seq
        self._heard.move_to_end(row.stream)
        if len(self._heard) > _ROWS_REMEMBERED:
            self._heard.popitem(last=False)
        for subject in dict.fromkeys((*subjects_before, *row.subjects)):
            known = self._known.get(subject)
            if known is None or seq <= known.get(row.stream, 0):
                continue
            if subject in row.subjects:
                known[row.stream] = seq
            else:
                known.pop(row.stream, None)
            self._subscribers.tell(subject, row)

    async def _read(self) -> None:
        """Tell of all rows that have changed, also those from which a subject has dropped out."""
        before: dict[str, list[str]] = {}
        now: dict[str, StoredRow] = {}
        for subject, known in list(self._known.items()):
            for stream in known:
                before.setdefault(stream, []).append(subject)
            for stored in await self._reads.stored_rows_of(subject):
                now[stored.row.stream] = stored
        for stream in before.keys() - now.keys():
            dropped = await self._reads.stored_row(stream)
            if dropped is not None:
                now[stream] = dropped
        for stream, stored in now.items():
            if stored.seq < self._heard.get(stream, 0):
                await self._check(stream)
            self.take(before.get(stream, ()), stored)

    async def _check(self, stream: str) -> None:
        """An older row than was heard: read too early, or all there is since Redis lost entries."""
        heard = self._heard.get(stream, 0)
        stored = await self._reads.stored_row(stream)
        if (stored.seq if stored else 0) >= heard:
            return
        self._heard.pop(stream, None)
        for known in self._known.values():
            if stream in known:
                known[stream] = 0


class News:
    """All that is listened to here, on one connection to each server."""

    def __init__(self, reads: Reads, names: Names) -> None:
        self._reads: Final = reads
        self._names: Final = names
        self._listeners: Final = Listeners()
        self._rows: Final = _Rows(reads)
        self._followed: Final[dict[str, Followed]] = {}
        self._wires: Final[dict[Node, Wire]] = {}
        self._unheard: Final[set[int]] = set()
        """Shards that a server would not tell of: theirs is another, which has to be found first."""
        self.servers: Servers

    # --- subscribing --------------------------------------------------------------------------

    async def greet(self, node: Node, wire: Wire) -> None:
        """Subscribe on a new connection to all that is listened to there. Raises ``JournalError``."""
        shards = list(self.servers.shards_of(node))
        if shards:
            # Missing rights show here. A row that is told meanwhile may be taken for the answer; all
            # rows are read below.
            await wire.call("SSUBSCRIBE", self._names.rows(shards[0]))
        for gone in [other for other, of_other in self._wires.items() if of_other.over]:
            del self._wires[gone]
        self._wires[node] = wire
        self._subscribe(shards)

    def moved(self, shards: Collection[int]) -> None:
        """The map was read: shards have another server now. Nothing they told is certain any more."""
        again = self._unheard.union(shards)
        self._unheard.clear()
        self.doubt(again)
        self._subscribe(again)

    def doubt(self, shards: Collection[int]) -> None:
        """The server of some shards may have lost what it told."""
        for followed in self._followed.values():
            if followed.shard in shards:
                followed.doubt()

    def _subscribe(self, shards: Collection[int]) -> None:
        channels = {shard: [self._names.rows(shard)] for shard in shards}
        for channel, followed in self._followed.items():
            if followed.shard in channels:
                channels[followed.shard].append(channel)
        for shard, of_shard in channels.items():
            for start in range(0, len(of_shard), _CHANNELS_A_COMMAND):
                self._tell(shard, "SSUBSCRIBE", *of_shard[start : start + _CHANNELS_A_COMMAND])
        if channels:
            self._rows.missed.ask()

    def _tell(self, shard: int, *command: str) -> None:
        """Send a command whose answers are news to where a shard is; when connected, it is all sent."""
        node = self.servers.of_shard(shard)
        wire = None if node is None else self._wires.get(node)
        if wire is not None:
            wire.tell(*command)

    # --- hearing ------------------------------------------------------------------------------

    def hear(self, node: Node, reply: Any) -> None:
        """Take what a connection says."""
        if isinstance(reply, Exception):
            self._refused(node, reply)
        if not isinstance(reply, list) or len(reply) != 3:
            return  # it is there, it says
        kind, channel, said = reply
        name = channel.decode()
        followed = self._followed.get(name)
        if kind == b"smessage" and followed is not None:
            followed.hear(unpack_news(said))
        elif kind == b"smessage" and name.endswith(":rows"):
            head, _, row = said.partition(b"\n")
            self._rows.take(subjects_in(head), unpack_row(row))
        elif kind == b"ssubscribe" and followed is not None:
            followed.missed.ask()
        elif kind == b"sunsubscribe":
            self._unsubscribed(name)

    def _refused(self, node: Node, reply: Exception) -> None:
        error = refusal(reply)
        if isinstance(error, Redirected):
            self._unheard.update(self.servers.shards_of(node))
            self.servers.look()
        elif node in self._wires:
            self._wires[node].cut(JournalUnavailable(f"Redis refuses news: {reply}"))

    def _unsubscribed(self, channel: str) -> None:
        """Asked for, or because the slot has moved: then its new server is to be found."""
        if channel in self._followed or channel.endswith(":rows"):
            self._unheard.add(self._names.shard_in(channel))
            self.servers.look()

    # --- appending and listening --------------------------------------------------------------

    def followed(self, channel: str) -> Followed | None:
        """The stream that is told of there, as it is listened to here."""
        return self._followed.get(channel)

    def appended(self, batch: Append, channel: str, row_before: bytes) -> asyncio.Future[None] | None:
        """Deliver what was appended here; a future when entries before it are still to be read."""
        last = batch.after + len(batch.entries)
        if batch.row is not None:
            self._rows.take(subjects_in(row_before), StoredRow(batch.row, last))
        followed = self._followed.get(channel)
        if followed is None:
            return None
        entries = [Stored(seq, data) for seq, data in enumerate(batch.entries, batch.after + 1)]
        return None if followed.take(entries) else followed.reached(last)

    async def listen(self, stream: str, after: int, deliver: Deliver, set_back: SetBack | None) -> Cancel:
        """See ``Journal.listen``."""
        channel = self._names.entries(stream)
        followed = self._followed.get(channel)
        if followed is None:
            followed = self._followed[channel] = Followed(stream, self._reads, self._listeners)
            self._tell(followed.shard, "SSUBSCRIBE", channel)
        followed.listening += 1
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await asyncio.shield(followed.ready)
            cancel_one = await self._listeners.listen(stream, after, deliver, self._reads.read, set_back)
        except TimeoutError:
            self._let_go(channel, followed)
            raise JournalUnavailable("Redis does not confirm a subscription") from None
        except BaseException:
            self._let_go(channel, followed)
            raise
        cancels: list[Cancel] = [cancel_one, partial(self._let_go, channel, followed)]

        def cancel() -> None:
            while cancels:
                cancels.pop()()

        return cancel

    def _let_go(self, channel: str, followed: Followed) -> None:
        followed.listening -= 1
        if followed.listening == 0 and self._followed.get(channel) is followed:
            del self._followed[channel]
            followed.missed.stop()
            self._tell(followed.shard, "SUNSUBSCRIBE", channel)

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """See ``Journal.listen_rows``."""
        return await self._rows.listen(subject, deliver)

    def stop(self) -> None:
        """Read nothing any more."""
        self._rows.missed.stop()
        for followed in self._followed.values():
            followed.missed.stop()
