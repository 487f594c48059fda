"""Seats so many tables, follows them all, says that it is ready, and keeps quiet until SIGTERM.

A table is dealt and waits for its first move. One of its three players follows it, with up to a thousand
others on one stream, so it stays in the server's memory.

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

_GROUPS = 16
"""How many tables are seated side by side, each by players of its own."""


async def run(address: str, tables: int) -> None:
    """Seat, follow, wait."""
    async with grpc.aio.insecure_channel(address) as channel:
        shares = [tables // _GROUPS + (n < tables % _GROUPS) for n in range(_GROUPS)]
        keepers = await asyncio.gather(*(seat(channel, n, share) for n, share in enumerate(shares)))
        streams = [asyncio.create_task(follow(keeper)) for keeper in keepers if keeper.seats]
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        print(json.dumps({"event": "ready", "listen": address}), flush=True)
        await stop.wait()
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)


async def seat(channel: grpc.aio.Channel, group: int, tables: int) -> Player:
    """A player who sits, with two others, at so many tables."""
    window = Window()
    players = [Player(channel, f"idle {group}.{n}", window) for n in range(3)]
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
