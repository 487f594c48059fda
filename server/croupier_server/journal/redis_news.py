"""What is heard from Redis by publish and subscribe, and how what was missed is found.

The law of this file: news may be lost, late or heard twice; it is passed on whole, in order and
once. A stream's entries are numbered, so a gap shows, and is read. Whenever the connection for
news was made anew, every stream and every subject that somebody listens to is read again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, Protocol

import structlog

from croupier_server.journal.base import (
    Append,
    Cancel,
    Deliver,
    DeliverRow,
    JournalError,
    JournalUnavailable,
    Row,
    Stored,
)
from croupier_server.journal.local import Listeners, Subscribers
from croupier_server.journal.redis_scripts import Names, StoredRow, subjects_in, unpack_news, unpack_row
from croupier_server.journal.redis_wire import ANSWER_SECONDS, Wire

_log: Final = structlog.get_logger()

_AGAIN_SECONDS: Final = 0.2
_ROWS_REMEMBERED: Final = 10_000
_CHANNELS_A_COMMAND: Final = 500


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


class _Followed:
    """A stream that is listened to here: ``_last`` is the last number passed on, None at first."""

    def __init__(self, stream: str, reads: Reads, listeners: Listeners) -> None:
        self.listening = 0
        self.ready: Final[asyncio.Future[None]] = asyncio.get_running_loop().create_future()
        self.missed: Final = Repeated(self._read)
        self._stream: Final = stream
        self._reads: Final = reads
        self._listeners: Final = listeners
        self._last: int | None = None
        self._awaited: list[tuple[int, asyncio.Future[None]]] = []

    def take(self, entries: Sequence[Stored]) -> bool:
        """Pass on what is next, and have read what is missing; False when that has yet to come."""
        first, end = entries[0].seq, entries[-1].seq
        if self._last is None or end <= self._last:
            return True
        if first > self._last + 1:
            self.missed.ask()
            return False
        after, self._last = self._last, end
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
        if self._last is None:
            self._last = await self._reads.last_seq(self._stream)
            self.ready.set_result(None)
            return
        last = self._last
        stored = await self._reads.read(self._stream, last)
        if stored:
            self.take(stored)
        elif (now := await self._reads.last_seq(self._stream)) < last:
            # Redis was set back, by a failover or a restart. Who knows more than it does is wrong now.
            _log.error("journal.went_back", stream=self._stream, was=last, now=now)


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
            self.take(before.get(stream, ()), stored)


class News:
    """All that is listened to here, on one connection."""

    def __init__(self, reads: Reads, names: Names) -> None:
        self._reads: Final = reads
        self._names: Final = names
        self._listeners: Final = Listeners()
        self._rows: Final = _Rows(reads)
        self._followed: Final[dict[str, _Followed]] = {}
        self._wire: Wire | None = None

    async def greet(self, wire: Wire) -> None:
        """Subscribe on a new connection to all that is listened to. Raises ``JournalError``."""
        # A row that is told between these two is taken for an answer; all rows are read below.
        await wire.call("SUBSCRIBE", self._names.rows)
        await wire.call("SSUBSCRIBE", self._names.probe)
        self._wire = wire
        channels = list(self._followed)
        for start in range(0, len(channels), _CHANNELS_A_COMMAND):
            wire.tell("SSUBSCRIBE", *channels[start : start + _CHANNELS_A_COMMAND])
        self._rows.missed.ask()

    def hear(self, reply: Any) -> None:
        """Take what the connection says."""
        if isinstance(reply, Exception) and self._wire is not None:
            self._wire.cut(JournalUnavailable(f"Redis refuses news: {reply}"))
        if not isinstance(reply, list) or len(reply) != 3:
            return  # it is there, it says
        kind, channel, said = reply
        if kind == b"message":
            head, _, row = said.partition(b"\n")
            self._rows.take(subjects_in(head), unpack_row(row))
        elif kind in {b"smessage", b"ssubscribe"}:
            followed = self._followed.get(channel.decode())
            if followed is not None and kind == b"ssubscribe":
                followed.missed.ask()
            elif followed is not None:
                followed.take(unpack_news(said))

    def appended(self, batch: Append, row_before: bytes) -> asyncio.Future[None] | None:
        """Deliver what was appended here; a future when entries before it are still to be read."""
        last = batch.after + len(batch.entries)
        if batch.row is not None:
            self._rows.take(subjects_in(row_before), StoredRow(batch.row, last))
        followed = self._followed.get(self._names.entries(batch.stream)) if self._followed else None
        if followed is None:
            return None
        entries = [Stored(seq, data) for seq, data in enumerate(batch.entries, batch.after + 1)]
        return None if followed.take(entries) else followed.reached(last)

    async def listen(self, stream: str, after: int, deliver: Deliver) -> Cancel:
        """See ``Journal.listen``."""
        channel = self._names.entries(stream)
        followed = self._followed.get(channel)
        if followed is None:
            followed = self._followed[channel] = _Followed(stream, self._reads, self._listeners)
            if self._wire is not None:
                self._wire.tell("SSUBSCRIBE", channel)
        followed.listening += 1
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await asyncio.shield(followed.ready)
            cancel_one = await self._listeners.listen(stream, after, deliver, self._reads.read)
        except TimeoutError:
            self._let_go(channel, followed)
            raise JournalUnavailable("Redis does not confirm a subscription") from None
        except BaseException:
            self._let_go(channel, followed)
            raise
        is_open = True

        def cancel() -> None:
            nonlocal is_open
            cancel_one()
            if is_open:
                is_open = False
                self._let_go(channel, followed)

        return cancel

    def _let_go(self, channel: str, followed: _Followed) -> None:
        followed.listening -= 1
        if followed.listening == 0 and self._followed.get(channel) is followed:
            del self._followed[channel]
            followed.missed.stop()
            if self._wire is not None:
                self._wire.tell("SUNSUBSCRIBE", channel)

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """See ``Journal.listen_rows``."""
        return await self._rows.listen(subject, deliver)

    def stop(self) -> None:
        """Read nothing any more."""
        self._rows.missed.stop()
        for followed in self._followed.values():
            followed.missed.stop()
