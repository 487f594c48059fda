"""Served moves beside the bare ceiling: CPU a move, moves a second, latency at half load.

The ceiling is grpc.aio alone with the same streams, one message in and three out a move. ``wheel``
is the journal in SQLite again, served by what a wheel installs, its rules compiled. The load runs
in a process of its own; with two cores it competes with the server, so the figure to trust is the
server's CPU a move, and its ratio to the ceiling's in the same run. Rounds alternate; medians are
printed.

    python -m bench.bench_moves [--rounds 3] [--seconds 4]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.processes import WHEEL, load, server

_SERVE = ["-m", "croupier", "serve", "--json", "--listen", "127.0.0.1:0", "--house-bots", "0", "--journal"]
_ECHO = ["-m", "bench.echo_server"]
_LIMITS = {"CROUPIER_MAX_OPEN_TABLES": "100000", "CROUPIER_MAX_STREAMS": "10000"}

Row = dict[str, Any]


@contextmanager
def croupier_server(kind: str = "sqlite") -> Iterator[tuple[int, str]]:
    """A server on a fresh journal."""
    python = WHEEL if kind == "wheel" else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        journal = "memory:" if kind == "memory" else f"sqlite:{Path(folder) / 'bench.sqlite'}"
        with server([*_SERVE, journal], _LIMITS, python) as started:
            yield started


def run(kind: str, shape: list[str], rate: float = 0.0) -> Row:
    """One measurement against a fresh server: ``sqlite``, ``wheel``, ``memory`` or ``echo``."""
    paced = ["--rate", str(rate)] if rate else []
    if kind == "echo":
        with server(_ECHO) as (pid, address):
            return load("echo", address, "--pid", str(pid), *shape, *paced)
    with croupier_server(kind) as (pid, address):
        return load("croupier", address, "--pid", str(pid), *shape, *paced)


def medians(rows: list[Row]) -> Row:
    """The median of each figure."""
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def compare(title: str, kinds: list[str], shape: list[str], rounds: int, rate: float = 0.0) -> dict[str, Row]:
    """Measure kinds in turn, print their medians and the ratios to the echo."""
    rows: dict[str, list[Row]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            rows[kind].append(run(kind, shape, rate))
    found = {kind: medians(some) for kind, some in rows.items()}
    print(f"\n{title}")
    print("           moves/s   CPU µs/move   p50 ms   p99 ms   messages out/move")
    for kind, row in found.items():
        speed, cpu = row["moves"] / row["seconds"], row["cpu_us"]
        times = f"{row['p50_ms']:8.2f} {row['p99_ms']:8.2f}"
        print(f"{kind:9s} {speed:8,.0f} {cpu:13.0f} {times} {row['out']:12.2f}")
    bare = found["echo"]
    for kind, row in found.items():
        if kind != "echo":
            ceiling, slower = bare["cpu_us"] / row["cpu_us"], row["p99_ms"] / bare["p99_ms"]
            print(f"{kind}: {ceiling:.2f} of the bare ceiling by CPU; p99 {slower:.2f} times the echo's")
    return found


def main(rounds: int = 3, seconds: float = 4.0) -> None:
    """All comparisons."""
    window = ["--seconds", str(seconds)]
    served = ["sqlite", "wheel"] if WHEEL.exists() else ["sqlite"]
    kinds = [*served, "memory", "echo"]
    one = ["--tables", "20", "--channels", "60", *window]
    found = compare("20 tables, a connection and a stream for each of 60 seats", kinds, one, rounds)
    sqlite = found["sqlite"]
    rate = sqlite["moves"] / sqlite["seconds"] / 2
    compare(f"the same at half load, {rate:,.0f} moves/s", [*served, "echo"], one, rounds, rate)
    many = ["--tables", "100", "--per-stream", "50", "--channels", "6", *window]
    compare("100 tables, 50 on each of 6 streams", kinds, many, rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    arguments = parser.parse_args()
    main(arguments.rounds, arguments.seconds)
