"""The way to the server: addresses, channels, the token, and unary calls that are repeated.

The law of this file: a call goes out over the current route; when the route fails it is left
for a fresh channel to the next address, and closed once its last call is over. Whatever is
repeated is repeated unchanged, so with the same ``request_id``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Self, TypeVar

import grpc
from google.protobuf.message import Message

from croupier.errors import ConnectionLost, Error, Unauthenticated, Unavailable, error_from_rpc
from croupier.retry import Backoff, Retry
from croupier.v1 import games_pb2
from croupier.v1.games_pb2_grpc import GameServiceStub
from croupier.v1.players_pb2_grpc import PlayerServiceStub
from croupier.v1.tables_pb2_grpc import TableServiceStub

log = logging.getLogger("croupier")

Transport = Callable[[str], grpc.aio.Channel]
"""Makes a channel to an address. Hand in your own to test without a network, or to share channels."""

Metadata = tuple[tuple[str, str], ...]

_RequestT = TypeVar("_RequestT", bound=Message)
_ResponseT = TypeVar("_ResponseT", bound=Message)

# With its own connection a new channel really is a new way; and gRPC's own waits, which grow to
# two minutes, would hide the ones that are decided here.
_CHANNEL_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.max_reconnect_backoff_ms", 5000),
)

_ELSEWHERE: Final = frozenset({"", "SERVER_DRAINING", "TABLE_UNREADABLE"})
"""Reasons after which another connection may help; the empty one is a connection that broke."""


def network(tls: bool | bytes = False) -> Transport:
    """Channels over the network: plain, or TLS with the system's roots (True) or PEM ``bytes``."""
    if tls is False:
        return lambda address: grpc.aio.insecure_channel(address, options=_CHANNEL_OPTIONS)
    credentials = grpc.ssl_channel_credentials(tls if isinstance(tls, bytes) else None)
    return lambda address: grpc.aio.secure_channel(address, credentials, options=_CHANNEL_OPTIONS)


def is_cancelled() -> bool:
    """True when the running task was cancelled; false when only its call was."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Route:
    """One channel and its stubs. ``with route:`` marks it as in use."""

    def __init__(self, address: str, channel: grpc.aio.Channel, close: Callable[[Route], None]) -> None:
        self.address: Final = address
        self.channel: Final = channel
        self.games: Final = GameServiceStub(channel)
        self.players: Final = PlayerServiceStub(channel)
        self.tables: Final = TableServiceStub(channel)
        self._close: Final = close
        self._users = 0
        self._left = False

    def __enter__(self) -> Self:
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        self._close_unused()

    def leave(self) -> None:
        """Close it once nobody uses it any more."""
        self._left = True
        self._close_unused()

    def _close_unused(self) -> None:
        if self._left and self._users == 0:
            self._close(self)


Method = Callable[[Route], grpc.aio.UnaryUnaryMultiCallable[_RequestT, _ResponseT]]
"""Picks a method's stub: ``lambda route: route.tables.GetTable``."""


class Connection:
    """All calls of one client."""

    def __init__(
        self,
        addresses: Sequence[str],
        transport: Transport,
        *,
        metadata: Metadata = (),
        language: str = "",
        retry_for: float | None = 60.0,
        timeout: float = 10.0,
        backoff: Backoff | None = None,
    ) -> None:
        if not addresses:
            raise ValueError("a client needs at least one address, as in 127.0.0.1:50051")
        self.retry_for = retry_for
        self.silence = 45.0
        self.clock_offset = 0.0
        self.token = ""
        self.sign_in_again: Callable[[str], Awaitable[None]] | None = None
        self._addresses: Final = tuple(addresses)
        self._transport: Final = transport
        self._metadata: Final = metadata + ((("accept-language", language),) if language else ())
        self._timeout: Final = timeout
        self._backoff: Final = backoff or Backoff()
        self._next = 0
        self._route: Route | None = None
        self._patient = 0
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def learn(self, info: games_pb2.GetServerInfoResponse) -> None:
        """Take over what the server says of its heartbeat and its clock."""
        heartbeat = info.heartbeat.ToNanoseconds() / 1e9
        if heartbeat > 0:
            self.silence = 3 * heartbeat
        if info.HasField("server_time"):
            self.clock_offset = info.server_time.ToNanoseconds() / 1e9 - time.time()

    def server_time(self) -> float:
        """The server's clock now, in Unix seconds, as far as it is known."""
        return time.time() + self.clock_offset

    # --- routes ---------------------------------------------------------------------------------

    def route(self) -> Route:
        """The current route. Raises ``ConnectionLost`` when the client is closed."""
        self.check_open()
        if self._route is None:
            address = self._addresses[self._next % len(self._addresses)]
            self._route = Route(address, self._transport(address), self._close_route)
        return self._route

    def leave(self, route: Route) -> None:
        """Take another route from now on; calls under way on this one go on."""
        if route is self._route:
            self._route = None
            self._next += 1
            route.leave()

    def check_open(self) -> None:
        """Raises ``ConnectionLost`` when the client is closed."""
        if self._closed:
            raise ConnectionLost("the client is closed")

    def _close_route(self, route: Route) -> None:
        task = asyncio.get_running_loop().create_task(route.channel.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def shut(self) -> None:
        """From now on nothing is tried (again): everything ends with ``ConnectionLost``."""
        self._closed = True

    async def close(self) -> None:
        """Close every channel; calls under way end with ``ConnectionLost``."""
        self.shut()
        if self._route is not None:
            self._close_route(self._route)
            self._route = None
        while self._closing:
            await asyncio.wait(self._closing)

    # --- trying again ---------------------------------------------------------------------------

    def retry(self) -> Retry:
        """A new count of failures, held to the bound that stands at each of them."""
        return Retry(self._backoff, lambda: None if self._patient else self.retry_for)

    @contextmanager
    def without_bound(self) -> Iterator[None]:
        """While inside, nothing is given up for having failed too long."""
        self._patient += 1
        try:
            yield
        finally:
            self._patient -= 1

    async def mend(self, error: Error, retry: Retry, route: Route, token: str) -> None:
        """After ``error`` on a call with ``token``: wait, and be ready to try again.

        Raises ``error`` when trying again cannot help, ``ConnectionLost`` when it is too late.
        """
        self.check_open()
        if isinstance(error, Unauthenticated) and self.sign_in_again and retry.may_sign_in_again(error):
            if token == self.token:
                await self.sign_in_again(token)
            return
        delay = retry.delay(error)
        log.debug("%s: %s; again in %.2f s", route.address, error, delay)
        if error.reason in _ELSEWHERE:
            self.leave(route)
        await asyncio.sleep(delay)

    # --- calls ----------------------------------------------------------------------------------

    def metadata(self, table: str = "", *, authorized: bool = True) -> Metadata:
        """What goes with a call: the token, the language, the routing hint of a table."""
        metadata = self._metadata
        if self.token and authorized:
            metadata += (("authorization", f"Bearer {self.token}"),)
        if table:
            metadata += (("croupier-table", table),)
        return metadata

    async def call(
        self,
        method: Method[_RequestT, _ResponseT],
        request: _RequestT,
        *,
        table: str = "",
        authorized: bool = True,
    ) -> _ResponseT:
        """A unary call, repeated while that can help. Raises the ``Error`` that it ends with."""
        retry = self.retry()
        while True:
            route, token = self.route(), self.token
            metadata = self.metadata(table, authorized=authorized)
            try:
                with route:
                    return await method(route)(request, timeout=self._timeout, metadata=metadata)
            except grpc.aio.AioRpcError as failed:
                error = error_from_rpc(failed)
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                error = Unavailable("the connection was closed")
            if isinstance(error, Unauthenticated) and not authorized:
                raise error
            await self.mend(error, retry, route, token)
