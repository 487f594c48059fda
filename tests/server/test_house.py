"""The house's processes: started with their token, started again, ended for good."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from croupier_server import house
from croupier_server.house import House

PROGRAM = Path(__file__).with_name("house_program.py")


class Lives:
    """Hears of each process that begins, and when it ends."""

    def __init__(self) -> None:
        self._begun: asyncio.Queue[tuple[dict, asyncio.StreamReader]] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0

    async def heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        await self._begun.put((json.loads(await reader.readline()), reader))

    async def next(self) -> tuple[dict, asyncio.StreamReader]:
        return await self._begun.get()

    def bots(self, count: int, mode: str) -> House:
        command = (sys.executable, str(PROGRAM), str(self.port), mode)
        return House(count, "127.0.0.1:1", lambda: "the-token", command=command, first_wait_s=0.01)


@pytest.fixture
async def lives() -> AsyncIterator[Lives]:
    heard = Lives()
    server = await asyncio.start_server(heard.heard, "127.0.0.1", 0)
    heard.port = server.sockets[0].getsockname()[1]
    async with server:
        yield heard
        for writer in heard._writers:
            writer.close()


async def test_each_process_gets_its_shard_and_the_token_on_its_input_alone(lives: Lives) -> None:
    bots = lives.bots(2, "stay")
    bots.start()
    begun = [await lives.next() for _ in range(2)]
    assert sorted(life["arguments"] for life, _ in begun) == [
        ["--server", "127.0.0.1:1", "--shard", "0/2"],
        ["--server", "127.0.0.1:1", "--shard", "1/2"],
    ]
    assert {life["token"] for life, _ in begun} == {"the-token"}
    await bots.stop()
    assert [await end.read() for _, end in begun] == [b"", b""]


async def test_a_process_that_dies_is_started_again(lives: Lives) -> None:
    bots = lives.bots(1, "die")
    bots.start()
    for _ in range(3):
        life, end = await lives.next()
        assert life["token"] == "the-token"
        assert await end.read() == b""
    await bots.stop()


async def test_stopping_a_process_that_has_just_died_is_no_trouble(lives: Lives) -> None:
    """The end that ``stop`` asks for may find nothing left to end."""
    with house._spawn((sys.executable, "-c", "pass")) as process:
        code = await house._exit_code(process)
        await house._end(process)
    assert (code, process.returncode) == (0, 0)


async def test_a_process_that_will_not_end_is_killed(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "_LAST_WORDS_S", 0.1)
    bots = lives.bots(1, "deaf")
    bots.start()
    _, end = await lives.next()
    await bots.stop()
    assert await end.read() == b""


async def test_a_program_that_is_not_there_does_not_stop_the_server(tmp_path: Path) -> None:
    bots = House(1, "127.0.0.1:1", lambda: "t", command=[str(tmp_path / "nothing")], first_wait_s=0.01)
    bots.start()
    await asyncio.sleep(0)
    await bots.stop()
    assert bots._keepers == []
