"""What is done to an installation while its players play.

The law of this file: one harm at a time but for freezes, which others go on beside; each is over,
and all that it took away is there again, before the driver is calm. What is harmed next is drawn
from a seed. Nobody helps a server that begins while its way to Redis is cut: it waits by itself.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable

from chaos.cluster import PAST_EVERY_TIMEOUT, Cluster
from system.processes import ServerProcess

Harm = Callable[[], Awaitable[None]]

WEIGHTS = {"kill": 10, "freeze": 3, "cut": 3, "drain": 2, "balancer restart": 2, "redis restart": 2}
"""How often each harm is drawn, beside the others."""


class Driver:
    """Harms a cluster. ``done`` counts what was done."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self._cluster = cluster
        self._rng = random.Random(seed)
        self._frozen: dict[ServerProcess, asyncio.Task[None]] = {}
        self._harms: dict[str, Harm] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "cut": self._cut,
            "drain": self._drain,
            "balancer restart": self._restart_balancer,
            "redis restart": self._restart_redis,
        }

    async def harm(self, kind: str = "") -> str:
        """Do one harm, drawn or of that kind; which it was. One replica is always left unfrozen."""
        kind = kind or self._rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if kind == "freeze" and len(self._frozen) + 1 == len(self._cluster.servers):
            kind = "kill"
        await self._harms[kind]()
        self.done[kind] += 1
        return kind

    async def calm(self) -> None:
        """Wait until nothing is harmed any more, and let all connections live."""
        self._cluster.be_calm()
        await asyncio.gather(*self._frozen.values())
        await self._cluster.balancer.uses(*(server.address for server in self._cluster.servers))

    def _one(self) -> ServerProcess:
        """Any replica that is not frozen; there always is one."""
        return self._rng.choice([s for s in self._cluster.servers if s not in self._frozen])

    async def _kill(self) -> None:
        server = self._one()
        await server.kill()
        await server.start()

    async def _freeze(self) -> None:
        server = self._one()
        server.freeze()
        self._frozen[server] = asyncio.create_task(self._thaw(server))

    async def _thaw(self, server: ServerProcess) -> None:
        await asyncio.sleep(PAST_EVERY_TIMEOUT)  # that it lasts so long is the harm
        server.thaw()
        del self._frozen[server]

    async def _drain(self) -> None:
        server = self._one()
        code = await server.stop()
        assert code == 0, f"a drained server ended with {code}"
        await server.start()

    async def _cut(self) -> None:
        self._rng.choice([self._cluster.front, *self._cluster.back]).cut()

    async def _restart_balancer(self) -> None:
        await self._cluster.balancer.kill()
        await self._cluster.balancer.start()

    async def _restart_redis(self) -> None:
        await self._cluster.restart_store()
