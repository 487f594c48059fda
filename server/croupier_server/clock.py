"""The journal's time, and the deadlines that are kept in it.

The law of this file: time comes from the journal, never runs backwards, and a deadline acts
through a conditional append alone, so that any number of sweepers may fire it and one firing
counts. After an outage every running turn has ``GRACE_MS`` more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from croupier_server.errors import Refusal
from croupier_server.journal.base import Deadline, Journal, JournalError

log = structlog.get_logger()

GRACE_MS: Final = 10_000
"""What a turn that was running before an outage has left at least."""
_SWEEP_SECONDS: Final = 0.25
_REFRESH_SECONDS: Final = 30.0


class JournalClock:
    """The journal's clock, read at once: the local one, corrected by the journal's now and then.

    ``back_at_ms`` is when the journal was last found again, at the start or after an outage.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal: Final = journal
        self._offset = 0.0
        self._last = 0
        self.back_at_ms = 0

    async def refresh(self) -> None:
        """Compare with the journal's clock. Raises ``JournalError``."""
        self._offset = await self._journal.clock_ms() - time.time() * 1000

    def now_ms(self) -> int:
        """Unix milliseconds of the journal's clock; never less than before."""
        self._last = max(self._last, int(time.time() * 1000 + self._offset))
        return self._last

    def may_fire(self, set_ms: int, at_ms: int) -> bool:
        """Whether a deadline that was set at ``set_ms`` for ``at_ms`` may act now."""
        if set_ms < self.back_at_ms:
            at_ms = max(at_ms, self.back_at_ms + GRACE_MS)
        return self.now_ms() >= at_ms


class Sweeper:
    """Fires deadlines that have passed, of tables loaded here or not."""

    def __init__(
        self, journal: Journal, clock: JournalClock, expire: Callable[[Deadline], Awaitable[None]]
    ) -> None:
        self._journal: Final = journal
        self._clock: Final = clock
        self._expire: Final = expire
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to sweep. Raises ``JournalError`` when the journal has no time to give."""
        await self._clock.refresh()
        self._clock.back_at_ms = self._clock.now_ms()
        self._task = asyncio.create_task(self._sweep(), name="deadline sweeper")

    async def stop(self) -> None:
        """Stop sweeping."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _sweep(self) -> None:
        refreshed = time.monotonic()
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            try:
                if time.monotonic() - refreshed > _REFRESH_SECONDS:
                    await self._clock.refresh()
                    refreshed = time.monotonic()
                await self._fire_due()
            except JournalError as error:
                log.warning("deadlines.unavailable", problem=str(error))
                await self._wait_for_journal()

    async def _wait_for_journal(self) -> None:
        """Until the journal answers again; then running turns get their grace."""
        while True:
            await asyncio.sleep(1.0)
            try:
                await self._clock.refresh()
            except JournalError:
                continue
            self._clock.back_at_ms = self._clock.now_ms()
            return

    async def _fire_due(self) -> None:
        now = self._clock.now_ms()
        for deadline in await self._journal.due(now):
            try:
                await self._expire(deadline)
            except Refusal as refusal:
                log.info("deadline.refused", table=deadline.stream, reason=refusal.reason)
