"""A journal in a Redis Cluster: which node has which slot, learned from the nodes themselves.

The law of this file: the cluster decides where a slot is. What a node says on refusing a command
(``MOVED``, ``ASK``) is believed at once; the whole map is read again whenever something has moved
or a connection is lost. A command is sent again only after a node has refused it.

redis-py's cluster client knows slots and redirections too, but lends each command a connection of
a pool for as long as it takes; its map is not to be had without that.

While a slot is on its way its keys are some here, some there. A move that changes one key follows
it. What changes a shard's common keys (deadlines, rows) waits until the slot has arrived: written
on the far side, they would be there twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, NamedTuple, TypeVar

from croupier_server.journal.base import JournalError, JournalRefused, JournalUnavailable, NotWritten
from croupier_server.journal.redis_link import Link, Outages
from croupier_server.journal.redis_names import SHARDS, shard_slot
from croupier_server.journal.redis_servers import Node, Way
from croupier_server.journal.redis_troubles import Troubles
from croupier_server.journal.redis_url import Address
from croupier_server.journal.redis_wire import ANSWER_SECONDS, Redirected, Wire, pack

SLOTS: Final = 16_384
_PAUSE: Final = 0.05
"""Between two tries while a slot is on its way or has no node."""
_SOON: Final = 0.2
_LATER: Final = 10.0
"""Between two looks at the map, in seconds: while something fails, and while nothing does."""
_ASKING: Final = pack(("ASKING",))

_Answer = TypeVar("_Answer")
_Place = tuple[str, int]


class SlotMap(NamedTuple):
    """What one node says of its cluster; of two maps the one of the higher epoch is newer."""

    whole: bool
    epoch: int
    ranges: list[tuple[int, int, _Place]]


def read_map(info: bytes, slots: list[Any], asked: str) -> SlotMap:
    """The map in the answers to CLUSTER INFO and CLUSTER SLOTS; ``asked`` is the host that answered."""
    said = dict(line.split(":", 1) for line in info.decode().split("\r\n") if ":" in line)
    ranges: list[tuple[int, int, _Place]] = []
    for first, last, primary, *_ in slots:
        host = (primary[0] or b"").decode()
        ranges.append((first, last, (asked if host in {"", "?"} else host, primary[1])))
    return SlotMap(said.get("cluster_state") == "ok", int(said.get("cluster_current_epoch", 0)), ranges)


async def _ask(link: Link, asked: str) -> SlotMap:
    info, slots = await asyncio.gather(link.call("CLUSTER", "INFO"), link.call("CLUSTER", "SLOTS"))
    return read_map(info, slots, asked)


class Cluster:
    """The primaries of a cluster that have a part of the journal."""

    def __init__(
        self,
        address: Address,
        troubles: Troubles,
        make: Callable[[Address], Node],
        moved: Callable[[Collection[int]], None],
    ) -> None:
        """``make`` gives a node with connections not yet open; ``moved`` hears of shards elsewhere."""
        self._address: Final = address
        self._troubles: Final = troubles
        self._make: Final = make
        self._moved: Final = moved
        self._nodes: Final[dict[_Place, Node]] = {}
        self._owners: list[Node | None] = [None] * SLOTS
        self._wanted: Final = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._leaving: Final[set[asyncio.Task[None]]] = set()

    @property
    def nodes(self) -> list[Node]:
        """See ``Servers.nodes``."""
        return list(self._nodes.values())

    def shards_of(self, node: Node) -> Collection[int]:
        """See ``Servers.shards_of``."""
        return [shard for shard in range(SHARDS) if self.of_shard(shard) is node]

    def of_shard(self, shard: int) -> Node | None:
        """See ``Servers.of_shard``."""
        return self._owners[shard_slot(shard)]

    def look(self) -> None:
        """See ``Servers.look``."""
        self._wanted.set()

    async def open(self) -> None:
        """See ``Servers.open``."""
        self._apply(await self._learn())
        # None is left to itself: whoever closes what did not open must find all of them at rest.
        opened = (link.open() for node in self.nodes for link in node.links)
        failed = [each for each in await asyncio.gather(*opened, return_exceptions=True) if each]
        if failed:
            raise next((each for each in failed if isinstance(each, JournalRefused)), failed[0])
        self._keeper = asyncio.create_task(self._keep(), name="redis cluster")

    async def attempt(
        self, way: Way, slot: int, do: Callable[[Wire], Awaitable[_Answer]], *, one_key: bool = True
    ) -> _Answer:
        """See ``Servers.attempt``."""
        until: float | None = None
        asked: Node | None = None
        while True:
            node = asked or self._owners[slot]
            if node is None:
                self.look()
                raise NotWritten("no node of the Redis cluster has this part of the journal now")
            wire = await node.way(way).wire()
            if asked is not None:
                wire.send(_ASKING, lambda _: None)
            try:
                return await do(wire)
            except Redirected as answer:
                until = until or asyncio.get_running_loop().time() + ANSWER_SECONDS
                asked = await self._redirect(answer, node, until, one_key=one_key)

    async def _redirect(self, answer: Redirected, by: Node, until: float, *, one_key: bool) -> Node | None:
        """Where to try instead of where the map says, after a pause if need be. Raises ``NotWritten``."""
        self.look()
        if asyncio.get_running_loop().time() > until:
            why = "is down" if answer.kind == "CLUSTERDOWN" else "is being rearranged"
            raise NotWritten(f"the Redis cluster {why}: {answer}") from None
        if answer.place is not None:
            slot, host, port = answer.place
            node = self._node_at((host or by.shown.rpartition(":")[0].strip("[]"), port))
            if answer.kind == "ASK" and one_key:
                return node
            if answer.kind == "MOVED" and self._owners[slot] is not node:
                self._owners[slot] = node
                self._moved([shard for shard in range(SHARDS) if shard_slot(shard) == slot])
                return None
        await asyncio.sleep(_PAUSE)
        return None

    # --- the map ------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Read the map again now and then, and often while something is wrong."""
        pause = _LATER
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            try:
                self._apply(await self._learn())
            except JournalError:
                pause = _SOON
            else:
                pause = _SOON if self._troubles.lost else _LATER
            await asyncio.sleep(_PAUSE)  # however often a look is asked for

    async def _learn(self) -> SlotMap:
        """The newest map that any node gives which sees the whole cluster. Raises ``JournalError``."""
        up = [(place, node) for place, node in self._nodes.items() if node.read.up]
        said = await asyncio.gather(
            *(_ask(node.read, place[0]) for place, node in up), return_exceptions=True
        )
        maps = [one for one in said if isinstance(one, SlotMap) and one.whole]
        return max(maps, key=lambda one: one.epoch) if maps else await self._learn_from_seeds()

    async def _learn_from_seeds(self) -> SlotMap:
        problems: list[JournalError] = []
        places = {(seed.host, seed.port): seed for seed in self._address.seeds}
        for place in self._nodes:
            places.setdefault(place, self._address.at(*place))
        for seed in places.values():
            link = Link(seed, Outages("", ""), "map", _no_greeting, most_waiting=8)
            try:
                await link.open()
                found = await _ask(link, seed.host)
            except JournalError as error:
                problems.append(error)
                continue
            finally:
                await link.close()
            if found.whole:
                return found
            problems.append(JournalUnavailable("no part of the Redis cluster sees all of it"))
        # One that refuses is no reason to give up while others may come back.
        raise next((each for each in problems if not isinstance(each, JournalRefused)), problems[-1])

    def _apply(self, found: SlotMap) -> None:
        owners: list[Node | None] = [None] * SLOTS
        for first, last, place in found.ranges:
            owners[first : last + 1] = [self._node_at(place)] * (last + 1 - first)
        before, self._owners = self._owners, owners
        for place, node in list(self._nodes.items()):
            if node not in owners:
                self._drop(place)
        slots = ((shard, shard_slot(shard)) for shard in range(SHARDS))
        self._moved([shard for shard, slot in slots if owners[slot] is not before[slot]])

    def _node_at(self, place: _Place) -> Node:
        node = self._nodes.get(place)
        if node is None:
            node = self._nodes[place] = self._make(self._address.at(*place))
            if self._keeper is not None:
                for link in node.links:
                    link.begin()
        return node

    def _drop(self, place: _Place) -> None:
        node = self._nodes.pop(place)
        leaving = asyncio.create_task(self._let_go(node), name="redis node")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def _let_go(self, node: Node) -> None:
        for link in node.links:
            await link.close()
            self._troubles.lost.ended(link.part)
            self._troubles.writes.ended(link.part)

    async def close_appends(self) -> None:
        """See ``Servers.close_appends``."""
        await asyncio.gather(*(node.append.close() for node in self.nodes))

    async def close(self) -> None:
        """See ``Servers.close``."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await asyncio.gather(*(link.close() for node in self.nodes for link in node.links), *self._leaving)


async def _no_greeting(_: Wire) -> None:
    """Whoever asks for the map only needs nothing more."""
