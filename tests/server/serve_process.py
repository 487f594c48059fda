"""A server in a process of its own, started and read as an operator does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

_PROGRAM = """
import json, sys
from croupier_server import logs
from croupier_server.main import run
from croupier_server.settings import Settings
given = json.loads(sys.argv[1])
logs.configure("info", json=True)
sys.exit(run(Settings.from_environment(), **given))
"""

DEFAULTS = {"journal_url": "memory:", "listen": "127.0.0.1:0"}


class ServeProcess:
    """One running server process; ``ready`` is its ready line, ``address`` where it listens."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ready: dict[str, Any] = {}

    @property
    def address(self) -> str:
        return self.ready["listen"]

    async def until_ready(self) -> None:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError((await self.ended())[1])
        self.ready = json.loads(line)

    async def until_logged(self, message: str) -> None:
        assert self._process.stderr is not None
        while json.loads(await self._process.stderr.readline())["message"] != message:
            pass

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def ended(self) -> tuple[int, str]:
        """The exit code and what was written to stderr."""
        out, err = await self._process.communicate()
        assert out == b""
        assert self._process.returncode is not None
        return self._process.returncode, err.decode()


async def start(environment: dict[str, str] | None = None, **given: Any) -> ServeProcess:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _PROGRAM,
        json.dumps({**DEFAULTS, **given}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "CROUPIER_DRAIN_NOTICE_S": "0.1", **(environment or {})},
    )
    return ServeProcess(process)


@asynccontextmanager
async def serve_process(
    environment: dict[str, str] | None = None, **given: Any
) -> AsyncIterator[ServeProcess]:
    """A process that is ready; killed at the end when it still runs."""
    served = await start(environment, **given)
    try:
        await served.until_ready()
        yield served
    finally:
        if served._process.returncode is None:
            served.send(signal.SIGKILL)
            await served.ended()
