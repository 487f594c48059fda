"""Memory of a seated idle table: the growth of a server's resident memory from 1,000 to 5,000 tables.

Each table is dealt, three seats, and stays loaded because a spectator's stream follows it (one
stream for many tables, so that gRPC's own 16 to 27 KiB a stream do not count).

    python -m bench.bench_memory
"""

from __future__ import annotations

import asyncio

import grpc
import uvloop

from bench.bench_moves import croupier_server
from bench.load import Player, Window, seat_table
from bench.processes import resident_bytes
from croupier.v1 import tables_pb2

_SIZES = (1000, 5000)
_PER_STREAM = 500


async def measure(pid: int, address: str) -> dict[int, int]:
    """Resident bytes at each number of tables."""
    import argparse

    window = Window(argparse.Namespace(pid=pid, warm=0, seconds=0, rate=0), 1)
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
            streams.append(asyncio.create_task(_follow(players[0])))
        await asyncio.sleep(2)
        sizes[wanted] = resident_bytes(pid)
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    await channel.close()
    return sizes


async def _follow(player: Player) -> None:
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


def main() -> None:
    """Measure and print."""
    with croupier_server("memory") as (pid, address):
        in_memory = uvloop.run(measure(pid, address))
    with croupier_server("sqlite") as (pid, address):
        in_sqlite = uvloop.run(measure(pid, address))
    few, many = _SIZES
    print(f"\nmemory of a seated idle table, from {few:,} to {many:,} tables")
    for kind, sizes in (("sqlite", in_sqlite), ("memory (entries included)", in_memory)):
        each = (sizes[many] - sizes[few]) / (many - few) / 1024
        print(f"{kind:26s} {each:6.1f} KiB a table; {sizes[many] / 2**20:,.0f} MiB resident at {many:,}")


if __name__ == "__main__":
    main()
