"""The long form, ``make chaos MINUTES=30 GAMES=100``: prints counts, and fails when a promise was broken."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from chaos.driver import Driver
from chaos.process import LoadProcess
from chaos.run import run

PAUSE = (1.0, 5.0)
"""Seconds between two harms."""
_SHOWN = 50


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--games", type=int, default=100, help="tables in play at a time")
    parser.add_argument("--think", type=float, default=0.5, help="mean seconds before a move")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--house-bots", type=int, default=0, help="processes of house bots of each replica")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the logs are kept; default: not kept"
    )
    return parser.parse_args()


async def main(given: argparse.Namespace, folder: Path) -> int:
    seed = random.randrange(1 << 30) if given.seed is None else given.seed
    say(f"seed {seed}, {given.games} games at a time for {given.minutes:g} minutes")
    rng = random.Random(seed)

    async def trouble(driver: Driver, playing: LoadProcess) -> None:
        until = time.monotonic() + 60 * given.minutes
        while time.monotonic() < until:
            await asyncio.sleep(rng.uniform(*PAUSE))
            kind = await driver.harm()
            say(f"{kind}; steps {playing.steps}, minutes left {max(0.0, until - time.monotonic()) / 60:.1f}")
            await playing.more(1)

    outcome = await run(
        folder, trouble, games=given.games, seed=seed, think=given.think, house_bots=given.house_bots
    )
    for problem in outcome.problems()[:_SHOWN]:
        say(problem)
    say(outcome.summary())
    return 1 if outcome.problems() else 0


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


if __name__ == "__main__":
    given = arguments()
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        sys.exit(asyncio.run(main(given, given.folder or Path(folder))))
