"""Replicas: servers in processes of their own, on one Redis of their own.

The law of this file: all share one journal and nothing else; each keeps its address through all
its lives. Everything is gone when the block is left, and a mistake that any of them logged fails
the test, as in ``processes``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from server.redis_server import RedisServer
from system.processes import ServerProcess, server_process


@dataclass(frozen=True, slots=True)
class Replicas:
    """The processes, and the store that they share."""

    store: RedisServer
    servers: list[ServerProcess]

    @property
    def addresses(self) -> list[str]:
        """Where each listens, ``HOST:PORT``."""
        return [server.address for server in self.servers]


@asynccontextmanager
async def replicas(
    count: int = 3, *, house_bots: int = 0, options: str = "", **environment: str
) -> AsyncIterator[Replicas]:
    """So many servers that serve.

    ``house_bots`` are processes of each, ``options`` those of the journal's URL (``"?wait=1"``),
    ``environment`` settings by their names, as in ``server_process``.
    """
    with RedisServer() as store:
        async with AsyncExitStack() as opened:
            starting = [
                opened.enter_async_context(
                    server_process(store.url + options, house_bots=house_bots, **environment)
                )
                for _ in range(count)
            ]
            yield Replicas(store, await asyncio.gather(*starting))
