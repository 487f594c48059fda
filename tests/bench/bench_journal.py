"""Appends a second of each journal, with 1 and with 64 in flight, beside a bare ceiling.

The ceiling is what one thread reaches with sqlite3 alone in the same folder: transactions of
1 and of 64 appends of the same size, ``executemany``, the same durability, no event loop.
Redis runs where redis-server is installed, with ``appendfsync always``; its own CPU is not counted.
Rounds alternate, so that a busy machine slows all alike; take the ratios, not the absolutes.

    python tests/bench/bench_journal.py [--rounds 5] [--seconds 0.4] [--folder /var/tmp]
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

from croupier_server.journal import Append, Journal, open_journal

sys.path.insert(0, str(Path(__file__).parents[1]))
from server.redis_server import RedisServer, installed

ENTRY = bytes(200)
"""About the size of a move's entry."""

IN_FLIGHT = (1, 64)


class Sample(NamedTuple):
    """One run: appends a second, CPU µs an append of the process, and of the event loop's thread."""

    rate: float
    cpu_us: float
    loop_us: float


Run = Callable[[Path, int, float], Coroutine[Any, Any, Sample]]


class Stopwatch:
    """Counts time and CPU from its making."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time(), time.thread_time()

    def sample(self, appends: int) -> Sample:
        wall, cpu, loop = self._began
        return Sample(
            appends / (time.perf_counter() - wall),
            1e6 * (time.process_time() - cpu) / appends,
            1e6 * (time.thread_time() - loop) / appends,
        )


async def ceiling(folder: Path, in_flight: int, seconds: float) -> Sample:
    """Bare sqlite3, one transaction after the other, each of ``in_flight`` entries with deadlines."""
    db = sqlite3.connect(folder / "ceiling.db", isolation_level=None)
    db.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE entries (stream, seq, data, PRIMARY KEY (stream, seq)) WITHOUT ROWID;"
        "CREATE TABLE deadlines (stream PRIMARY KEY, seq, at_ms) WITHOUT ROWID;"
        "CREATE INDEX by_time ON deadlines (at_ms);"
    )
    streams = [f"tables/{number:022}" for number in range(in_flight)]
    watch, end, seq = Stopwatch(), time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        seq += 1
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO entries VALUES (?, ?, ?)", [(stream, seq, ENTRY) for stream in streams])
        db.executemany("REPLACE INTO deadlines VALUES (?, ?, ?)", [(stream, seq, seq) for stream in streams])
        db.execute("COMMIT")
    sample = watch.sample(seq * in_flight)
    db.close()
    return sample


async def memory(_: Path, in_flight: int, seconds: float) -> Sample:
    return await _appends(await open_journal("memory:"), in_flight, seconds)


async def sqlite(folder: Path, in_flight: int, seconds: float) -> Sample:
    return await _appends(await open_journal(f"sqlite:{folder / 'journal.db'}"), in_flight, seconds)


async def redis(folder: Path, in_flight: int, seconds: float) -> Sample:
    with RedisServer(dir=str(folder)) as server:
        return await _appends(await open_journal(server.url), in_flight, seconds)


async def _appends(journal: Journal, in_flight: int, seconds: float) -> Sample:
    watch, end = Stopwatch(), time.perf_counter() + seconds

    async def mover(stream: str) -> int:
        seq = 0
        while time.perf_counter() < end:
            await journal.append(Append(stream, seq, (ENTRY,), seq))
            seq += 1
        return seq

    done = await asyncio.gather(*(mover(f"tables/{number:022}") for number in range(in_flight)))
    sample = watch.sample(sum(done))
    await journal.close()
    return sample


RUNS: dict[str, Run] = {"ceiling": ceiling, "sqlite": sqlite, "memory": memory}
if installed():
    RUNS["redis"] = redis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="of each run; a round has 8")
    parser.add_argument("--folder", type=Path, help="where the files go; by default the temporary folder")
    given = parser.parse_args()
    samples: dict[tuple[str, int], list[Sample]] = {}
    for _ in range(given.rounds):
        for in_flight in IN_FLIGHT:
            for name, run in RUNS.items():
                with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                    sample = asyncio.run(run(Path(folder), in_flight, given.seconds))
                samples.setdefault((name, in_flight), []).append(sample)
    report(samples)


def report(samples: dict[tuple[str, int], list[Sample]]) -> None:
    """Medians of all rounds; the ratio is the median of each round's ratio to its ceiling."""
    print(f"{'':9}{'in flight':>9}{'appends/s':>11}{'of ceiling':>12}{'CPU µs':>9}{'on the loop':>13}")
    for (name, in_flight), runs in samples.items():
        rate, cpu_us, loop_us = (statistics.median(column) for column in zip(*runs, strict=True))
        of_ceiling = statistics.median(
            run.rate / bare.rate for run, bare in zip(runs, samples["ceiling", in_flight], strict=True)
        )
        print(f"{name:9}{in_flight:9}{rate:11,.0f}{of_ceiling:12.2f}{cpu_us:9.1f}{loop_us:13.1f}")


if __name__ == "__main__":
    main()
