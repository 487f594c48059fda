"""The house's bots: processes of their own, started and watched by the server.

The law of this file: the server runs no bot logic. Each process gets the house's token as the
first line of its standard input, never as an argument; that input stays open, and its end
tells the process that the server is gone. A process that dies is started again after a wait
that grows while it keeps dying.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

MODULE: Final = "croupier.house"
"""What a house process runs: ``python -m croupier.house --server HOST:PORT --shard I/N``."""

_FIRST_WAIT_S, _LONGEST_WAIT_S, _GOOD_LIFE_S = 0.5, 30.0, 60.0
_LAST_WORDS_S: Final = 3.0
"""How long a process may take to end before it is killed."""

log: Final = structlog.get_logger()


class House:
    """Keeps ``count`` house processes running."""

    def __init__(
        self,
        count: int,
        server: str,
        token: Callable[[], str],
        *,
        command: Sequence[str] = (sys.executable, "-m", MODULE),
        first_wait_s: float = _FIRST_WAIT_S,
    ) -> None:
        self._count: Final = count
        self._server: Final = server
        self._token: Final = token
        self._command: Final = tuple(command)
        self._first_wait_s: Final = first_wait_s
        self._keepers: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start them all; each is kept running until ``stop``."""
        for shard in range(self._count):
            keeper = asyncio.create_task(self._keep(shard), name=f"house bot {shard}")
            self._keepers.append(keeper)

    async def stop(self) -> None:
        """End them all: asked first, killed after three seconds."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._keepers.clear()

    async def _keep(self, shard: int) -> None:
        loop, wait = asyncio.get_running_loop(), self._first_wait_s
        while True:
            started = loop.time()
            try:
                process = self._start_one(shard)
            except OSError as error:
                log.warning("house.not_started", shard=shard, problem=str(error), again_in_s=wait)
            else:
                code = await self._live(process)
                log.warning("house.ended", shard=shard, exit_code=code, again_in_s=wait)
            await asyncio.sleep(wait)
            lived_well = loop.time() - started > _GOOD_LIFE_S
            wait = self._first_wait_s if lived_well else min(wait * 2, _LONGEST_WAIT_S)

    def _start_one(self, shard: int) -> subprocess.Popen[bytes]:
        arguments = ("--server", self._server, "--shard", f"{shard}/{self._count}")
        process = _spawn((*self._command, *arguments))
        log.info("house.started", shard=shard, pid=process.pid)
        return process

    async def _live(self, process: subprocess.Popen[bytes]) -> int:
        """One life of one process, to its end or ours; its exit code."""
        assert process.stdin is not None
        try:
            with suppress(ConnectionError):
                process.stdin.write(self._token().encode() + b"\n")
            return await _exit_code(process)
        finally:
            if process.returncode is None:
                await asyncio.shield(_end(process))
            with suppress(ConnectionError):
                process.stdin.close()


def _spawn(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process the way that runs no fork handlers: gRPC's crash the child of a busy server.

    The event loop's own way forks and runs them; this one is vfork and exec.
    """
    return subprocess.Popen(  # noqa: S603 - our own command
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, bufsize=0
    )


async def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process without a thread: its file descriptor can be read once it has ended."""
    if process.poll() is not None:
        return process.returncode
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    descriptor = os.pidfd_open(process.pid)
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return process.wait()


async def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        await asyncio.wait_for(_exit_code(process), _LAST_WORDS_S)
    except TimeoutError:
        process.kill()
        await _exit_code(process)


def is_there() -> bool:
    """True when this installation has the house's bots."""
    try:
        return importlib.util.find_spec(MODULE) is not None
    except ModuleNotFoundError:
        return False
