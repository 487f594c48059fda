"""A server that dies in the middle of games, or is told to go, and comes back on the same journal.

Clients go on by themselves. What they were told is what the journal has: no step is lost, comes
twice or turns out different, and every move that was said to be stored is in the record once.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
from grpc import StatusCode

import croupier
from croupier.bots import make_bot
from system.players import Ledger, Steps, check_all, clients, play, play_game
from system.processes import ServerProcess, server_process
from system.streams import ending, idle_streams

GAMES = [
    ("hidden_unders", 4, {"rounds": 4}),
    ("hidden_unders", 2, {"rounds": 4}),
    ("doudizhu", 3, {"deals": 8}),
    ("doudizhu", 3, {"deals": 8}),
    ("basic_rummy", 3, {}),
    ("basic_rummy", 2, {}),
]
HOUSE_GAMES = [("hidden_unders", {"rounds": 4}), ("doudizhu", {"deals": 10}), ("basic_rummy", {})]


def sqlite(folder: Path) -> str:
    return f"sqlite:{folder / 'tables.sqlite'}"


async def kill_now_and_then(server: ServerProcess, steps: Steps, rng: random.Random, times: int) -> None:
    for _ in range(times):
        await steps.more(rng.randrange(1, 500))
        await server.restart()


async def play_with_house(
    client: croupier.Client, game: str, options: dict[str, int], steps: Steps
) -> Ledger:
    """A table whose other seats are the house's, played to its end."""
    table = await client.create_table(game, options=options, players=3)
    seat = await client.join(table.name, after_seq=0)
    for level in ("random", "easy"):
        await client.invite_bot(table.name, level=level)
    ledger = Ledger(table.name, seat.number, steps)
    await play(seat, ledger, make_bot(game, "easy", 1))
    return ledger


async def test_games_outlive_a_server_that_is_killed_again_and_again(tmp_path: Path) -> None:
    steps = Steps()
    async with server_process(sqlite(tmp_path)) as server, clients(server.address, 5) as (*seated, onlooker):
        async with asyncio.TaskGroup() as group:
            games = [
                group.create_task(play_game(seated[:n], game, options, spectators=[onlooker], steps=steps))
                for game, n, options in GAMES
            ]
            group.create_task(kill_now_and_then(server, steps, random.Random(5), times=6))
        await check_all([*seated, onlooker], [game.result() for game in games])


async def test_the_house_comes_back_with_a_server_that_was_killed(tmp_path: Path) -> None:
    await play_while(tmp_path, lambda server: server.restart())


async def test_a_house_process_that_is_killed_is_replaced_and_its_games_go_on(tmp_path: Path) -> None:
    killed = 0

    async def kill_a_house_process(server: ServerProcess) -> None:
        nonlocal killed
        killed += 1
        os.kill((await server.house_pids(killed))[-1], signal.SIGKILL)

    await play_while(tmp_path, kill_a_house_process)


async def play_while(folder: Path, disturb: Callable[[ServerProcess], Awaitable[None]]) -> None:
    """Play against the house while something happens to it, twice."""
    steps = Steps()
    async with (
        server_process(sqlite(folder), house_bots=1) as server,
        clients(server.address, 1) as [client],
        asyncio.TaskGroup() as group,
    ):
        games = [
            group.create_task(play_with_house(client, game, options, steps)) for game, options in HOUSE_GAMES
        ]
        for _ in range(2):
            await steps.more(100)
            await disturb(server)
        await check_all([client], [[await game] for game in games])


async def test_a_drain_does_not_wait_for_idle_streams_and_clients_resume(tmp_path: Path) -> None:
    steps = Steps()
    async with (
        server_process(sqlite(tmp_path), drain_notice_s="1.5") as server,
        clients(server.address, 3) as seated,
        grpc.aio.insecure_channel(server.address) as channel,
        asyncio.TaskGroup() as group,
    ):
        going_on = group.create_task(play_game(seated, "basic_rummy", steps=steps))
        table = (await seated[0].create_table("doudizhu")).name
        idle = [await client.join(table, after_seq=0) for client in seated]
        streams = await idle_streams(channel, table, seated[0].token)
        await steps.more(200)
        async with asyncio.timeout(10):
            assert await server.stop() == 0
        assert {await ending(stream) for stream in streams} <= {StatusCode.UNAVAILABLE, StatusCode.OK}
        await server.start()
        ledgers = [Ledger(table, seat.number) for seat in idle]
        bots = [make_bot("doudizhu", "easy", seat.number) for seat in idle]
        await asyncio.gather(*map(play, idle, ledgers, bots))
        await check_all(seated, [ledgers, await going_on])
