"""The ``croupier`` command in a process of its own, with its three streams as pipes.

The law of this file: a command is gone when its block is left; a traceback that it wrote fails the
test that ran it.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from system.processes import PATIENCE

_LONGEST_LINE = 1 << 24


class Command:
    """A running command; its output is JSON lines."""

    def __init__(self, process: Process) -> None:
        self._process = process
        assert process.stderr is not None
        self._complaints = asyncio.create_task(process.stderr.read())

    async def event(self) -> dict[str, Any] | None:
        """The next line of output; None at its end."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            line = await self._process.stdout.readline()
        return json.loads(line) if line else None

    def write(self, line: str) -> None:
        """Write a line to its input."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")

    def end_input(self) -> None:
        """There is no more input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    async def ended(self) -> tuple[int, str]:
        """Wait for its end; the exit code, and what it wrote to stderr."""
        async with asyncio.timeout(PATIENCE):
            code = await self._process.wait()
            return code, (await self._complaints).decode(errors="replace")

    async def end(self) -> str:
        """Leave nothing behind; what it wrote to stderr."""
        if self._process.returncode is None:
            self._process.kill()
        return (await self.ended())[1]


@asynccontextmanager
async def command(*arguments: str) -> AsyncIterator[Command]:
    """``croupier`` with these arguments; killed when the block is left while it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "croupier", *arguments),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        limit=_LONGEST_LINE,
    )
    running = Command(process)
    try:
        yield running
    except BaseException as error:
        error.add_note(f"croupier {' '.join(arguments)} said: {await running.end()}")
        raise
    said = await running.end()
    if "Traceback" in said:
        pytest.fail(f"croupier {' '.join(arguments)} said: {said}")
