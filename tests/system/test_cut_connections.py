"""Connections that break, stall or are not read: nobody misses a step, and nobody else waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from croupier import Backoff
from croupier.v1 import tables_pb2, tables_pb2_grpc
from system.players import Ledger, Steps, check_again, check_table, clients, play_game
from system.processes import server_process
from system.proxy import KINDS, HarmfulProxy

SMALL_WINDOW = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1024))
"""Options of a channel that takes in little more of a stream than its reader has asked for."""


async def test_games_are_played_over_connections_that_break_at_any_byte() -> None:
    small_games = [("hidden_unders", 4, {}), ("doudizhu", 3, {"deals": 4}), ("basic_rummy", 2, {})]
    async with (
        server_process(heartbeat_s="0.1") as server,
        HarmfulProxy(server.address, seed=1, most=30_000) as proxy,
        clients(proxy.address, 5, backoff=Backoff(0.01, 0.1)) as (*seated, onlooker),
    ):
        games = await asyncio.gather(
            *(play_game(seated[:n], game, options, spectators=[onlooker]) for game, n, options in small_games)
        )
        assert set(proxy.harmed) == set(KINDS)
        proxy.calm = True
        for ledgers in games:
            await check_table(onlooker, ledgers)
            await asyncio.gather(*map(check_again, [onlooker, *seated], ledgers))


async def test_who_does_not_read_delays_nobody_and_is_resynced() -> None:
    steps = Steps()
    async with (
        server_process(subscriber_queue_bytes="16384") as server,
        clients(server.address, 4) as seated,
        asyncio.TaskGroup() as group,
    ):
        games = [
            group.create_task(play_game(pair, "hidden_unders", {"rounds": 20}, steps=steps))
            for pair in (seated[:2], seated[2:])
        ]
        await steps.more(100)
        own, other = [item.table.name for c in (seated[0], seated[2]) for item in await c.my_tables()]
        async with unread_stream(server.address, seated[0].token, [own, other]) as stream:
            await steps.more(4000)
            assert not any(game.done() for game in games)
            told = await told_on(stream, [own, other])
        for game in games:
            ledgers = await game
            await check_table(seated[0], ledgers)
            check_resynced(told[ledgers[0].table], ledgers[0])


@asynccontextmanager
async def unread_stream(address: str, token: str, tables: list[str]) -> AsyncIterator[Any]:
    """A stream of tables from their first events on, of which nothing has been read."""
    wishes = [tables_pb2.Subscription(table=table, after_seq=0) for table in tables]
    async with grpc.aio.insecure_channel(address, options=SMALL_WINDOW) as channel:
        stream = tables_pb2_grpc.TableServiceStub(channel).Play(
            metadata=(("authorization", f"Bearer {token}"),)
        )
        commands = [tables_pb2.PlayCommand(subscribe=wish) for wish in wishes]
        await stream.write(tables_pb2.PlayRequest(commands=commands))
        try:
            yield stream
        finally:
            stream.cancel()


async def told_on(stream: Any, tables: list[str]) -> dict[str, list[tables_pb2.TableUpdate]]:
    """Read to the end of these tables; the numbered updates of each."""
    told: dict[str, list[tables_pb2.TableUpdate]] = {table: [] for table in tables}
    going_on = set(tables)
    while going_on:
        for update in (await stream.read()).updates:
            if update.WhichOneof("update") in ("event", "snapshot"):
                told[update.table].append(update)
            elif update.HasField("ended"):
                going_on.discard(update.table)
    return told


def check_resynced(updates: list[tables_pb2.TableUpdate], ledger: Ledger) -> None:
    """Events follow each other but for snapshots, which stand for what was dropped."""
    snapshots = position = 0
    for update in updates:
        if update.HasField("snapshot"):
            assert update.snapshot.seq > position
            position = update.snapshot.seq
            snapshots += 1
        else:
            assert update.event.seq == position + 1
            position += 1
            assert update.event.time == ledger.steps[position - 1].time
    assert position == len(ledger.steps)
    assert snapshots
