"""Connections to Redis: commands go out in order, many before the first answer, and come back so.

The law of this file: each command gets exactly one outcome, its reply or an error, within
``ANSWER_SECONDS`` and some; a connection that owes an answer for longer is cut. A command is never
sent twice. A link that was lost is made again, at once and then ever less often.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

import hiredis
import structlog

from croupier_server.journal.base import JournalError, JournalUnavailable, QueueFull
from croupier_server.journal.redis_url import Address

_log: Final = structlog.get_logger()

ANSWER_SECONDS: Final = 3.0
"""How long a command may wait for its answer, and a connection for being made."""
_LOOK_SECONDS: Final = 0.5
_WAIT_MS: Final = 2_000
"""How long Redis waits for replicas; below ``ANSWER_SECONDS``, so that it answers."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0

Part = str | bytes | int
Handle = Callable[[Any], None]
"""Gets a command's reply, or an exception. Called once, in the order of the commands."""


class NotWritten(JournalUnavailable):
    """The server refused a command, so nothing was written: out of memory, a replica, no rights."""


class NotConfirmed(JournalUnavailable):
    """Stored on the primary, but fewer replicas than ``wait`` asks for have said that they have it."""


_REFUSALS: Final = {
    "OOM": "Redis is out of memory (maxmemory)",
    "READONLY": "this Redis is a read-only replica",
    "MISCONF": "Redis cannot write to its disk",
    "NOREPLICAS": "Redis has too few replicas to write (min-replicas-to-write)",
    "MASTERDOWN": "this Redis is a replica that has lost its primary",
    "LOADING": "Redis is still loading its data",
    "BUSY": "Redis is busy with a script",
    "CLUSTERDOWN": "the Redis cluster is down",
    "WRONGTYPE": "a key of the journal holds something else: is this database shared with another program?",
    "NOAUTH": "Redis wants a password",
    "WRONGPASS": "Redis does not take this user and password",
    "NOPERM": "this Redis user lacks rights that the journal needs",
}


def refusal(reply: Exception) -> JournalUnavailable:
    """What an error reply means. Anything unforeseen may have happened after a write."""
    if isinstance(reply, JournalUnavailable):
        return reply
    text = str(reply)
    meaning = _REFUSALS.get(text.partition(" ")[0])
    if meaning is not None:
        return NotWritten(meaning)
    return JournalUnavailable(f"Redis answers: {text[:120]}")


class Wire(asyncio.Protocol):
    """One connection. ``news`` gets the replies that answer no command: those of pub/sub."""

    def __init__(self, lost: Callable[[Exception], None], news: Handle | None, wait: int = 0) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._lost: Final = lost
        self._news: Final = news
        self._wait: Final = wait
        self._nothing: Final = object()
        self._reader: Final = hiredis.Reader(notEnoughData=self._nothing)
        self._waiting: Final[deque[tuple[float, Handle]]] = deque()
        self._unsent: list[tuple[bytes, Handle]] = []
        self._transport: asyncio.Transport | None = None
        self._heard_at = self._loop.time()
        self._watch: asyncio.TimerHandle | None = None
        self._why: Exception | None = None

    @property
    def waiting(self) -> int:
        """How many commands wait for their answer."""
        return len(self._waiting) + len(self._unsent)

    def send(self, packed: bytes, handle: Handle) -> None:
        """Queue a command; all of one turn of the event loop go out in one write."""
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append((packed, handle))

    def call(self, *command: Part) -> asyncio.Future[Any]:
        """Send a command; its reply. Raises ``JournalUnavailable``."""
        answer = self._loop.create_future()
        self.send(hiredis.pack_command(command), partial(settle, answer))
        return answer

    def cut(self, why: Exception) -> None:
        """End the connection; all who wait get ``why``."""
        self._why = self._why or why
        if self._transport is not None:
            self._transport.abort()

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is None or self._transport.is_closing():
            self._fail([handle for _, handle in unsent])
            return
        now = self._loop.time()
        handles = [handle for _, handle in unsent]
        out = [packed for packed, _ in unsent]
        if self._wait and self._news is None:
            group = _Confirmed(self._wait, handles)
            handles = [*([group.hold] * len(handles)), group.release]
            out.append(hiredis.pack_command(("WAIT", self._wait, _WAIT_MS)))
        self._waiting.extend([(now, handle) for handle in handles])
        self._transport.write(b"".join(out))

    def _fail(self, handles: list[Handle]) -> None:
        why = self._why or JournalUnavailable("the connection to Redis is closed")
        for handle in handles:
            handle(why)

    def _look(self) -> None:
        """Cut a connection that owes an answer for too long; ask one that only listens."""
        now = self._loop.time()
        late = self._waiting and now - self._waiting[0][0] > ANSWER_SECONDS
        if self._news is not None:
            late = now - self._heard_at > 2 * ANSWER_SECONDS
            if self._transport is not None and now - self._heard_at > ANSWER_SECONDS:
                self._transport.write(b"*1\r\n$4\r\nPING\r\n")
        if late:
            self.cut(JournalUnavailable(f"Redis has not answered for {ANSWER_SECONDS:.0f} seconds"))
        else:
            self._watch = self._loop.call_later(_LOOK_SECONDS, self._look)

    # asyncio calls what follows.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take replies to whoever waits for them."""
        self._heard_at = self._loop.time()
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not self._nothing:
                if self._waiting:
                    self._waiting.popleft()[1](reply)
                elif self._news is not None:
                    self._news(reply)
        except hiredis.ProtocolError:
            self.cut(JournalUnavailable("what answers there does not speak Redis's protocol"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell all who wait."""
        self._why = self._why or JournalUnavailable(f"the connection to Redis was lost: {exc or 'closed'}")
        if self._watch is not None:
            self._watch.cancel()
        waiting = [handle for _, handle in self._waiting]
        self._waiting.clear()
        self._fail(waiting)
        self._lost(self._why)


class _Confirmed:
    """The commands of one write, whose replies are held until WAIT says how many replicas have them."""

    def __init__(self, replicas: int, handles: list[Handle]) -> None:
        self._replicas: Final = replicas
        self._handles: Final = handles
        self._held: Final[list[Any]] = []

    def hold(self, reply: Any) -> None:
        self._held.append(reply)

    def release(self, replicas: Any) -> None:
        error: Exception | None = None
        if isinstance(replicas, Exception):
            error = replicas
        elif replicas < self._replicas:
            error = NotConfirmed(f"only {replicas} of {self._replicas} replicas have confirmed it in time")
        for handle, reply in zip(self._handles, self._held, strict=True):
            handle(reply if error is None or isinstance(reply, Exception) else error)


def settle(answer: asyncio.Future[Any], reply: Any) -> None:
    """Give a reply to whoever awaits it, if they still do."""
    if answer.done():
        return
    if isinstance(reply, Exception):
        answer.set_exception(refusal(reply))
    else:
        answer.set_result(reply)


class Outages:
    """Which parts of the store fail now. The first is logged, and that none is left."""

    def __init__(self, lost: str, back: str) -> None:
        self._events: Final = (lost, back)
        self._parts: Final[set[str]] = set()

    def __bool__(self) -> bool:
        return bool(self._parts)

    def began(self, part: str, problem: Exception) -> None:
        """A part fails; it may be known to."""
        if not self._parts:
            _log.error(self._events[0], part=part, problem=str(problem))
        self._parts.add(part)

    def ended(self, part: str) -> None:
        """A part works."""
        if part in self._parts:
            self._parts.remove(part)
            if not self._parts:
                _log.info(self._events[1])


class Link:
    """A connection that is made again whenever it is lost. Begun by ``open``.

    ``greet`` readies each new connection; ``news`` is told what answers no command, and with it
    ``came_up``, called after each greeting.
    """

    def __init__(
        self,
        address: Address,
        part: str,
        outages: Outages,
        *,
        greet: Callable[[Wire], Coroutine[Any, Any, None]],
        most_waiting: int,
        news: Handle | None = None,
        came_up: Callable[[], None] = lambda: None,
        wait: int = 0,
    ) -> None:
        self._address: Final = address
        self._part: Final = part
        self._outages: Final = outages
        self._greet: Final = greet
        self._most_waiting: Final = most_waiting
        self._news: Final = news
        self._came_up: Final = came_up
        self._wait: Final = wait
        self._wire: Wire | None = None
        self._made: asyncio.Event = asyncio.Event()
        self._trying = False
        self._why: Exception = JournalUnavailable("not connected to Redis")
        self._keeper: asyncio.Task[None] | None = None
        self._gone: Final = asyncio.Event()

    async def open(self) -> None:
        """Connect for the first time. Raises ``JournalError``."""
        self._wire = await self._connect()
        self._came_up()
        self._keeper = asyncio.create_task(self._keep(), name=f"redis {self._part}")

    async def close(self) -> None:
        """Wait for what is under way, then let go of the connection."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * ANSWER_SECONDS):
                while self._wire is not None and self._wire.waiting and self._news is None:
                    await asyncio.gather(self._wire.call("PING"), return_exceptions=True)
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._wire is not None:
            self._wire.cut(JournalUnavailable("the journal is closed"))
            await self._gone.wait()

    @property
    def waiting(self) -> int:
        """How many commands wait for an answer."""
        return self._wire.waiting if self._wire is not None else 0

    async def wire(self) -> Wire:
        """The connection. While it is being made again for the first time, this waits.

        Raises ``QueueFull``, or ``JournalUnavailable`` when it is lost for longer.
        """
        if self._wire is None and self._trying:
            await self._made.wait()
        if self._wire is None:
            raise JournalUnavailable(str(self._why)) from self._why
        if self._wire.waiting >= self._most_waiting:
            raise QueueFull(f"{self._wire.waiting} commands wait for Redis already")
        return self._wire

    async def call(self, *command: Part) -> Any:
        """A command's reply. Raises ``JournalUnavailable``."""
        return await (await self.wire()).call(*command)

    def cut(self, why: Exception) -> None:
        """End this connection, so that another is made."""
        if self._wire is not None:
            self._wire.cut(why)

    def _lost(self, why: Exception) -> None:
        self._wire, self._why = None, why
        self._trying = True
        self._made.clear()
        self._gone.set()

    async def _keep(self) -> None:
        """Make the connection again whenever it is lost."""
        pause = 0.0
        while True:
            await self._gone.wait()
            await asyncio.sleep(pause)
            try:
                self._wire = await self._connect()
            except JournalError as error:
                self._why = error
                self._outages.began(self._part, error)
                pause = min(max(2 * pause, _FIRST_PAUSE), _LONGEST_PAUSE) * random.uniform(0.7, 1.0)  # noqa: S311
            else:
                pause = 0.0
                self._outages.ended(self._part)
                self._came_up()
            self._trying = False
            self._made.set()

    async def _connect(self) -> Wire:
        self._gone.clear()
        wire = Wire(self._lost_before(), self._news, self._wait)
        ...
