"""One ``Play`` call.

The law of this file: one task reads, one writes, and both end with the call. Commands given in
one turn of the loop, or while an earlier message is being written, go up together. Nothing heard
for three heartbeats means that the call is dead. What the call ended with is an ``Error``; a
call that is not wanted any more is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import grpc

from croupier.connection import Route, is_cancelled
from croupier.errors import Error, Unavailable, error_from_rpc
from croupier.v1 import tables_pb2

_COMMANDS_A_MESSAGE: Final = 500
"""At about 200 bytes each, well below the 256 KiB that a message may have."""

PlayCall = grpc.aio.StreamStreamCall[tables_pb2.PlayRequest, tables_pb2.PlayResponse]


class Line:
    """A Play call under way. ``proven`` once anything was heard on it."""

    def __init__(
        self,
        call: PlayCall,
        route: Route,
        silence: float,
        receive: Callable[[tables_pb2.PlayResponse], None],
        works: Callable[[], None],
    ) -> None:
        self.proven = False
        self._call: Final = call
        self.route: Final = route
        self._silence: Final = silence
        self._receive: Final = receive
        self._works: Final = works
        self._commands: list[tables_pb2.PlayCommand] = []
        self._due: Final = asyncio.Event()
        self._loop: Final = asyncio.get_running_loop()
        self._hint: Final[asyncio.Future[float]] = self._loop.create_future()
        self._heard = self._loop.time()
        self._silent = False
        self._watchdog: asyncio.TimerHandle | None = None
        self.task: Final[asyncio.Task[Error]] = self._loop.create_task(self._run())

    def send(self, command: tables_pb2.PlayCommand) -> None:
        """Put a command on its way."""
        self._commands.append(command)
        self._due.set()

    async def parting(self) -> float | Error:
        """Why a new call is needed: seconds that this one still lives by its hint, or what it ended with."""
        waiting: list[asyncio.Future[Any]] = [self.task, self._hint]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return self.task.result() if self.task.done() else self._hint.result()

    async def ended_within(self, seconds: float) -> Error | None:
        """What it ended with, if it does so in time."""
        await asyncio.wait([self.task], timeout=seconds)
        return self.task.result() if self.task.done() else None

    async def _run(self) -> Error:
        self._watch()
        writer = self._loop.create_task(self._write())
        try:
            with self.route:
                return await self._read()
        finally:
            if self._watchdog is not None:
                self._watchdog.cancel()
            self._call.cancel()
            writer.cancel()
            await asyncio.wait([writer])

    async def _read(self) -> Error:
        try:
            while True:
                response = await self._call.read()
                if not isinstance(response, tables_pb2.PlayResponse):
                    return Unavailable("the server ended the stream")
                self._hear(response)
        except grpc.aio.AioRpcError as failed:
            return error_from_rpc(failed)
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            why = f"nothing was heard for {self._silence:g} s" if self._silent else "the stream was cut"
            return Unavailable(why)

    def _hear(self, response: tables_pb2.PlayResponse) -> None:
        self._heard = self._loop.time()
        if not self.proven:
            self.proven = True
            self._works()
        self._receive(response)
        if response.HasField("reconnect") and not self._hint.done():
            self._hint.set_result(response.reconnect.within.ToMilliseconds() / 1000)

    async def _write(self) -> None:
        """Ends with the call; why it ended, the reader finds out."""
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while True:
                await self._due.wait()
                self._due.clear()
                while self._commands:
                    commands = self._commands[:_COMMANDS_A_MESSAGE]
                    del self._commands[:_COMMANDS_A_MESSAGE]
                    await self._call.write(tables_pb2.PlayRequest(commands=commands))

    def _watch(self) -> None:
        """Cancel the call when it was silent for too long, else look again when it will have been."""
        due = self._heard + self._silence
        if self._loop.time() >= due:
            self._silent = True
            self._call.cancel()
        else:
            self._watchdog = self._loop.call_at(due, self._watch)
