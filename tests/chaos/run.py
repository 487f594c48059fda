"""One run from its beginning to its verdict.

The law of this file: harms come only while all tables are in play; then it is calm, every table is
played to its end, and only then is anything judged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from chaos.cluster import cluster
from chaos.driver import Driver
from chaos.load import Settings
from chaos.process import LoadProcess, load
from chaos.verdict import Verdict, judge
from server.redis_server import opened

Trouble = Callable[[Driver, LoadProcess], Awaitable[None]]
"""What is done while all play."""


@dataclass(frozen=True)
class Outcome:
    """What was done, and what came of it."""

    verdict: Verdict
    harms: dict[str, int]
    complaints: list[str]

    def problems(self) -> list[str]:
        """All that must not be, a line each."""
        found = [f"{table}: {violation}" for table, violation in self.verdict.violations]
        return found + [f"a server complains: {line}" for line in self.complaints]

    def summary(self) -> str:
        """The counts, for people."""
        verdict = self.verdict
        harms = ", ".join(f"{kind} {count}" for kind, count in self.harms.items())
        return (
            f"games {verdict.tables}, moves {verdict.moves} ({verdict.acknowledged} acknowledged, "
            f"{verdict.timeouts} by the clock), records verified {verdict.records}\n"
            f"steps told {verdict.facts['Told']}, given to players {verdict.facts['Given']}\n"
            f"harms: {harms}\n"
            f"longest wait for a move's answer {verdict.longest_answer:.1f} s, "
            f"for a step {verdict.longest_delivery:.1f} s\n"
            f"violations {len(verdict.violations)}, complaints of servers {len(self.complaints)}"
        )


async def run(
    folder: Path,
    trouble: Trouble,
    *,
    games: int,
    seed: int,
    think: float = 0.0,
    brief: bool = False,
    house_bots: int = 0,
    harm: float = 1.0,
) -> Outcome:
    """Play ``games`` tables at a time through ``trouble``, and judge. Logs go to ``folder``.

    Raises ``AssertionError`` when the tables do not come to their end.
    """
    async with cluster(house_bots=house_bots, seed=seed, harm=harm) as harmed:
        driver = Driver(harmed, seed)
        settings = Settings(harmed.addresses, str(folder), games, seed, think, brief, house_bots > 0)
        async with load(settings) as playing:
            await playing.all_play()
            await trouble(driver, playing)
            await driver.calm()
            await playing.finish()
        async with opened(harmed.store) as journal:
            verdict = await judge(folder, journal)
        return Outcome(verdict, {**driver.done, "connections harmed": harmed.cuts}, harmed.complaints())
