"""Memory of a seated idle table: the growth of a server's resident memory from 1,000 to 5,000 tables.

Each table is dealt, three seats, and stays loaded because a spectator's stream follows it (one
stream for many tables, so that gRPC's own 16 to 27 KiB a stream do not count).

    python -m bench.bench_memory
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import grpc
import uvloop

from bench.bench_moves import croupier_server
from bench.load import Player, Window, seat_table
from bench.processes import TESTS, resident_bytes
from croupier.v1 import tables_pb2

_SIZES = (1000, 5000)
_PER_STREAM = 500


async def measure(pid: int, address: str) -> dict[int, int]:
    """Resident bytes at each number of tables."""
    window = Window()
    channel = grpc.aio.insecure_channel(address)
    streams: list[asyncio.Task[None]] = []
    sizes: dict[int, int] = {}
    tables = 0
    for wanted in _SIZES:
        while tables < wanted:
            players = [Player(channel, f"memory {tables}.{n}", window) for n in range(3)]
            for player in players:
                await player.sign_in()
            for _ in range(_PER_STREAM):
                await seat_table(players, window)
            tables += _PER_STREAM
            streams.append(asyncio.create_task(follow(players[0])))
        await asyncio.sleep(2)
        sizes[wanted] = resident_bytes(pid)
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    await channel.close()
    return sizes


async def follow(player: Player) -> None:
    """Keep a player's tables loaded by following them, without ever moving."""
    stub = player.channel.stream_stream(
        "/croupier.v1.TableService/Play",
        request_serializer=tables_pb2.PlayRequest.SerializeToString,
        response_deserializer=tables_pb2.PlayResponse.FromString,
    )
    call = stub(metadata=player.metadata)
    subscribe = [
        tables_pb2.PlayCommand(subscribe=tables_pb2.Subscription(table=table)) for table in player.seats
    ]
    await call.write(tables_pb2.PlayRequest(commands=subscribe))
    async for _ in call:
        pass


def one(kind: str) -> None:
    """Measure a server on one kind of journal and print its sizes as JSON."""
    with croupier_server(kind) as (pid, address):
        print(json.dumps(uvloop.run(measure(pid, address))))


def main() -> None:
    """Measure each kind in a process of its own (gRPC keeps to one event loop) and print."""
    few, many = map(str, _SIZES)
    print(f"\nmemory of a seated idle table, from {few} to {many} tables")
    for kind in ("sqlite", "memory"):
        command = [sys.executable, "-m", "bench.bench_memory", kind]
        environment = {**os.environ, "PYTHONPATH": str(TESTS)}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        sizes = json.loads(done.stdout.splitlines()[-1])
        each = (sizes[many] - sizes[few]) / (_SIZES[1] - _SIZES[0]) / 1024
        print(f"{kind:7s} {each:6.1f} KiB a table; {sizes[many] / 2**20:,.0f} MiB resident at {many}")
    print("the memory journal's figure includes the entries that it keeps")


if __name__ == "__main__":
    if sys.argv[1:]:
        one(sys.argv[1])
    else:
        main()
