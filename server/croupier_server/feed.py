"""What is due to one client stream, bounded and coalesced.

The law of this file: one feed per stream, one writer per feed. What is due goes out in one
message, since a message's cost is per write. A feed never waits for its client: when its queue
is full, the table's updates are dropped and the table is marked; once the client has read, it
gets a snapshot in their place (policy: drop and resync). Results of moves are never dropped:
whoever takes commands from the client waits while it is ``crowded`` with answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol, Self

from croupier.v1 import streams_pb2
from croupier_server.errors import Refusal, refuse
from croupier_server.views import delimited, timestamp

_HEARTBEAT, _RECONNECT, _RESULT = 2, 3, 4
_MESSAGE_BYTES: Final = 192 * 1024
"""A response is closed when it has grown to this; the largest update stays below the limit."""
_ANSWER_BYTES: Final = 64 * 1024
"""How much in answers may wait before no more commands are taken."""


class Resyncable(Protocol):
    """A subscription that can be brought up to date without what was dropped."""

    def resync(self) -> tuple[bytes, bool]:
        """Chunks that replace what was dropped, and whether there are more to ask for."""


class Feed:
    """The outgoing side of one stream: a bounded queue of chunks and the responses made of them.

    Made on the event loop that it is used on; one reader takes its responses.
    """

    __slots__ = (
        "_bytes",
        "_chunks",
        "_ending",
        "_extra_bytes",
        "_extras",
        "_limit",
        "_loop",
        "_overdue",
        "_overflows",
        "_room",
        "_waiter",
        "_waking",
        "last_write",
        "replaying",
    )

    def __init__(self, limit_bytes: int, on_overflow: Callable[[], None] = lambda: None) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque()
        self._extras: deque[bytes] = deque()
        self._bytes = 0
        self._extra_bytes = 0
        self._limit: Final = limit_bytes
        self._overdue: dict[Resyncable, None] = {}
        self._overflows: Final = on_overflow
        self._waiter: asyncio.Future[None] | None = None
        self._waking = False
        self._room: asyncio.Future[None] | None = None
        self._ending: Exception | bool = False
        self.last_write = time.monotonic()
        self.replaying: Final = asyncio.Lock()
        """Held by the one subscription that is being given its past."""

    @property
    def ended(self) -> bool:
        """True once the stream is to end; what is pushed later is dropped."""
        return self._ending is not False

    def push(self, subscription: Resyncable, chunk: bytes) -> bool:
        """Queue an update of a subscription; False when the queue is full: it is marked then."""
        if subscription in self._overdue or self._ending is not False:
            return False
        if self._bytes + len(chunk) > self._limit and self._chunks:
            self._overdue[subscription] = None
            self._overflows()
            return False
        self._put(chunk)
        return True

    def _put(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._bytes += len(chunk)
        self._wake()

    def push_result(self, result: bytes) -> None:
        """Queue an encoded ``MoveResult``; never dropped."""
        self.push_note(delimited(_RESULT, result))

    def push_note(self, chunk: bytes) -> None:
        """Queue a chunk that belongs to no subscription, such as a refused one's end."""
        self._extras.append(chunk)
        self._extra_bytes += len(chunk)
        self._wake()

    def heartbeat(self, now_ms: int) -> None:
        """Queue a sign of life, unless something is queued that will be one."""
        if self._chunks or self._extras:
            return
        beat = streams_pb2.Heartbeat(server_time=timestamp(now_ms))
        self.push_note(delimited(_HEARTBEAT, beat.SerializeToString()))

    def ask_to_reconnect(self, within_seconds: int) -> None:
        """Queue the hint that the stream ends soon."""
        hint = streams_pb2.Reconnect()
        hint.within.FromSeconds(within_seconds)
        self.push_note(delimited(_RECONNECT, hint.SerializeToString()))

    @property
    def behind(self) -> bool:
        """True when something is owed to any subscription."""
        return bool(self._overdue)

    def owes(self, subscription: Resyncable) -> bool:
        """True when updates of the subscription were dropped and no snapshot was sent yet."""
        return subscription in self._overdue

    def bring_up(self, subscription: Resyncable) -> None:
        """Queue what replaces the dropped updates of a subscription, whatever is queued already."""
        chunk, more = subscription.resync()
        if not more:
            self._overdue.pop(subscription, None)
        self._put(chunk)

    def forget(self, subscription: Resyncable) -> None:
        """A subscription is over: nothing more is owed to it."""
        self._overdue.pop(subscription, None)

    def finish(self, error: Exception | None = None) -> None:
        """End the stream once what is queued has gone out: with OK, a refusal, or a fault."""
        if self._ending is False:
            self._ending = error if error is not None else True
            self._wake()
            self._open_room()

    @property
    def crowded(self) -> bool:
        """True when so many answers wait to be read that no more commands are to be taken."""
        return (self._extra_bytes > _ANSWER_BYTES or self._bytes > self._limit) and not self.ended

    async def read(self) -> None:
        """Wait until the client has read enough of its answers (or the stream ends)."""
        while self.crowded:
            await self._next_take()

    async def room(self) -> None:
        """Wait until half of the queue is free (or the stream ends): for those with much to send."""
        while self._bytes > self._limit // 2 and not self.ended:
            await self._next_take()

    async def _next_take(self) -> None:
        if self._room is None:
            self._room = self._loop.create_future()
        await asyncio.shield(self._room)

    def __aiter__(self) -> Self:
        """The responses to write, each as large as what was due; raises what it was finished with."""
        return self

    async def __anext__(self) -> bytes:
        while not (self._chunks or self._extras):
            if self._ending is not False:
                raise self._ending if isinstance(self._ending, Exception) else StopAsyncIteration
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        self.last_write = time.monotonic()
        return self._take()

    def _take(self) -> bytes:
        size, parts = 0, []
        for queue in (self._chunks, self._extras):
            while queue and size < _MESSAGE_BYTES:
                part = queue.popleft()
                size += len(part)
                parts.append(part)
        self._bytes = 0 if not self._chunks else sum(map(len, self._chunks))
        self._extra_bytes = 0 if not self._extras else sum(map(len, self._extras))
        if self._overdue and not self._chunks:
            self._resync()
        self._open_room()
        return b"".join(parts)

    def _resync(self) -> None:
        """Bring marked subscriptions up to date as far as there is room; the rest stays marked."""
        while self._overdue and self._bytes <= self._limit // 2:
            self.bring_up(next(iter(self._overdue)))

    def _wake(self) -> None:
        # Two turns of the loop later: that far can a move's result be behind its event.
        if self._waiter is not None and not self._waking:
            self._waking = True
            self._loop.call_soon(self._loop.call_soon, self._woken)

    def _woken(self) -> None:
        self._waking = False
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _open_room(self) -> None:
        if self._room is not None:
            self._room.set_result(None)
            self._room = None


class Feeds:
    """All open feeds of this process: their heartbeats and their end when the process drains."""

    def __init__(
        self,
        *,
        limit_bytes: int,
        heartbeat_seconds: float,
        now_ms: Callable[[], int],
        on_overflow: Callable[[], None] = lambda: None,
    ) -> None:
        self._feeds: set[Feed] = set()
        self._limit: Final = limit_bytes
        self._heartbeat: Final = heartbeat_seconds
        self._now_ms: Final = now_ms
        self._on_overflow: Final = on_overflow
        self._ticker: asyncio.TimerHandle | None = None
        self._draining = False

    def __len__(self) -> int:
        return len(self._feeds)

    def open(self) -> Feed:
        """A new feed. Raises ``Refusal`` SERVER_DRAINING."""
        if self._draining:
            raise draining()
        feed = Feed(self._limit, self._on_overflow)
        self._feeds.add(feed)
        if self._ticker is None:
            self._tick()
        return feed

    def close(self, feed: Feed) -> None:
        """The stream is over: whoever waits for its client waits no longer."""
        self._feeds.discard(feed)
        feed.finish()

    def drain(self, within_seconds: int) -> None:
        """Hint every stream to reconnect, then end it with SERVER_DRAINING."""
        self._draining = True
        for feed in tuple(self._feeds):
            feed.ask_to_reconnect(within_seconds)
            feed.finish(draining())

    def stop(self) -> None:
        """No more heartbeats."""
        if self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None

    def _tick(self) -> None:
        now = time.monotonic()
        wait = max(self._heartbeat / 4, 0.01)
        for feed in self._feeds:
            if now - feed.last_write + wait >= self._heartbeat:
                feed.heartbeat(self._now_ms())
        self._ticker = asyncio.get_running_loop().call_later(wait, self._tick)


def draining() -> Refusal:
    """What new and open streams are told when the process goes away."""
    return refuse("SERVER_DRAINING", "this server is going away; connect again and resume")
