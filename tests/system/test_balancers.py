"""Real balancers before three replicas: games go on whatever happens behind them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

import croupier
from system.balancers import BALANCERS, Balancer, balancer
from system.players import Steps, check_all, clients, play_until
from system.replicas import Replicas, replicas

log = logging.getLogger("balancers")

GAMES = [("hidden_unders", 4), ("doudizhu", 3), ("basic_rummy", 2)]

every_balancer = pytest.mark.parametrize("kind", BALANCERS)


class Waits(Steps):
    """Knows too for how many seconds an audience was told nothing of a game that goes on, at most."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0.0
        self._last: dict[tuple[str, int | None], float] = {}

    def one(self, audience: tuple[str, int | None]) -> None:
        now = time.monotonic()
        self.longest = max(self.longest, now - self._last.get(audience, now))
        self._last[audience] = now
        super().one(audience)


@asynccontextmanager
async def going_on(crowd: Sequence[croupier.Client]) -> AsyncIterator[Waits]:
    """Games of all kinds, one after the other for as long as the block lasts; then all are checked."""
    *seated, onlooker = crowd
    steps, enough = Waits(), asyncio.Event()
    async with asyncio.TaskGroup() as playing:
        tables = [
            playing.create_task(play_until(enough, seated[:count], game, spectators=[onlooker], steps=steps))
            for game, count in GAMES
        ]
        yield steps
        enough.set()
    told = [ledgers for played in tables for ledgers in played.result()]
    await check_all(crowd, told)
    log.info("%d games, %d moves", len(told), sum(len(ledgers[0].moves()) for ledgers in told))


@every_balancer
async def test_nothing_is_lost_while_replicas_and_the_balancer_come_and_go(kind: type[Balancer]) -> None:
    async with (
        replicas(drain_notice_s="1.5") as group,
        balancer(kind, group.addresses) as front,
        clients(front.address, 5, tls=front.roots) as crowd,
        going_on(crowd) as steps,
    ):
        await restart_all(group, front, steps)
        log.info("a rolling restart: no player waited longer than %.2f s", steps.longest)
        await group.servers[0].restart()
        await steps.more(100)
        await front.restart()
        await steps.more(100)


async def restart_all(group: Replicas, front: Balancer, steps: Steps) -> None:
    """One replica after the other goes and comes back, each while the others serve."""
    for server in group.servers:
        await steps.more(100)
        async with asyncio.timeout(10):
            assert await server.stop() == 0
        await server.start()
        await front.uses(*group.addresses)
