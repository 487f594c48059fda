"""Which Redis has what: one server with all of it, or what every way of having several must do.

The law of this file: a command goes to the server that has its slot, on one of the three lasting
connections there; nobody else picks a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeVar

from croupier_server.journal.redis_link import Link
from croupier_server.journal.redis_names import SHARDS
from croupier_server.journal.redis_wire import Part, Wire

Way = Literal["append", "read"]
"""Which connection a command takes: appends must not wait for long reads."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One server that takes writes, and the connections to it."""

    shown: str
    append: Link
    read: Link
    news: Link

    def __post_init__(self) -> None:
        for link in self.links:
            link.others = tuple(other for other in self.links if other is not link)

    @property
    def links(self) -> tuple[Link, Link, Link]:
        """All of them."""
        return self.append, self.read, self.news

    def way(self, way: Way) -> Link:
        """The connection for commands of a kind."""
        return self.append if way == "append" else self.read


class Servers(Protocol):
    """All servers that hold a journal. A slot is where Redis Cluster puts a key."""

    @property
    def nodes(self) -> list[Node]:
        """Those that are known to hold a part."""

    def shards_of(self, node: Node) -> Collection[int]:
        """The numbers of the shards that are there."""

    def of_shard(self, shard: int) -> Node | None:
        """Where a shard is, if that is known."""

    def look(self) -> None:
        """Something has moved: find out soon where everything is."""

    async def open(self) -> None:
        """Connect. Raises ``JournalError``."""

    async def attempt(
        self, way: Way, slot: int, do: Callable[[Wire], Awaitable[_Answer]], *, one_key: bool = True
    ) -> _Answer:
        """Do something on the connection for a slot, again where its server sends it elsewhere.

        ``do`` is done again only after it raised ``Redirected``, so nothing is done twice. What
        needs more than ``one_key`` of a slot on its way to another server waits for its arrival.
        Raises ``JournalUnavailable``.
        """

    async def close_appends(self) -> None:
        """Wait for what is under way; take no more."""

    async def close(self) -> None:
        """Let go of everything."""


async def call(servers: Servers, way: Way, slot: int, *command: Part) -> Any:
    """The reply to a command that reads or writes one key. Raises ``JournalUnavailable``."""
    return await servers.attempt(way, slot, lambda wire: wire.call(*command))


class OneServer:
    """A Redis that is no cluster."""

    def __init__(self, node: Node) -> None:
        self._node: Final = node
        self.nodes: Final = [node]

    def shards_of(self, node: Node) -> Collection[int]:
        """See ``Servers.shards_of``."""
        return range(SHARDS) if node is self._node else ()

    def of_shard(self, shard: int) -> Node | None:  # noqa: ARG002 (as in ``Servers``)
        """See ``Servers.of_shard``."""
        return self._node

    def look(self) -> None:
        """There is nowhere to look."""

    async def open(self) -> None:
        """See ``Servers.open``."""
        for link in self._node.links:
            await link.open()

    async def attempt(
        self,
        way: Way,
        slot: int,  # noqa: ARG002 (as in ``Servers``)
        do: Callable[[Wire], Awaitable[_Answer]],
        *,
        one_key: bool = True,  # noqa: ARG002
    ) -> _Answer:
        """See ``Servers.attempt``."""
        return await do(await self._node.way(way).wire())

    async def close_appends(self) -> None:
        """See ``Servers.close_appends``."""
        await self._node.append.close()

    async def close(self) -> None:
        """See ``Servers.close``."""
        await asyncio.gather(*(link.close() for link in self._node.links))
