"""Ended tables leave the journal for the archive.

The law of this file: a stream is retired only when the archive has acknowledged its table; a death
in between is made good by whoever sweeps next, since the archive keeps a table once. Of several
servers one has a table to itself for a while (``archive_lease_s``). What cannot be archived stays
where it is.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Final

import structlog

from croupier_server.archive.base import AnotherIsKept, Archive, Archived, ArchiveUnavailable
from croupier_server.archived import archived_from
from croupier_server.clock import JournalClock
from croupier_server.fold import UnreadableTable
from croupier_server.journal.base import Finished, Journal, JournalError, Stored
from croupier_server.metrics import Metrics

log: Final = structlog.get_logger()

REFUSED_MS: Final = 3_600_000
"""When a table that cannot be archived is tried again."""
MOST_COUNTED: Final = 1000
"""The largest backlog that is told."""
_AT_ONCE: Final = 100
"""How many tables a sweep takes."""
_TOGETHER: Final = 8
"""How many of them are worked on side by side."""
_SWEEP_SECONDS: Final = 1.0
_LONGEST_PAUSE: Final = 30.0


class Archiver:
    """Moves tables whose grace is over from a journal to an archive."""

    def __init__(
        self,
        journal: Journal,
        clock: JournalClock,
        archive: Archive,
        metrics: Metrics,
        lease_s: float,
        retired: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``retired`` is told of each table that has left."""
        self._journal: Final = journal
        self._clock: Final = clock
        self._archive: Final = archive
        self._metrics: Final = metrics
        self._lease_ms: Final = int(lease_s * 1000)
        self._retired: Final = retired
        self._one_record: Final = asyncio.Lock()
        self._failing = False
        self._task: asyncio.Task[None] | None = None
        self.backlog = 0
        """How many tables waited at the last sweep, up to ``MOST_COUNTED``."""

    async def start(self) -> None:
        """Begin to sweep."""
        self._task = asyncio.create_task(self._run(), name="archiver")

    async def stop(self) -> None:
        """Stop sweeping. What is half done is done by whoever sweeps next."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        pause = _SWEEP_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                while await self.sweep() >= _AT_ONCE:
                    pass
            except (JournalError, ArchiveUnavailable) as error:
                self._failed(error)
                pause = min(2 * pause, _LONGEST_PAUSE)
            except Exception as error:  # noqa: BLE001 (whatever it is, there will be another sweep)
                log.error("archive.sweep_failed", error=type(error).__name__)
                self._metrics.archive_failed(error)
                pause = _LONGEST_PAUSE
            else:
                self._worked()
                pause = _SWEEP_SECONDS

    def _failed(self, error: Exception) -> None:
        self._metrics.archive_failed(error)
        if not self._failing:
            log.error("archive.unavailable", problem=str(error))
        self._failing = True

    def _worked(self) -> None:
        if self._failing:
            log.info("archive.available_again")
        self._failing = False

    async def sweep(self) -> int:
        """Archive some of what waits; how many were tried.

        Raises ``JournalError`` or ``ArchiveUnavailable``; what was not archived then is tried
        again later.
        """
        waiting = await self._journal.finished(self._clock.now_ms(), MOST_COUNTED)
        self.backlog = len(waiting)
        # Any of them, so that servers that sweep at once seldom reach for the same.
        taken = random.sample(waiting, min(len(waiting), _AT_ONCE))
        for start in range(0, len(taken), _TOGETHER):
            some = taken[start : start + _TOGETHER]
            outcomes = await asyncio.gather(*map(self._move, some), return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
            self.backlog -= len(some)
        return len(taken)

    async def _move(self, finished: Finished) -> None:
        """Archive one table, then retire its stream, unless another server is at it."""
        until_ms = self._clock.now_ms() + self._lease_ms
        if not await self._journal.put_off(finished, until_ms):
            return
        stream = finished.stream
        stored = await self._journal.read(stream)
        try:
            if stored:
                await self._archive.put(await self._archived(stream, stored))
        except (UnreadableTable, AnotherIsKept, ValueError) as error:
            log.error("archive.refused", table=stream, error=type(error).__name__)
            self._metrics.archive_failed(error)
            again_ms = self._clock.now_ms() + REFUSED_MS
            await self._journal.put_off(Finished(stream, until_ms), again_ms)
            return
        await self._journal.retire(stream, stored[-1].seq if stored else 0)
        self._retired(stream)
        self._metrics.archived()

    async def _archived(self, stream: str, stored: list[Stored]) -> Archived:
        async with self._one_record:  # a game is replayed for it: one thread at a time, beside the loop's
            return await asyncio.to_thread(archived_from, stream, stored)
