"""The inbox: invitations, and tables to come back to.

The law of this file: what stands is given once, and again only when it has changed, however
often the stream is opened anew. What no longer stands after a break is given as an item without
seats, as the server would have done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import grpc

from croupier.connection import Connection, Route, is_cancelled
from croupier.errors import Error, Unavailable, error_from_rpc
from croupier.retry import Retry
from croupier.v1 import players_pb2

InboxItem = players_pb2.InboxItem


class Standing:
    """What stands in an inbox; tells news from what was given before."""

    def __init__(self) -> None:
        self._given: dict[str, InboxItem] = {}
        self._replay: set[str] | None = set()

    def reopened(self) -> None:
        """The stream begins again with all that stands."""
        self._replay = set()

    def news(self, response: players_pb2.WatchInboxResponse) -> Iterator[InboxItem]:
        """The items of a response that tell anything new."""
        for item in response.items:
            if self._replay is not None:
                self._replay.add(item.table.name)
            if self._given.get(item.table.name) != item:
                yield self._remember(item)
        if response.replayed and self._replay is not None:
            gone, self._replay = self._given.keys() - self._replay, None
            for name in sorted(gone):
                yield self._remember(InboxItem(table=self._given[name].table))

    def _remember(self, item: InboxItem) -> InboxItem:
        if item.invited_seats or item.seats:
            self._given[item.table.name] = item
        else:
            self._given.pop(item.table.name, None)
        return item


async def watch_inbox(connection: Connection, *, once: bool = False) -> AsyncGenerator[InboxItem]:
    """The items of the inbox, without end; with ``once`` those that stand now.

    Raises ``Error`` when it cannot be opened, ``ConnectionLost`` when it is given up.
    """
    standing = Standing()
    retry = connection.retry()
    while True:
        route, token = connection.route(), connection.token
        standing.reopened()
        error: Error | None = None
        try:
            async with aclosing(_responses(connection, route, retry)) as responses:
                async for response in responses:
                    for item in standing.news(response):
                        yield item
                    if response.replayed and once:
                        return
                    if response.HasField("reconnect"):
                        break
        except Error as failed:
            error = failed
        if error is not None:
            await connection.mend(error, retry, route, token)
        else:
            connection.leave(route)
            await asyncio.sleep(retry.spread(0.0))


async def _responses(
    connection: Connection, route: Route, retry: Retry
) -> AsyncGenerator[players_pb2.WatchInboxResponse]:
    """What one call brings. Raises the ``Error`` that it ends with, also when it is silent."""
    call = route.players.WatchInbox(players_pb2.WatchInboxRequest(), metadata=connection.metadata())
    try:
        with route:
            while True:
                async with asyncio.timeout(connection.silence):
                    response = await call.read()
                if not isinstance(response, players_pb2.WatchInboxResponse):
                    raise Unavailable("the server ended the stream")
                retry.succeeded()
                yield response
    except TimeoutError:
        raise Unavailable(f"nothing was heard for {connection.silence:g} s") from None
    except grpc.aio.AioRpcError as failed:
        raise error_from_rpc(failed) from failed
    except asyncio.CancelledError:
        if is_cancelled():
            raise
        raise Unavailable("the stream was cut") from None
    finally:
        call.cancel()
