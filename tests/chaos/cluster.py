"""A whole installation: replicas, the Redis that they share, a balancer, and cables that break.

The law of this file: all that runs is what an operator runs; only the cables are the test's. Half
of the clients reach the balancer over a bad cable, and every replica has one of its own to Redis.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from server.redis_server import RedisServer
from system.balancers import Balancer, PlainHAProxy, balancer
from system.processes import ServerProcess
from system.proxy import HarmfulProxy

HEARTBEAT = 1.0
DEADLINE = 4.0
PAST_EVERY_TIMEOUT = 7.0
"""Seconds: more than the deadline of a call, the answers that Redis and a replica owe each other
(3 s), three heartbeats, and what the balancer needs to call a replica dead."""

_FRONT_BYTES = 3_000_000
_REDIS_BYTES = 12_000_000
"""The most that goes over a connection before it is harmed."""

FORESEEN = frozenset({"journal.lost", "journal.write_failed"})
"""What a server may complain of when Redis is taken away from it."""

ENVIRONMENT = {
    "CROUPIER_HEARTBEAT_S": str(HEARTBEAT),
    "CROUPIER_UNARY_DEADLINE_S": str(DEADLINE),
    "CROUPIER_EVICT_AFTER_S": "2",
    "CROUPIER_DRAIN_NOTICE_S": "1.5",
    "CROUPIER_MAX_OPEN_TABLES": "2000",
}


@dataclass(frozen=True)
class Cluster:
    """All that can be harmed."""

    store: RedisServer
    servers: list[ServerProcess]
    balancer: Balancer
    front: HarmfulProxy
    """Between some clients and the balancer."""
    back: list[HarmfulProxy]
    """Between each replica and Redis."""
    threads: ThreadPoolExecutor

    @property
    def addresses(self) -> list[str]:
        """Where clients connect."""
        return [self.balancer.address, self.front.address]

    async def restart_store(self) -> None:
        """Kill Redis and start it again on its append-only file."""
        loop = asyncio.get_running_loop()
        self.store.kill()
        # The process is bound to the life of the thread that starts it: always the same one.
        await loop.run_in_executor(self.threads, self.store.start)

    def be_calm(self) -> None:
        """From now on cables last."""
        for cable in (self.front, *self.back):
            cable.calm = True

    @property
    def cuts(self) -> int:
        """How often a connection was harmed."""
        return sum(sum(cable.harmed.values()) for cable in (self.front, *self.back))

    def complaints(self) -> list[str]:
        """Lines of the servers that tell of a mistake in them."""
        lines = [line for server in self.servers for line in server.complaints()]
        return [line for line in lines if not any(f'"{word}"' in line for word in FORESEEN)]


@asynccontextmanager
async def cluster(
    *, replicas: int = 3, house_bots: int = 0, seed: int = 1, harm: float = 1.0
) -> AsyncIterator[Cluster]:
    """An installation that serves. ``harm`` above 1 makes cables last shorter."""
    async with AsyncExitStack() as opened:
        threads = opened.enter_context(ThreadPoolExecutor(1))
        store = await asyncio.get_running_loop().run_in_executor(threads, _store)
        opened.callback(store.close)
        back = [
            await opened.enter_async_context(
                HarmfulProxy(f"127.0.0.1:{store.port}", seed + n, int(_REDIS_BYTES / harm))
            )
            for n in range(replicas)
        ]
        servers = [ServerProcess(f"redis://{cable.address}", house_bots, ENVIRONMENT) for cable in back]
        for server in servers:
            opened.push_async_callback(server.end)
        await asyncio.gather(*(server.start() for server in servers))
        addresses = [server.address for server in servers]
        running = await opened.enter_async_context(balancer(PlainHAProxy, addresses))
        front = HarmfulProxy(running.address, seed - 1, int(_FRONT_BYTES / harm))
        await opened.enter_async_context(front)
        yield Cluster(store, servers, running, front, back, threads)


def _store() -> RedisServer:
    return RedisServer(maxmemory="2gb", maxmemory_policy="noeviction")
