"""The house as a process beside servers that share a journal, as a cluster has it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import urllib.request
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from croupier.bots import make_bot
from croupier_server.house_main import JOURNAL_VARIABLE, main
from system.players import Ledger, clients, play
from system.processes import PATIENCE, free_port
from system.replicas import Replicas, replicas


@asynccontextmanager
async def house(place: Replicas, metrics: int) -> AsyncIterator[list[int]]:
    """The house of these servers: the pids of its two processes of bots, which end with the block.

    Their metrics are at the port ``metrics`` and the next one.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "croupier_server.house_main"),
        *("--server", ",".join(place.addresses), "--processes", "2"),
        *("--metrics", f"127.0.0.1:{metrics}"),
        env={**os.environ, JOURNAL_VARIABLE: place.store.url},
        stdout=DEVNULL,
        stderr=PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            started = [await process.stderr.readline() for _ in range(2)]
        lines = [json.loads(line) for line in started]
        assert [line["message"] for line in lines] == ["house.started"] * 2
        yield [line["pid"] for line in lines]
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            _, said = await process.communicate()
        assert (process.returncode, b'"ended"' in said) == (0, True), said
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_it_plays_at_servers_that_have_no_bots_of_their_own() -> None:
    metrics = free_port()
    async with replicas(2) as place, house(place, metrics) as bots:
        for pid in bots:
            told = told_by_others(pid)
            assert b"eyJ" not in told, "a token"
            assert JOURNAL_VARIABLE.encode() not in told
        async with clients(place.addresses[1], 1) as (player,):
            table = await player.create_table("doudizhu", players=3)
            seat = await player.join(table.name, after_seq=0)
            for level in ("easy", "normal"):
                await player.invite_bot(table.name, level=level)
            ledger = Ledger(table.name, seat.number)
            await play(seat, ledger, make_bot("doudizhu", "easy", 1))
        pages = [await asyncio.to_thread(page, metrics + shard) for shard in range(2)]
        thinkers = [thinker for pid in bots for thinker in children(pid)]
    assert {seat for seat, _, _ in ledger.moves()} == {0, 1, 2}
    for level in ("easy", "normal"):
        answered = f'croupier_house_thoughts_total{{end="answered",level="{level}"}} 0.0'
        assert sum(answered in each for each in pages) == 1, "the other process has a seat of that level"
    assert len(thinkers) == 1  # the table is one process's, and one of its seats thinks slowly
    assert not any(map(lives, thinkers))


def page(port: int) -> str:
    """The metrics of a process of bots."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text: str = answer.read().decode()
    return text


def lives(pid: int) -> bool:
    """Whether there is such a process."""
    return Path(f"/proc/{pid}").exists()


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def told_by_others(pid: int) -> bytes:
    """The arguments and the environment of a process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()


def test_without_a_journal_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(JOURNAL_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["--server", "127.0.0.1:1"])
    assert ended.value.code == 2
    assert JOURNAL_VARIABLE in capsys.readouterr().err
    monkeypatch.setenv(JOURNAL_VARIABLE, "redis+unix:///nowhere")
    monkeypatch.setenv("CROUPIER_JOURNAL_WAIT_S", "0")
    assert main(["--server", "127.0.0.1:1"]) == 1
    assert "the journal cannot be read" in capsys.readouterr().err
