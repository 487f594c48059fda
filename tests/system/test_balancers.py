"""Real balancers before three replicas: games go on whatever happens behind them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

import croupier
from system.balancers import BALANCERS, Balancer, balancer
from system.players import Steps, check_all, clients, play_until
from system.replicas import replicas

GAMES = [("hidden_unders", 4), ("doudizhu", 3), ("basic_rummy", 2)]


@asynccontextmanager
async def going_on(crowd: Sequence[croupier.Client]) -> AsyncIterator[Steps]:
    """Games of all kinds, one after the other for as long as the block lasts; then all are checked."""
    *seated, onlooker = crowd
    steps, enough = Steps(), asyncio.Event()
    async with asyncio.TaskGroup() as playing:
        tables = [
            playing.create_task(play_until(enough, seated[:count], game, spectators=[onlooker], steps=steps))
            for game, count in GAMES
        ]
        yield steps
        enough.set()
    await check_all(crowd, [ledgers for told in tables for ledgers in told.result()])


@pytest.mark.parametrize("kind", BALANCERS)
async def test_games_go_on_while_replicas_and_the_balancer_come_and_go(kind: type[Balancer]) -> None:
    async with (
        replicas(drain_notice_s="1.5") as group,
        balancer(kind, group.addresses) as front,
        clients(front.address, 5, tls=front.roots) as crowd,
        going_on(crowd) as steps,
    ):
        await steps.more(100)
        await group.servers[0].restart()
        await steps.more(100)
        assert await group.servers[1].stop() == 0
        await steps.more(100)
        await group.servers[1].start()
        await front.restart()
        await steps.more(100)
