"""The short form of ``make chaos``: every harm at least once, and no promise broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.driver import Driver
from chaos.load import RECORDS
from chaos.process import LoadProcess
from chaos.run import run
from system.commands import command

HARMS = ["kill", "freeze", "redis restart", "kill", "balancer restart", "cut", "drain", "cut", "kill"]
GAMES = 24


async def trouble(driver: Driver, playing: LoadProcess) -> None:
    for number, kind in enumerate(HARMS):
        if number == len(HARMS) // 2:
            playing.begin_no_more()
        await playing.more(200)
        await driver.harm(kind)


@pytest.mark.timeout(400)  # a bound for what hangs, on a busy machine too
async def test_replicas_that_are_killed_frozen_and_cut_off_break_no_promise(tmp_path: Path) -> None:
    outcome = await run(tmp_path, trouble, games=GAMES, seed=7, brief=True, harm=10)
    assert outcome.problems() == [], outcome.summary()
    assert outcome.verdict.tables >= GAMES
    assert outcome.verdict.records == outcome.verdict.tables
    assert outcome.harms["connections harmed"] > 0
    async with command("verify", str(tmp_path / RECORDS)) as verify:
        assert (await verify.ended())[0] == 0
