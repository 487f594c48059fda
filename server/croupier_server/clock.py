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
_RETRY_SECONDS: Final = 1.0
_AT_ONCE: Final = 100
"""How many deadlines are acted on together."""
AGAIN_MS: Final = 1_000
_UNREADABLE_MS: Final = 60_000
"""When a deadline that could not be acted on is tried again."""


class JournalClock:
    """The journal's clock, read at once: a local one, corrected by the journal's now and then.

    ``steady`` gives seconds that no setting of the machine's clock moves. ``back_at_ms`` is when
    the journal was last found again, at the start or after an outage.
    """

    def __init__(self, journal: Journal, steady: Callable[[], float] = time.monotonic) -> None:
        self._journal: Final = journal
        self._steady: Final = steady
        self._offset = 0.0
        self._last = 0
        self.back_at_ms = 0

    async def refresh(self) -> None:
        """Compare with the journal's clock. Raises ``JournalError``."""
        self._offset = await self._journal.clock_ms() - self._steady() * 1000

    def now_ms(self) -> int:
        """Unix milliseconds of the journal's clock; never less than before."""
        self._last = max(self._last, int(self._steady() * 1000 + self._offset))
        return self._last

    def wait_ms(self, set_ms: int, at_ms: int, failed_ms: int = 0) -> int:
        """How long a deadline that was set at ``set_ms`` for ``at_ms`` has to wait; 0: it may act.

        ``failed_ms`` is when the journal last failed for the deadline's own table.
        """
        back_at_ms = max(self.back_at_ms, failed_ms)
        if set_ms < back_at_ms:
            at_ms = max(at_ms, back_at_ms + GRACE_MS)
        return max(at_ms - self.now_ms(), 0)


class Sweeper:
    """Fires deadlines that have passed, of tables loaded here or not."""

    def __init__(
        self, journal: Journal, clock: JournalClock, expire: Callable[[Deadline], Awaitable[int]]
    ) -> None:
        """``expire`` acts on a deadline, or answers how many milliseconds it has to wait."""
        self._journal: Final = journal
        self._clock: Final = clock
        self._expire: Final = expire
        self._put_off: dict[Deadline, int] = {}
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
                while await self.fire_due() >= _AT_ONCE:
                    pass
            except JournalError as error:
                log.debug("deadlines.unavailable", problem=str(error))
                await self._wait_for_journal()

    async def _wait_for_journal(self) -> None:
        """Until the journal answers again; then running turns get their grace."""
        while True:
            await asyncio.sleep(_RETRY_SECONDS)
            try:
                await self._clock.refresh()
            except JournalError:
                continue
            self._clock.back_at_ms = self._clock.now_ms()
            return

    async def fire_due(self) -> int:
        """Fire what is due, the earliest first; how many were tried. Raises ``JournalError``."""
        now = self._clock.now_ms()
        self._put_off = {deadline: until for deadline, until in self._put_off.items() if until > now}
        due = await self._journal.due(now, _AT_ONCE + len(self._put_off))
        ready = [deadline for deadline in due if deadline not in self._put_off]
        await asyncio.gather(*map(self._fire, ready))
        return len(ready)

    async def _fire(self, deadline: Deadline) -> None:
        """Act on one deadline. What goes wrong with it must not keep the others waiting."""
        try:
            # One that passed during an outage was set before it: no need to load its table yet.
            outage = deadline.at_ms <= self._clock.back_at_ms
            wait = self._clock.wait_ms(0, deadline.at_ms) if outage else 0
            wait = wait or await self._expire(deadline)
        except Refusal as refusal:
            wait = _UNREADABLE_MS if refusal.reason == "TABLE_UNREADABLE" else AGAIN_MS
            # That the journal fails it has said itself; every deadline of the while comes by here.
            say = log.debug if self._journal.failing else log.warning
            say("deadline.refused", table=deadline.stream, reason=refusal.reason)
        except Exception as error:  # noqa: BLE001 (see above)
            wait = _UNREADABLE_MS
            log.error("deadline.failed", table=deadline.stream, error=type(error).__name__)
        if wait:
            self._put_off[deadline] = self._clock.now_ms() + wait
