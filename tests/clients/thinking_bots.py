"""Bots for the workers of the house; ``Gate`` is how a test hears of a thought and ends it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

GATE = "CROUPIER_TEST_GATE"


class Gated:
    """Tells the gate its process and its legal moves, and thinks until the gate says the move."""

    def choose(self, view: dict[str, Any], legal_moves: Sequence[str]) -> str:
        with socket.create_connection(("127.0.0.1", int(os.environ[GATE]))) as gate:
            gate.sendall(f"{os.getpid()} {' '.join(legal_moves)}\n".encode())
            return gate.makefile().readline().strip()


class Counting:
    """Answers how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def choose(self, view: dict[str, Any], legal_moves: Sequence[str]) -> str:
        self.asked += 1
        print("a bot may print")  # noqa: T201
        return str(self.asked)


class Broken:
    """Raises, answers what is no text, or takes its process along: as the first legal move says."""

    def choose(self, view: dict[str, Any], legal_moves: Sequence[str]) -> Any:
        if legal_moves[0] == "number":
            return 7
        if legal_moves[0] == "die":
            os._exit(1)
        raise RuntimeError("a bug")


class Thought:
    """A thought under way; ``pid`` is its process."""

    def __init__(self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pid, *self.legal_moves = line.split()
        self.pid = int(pid)
        self._reader = reader
        self._writer = writer

    def answer(self, move: str) -> None:
        self._writer.write(move.encode() + b"\n")

    async def gone(self) -> bool:
        """Wait for the end of the thought or its process."""
        return await self._reader.read() == b""


@asynccontextmanager
async def gate() -> AsyncIterator[tuple[int, asyncio.Queue[Thought]]]:
    """A port for ``GATE``, and the thoughts as they begin."""
    thoughts: asyncio.Queue[Thought] = asyncio.Queue()
    writers = []

    async def heard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        thoughts.put_nowait(Thought((await reader.readline()).decode(), reader, writer))

    server = await asyncio.start_server(heard, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], thoughts
        for writer in writers:
            writer.close()
