"""A server in a process of its own, as an operator has it: started, told to go, killed, started again.

The law of this file: nothing outlives its block. A process and those that it started share one
pipe for what they log, so the end of that pipe is the end of all of them. What was logged is kept:
a traceback or an error in it fails the test that had the server, and a test that fails for another
reason shows it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 30.0
"""Seconds within which a process begins or ends; a bound for what hangs, not a measurement."""
_LAST_LINES = 20
_ERRORS = frozenset({"error", "critical"})


def free_port() -> int:
    """A free port that no outgoing connection is given: a server that was killed finds it free again.

    With one of those ports a client that tries again and again may connect to itself.
    """
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(max(1024, lowest - 16_384), lowest)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class ServerProcess:
    """``croupier serve`` on one journal and one port, through all its lives. Addresses are ``HOST:PORT``."""

    def __init__(self, journal: str, house_bots: int, environment: Mapping[str, str]) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.ready: dict[str, Any] = {}
        self.log: list[str] = []
        self._arguments = ("--journal", journal, "--house-bots", str(house_bots), "--metrics", "127.0.0.1:0")
        self._environment = {**os.environ, "CROUPIER_DRAIN_NOTICE_S": "0.1", **environment}
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._logged = asyncio.Condition()
        self._life_begins = 0

    async def start(self) -> None:
        """Start it and wait until it serves."""
        self._life_begins = len(self.log)
        serve = ("-m", "croupier", "serve", "--json", "--listen", self.address, "--stop-with-stdin")
        # The pipe to its input is how it ends when this process is killed.
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, *serve, *self._arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._environment,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        self._reading = asyncio.create_task(self._read(process.stderr))
        async with asyncio.timeout(PATIENCE):
            line = await process.stdout.readline()
        if not line:
            await self._gone()
            raise AssertionError("\n".join(["the server did not begin", *self.log[self._life_begins :]]))
        self.ready = json.loads(line)
        assert self.ready["listen"] == self.address

    async def stop(self) -> int:
        """SIGTERM, and wait; the exit code."""
        assert self._process is not None
        self._process.terminate()
        return await self._gone()

    async def kill(self) -> None:
        """SIGKILL, and wait until its house bots are gone too."""
        assert self._process is not None
        self._process.kill()
        assert await self._gone() == -signal.SIGKILL

    async def restart(self) -> None:
        """Kill it and start it again, on the same journal and port."""
        await self.kill()
        await self.start()

    def freeze(self) -> None:
        """SIGSTOP: it keeps its connections and does nothing. Its house bots go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT: it goes on where it was."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    async def house_pids(self, count: int = 1) -> list[int]:
        """The processes of house bots of this life, once it has started ``count`` of them."""
        return [line["pid"] for line in await self._until_logged("house.started", count)]

    async def _until_logged(self, message: str, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(PATIENCE), self._logged:
            await self._logged.wait_for(lambda: len(self._lines(message)) >= count)
        return self._lines(message)

    def _lines(self, message: str) -> list[dict[str, Any]]:
        lines = map(_parsed, self.log[self._life_begins :])
        return [line for line in lines if line.get("message") == message]

    async def _read(self, stderr: asyncio.StreamReader) -> None:
        while line := await stderr.readline():
            async with self._logged:
                self.log.append(line.decode(errors="replace").rstrip())
                self._logged.notify_all()

    async def _gone(self) -> int:
        """Wait for the end of the process and of all that share its log."""
        assert self._process is not None
        assert self._reading is not None
        async with asyncio.timeout(PATIENCE):
            code = await self._process.wait()
            await asyncio.shield(self._reading)
        return code

    async def end(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.kill()
        try:
            await self._gone()
        except TimeoutError:
            for line in self._lines("house.started"):
                with suppress(ProcessLookupError):
                    os.kill(line["pid"], signal.SIGKILL)
            raise

    def complaints(self) -> list[str]:
        """Lines that tell of a mistake in the server or its house bots."""
        return [line for line in self.log if "Traceback" in line or _parsed(line).get("level") in _ERRORS]

    def last_words(self) -> str:
        """The end of the log."""
        return "\n".join(["the server's log:", *self.log[-_LAST_LINES:]])


def _parsed(line: str) -> dict[str, Any]:
    with suppress(ValueError):
        parsed = json.loads(line)
        if isinstance(parsed, dict):
            return parsed
    return {}


@asynccontextmanager
async def server_process(
    journal: str = "memory:", *, house_bots: int = 0, **environment: str
) -> AsyncIterator[ServerProcess]:
    """A server that serves; gone, with all that it started, when the block is left.

    ``environment`` are settings, by their names: ``heartbeat_s="0.2"``.
    """
    settings = {f"CROUPIER_{name.upper()}": value for name, value in environment.items()}
    server = ServerProcess(journal, house_bots, settings)
    try:
        await server.start()
        yield server
    except BaseException as error:
        error.add_note(server.last_words())
        raise
    finally:
        await server.end()
    if server.complaints():
        pytest.fail("\n".join(["the server complains:", *server.complaints()[:3], server.last_words()]))
