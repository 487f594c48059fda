"""A connection to Redis that is made again whenever it is lost.

The law of this file: what was sent is never sent again, for nobody knows what became of it. A
lost connection is made again at once, and then ever less often; who calls meanwhile waits for the
first attempt at most, and not at all where the server was silent: then all connections to it go.
An outage is logged when it begins and when all of it is over.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog

from croupier_server.journal.base import JournalRefused, JournalUnavailable, NotWritten, QueueFull
from croupier_server.journal.redis_url import Address
from croupier_server.journal.redis_wire import (
    ANSWER_SECONDS,
    Confirm,
    Handle,
    Part,
    Silent,
    Wire,
)

_log: Final = structlog.get_logger()

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0
_NEVER_UP: Final = JournalUnavailable("not connected to Redis")


class NotConnected(NotWritten):
    """There is no connection now."""


class Outages:
    """Which parts of something fail now. The first is logged, and that none is left.

    Of what comes between only a refusal is logged that says something else: a password is wanted
    where first there was no connection.
    """

    def __init__(self, began: str, ended: str, when_one_began: Callable[[], None] = lambda: None) -> None:
        """The names of the two events."""
        self._events: Final = (began, ended)
        self._when_one_began: Final = when_one_began
        self._parts: Final[set[str]] = set()
        self._said = ""

    def __bool__(self) -> bool:
        return bool(self._parts)

    def began(self, part: str, problem: Exception) -> None:
        """A part fails, and may have failed before."""
        if not self._parts or (isinstance(problem, NotWritten) and str(problem) != self._said):
            self._said = str(problem)
            _log.error(self._events[0], part=part, error=self._said)
        self._parts.add(part)
        self._when_one_began()

    def ended(self, part: str) -> None:
        """A part works."""
        if part in self._parts:
            self._parts.remove(part)
            if not self._parts:
                _log.info(self._events[1])


class Link:
    """A lasting connection. ``open`` or ``begin`` makes it, ``close`` ends it."""

    def __init__(
        self,
        address: Address,
        outages: Outages,
        part: str,
        greet: Callable[[Wire], Awaitable[None]],
        *,
        most_waiting: int,
        confirm: Confirm | None = None,
        news: Handle | None = None,
    ) -> None:
        """``greet`` readies each new connection and may refuse it with a ``JournalError``.

        ``part`` tells it from others where an outage is counted.
        """
        self.part: Final = part
        self._address: Final = address
        self._outages: Final = outages
        self._greet: Final = greet
        self._most_waiting: Final = most_waiting
        self._confirm: Final = confirm
        self._news: Final = news
        self._wire: Wire | None = None
        self._why: Exception = _NEVER_UP
        self.others: tuple[Link, ...] = ()
        """The other connections to the same server."""
        self._lost: Final = asyncio.Event()
        self._tried: Final = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect for the first time. Raises ``JournalError``."""
        self._wire = await self._connect()
        self._keeper = asyncio.create_task(self._keep(), name=f"redis {self.part}")

    def begin(self) -> None:
        """Connect in the background, however often it takes."""
        self._lost.set()
        self._keeper = asyncio.create_task(self._keep(), name=f"redis {self.part}")

    async def close(self) -> None:
        """Wait for the answers to what is under way, then let go of the connection."""
        if self._wire is not None and self._wire.waiting:
            await asyncio.gather(self._wire.call("PING"), return_exceptions=True)
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        self._tried.set()
        if self._wire is not None:
            wire = self._wire
            wire.cut(JournalUnavailable("the journal is closed"))
            await wire.gone.wait()

    @property
    def up(self) -> bool:
        """True while there is a connection."""
        return self._wire is not None

    @property
    def waiting(self) -> int:
        """How many commands wait for an answer."""
        return self._wire.waiting if self._wire is not None else 0

    async def wire(self) -> Wire:
        """The connection. Raises ``QueueFull`` or ``NotConnected``."""
        if self._wire is None:
            await self._tried.wait()
        if self._wire is None:
            raise NotConnected(str(self._why)) from self._why
        if self._wire.waiting >= self._most_waiting:
            raise QueueFull(f"{self._wire.waiting} commands wait for Redis already")
        return self._wire

    async def call(self, *command: Part) -> Any:
        """A command's reply. Raises ``JournalUnavailable``."""
        return await (await self.wire()).call(*command)

    def tell(self, *command: Part) -> None:
        """Send a command whose answers are news, if there is a connection."""
        if self._wire is not None:
            self._wire.tell(*command)

    def cut(self, why: Exception) -> None:
        """Give this connection up for another."""
        if self._wire is not None:
            self._wire.cut(why)

    def _was_lost(self, wire: Wire, why: Exception) -> None:
        if wire is self._wire:
            self._wire, self._why = None, why
            self._lost.set()
            if not isinstance(why, Silent):
                self._tried.clear()
                return
            self._tried.set()
            for link in self.others:
                link.cut(why)

    async def _keep(self) -> None:
        """Make the connection again whenever it is lost."""
        while True:
            await self._lost.wait()
            self._lost.clear()
            if self._why is not _NEVER_UP:
                self._outages.began(self.part, self._why)
            pause = _FIRST_PAUSE
            while self._wire is None:
                try:
                    self._wire = await self._connect()
                except Exception as error:  # noqa: BLE001 (whatever it is, there will be another try)
                    self._why = error
                    self._outages.began(self.part, error)
                    self._tried.set()
                    await asyncio.sleep(pause * random.uniform(0.7, 1.0))  # noqa: S311 (spreads the load)
                    pause = min(2 * pause, _LONGEST_PAUSE)
            self._tried.set()
            self._outages.ended(self.part)

    async def _connect(self) -> Wire:
        """A new connection, greeted. Raises ``JournalError``."""
        wire = Wire(self._was_lost, self._news)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._dial(wire)
                for command in self._address.greeting(f"croupier-{self.part.partition(' ')[0]}"):
                    await wire.call(*command)
                await self._greet(wire)
        except TimeoutError:
            raise await self._given_up(wire, f"{self._address.shown} does not answer") from None
        except OSError as error:
            given_up = await self._given_up(wire, f"{self._address.shown}: {error}")
            raise (JournalRefused(str(given_up)) if _is_about_tls(error) else given_up) from error
        except BaseException:
            await self._given_up(wire, "not ready")
            raise
        if wire.over:
            raise JournalUnavailable("the connection to Redis was lost at once")
        wire.confirm = self._confirm
        return wire

    async def _dial(self, wire: Wire) -> None:
        loop, address = asyncio.get_running_loop(), self._address
        try:
            if address.socket:
                await loop.create_unix_connection(lambda: wire, address.socket)
            else:
                tls = address.tls_context()
                await loop.create_connection(lambda: wire, address.host, address.port, ssl=tls)
        except BaseException:
            # Cancelled in the moment in which it is made, it is closed; uvloop does not say so.
            wire.connection_lost(None)
            raise

    async def _given_up(self, wire: Wire, problem: str) -> JournalUnavailable:
        error = JournalUnavailable(problem)
        wire.cut(error)
        await wire.gone.wait()
        return error


def _is_about_tls(error: OSError) -> bool:
    """Whether a server was reached that is not trusted or speaks no TLS; not that it went away meanwhile."""
    lost = ssl.SSLEOFError | ssl.SSLZeroReturnError | ssl.SSLSyscallError
    return isinstance(error, ssl.SSLError) and not isinstance(error, lost)
