"""The load in a process of its own: what it says, and how it is told to come to its end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from chaos.load import Settings

TESTS = Path(__file__).parents[1]

PATIENCE = 60.0
"""Seconds that no player is told of anything before a run is given up: a bound for what hangs."""


class LoadProcess:
    """``chaos.load``, told what to do and listened to. ``steps`` counts what players were told."""

    def __init__(self, process: Process) -> None:
        self.steps = 0
        self.playing = asyncio.Event()
        self._more = asyncio.Condition()
        self._process = process
        self._finished = asyncio.Event()
        self._said: list[str] = []
        self._listening = asyncio.create_task(self._listen())
        self._hearing = asyncio.create_task(self._hear())

    async def more(self, steps: int) -> None:
        """Wait until players were told so many more steps. Raises ``AssertionError`` when they are not."""
        async with asyncio.timeout(PATIENCE):
            await self._before_it_ends(self._reach(self.steps + steps))

    async def _reach(self, steps: int) -> None:
        async with self._more:
            await self._more.wait_for(lambda: self.steps >= steps)

    async def all_play(self) -> None:
        """Wait until so many tables as were asked for have begun. Raises ``AssertionError``."""
        await self._come_to(self.playing)

    def begin_no_more(self) -> None:
        """From now on only the tables that have begun are played."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"no more\n")

    async def finish(self) -> None:
        """Let all tables come to their end; raises ``AssertionError`` when they do not."""
        self.begin_no_more()
        await self._come_to(self._finished)
        await self.end()
        assert self._process.returncode == 0, self.last_words()

    async def end(self) -> None:
        """Make it write out its logs and go."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
            raise
        await asyncio.gather(self._listening, self._hearing)

    async def _come_to(self, event: asyncio.Event) -> None:
        while not event.is_set():
            told = self.steps
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._before_it_ends(event.wait())
            except TimeoutError:
                assert self.steps > told, f"nothing happens any more: {self.last_words()}"

    async def _before_it_ends(self, event: Coroutine[Any, Any, Any]) -> None:
        waiting = asyncio.create_task(event)
        try:
            await asyncio.wait({waiting, self._listening}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return
        finally:
            waiting.cancel()
        await self._process.wait()
        raise AssertionError(f"the load ended: {self.last_words()}")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            said = json.loads(line)
            if said["event"] == "playing":
                self.playing.set()
            elif said["event"] == "steps":
                async with self._more:
                    self.steps = said["count"]
                    self._more.notify_all()
            elif said["event"] == "finished":
                self._finished.set()

    async def _hear(self) -> None:
        assert self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self._said.append(line.decode(errors="replace").rstrip())
            del self._said[:-100]

    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        return "\n".join(["the load said:", *self._said])


@asynccontextmanager
async def load(settings: Settings) -> AsyncIterator[LoadProcess]:
    """A load that plays; gone, its logs written, when the block is left."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chaos.load", settings.to_text()),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    running = LoadProcess(process)
    try:
        yield running
    except BaseException as error:
        await running.end()
        error.add_note(running.last_words())
        raise
    finally:
        await running.end()
