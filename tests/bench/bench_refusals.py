"""How long a client waits for a refusal, method by method: ``python -m bench.bench_refusals``.

Every bad request of ``server.fuzz_refusals`` is sent, one at a time, to a server in a process of
its own; the time is the client's, from sending the request to having the refusal read.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections import defaultdict

import grpc

from bench import processes
from server.fuzz_refusals import BAD_REQUESTS, TO_ACT, WAITING, Bad
from server.fuzz_send import Call, send
from server.fuzz_stage import Stage, path_of

SERVE = ["-m", "croupier", "serve", "--json", "--listen", "127.0.0.1:0", "--journal", "memory:"]
SERVE += ["--house-bots", "0"]


async def prepared(stage: Stage) -> list[tuple[Bad, Call]]:
    """The stage is set; the calls that can be made there."""
    await stage.set()
    acting, _ = await stage.to_act("doudizhu")
    stage.guests[TO_ACT] = stage.guests[acting]
    stage.guests[WAITING] = stage.guests["ann" if acting != "ann" else "bob"]
    calls = []
    for bad in BAD_REQUESTS:
        if bad.who in (*stage.guests, "nobody"):
            path = path_of(bad.method)
            calls.append((bad, Call(path, (stage.encoded(path, bad.request),), stage.metadata(bad.who), 1)))
    return calls


async def measure(address: str, rounds: int) -> list[tuple[Bad, list[float]]]:
    """Bad requests with the milliseconds of their refusals."""
    took: dict[int, list[float]] = defaultdict(list)
    async with grpc.aio.insecure_channel(address) as channel:
        with grpc.insecure_channel(address) as blocking:
            stage = Stage(channel, blocking)
            calls = await prepared(stage)
            for _ in range(rounds):
                for place, (_, call) in enumerate(calls):
                    begun = time.perf_counter()
                    outcome = await send(stage, call)
                    spent = (time.perf_counter() - begun) * 1000
                    if outcome.error is not None:
                        took[place].append(spent)
    return [(calls[place][0], times) for place, times in took.items()]


def main(rounds: int = 20) -> None:
    """Measure; print a line a method, and the request that takes longest whatever else the machine does."""
    with processes.server(SERVE) as (_, address):
        took = asyncio.run(measure(address, rounds))
    by_method: dict[str, list[float]] = defaultdict(list)
    for bad, times in took:
        by_method[bad.method[-30:]] += times
    print(f"{'refused':30s} {'calls':>6s} {'p50 ms':>8s} {'p99 ms':>8s} {'max ms':>8s}")
    for method, times in sorted(by_method.items()):
        p99 = statistics.quantiles(times, n=100)[98]
        print(f"{method:30s} {len(times):6d} {statistics.median(times):8.2f} {p99:8.2f} {max(times):8.2f}")
    bad, times = max(took, key=lambda each: statistics.median(each[1]))
    print(f"slowest by its median: {statistics.median(times):.2f} ms (50 at most), {bad.method} {bad.reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="how often each bad request is sent")
    main(parser.parse_args().rounds)
