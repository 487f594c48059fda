"""A table's events in, somebody's lines out, until the table has ended.

The law of this file: events are told as they come, also while a line is awaited; a line is taken
only when it is wanted, and until then it waits.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, Protocol

from croupier.cli.playing.lines import Lines
from croupier.cli.playing.sitting import Plain, Sitting


class Talk(Protocol):
    """Whoever plays: is told of events, and answers with lines."""

    @property
    def wants_line(self) -> bool:
        """True while a line is wanted."""

    async def heard(self, event: Plain) -> None:
        """An event came."""

    async def typed(self, line: str | None) -> bool:
        """A line came (None: there are no more). False: that is the end of it."""


async def converse(sitting: Sitting, lines: Lines, talk: Talk) -> bool:
    """True when the table has ended, False when the talk ended before."""
    async with aclosing(sitting.events()) as events:  # type: ignore[type-var]  # both are generators
        hearing = _task(anext(events, None))
        reading: asyncio.Task[str | None] | None = None
        try:
            while True:
                if reading is None and talk.wants_line:
                    reading = _task(lines.next())
                awaited = {hearing, reading} if reading and talk.wants_line else {hearing}
                done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
                if hearing in done:
                    event = hearing.result()
                    if event is None:
                        return True
                    hearing = _task(anext(events, None))
                    await talk.heard(event)
                elif reading is not None:
                    line, reading = reading.result(), None
                    if not await talk.typed(line):
                        return False
        finally:
            await _end(hearing, reading)


def _task(coroutine: Any) -> asyncio.Task[Any]:
    return asyncio.ensure_future(coroutine)


async def _end(*tasks: asyncio.Task[Any] | None) -> None:
    alive = [task for task in tasks if task is not None]
    for task in alive:
        task.cancel()
    await asyncio.gather(*alive, return_exceptions=True)
