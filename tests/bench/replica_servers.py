"""Servers on one journal, as the benches of replicas start them; nothing is archived.

Redis syncs every append to disk and never rewrites its file, so the file's growth is what was appended.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

from bench.processes import server
from server.redis_server import RedisServer
from system.balancers import HAProxy
from system.components import die_with_parent

_SERVE = ["-m", "croupier", "serve", "--json", "--listen", "127.0.0.1:0", "--house-bots", "0"]
_LIMITS = {
    "CROUPIER_MAX_OPEN_TABLES": "100000",
    "CROUPIER_MAX_STREAMS": "10000",
    "CROUPIER_DRAIN_NOTICE_S": "0",
}
_LOOK_SECONDS = 0.05


@contextmanager
def bench_redis() -> Iterator[RedisServer]:
    """An empty Redis."""
    with RedisServer(maxmemory="2gb", auto_aof_rewrite_percentage=0) as redis:
        yield redis


class Servers(NamedTuple):
    """Servers on one journal: their addresses, pids, and what a load has to know besides."""

    addresses: list[str]
    pids: list[int]
    more: list[str]
    kept: Callable[[], int]
    """How many bytes the journal has on disk."""
    disk: int
    """The pid of what writes the journal."""


@contextmanager
def embedded() -> Iterator[Servers]:
    """One server on a SQLite file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.sqlite"
        with replicas(f"sqlite:{path}", 1) as (addresses, pids):
            yield Servers(addresses, pids, [], lambda: _size(path), pids[0])


def _size(path: Path) -> int:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        [[pages, each]] = db.execute("SELECT page_count, page_size FROM pragma_page_count, pragma_page_size")
    return int(pages * each)


@contextmanager
def shared(number: int, *, balanced: bool = False) -> Iterator[Servers]:
    """So many servers on one Redis, with a balancer before them where wanted."""
    with ExitStack() as stack:
        redis = stack.enter_context(bench_redis())
        addresses, pids = stack.enter_context(replicas(redis.url, number))
        more = ["--store", str(pid_of(redis))]
        if balanced:
            address, pid, roots = stack.enter_context(balancer(addresses))
            addresses, more = [address], [*more, "--balancer", str(pid), "--roots", str(roots)]
        yield Servers(
            addresses, pids, more, lambda: info(redis, "persistence", "aof_current_size"), pid_of(redis)
        )


@contextmanager
def replicas(journal: str, number: int) -> Iterator[tuple[list[str], list[int]]]:
    """So many servers on a journal: addresses and pids."""
    with ExitStack() as stack:
        command = [*_SERVE, "--journal", journal, "--archive", "none"]
        started = [stack.enter_context(server(command, _LIMITS)) for _ in range(number)]
        yield [address for _, address in started], [pid for pid, _ in started]


@contextmanager
def balancer(addresses: list[str]) -> Iterator[tuple[str, int, Path]]:
    """HAProxy with the shipped file, once it finds all servers well: address, pid, its certificate."""
    with tempfile.TemporaryDirectory() as folder:
        proxy = HAProxy(Path(folder), addresses, {})
        process = subprocess.Popen(
            proxy.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **proxy.variables}, preexec_fn=die_with_parent,
        )  # fmt: skip
        try:
            while not _uses(proxy, addresses):
                assert process.poll() is None, "HAProxy has ended"
                time.sleep(_LOOK_SECONDS)
            yield proxy.address, process.pid, Path(proxy.variables["CROUPIER_TLS_CERT"])
        finally:
            process.kill()
            process.wait()


def _uses(proxy: HAProxy, addresses: list[str]) -> bool:
    try:
        return proxy.in_use() == set(addresses)
    except URLError:
        return False


def pid_of(redis: RedisServer) -> int:
    """Its process."""
    assert redis.process is not None
    return redis.process.pid


def info(redis: RedisServer, section: str, name: str) -> int:
    """A number that Redis tells of itself."""
    lines = redis.command("INFO", section).decode().splitlines()
    return next(int(line.partition(":")[2]) for line in lines if line.startswith(f"{name}:"))
