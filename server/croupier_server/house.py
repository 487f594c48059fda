"""The house's bots: processes of their own, started and watched by the server.

The law of this file: the server runs no bot logic. Each process gets the house's token as the
first line of its standard input, never as an argument; that input stays open, and its end
tells the process that the server is gone. A process that dies is started again after a wait
that grows while it keeps dying.
"""

from __future__ import annotations

import asyncio
import importlib.util
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
                code = await self._run(shard)
                log.warning("house.ended", shard=shard, exit_code=code, again_in_s=wait)
            except OSError as error:
                log.warning("house.not_started", shard=shard, problem=str(error), again_in_s=wait)
            await asyncio.sleep(wait)
            lived_well = loop.time() - started > _GOOD_LIFE_S
            wait = self._first_wait_s if lived_well else min(wait * 2, _LONGEST_WAIT_S)

    async def _run(self, shard: int) -> int:
        """One life of one process, to its end or ours; its exit code."""
        arguments = ("--server", self._server, "--shard", f"{shard}/{self._count}")
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        log.info("house.started", shard=shard, pid=process.pid)
        try:
            assert process.stdin is not None
            process.stdin.write(self._token().encode() + b"\n")
            with suppress(ConnectionError):
                await process.stdin.drain()
            return await process.wait()
        finally:
            if process.returncode is None:
                await asyncio.shield(_end(process))


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _LAST_WORDS_S)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def is_there() -> bool:
    """True when this installation has the house's bots."""
    try:
        return importlib.util.find_spec(MODULE) is not None
    except ModuleNotFoundError:
        return False
