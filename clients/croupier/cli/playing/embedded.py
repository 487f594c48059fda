"""A server of one's own, for as long as one plays.

The law of this file: the server is a process that ends when this one does, however that happens:
it watches its standard input, whose other end is here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Final

from croupier.cli.output import Failed

_ENVIRONMENT: Final = {
    "CROUPIER_DRAIN_NOTICE_S": "0",
    "CROUPIER_DRAIN_GRACE_S": "2",
    "CROUPIER_IDLE_GAME_TTL_S": "31536000",
}
"""Nobody balances load over this server, so it need not wait before it ends; and a game that was
left may be taken up again within a year."""

_PATIENCE: Final = 30.0
"""Seconds that it may take to begin."""
_LAST_WORDS: Final = 5.0
"""Seconds that it may take to end."""


@asynccontextmanager
async def embedded_server(journal: str) -> AsyncIterator[str]:
    """The address of a server over ``journal`` (a URL) with house bots. Raises ``Failed``."""
    kept = ("--journal", journal, "--archive", "none")  # a game that has ended is thrown away
    arguments = ("-m", "croupier", "serve", "--json", "--listen", "127.0.0.1:0", *kept)
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *arguments, "--log-level", "warning", "--stop-with-stdin"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env={**os.environ, **_ENVIRONMENT},
            start_new_session=True,  # Ctrl-C is for the player, not for the server
        )
        try:
            yield await _address(process, log)
        finally:
            await asyncio.shield(_end(process))


async def _address(process: asyncio.subprocess.Process, log: IO[bytes]) -> str:
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), _PATIENCE)
    except TimeoutError:
        raise Failed(f"the embedded server did not begin within {_PATIENCE:g} s") from None
    try:
        address: str = json.loads(line)["listen"]
    except (ValueError, KeyError):
        await process.wait()
        raise Failed(f"the embedded server did not begin: {_last_line(log)}") from None
    return address


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
    return last.removeprefix("croupier: ")


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _LAST_WORDS)
    except TimeoutError:
        process.kill()
        await process.wait()
