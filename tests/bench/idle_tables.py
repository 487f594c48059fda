"""Seats so many tables, follows them all, says that it is ready, and keeps quiet until SIGTERM.

A table is dealt and waits for its first move. One of its three players follows it, with the others that they
sit at on one stream, so it stays in the server's memory.

    python -m bench.idle_tables ADDRESS TABLES
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal

import grpc
import uvloop

from bench.bench_memory import follow
from bench.load import Player, Window, seat_table

_EACH = 50
"""At how many tables a player sits."""
_SIDE_BY_SIDE = 16
"""How many tables are seated at a time, each by players of its own."""


async def run(address: str, tables: int) -> None:
    """Seat, follow, wait."""
    async with grpc.aio.insecure_channel(address) as channel:
        turns = asyncio.Semaphore(_SIDE_BY_SIDE)
        shares = [min(_EACH, tables - first) for first in range(0, tables, _EACH)]
        keepers = await asyncio.gather(*(seat(channel, n, share, turns) for n, share in enumerate(shares)))
        streams = [asyncio.create_task(follow(keeper)) for keeper in keepers]
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        print(json.dumps({"event": "ready", "listen": address}), flush=True)
        await stop.wait()
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)


async def seat(channel: grpc.aio.Channel, group: int, tables: int, turns: asyncio.Semaphore) -> Player:
    """A player who sits, with two others, at so many tables once it is their turn."""
    window = Window()
    players = [Player(channel, f"idle {group}.{n}", window) for n in range(3)]
    async with turns:
        for player in players:
            await player.sign_in()
        for _ in range(tables):
            await seat_table(players, window)
    return players[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("tables", type=int)
    given = parser.parse_args()
    uvloop.run(run(given.address, given.tables))
