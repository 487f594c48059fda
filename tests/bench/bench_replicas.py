"""Replicas on one Redis: what a move costs, how fast it arrives, and what idle tables add.

Redis syncs every append to disk. Its own CPU is told apart from that of the servers, and so is a balancer's
(HAProxy as deployed, with TLS). Rounds alternate, medians are printed, and ratios are what to take: on two
cores load, servers, Redis and balancer compete, so moves a second are context only. Connections go to all
replicas in turn, so every table has its seats at different ones, unless it says "by table".

    python -m bench.bench_replicas [--rounds 3] [--seconds 2.5] [--tables 100,1000,10000]
        [--only cost,delivery,tables,store]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple

from bench.processes import TESTS, cpu_seconds, load, resident_bytes, server, written_bytes
from bench.replica_servers import Servers, bench_redis, embedded, info, pid_of, replicas, shared
from croupier_server.journal import Append, open_journal
from server.redis_server import RedisServer

_IDLE_SECONDS = 3.0

Row = dict[str, Any]


class Kind(NamedTuple):
    """What is compared: servers on a journal, how many of them, what the load does otherwise."""

    start: Callable[[], AbstractContextManager[Servers]]
    replicas: int = 1
    more: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "embedded": Kind(embedded),
    "redis, 1": Kind(lambda: shared(1)),
    "redis, 2": Kind(lambda: shared(2), 2),
    "redis, 3": Kind(lambda: shared(3), 3),
    "3, by table": Kind(lambda: shared(3), 3, ("--together",)),
    "3, balanced": Kind(lambda: shared(3, balanced=True), 3),
}


def run(kind: str, window: list[str], rate: float = 0.0) -> Row:
    """One measurement against fresh servers: 20 tables a replica, ``rate`` moves a second and replica."""
    if kind == "echo":
        with server(["-m", "bench.echo_server"]) as (pid, address):
            return load("echo", address, "--pid", str(pid), *shape(1), *window)
    how = KINDS[kind]
    with how.start() as servers:
        return against(servers, [*shape(how.replicas, rate), *how.more, *window])


def shape(replicas: int, rate: float = 0.0) -> list[str]:
    """What a load is told: 20 tables a replica, and a connection for each seat."""
    of = ["--tables", str(20 * replicas), "--channels", str(60 * replicas)]
    return [*of, "--rate", str(rate * replicas)]


def against(servers: Servers, more: list[str]) -> Row:
    """One measurement against servers that run."""
    before: list[int] = []
    pids = ",".join(map(str, servers.pids))
    addresses = ",".join(servers.addresses)
    command = ["croupier", addresses, "--pid", pids, *servers.more, *more]
    row = load(*command, measuring=lambda: before.extend(stored(servers)))
    for name, first, last in zip(("kept_bytes", "written_bytes"), before, stored(servers), strict=True):
        row[name] = (last - first) / max(row["moves"], 1)
    return row


def stored(servers: Servers) -> tuple[int, int]:
    """What the journal has on disk, and what was written there so far, in bytes."""
    return servers.kept(), written_bytes(servers.disk)


def medians(rows: list[Row]) -> Row:
    """The median of each figure."""
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def measure(kinds: list[str], rounds: int, measured: Callable[[str], Row]) -> dict[str, Row]:
    """Each kind in turn, round by round; the medians."""
    rows: dict[str, list[Row]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            rows[kind].append(measured(kind))
    return {kind: medians(some) for kind, some in rows.items()}


_COLUMNS = (
    ("cpu_us", "CPU µs"), ("store_us", "Redis µs"), ("balancer_us", "balancer µs"), ("p50_ms", "p50 ms"),
    ("p99_ms", "p99 ms"), ("up_bytes", "B up"), ("down_bytes", "B down"), ("line_bytes", "B on lines"),
    ("kept_bytes", "B kept"), ("written_bytes", "B written"),
)  # fmt: skip


def show(title: str, found: dict[str, Row]) -> None:
    """A line for each kind, all but the first two columns for one move."""
    print(f"\n{title}\n{'':12s}{'moves/s':>8s}" + "".join(f"{name:>12s}" for _, name in _COLUMNS))
    for kind, row in found.items():
        figures = "".join(f"{row.get(key, 0):12,.{2 if key.endswith('ms') else 0}f}" for key, _ in _COLUMNS)
        print(f"{kind:12s}{row['moves'] / row['seconds']:8,.0f}{figures}")


def cost(rounds: int, seconds: float) -> None:
    """CPU a move: embedded, on Redis with one, two and three replicas, behind a balancer, and bare."""
    window = ["--seconds", str(seconds), "--warm", "1"]
    full = measure(["embedded", "redis, 1", "echo"], rounds, lambda kind: run(kind, window))
    show("20 tables, 60 connections, at full speed; figures of one move", full)
    ratios(full)
    rate = full["embedded"]["moves"] / full["embedded"]["seconds"] / 8
    paced = measure(list(KINDS), rounds, lambda kind: run(kind, window, rate))
    show(f"{rate:,.0f} moves/s at 20 tables for each replica", paced)
    ratios(paced)


def ratios(found: dict[str, Row]) -> None:
    """The servers' CPU beside that of the embedded journal."""
    for kind in found:
        if kind not in ("embedded", "echo"):
            print(f"{kind}: {found[kind]['cpu_us'] / found['embedded']['cpu_us']:.2f} times the embedded CPU")


def delivery(rounds: int, seconds: float) -> None:
    """From a move to its event, at the mover's replica and at the other."""

    def measured(_: str) -> Row:
        with shared(2) as servers:
            command = [sys.executable, "-m", "bench.delivery", *servers.addresses, "--seconds", str(seconds)]
            environment = {**os.environ, "PYTHONPATH": str(TESTS)}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        row: Row = json.loads(done.stdout.splitlines()[-1])
        return {**row, "ratio": row["cross_p99_ms"] / row["same_p99_ms"]}

    row = measure(["delivery"], rounds, measured)["delivery"]
    print(f"\nfrom a move to its event, two replicas, {row['moves']:,.0f} moves/s")
    for kind in ("same", "cross", "answer"):
        print(f"{kind:8s} p50 {row[f'{kind}_p50_ms']:6.2f} ms   p99 {row[f'{kind}_p99_ms']:6.2f} ms")
    print(f"p99 at another replica: {row['ratio']:.2f} times that at the same")


def tables(rounds: int, seconds: float, sizes: list[int]) -> None:
    """CPU a move of 20 tables beside so many idle ones; what an idle one takes."""
    with ExitStack() as stack:
        rooms: dict[str, Servers] = {}
        idle: dict[str, Row] = {}
        for size in sizes:
            redis = stack.enter_context(bench_redis())
            addresses, pids = stack.enter_context(replicas(redis.url, 2))
            used, began = list(map(cpu_seconds, pids)), time.perf_counter()
            stack.enter_context(server(["-m", "bench.idle_tables", addresses[0], str(size)]))
            took, now = time.perf_counter() - began, list(map(cpu_seconds, pids))
            seating = {"seated_s": took, "own_s": now[0] - used[0], "other_s": now[1] - used[1]}
            store = ["--store", str(pid_of(redis))]
            rooms[f"{size:,}"] = Servers(addresses[:1], pids[:1], store, lambda: 0, pid_of(redis))
            idle[f"{size:,}"] = {"size": size, **seating, **_idle(redis, pids[0])}
        paced = [*shape(1, 300.0), "--seconds", str(seconds), "--warm", "1"]
        found = measure(list(rooms), rounds, lambda size: against(rooms[size], paced))
    show("20 tables at 300 moves/s on one of two replicas, by idle tables beside them", found)
    few, many = f"{sizes[0]:,}", f"{sizes[-1]:,}"
    print(f"{many} tables: {found[many]['cpu_us'] / found[few]['cpu_us']:.2f} times the CPU a move at {few}")
    show_idle(list(idle.values()))


def show_idle(rows: list[Row]) -> None:
    """What idle tables take, of two replicas the first of which has them, and what seating them took."""
    print("\nidle tables  seated/s  own replica, ms/table  other, ms/table  own, ms CPU/s  Redis, ms CPU/s")
    for row in rows:
        without = row["server_ms"] / 1000 * row["seated_s"]  # what a replica takes for being there
        own, other = ((row[key] - without) / row["size"] * 1000 for key in ("own_s", "other_s"))
        seating = f"{row['size'] / row['seated_s']:9.0f} {own:22.2f} {other:16.3f}"
        print(f"{row['size']:11,d} {seating} {row['server_ms']:14.1f} {row['redis_ms']:16.1f}")
    few, many = rows[0], rows[-1]
    for name, key in (
        ("Redis", "redis_bytes"),
        ("replica", "server_bytes"),
        ("journal's file", "kept_bytes"),
    ):
        each = (many[key] - few[key]) / max(many["size"] - few["size"], 1) / 1024
        print(f"{name}: {each:.1f} KiB for an idle table")


def _idle(redis: RedisServer, pid: int) -> Row:
    time.sleep(1)  # seating has its after-effects
    used = cpu_seconds(pid), cpu_seconds(pid_of(redis))
    time.sleep(_IDLE_SECONDS)
    now = cpu_seconds(pid), cpu_seconds(pid_of(redis))
    return {
        "server_ms": (now[0] - used[0]) / _IDLE_SECONDS * 1000,
        "redis_ms": (now[1] - used[1]) / _IDLE_SECONDS * 1000,
        "redis_bytes": info(redis, "memory", "used_memory"),
        "server_bytes": resident_bytes(pid),
        "kept_bytes": info(redis, "persistence", "aof_current_size"),
    }


async def _appends(url: str, redis: RedisServer, in_flight: int, seconds: float) -> Row:
    """Appends of 200 bytes with a deadline, as moves are, from one process."""
    journal = await open_journal(url)
    used, began = cpu_seconds(pid_of(redis)), time.perf_counter()

    async def mover(stream: str) -> int:
        seq = 0
        while time.perf_counter() < began + seconds:
            await journal.append(Append(stream, seq, (bytes(200),), seq))
            seq += 1
        return seq

    done = sum(await asyncio.gather(*(mover(f"tables/{number:022}") for number in range(in_flight))))
    took, now = time.perf_counter() - began, cpu_seconds(pid_of(redis))
    await journal.close()
    return {"appends": done / took, "redis_us": (now - used) / done * 1e6}


def store(rounds: int, seconds: float) -> None:
    """What one Redis takes: appends a second from one process, and its own CPU for one."""

    def measured(in_flight: str) -> Row:
        with bench_redis() as redis:
            return asyncio.run(_appends(redis.url, redis, int(in_flight), seconds))

    found = measure(["1", "16", "64", "512"], rounds, measured)
    print("\nappends to one Redis, every one synced to disk")
    print("in flight  appends/s   Redis CPU µs   a core of Redis takes/s")
    for in_flight, row in found.items():
        most = 1e6 / row["redis_us"] if row["redis_us"] else float("nan")
        print(f"{in_flight:>9s} {row['appends']:10,.0f} {row['redis_us']:14.1f} {most:25,.0f}")


def main(rounds: int = 3, seconds: float = 2.5, sizes: str = "100,1000,10000", only: str = "") -> None:
    """All parts, or those that are named."""
    parts: dict[str, Callable[[], None]] = {
        "cost": lambda: cost(rounds, seconds),
        "delivery": lambda: delivery(rounds, seconds * 2),
        "tables": lambda: tables(rounds, seconds, sorted(map(int, sizes.split(",")))),
        "store": lambda: store(rounds, seconds / 3),
    }
    for part in only.split(",") if only else parts:
        parts[part]()
        sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.5)
    parser.add_argument("--tables", default="100,1000,10000", help="idle tables, ascending")
    parser.add_argument("--only", default="", help="cost, delivery, tables, store")
    given = parser.parse_args()
    main(given.rounds, given.seconds, given.tables, given.only)
