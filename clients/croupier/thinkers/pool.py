"""The house's side of its workers: a bounded queue before each, and a new process for one that is gone.

The law of this file: a worker thinks one thought at a time; the others wait before it in order, at
most ``queue`` of them, and one more is refused at once. A seat stays with its worker, where its bot
remembers the game. A worker that died, or is busy with one thought for longer than ``hang``
seconds, is replaced when it is next needed. No worker outlives the pool or its process.

Not ``ProcessPoolExecutor``: there one process that dies breaks the pool, a thought that hangs
cannot be ended, and a seat cannot come back to the process that remembers it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from typing import ClassVar, Final, Literal

from croupier.bots import Plain

End = Literal["answered", "overflow", "late", "died", "failed"]
"""How a thought ends."""

_LONGEST_LINE: Final = 1 << 24
"""Bytes; far more than a move's text or a traceback has."""
_GONE: Final = (OSError, EOFError, ValueError, asyncio.LimitOverrunError)
"""What shows that a process is of no use any more; a hang is a ``TimeoutError``, which is an ``OSError``."""


class Unanswered(Exception):
    """A thought that came to nothing; ``end`` says how."""

    end: ClassVar[End]


class QueueFull(Unanswered):
    """As many thoughts as may were waiting before the worker."""

    end = "overflow"


class Late(Unanswered):
    """There was no answer within the time for the move."""

    end = "late"


class WorkerDied(Unanswered):
    """The worker's process ended amid the thought, or hung and was killed."""

    end = "died"


class BotFailed(Unanswered):
    """The bot raised, or its answer was no text; the message has the traceback."""

    end = "failed"


class _Thought:
    def __init__(self, line: bytes) -> None:
        self.line: Final = line
        self.answer: Final[asyncio.Future[Plain]] = asyncio.get_running_loop().create_future()


class Worker:
    """One worker, through all the lives of its process; ``seats`` is how many belong to it."""

    def __init__(self, queue: int, hang: float) -> None:
        self.seats = 0
        self._most_waiting: Final = queue
        self._hang = hang
        self._waiting: deque[_Thought] = deque()
        self._working: asyncio.Task[None] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._link: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def waiting(self) -> int:
        """How many thoughts wait for the one that is being thought."""
        return len(self._waiting)

    @property
    def pid(self) -> int | None:
        """Its process now; None when there is none."""
        return None if self._process is None else self._process.pid

    async def ask(self, message: Plain, seconds: float) -> Plain:
        """The answer to a thought, as ``worker`` writes it, within so many seconds.

        Raises ``QueueFull``, ``Late``, ``WorkerDied`` or ``BotFailed``.
        """
        if len(self._waiting) >= self._most_waiting:
            raise QueueFull(f"{len(self._waiting)} thoughts wait already")
        thought = _Thought(_line(message))
        self._waiting.append(thought)
        if self._working is None:
            self._working = asyncio.get_running_loop().create_task(self._work())
        try:
            async with asyncio.timeout(seconds):
                said = await thought.answer
        except TimeoutError:
            raise Late(f"no answer in {seconds:g} s") from None
        finally:
            thought.answer.cancel()
            with suppress(ValueError):
                self._waiting.remove(thought)
        if "failed" in said:
            raise BotFailed(str(said["failed"]))
        return said

    def forget(self, bot: int) -> None:
        """A seat's game is over."""
        if self._link is not None and not self._link[1].is_closing():
            self._link[1].write(_line({"forget": bot}))

    async def close(self) -> None:
        """End the process. Nobody may be asking any more."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working])
        link = self._link
        self._end()
        if link is not None:
            with suppress(OSError):
                await link[1].wait_closed()

    async def _work(self) -> None:
        try:
            while self._waiting:
                thought = self._waiting.popleft()
                try:
                    said = await self._exchange(thought.line)
                except _GONE as error:
                    self._end()
                    if not thought.answer.done():
                        thought.answer.set_exception(WorkerDied(f"{type(error).__name__}: {error}"))
                else:
                    if not thought.answer.done():
                        thought.answer.set_result(said)
        finally:
            self._working = None

    async def _exchange(self, asked: bytes) -> Plain:
        if self._link is None or self._process is None or self._process.poll() is not None:
            self._end()
            self._link = await self._begin()
        reader, writer = self._link
        writer.write(asked)
        async with asyncio.timeout(self._hang):
            line = await reader.readuntil()
        said: object = json.loads(line)
        if not isinstance(said, dict):
            raise ValueError(f"a worker said {said!r}")
        return said

    async def _begin(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                # vfork and exec, which run no fork handlers: gRPC's crash the child of a busy process.
                self._process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own module; and see above
                    [sys.executable, "-m", "croupier.thinkers.worker", str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                )
            ours.setblocking(False)
            return await asyncio.open_connection(sock=ours, limit=_LONGEST_LINE)
        except BaseException:
            ours.close()
            raise

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()  # it holds nothing that would be lost
            self._process.wait()
            self._process = None
        if self._link is not None:
            self._link[1].close()
            self._link = None


class Pool:
    """``workers`` workers, each begun when it is first needed; ``queue`` and ``hang`` (seconds) a worker.

    ``numbers`` tell the bots apart.
    """

    def __init__(self, workers: int, *, queue: int = 16, hang: float = 30.0) -> None:
        self.numbers: Final = itertools.count()
        self.workers: Final = tuple(Worker(queue, hang) for _ in range(workers))

    def worker(self) -> Worker:
        """The worker for a new seat: that with the fewest. The caller counts ``seats`` up and down."""
        return min(self.workers, key=lambda worker: worker.seats)

    async def close(self) -> None:
        """End all processes."""
        for worker in self.workers:
            await worker.close()


def _line(message: Plain) -> bytes:
    return json.dumps(message).encode() + b"\n"
