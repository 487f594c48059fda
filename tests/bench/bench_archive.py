"""Memory while games come to their end and leave: Redis's, the server's, and what lies where.

Games of Dou Dizhu are opened, filled, passed out (three passes, no second deal: DDZ-4) and
archived at once; at every mark all of them have to have left. With ``--keep`` there is no archive,
for comparison: ended tables stay in Redis.

    python -m bench.bench_archive [--games 10000] [--marks 5] [--archive dir|sqlite] [--keep]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import uvloop

from bench.load import Player, Window
from bench.processes import TESTS, resident_bytes, server
from croupier.v1 import games_pb2, tables_pb2
from server.redis_server import RedisServer

_SERVE = ["-m", "croupier", "serve", "--json", "--listen", "127.0.0.1:0", "--house-bots", "0"]
_LIMITS = {
    "CROUPIER_MAX_OPEN_TABLES": "100000",
    "CROUPIER_ARCHIVE_AFTER_S": "0",
    "CROUPIER_EVICT_AFTER_S": "1",
}
_GROUPS = 16
"""How many tables are played side by side."""
_LOOK_SECONDS = 0.2


async def sure(player: Player, method: str, request: Any, response: Any) -> Any:
    """A call that is repeated, with the same id, when a busy machine keeps Redis from answering in time."""
    request.request_id = secrets.token_hex(8)
    while True:
        try:
            return await player.call(f"TableService/{method}", request, response)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            await asyncio.sleep(_LOOK_SECONDS)


async def pass_out(players: list[Player]) -> None:
    """One game from its opening to its end: everybody passes."""
    options = games_pb2.GameOptions(doudizhu={"max_redeals": 0})
    request = tables_pb2.CreateTableRequest(game="doudizhu", options=options)
    opened = await sure(players[0], "CreateTable", request, tables_pb2.CreateTableResponse)
    name = opened.table.name
    for player in players:
        join = tables_pb2.JoinTableRequest(name=name)
        await sure(player, "JoinTable", join, tables_pb2.JoinTableResponse)
    waiting = list(players)
    while waiting:  # who begins is for the cards to say: the others are refused
        player = waiting.pop(0)
        move = tables_pb2.MakeMoveRequest(table=name, move=games_pb2.Move(text="pass"))
        try:
            await sure(player, "MakeMove", move, tables_pb2.MakeMoveResponse)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            waiting.append(player)


class Course:
    """Games played one after the other by groups of three, and what was seen at the marks."""

    def __init__(self, redis: RedisServer, pid: int, *, leaves: bool) -> None:
        self._redis = redis
        self._pid = pid
        self._leaves = leaves
        self._left = 0
        self.played = 0

    async def run(self, address: str, games: int, marks: int) -> list[dict[str, Any]]:
        """Play so many games; what was seen at the start and at each mark."""
        window = Window()
        async with grpc.aio.insecure_channel(address) as channel:
            groups = [[Player(channel, f"{g}.{n}", window) for n in range(3)] for g in range(_GROUPS)]
            for player in (player for group in groups for player in group):
                await player.sign_in()
            seen = [await self.look(0)]
            for mark in range(1, marks + 1):
                self._left = games // marks
                await asyncio.gather(*map(self._play, groups))
                seen.append(await self.look(games // marks * mark))
        return seen

    async def _play(self, players: list[Player]) -> None:
        while self._left > 0:
            self._left -= 1
            await pass_out(players)
            self.played += 1

    async def look(self, games: int) -> dict[str, Any]:
        """Figures once all that may leave has left and the server has let go of its tables."""
        began = time.perf_counter()
        while self._leaves and self.streams():  # noqa: ASYNC110 (Redis sets no event here)
            await asyncio.sleep(_LOOK_SECONDS)
        waited = time.perf_counter() - began
        await asyncio.sleep(1.5)  # ended tables leave the server's memory within a second
        info = self._redis.command("INFO", "memory").decode()
        used = next(line for line in info.splitlines() if line.startswith("used_memory:"))
        return {
            "games": games,
            "redis_bytes": int(used.partition(":")[2]),
            "keys": self._redis.command("DBSIZE"),
            "streams": self.streams(),
            "server_bytes": resident_bytes(self._pid),
            "waited_s": waited,
        }

    def streams(self) -> int:
        """How many streams Redis holds."""
        found, at = 0, b"0"
        while True:
            at, keys = self._redis.command("SCAN", at, "MATCH", "croupier:*:e:*", "COUNT", 1000)
            found += len(keys)
            if at == b"0":
                return found


def one(games: int, marks: int, archive: str | None) -> None:
    """Measure in this process (gRPC keeps to one event loop) and print the figures as JSON."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(maxmemory="1gb") as redis:
        url = f"{archive}:{Path(folder) / 'archive'}" if archive else "none"
        with server([*_SERVE, "--journal", redis.url, "--archive", url], _LIMITS) as (pid, address):
            course = Course(redis, pid, leaves=archive is not None)
            seen = uvloop.run(course.run(address, games, marks))
        print(json.dumps({"seen": seen, "archived": kept_in(Path(folder), archive)}))


def kept_in(folder: Path, archive: str | None) -> dict[str, int]:
    """How many tables the archive has, and its size on disk."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_blocks * 512 for path in files)
    if archive != "sqlite":
        return {"tables": len(files), "bytes": size}
    import sqlite3

    with suppress(sqlite3.Error), sqlite3.connect(folder / "archive") as db:
        return {"tables": db.execute("SELECT count(*) FROM archived").fetchone()[0], "bytes": size}
    return {"tables": 0, "bytes": size}


def main(games: int = 10_000, marks: int = 5, archive: str | None = "dir") -> dict[str, Any]:
    """Measure in a process of its own, and print."""
    command = [sys.executable, "-m", "bench.bench_archive", "--one", str(games), str(marks), archive or "-"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"\n{games} ended tables, archive: {archive or 'none'}")
    print("  games   Redis MiB    keys   streams   server MiB   waited s")
    for row in found["seen"]:
        redis, resident = row["redis_bytes"] / 2**20, row["server_bytes"] / 2**20
        print(
            f"{row['games']:7d} {redis:11.2f} {row['keys']:7d} {row['streams']:9d} {resident:12.1f} "
            f"{row['waited_s']:10.1f}"
        )
    kept = found["archived"]
    print(f"in the archive: {kept['tables']} tables, {kept['bytes'] / 2**20:.1f} MiB on disk")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--marks", type=int, default=5)
    parser.add_argument("--archive", choices=("dir", "sqlite"), default="dir")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(int(given.one[0]), int(given.one[1]), None if given.one[2] == "-" else given.one[2])
    else:
        main(given.games, given.marks, None if given.keep else given.archive)
