"""What tells a process to end: SIGTERM and SIGINT.

The law of this file: while a ``Told`` listens no signal is lost. One that comes while the
process still begins cuts that short; there is nothing yet to drain.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable
from typing import Final, Self, TypeVar

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

_Begun = TypeVar("_Begun")


class Told:
    """Hears signals for as long as a ``with`` block lasts."""

    def __init__(self) -> None:
        self._heard: Final[asyncio.Queue[signal.Signals]] = asyncio.Queue()
        self._beginning: asyncio.Timeout | None = None

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._hear, number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)

    def _hear(self, number: signal.Signals) -> None:
        self._heard.put_nowait(number)
        if self._beginning is not None and not self._beginning.expired():
            self._beginning.reschedule(0.0)  # long past

    async def next(self) -> signal.Signals:
        """The next signal."""
        return await self._heard.get()

    async def unless(self, begin: Awaitable[_Begun]) -> _Begun | None:
        """What ``begin`` gives; None when a signal, which is the ``next``, cut it short.

        It is cancelled then, and has let go of everything when this returns.
        """
        try:
            async with asyncio.timeout(None) as self._beginning:
                return await begin
        except TimeoutError:
            if self._heard.empty():
                raise
            return None
        finally:
            self._beginning = None


def exit_code(first: signal.Signals) -> int:
    """How a process ends that was told to: 0, or 130 for SIGINT."""
    return 130 if first is signal.SIGINT else 0
