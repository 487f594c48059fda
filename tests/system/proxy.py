"""A TCP proxy that harms every connection after a random number of bytes.

The law of this file: what a connection carries it carries unchanged, up to the byte at which its
fate strikes, which may be in the middle of a frame. The same seed gives the same fates in turn.
"""

from __future__ import annotations

import asyncio
import random
from asyncio import StreamReader, StreamWriter
from collections import Counter
from contextlib import suppress
from typing import Self

KINDS = ("reset", "close", "half-close", "stall", "swallow")
"""Both sockets reset; both closed; one direction ended; one late; both silent for good. A late
connection goes on to another fate."""
_STALL = 0.2
"""Seconds; the lateness is the harm that is done here."""
_CHUNK = 1 << 16


class _Fate:
    """What happens to one connection once ``left`` more bytes went through it, either way."""

    def __init__(self, rng: random.Random, most: int) -> None:
        self._rng = rng
        self._most = most
        self.again()

    def again(self) -> None:
        """Another fate."""
        self.kind = self._rng.choice(KINDS)
        self.left = self._rng.randint(1, self._most)
        self.struck = False


class HarmfulProxy:
    """Listens on loopback and leads to ``target``; ``calm`` makes new connections safe."""

    def __init__(self, target: str, seed: int, most: int) -> None:
        self.address = ""
        self.harmed: Counter[str] = Counter()
        self.calm = False
        self._host, _, self._port = target.rpartition(":")
        self._rng = random.Random(seed)
        self._most = most
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def cut(self) -> None:
        """Reset every connection that there is."""
        for task in self._connections:
            task.cancel()
            self.harmed["cut"] += 1

    def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        fate = _Fate(self._rng, self._most)
        back: StreamWriter | None = None
        try:
            forth, back = await asyncio.open_connection(self._host, int(self._port))
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, back, fate, writer))
                group.create_task(self._pump(forth, writer, fate, back))
        except* OSError:
            pass  # one side is gone, or was never there; so is the other below
        finally:
            writer.transport.abort()
            if back is not None:
                back.transport.abort()

    async def _pump(self, source: StreamReader, sink: StreamWriter, fate: _Fate, other: StreamWriter) -> None:
        while data := await source.read(_CHUNK):
            if not self.calm and not fate.struck and len(data) >= fate.left:
                fate.struck = True
                self.harmed[fate.kind] += 1
                sink.write(data[: fate.left])
                data = data[fate.left :]
                await self._strike(fate.kind, sink, other)
                fate.again()
            elif fate.struck and fate.kind == "swallow":
                continue
            else:
                fate.left -= len(data)
            sink.write(data)
            await sink.drain()
        with suppress(OSError):
            sink.write_eof()

    async def _strike(self, kind: str, sink: StreamWriter, other: StreamWriter) -> None:
        """Do the harm; returns when the connection may go on."""
        if kind == "stall":
            await asyncio.sleep(_STALL)
            return
        if kind == "reset":
            sink.transport.abort()
            other.transport.abort()
        elif kind == "close":
            sink.close()
            other.close()
        elif kind == "half-close":
            sink.write_eof()
        await asyncio.Event().wait()  # nothing more comes this way, until the connection is cut
