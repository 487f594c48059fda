"""How long a move takes to reach those who watch at the mover's replica, and at another one.

``python -m bench.delivery ADDRESS ADDRESS`` prints one JSON object: p50 and p99 from sending a move
to its event, in ms, at the ``same`` and ``cross`` replica, and to the ``answer``. Half of the tables
are played at each replica and each has a watcher at both, so both carry the same load. All is in one
process, by one clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from functools import partial
from typing import Any

import grpc
import uvloop

from bench.load import Player, Seat, Window, channel, measured, seat_table
from croupier.v1 import tables_pb2

Moment = tuple[str, int]
"""A table and the number of an event."""


class Mover(Seat):
    """A seat that keeps in ``moved`` when each of its moves was sent."""

    def __init__(self, moved: dict[Moment, float], *seat: Any) -> None:
        super().__init__(*seat)
        self._moved = moved

    def done(self, result: tables_pb2.MoveResult) -> None:
        """The move's result."""
        super().done(result)
        if self._window.counting:
            self._moved[self.table, result.seq] = self._sent


class Watched(Seat):
    """A table that is watched from no seat; ``came`` is when each of its moves did."""

    def __init__(self, table: str, player: Player, window: Window) -> None:
        super().__init__(table, 0, player.send, window)
        self.came: dict[Moment, float] = {}

    def take(self, update: tables_pb2.TableUpdate) -> None:
        """Keep when a move came."""
        if update.event.HasField("moved"):
            self.came[update.table, update.event.seq] = time.perf_counter()


async def watch(connection: grpc.aio.Channel, table: str, window: Window) -> tuple[Player, Watched]:
    """A player who has a stream for that one table."""
    player = Player(connection, f"watcher of {table[-4:]}", window)
    await player.sign_in()
    player.seats[table] = watched = Watched(table, player, window)
    return player, watched


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Play, watch, and put the times together."""
    window = Window(arguments.seconds, arguments.warm, 3 * arguments.tables / arguments.rate)
    channels: list[grpc.aio.Channel] = []
    players: list[Player] = []
    moved: dict[Moment, float] = {}
    watchers: dict[str, list[Watched]] = {"same": [], "cross": []}

    def connection(replica: int) -> grpc.aio.Channel:
        channels.append(channel(arguments.addresses[replica], len(channels)))
        return channels[-1]

    for number in range(arguments.tables):
        at = number % 2
        seated = [Player(connection(at), f"seat {number}.{n}", window) for n in range(3)]
        for player in seated:
            await player.sign_in()
        await seat_table(seated, window, partial(Mover, moved))
        [table] = seated[0].seats
        players += seated
        for kind, replica in (("same", at), ("cross", 1 - at)):
            player, watched = await watch(connection(replica), table, window)
            watchers[kind].append(watched)
            players.append(player)
    streams = [asyncio.create_task(player.play()) for player in players]
    found = await measured(window, streams, channels)
    times = {
        kind: [came - moved[moment] for one in some for moment, came in one.came.items() if moment in moved]
        for kind, some in watchers.items()
    }
    times["answer"] = window.latencies
    return {
        "moves": found["moves"] / found["seconds"],
        **{f"{kind}_{name}": value for kind, some in times.items() for name, value in cuts(some).items()},
    }


def cuts(seconds: list[float]) -> dict[str, float]:
    """Median and 99th percentile in ms, and of how many."""
    at = statistics.quantiles(seconds, n=100)
    return {"p50_ms": at[49] * 1000, "p99_ms": at[98] * 1000, "events": len(seconds)}


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("addresses", nargs=2)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--rate", type=float, default=200.0, help="moves a second, of all tables")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--warm", type=float, default=2.0)
    print(json.dumps(uvloop.run(run(parser.parse_args()))))


if __name__ == "__main__":
    main()
