"""Whether this process is going away.

The law of this file: a drain begins once and never ends. Who holds something open (a stream,
a supervisor) registers here and is told at once, on the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

Tell = Callable[[], None]
"""Told that the drain has begun. Must not block or raise."""


class Drain:
    """The one switch of a process that goes away."""

    __slots__ = ("_begun", "_tells")

    def __init__(self) -> None:
        self._begun: Final = asyncio.Event()
        self._tells: dict[Tell, None] = {}

    @property
    def is_on(self) -> bool:
        """True once the process is going away."""
        return self._begun.is_set()

    def begin(self) -> None:
        """Begin; tells all who asked, in the order in which they did. Again: nothing happens."""
        if self._begun.is_set():
            return
        self._begun.set()
        tells, self._tells = self._tells, {}
        for tell in tells:
            tell()

    def add(self, tell: Tell) -> Callable[[], None]:
        """Tell when it begins, at once when it has; the answer takes the request back."""
        if self._begun.is_set():
            tell()
            return lambda: None
        self._tells[tell] = None

        def take_back() -> None:
            self._tells.pop(tell, None)

        return take_back

    async def wait(self) -> None:
        """Return once it has begun."""
        await self._begun.wait()
