"""Lines that are typed or piped in.

The law of this file: reading never holds up the event loop, never takes more than was asked for,
and never keeps the process from ending: a thread that reads is left behind.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

_CHUNK: Final = 4096
_LONGEST: Final = 65_536
"""Bytes of a line; what is longer is cut into several."""
_STDIN: Final = 0


class Lines:
    """The lines of a file descriptor; bytes that are no UTF-8 come as replacement characters."""

    def __init__(self, descriptor: int = _STDIN) -> None:
        self._descriptor: Final = descriptor
        self._loop: Final = asyncio.get_running_loop()
        self._lines: deque[str | None] = deque()
        self._came: Final = asyncio.Event()
        self._wanted: Final = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def next(self) -> str | None:
        """The next line without its end; None, again and again, when there are no more.

        May be cancelled: no line is lost.
        """
        if self._thread is None:
            # No file object: a lock that this thread holds would stop the interpreter from ending.
            self._thread = threading.Thread(target=self._read, name="lines", daemon=True)
            self._thread.start()
        while not self._lines:
            self._came.clear()
            self._wanted.set()
            await self._came.wait()
        return None if self._lines[0] is None else self._lines.popleft()

    def close(self) -> None:
        """Read no more; a thread that is not reading just now ends."""
        self._closed = True
        self._wanted.set()

    def _read(self) -> None:
        rest = b""
        self._wait()
        while not self._closed and (chunk := self._chunk()):
            *whole, rest = (rest + chunk).split(b"\n")
            if len(rest) > _LONGEST:
                whole, rest = [*whole, rest], b""
            if whole:
                self._hand_over([line.decode(errors="replace").removesuffix("\r") for line in whole])
                self._wait()
        self._hand_over([rest.decode(errors="replace"), None] if rest else [None])

    def _wait(self) -> None:
        self._wanted.wait()
        self._wanted.clear()

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:  # a terminal that went away
            return b""

    def _hand_over(self, lines: Sequence[str | None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody reads any more
            self._loop.call_soon_threadsafe(self._take, lines)

    def _take(self, lines: Sequence[str | None]) -> None:
        self._lines += lines
        self._came.set()
