"""All tables of this process: loaded when asked for, dropped when idle, created, listed.

The law of this file: a table in memory is a cache. It is loaded once however many ask at once,
and dropped when nobody follows it for a while; the journal keeps it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import structlog

from croupier_server.archive.base import Archive, Archived, ArchiveError
from croupier_server.archived import state_of
from croupier_server.clock import AGAIN_MS, JournalClock, Sweeper
from croupier_server.epoch import Epoch
from croupier_server.errors import Refusal, refuse, unavailable
from croupier_server.fold import Draft, Phase, TableState
from croupier_server.followers import Followers
from croupier_server.journal.base import (
    Append,
    Deadline,
    Journal,
    JournalError,
    NotWritten,
    PageKey,
    Row,
    RowFilter,
    SequenceConflict,
    Stored,
)
from croupier_server.lobby import lobby_row
from croupier_server.metrics import Metrics
from croupier_server.table import Table

if TYPE_CHECKING:
    from croupier_server.settings import Settings

log = structlog.get_logger()

_RELOAD_SECONDS: Final = 0.5
"""Between two tries to read a table again."""


class Tables:
    """The tables of one journal, as far as this process has them in memory."""

    def __init__(
        self,
        journal: Journal,
        settings: Settings,
        clock: JournalClock,
        epoch: Epoch,
        metrics: Metrics | None = None,
        archive: Archive | None = None,
    ) -> None:
        self.journal: Final = journal
        self.settings: Final = settings
        self.clock: Final = clock
        self.epoch: Final = epoch
        self._metrics: Final = metrics or Metrics()
        self._archive: Final = archive
        self._counting: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()
        self._live: dict[str, Table] = {}
        self._loading: dict[str, asyncio.Future[None]] = {}
        self._reloading: set[asyncio.Task[None]] = set()
        self.sweeper: Final = Sweeper(journal, clock, self._expire)
        self._evictor: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._live)

    async def start(self) -> None:
        """Begin to fire deadlines and to drop idle tables. Raises ``JournalError``."""
        await self.sweeper.start()
        self._evict_again()

    async def stop(self) -> None:
        """Stop firing; let go of every table."""
        await self.sweeper.stop()
        if self._evictor is not None:
            self._evictor.cancel()
        loading = (*self._loading.values(), *self._reloading)
        for load in loading:
            load.cancel()
        await asyncio.gather(*loading, return_exceptions=True)
        for table in self._live.values():
            table.close()
        self._live.clear()

    def loaded(self, name: str) -> Table | None:
        """The table if it is in memory and readable."""
        table = self._live.get(name)
        if table is None or not table.usable:
            return None
        table.idle_since = time.monotonic()
        return table

    async def get(self, name: str) -> Table:
        """A table, loaded when it is not in memory; from the archive when it has left the journal.

        Raises ``Refusal`` TABLE_NOT_FOUND, TABLE_UNREADABLE or JOURNAL_UNAVAILABLE.
        """
        try:
            return await self._from_journal(name)
        except Refusal as refusal:
            if refusal.reason != "TABLE_NOT_FOUND":
                raise
            archived = await self._from_archive(name)
            if archived is None:
                raise
        return self._ended_table(archived)

    async def _from_journal(self, name: str) -> Table:
        known = self._live.get(name)
        if known is not None and self._has_left(known):
            self._drop(known)
        while (table := self._live.get(name)) is None:
            loading = self._loading.get(name)
            if loading is None:
                loading = self._loading[name] = asyncio.ensure_future(self._load(name))
                loading.add_done_callback(lambda done: self._loaded(name, done))
            await asyncio.shield(loading)
        table.check_readable()
        table.idle_since = time.monotonic()
        return table

    async def fresh(self, name: str) -> Table:
        """As ``get``, with all that any process had appended when it was asked for."""
        known = name in self._live or name in self._loading
        table = await self.get(name)
        if not known:
            return table
        try:
            await table.refresh()
        except Refusal:
            if not table.gone:
                raise
            return await self.get(name)
        return table

    def _has_left(self, table: Table) -> bool:
        """True when the table's stream is gone, or may be gone by now."""
        if table.gone:
            return True
        if self._archive is None or table.state.phase is not Phase.ENDED or table.busy:
            return False
        stays_ms = int(self.settings.archive_after_s * 1000)
        return self.clock.now_ms() >= table.state.time_ms + stays_ms

    async def _from_archive(self, name: str) -> Archived | None:
        """Raises ``Refusal`` JOURNAL_UNAVAILABLE."""
        if self._archive is None:
            return None
        try:
            return await self._archive.get(name)
        except ArchiveError as error:
            log.warning("archive.unavailable", problem=str(error))
            self._metrics.archive_failed(error)
            raise refuse("JOURNAL_UNAVAILABLE", "the archive cannot be reached now") from error

    def _ended_table(self, archived: Archived) -> Table:
        """A table of the archive. It is not kept here, and nothing is heard of it."""
        table = self._table(archived.name)
        table.state, table.archived = state_of(archived), archived
        return table

    async def _load(self, name: str) -> None:
        table = self._table(name)
        await table.load()
        table.idle_since = time.monotonic()
        self._live[name] = table

    def _loaded(self, name: str, done: asyncio.Future[None]) -> None:
        self._loading.pop(name, None)
        if not done.cancelled():
            done.exception()  # whoever waits gets it; nobody may be waiting any more

    def _table(self, name: str) -> Table:
        followers = Followers(name, self.epoch)
        now_ms, set_back = self.clock.now_ms, self._set_back
        return Table(name, self.journal, self.settings, now_ms, followers, self._metrics, set_back)

    def _set_back(self, table: Table) -> None:
        """The journal has lost what the table rests on: have it read again."""
        reloading = asyncio.create_task(self._reload(table), name=f"reload {table.name}")
        self._reloading.add(reloading)
        reloading.add_done_callback(self._reloading.discard)

    async def _reload(self, table: Table) -> None:
        """Until it is read again under a new epoch, or known to be gone."""
        counted = False
        while True:
            try:
                if await self._was_retired(table.name):
                    self._drop(table)
                    table.lose()
                    return
                if not counted:
                    self._metrics.set_back()
                    counted = True
                await self.epoch.renew()
                await table.reload()
            except JournalError as error:
                log.debug("journal.unavailable", problem=str(error))
            except Refusal as refusal:
                if refusal.reason not in {"JOURNAL_UNAVAILABLE", "SERVER_BUSY", "OUTCOME_UNKNOWN"}:
                    self._drop(table)
                    table.followers.end(refusal)
                    return
            else:
                return
            await asyncio.sleep(_RELOAD_SECONDS)

    async def _was_retired(self, name: str) -> bool:
        """Whether a stream that has lost entries is gone because the archive has its table.

        Raises ``JournalError``, and ``Refusal`` JOURNAL_UNAVAILABLE.
        """
        return await self.journal.last_seq(name) == 0 and await self._from_archive(name) is not None

    def _drop(self, table: Table) -> None:
        table.close()
        if self._live.get(table.name) is table:
            del self._live[table.name]

    async def create(self, name: str, first: Draft) -> Table:
        """Open a table with its first entry, or find the one that the same request opened.

        Raises ``Refusal`` REQUEST_ID_REUSED, JOURNAL_UNAVAILABLE or OUTCOME_UNKNOWN.
        """
        entry = first.entry
        if entry.request_id and (archived := await self._opened_long_ago(name)) is not None:
            if archived.request_digest != entry.request_digest:
                raise _reused()
            return self._ended_table(archived)
        entry.deadline_ms = entry.time_ms + int(self.settings.open_table_ttl_s * 1000)
        data = entry.SerializeToString()
        preview = TableState(name)
        preview.fold(Stored(1, data))
        batch = Append(name, 0, (data,), entry.deadline_ms, lobby_row(preview))
        unknown: JournalError | None = None
        repeated = False
        try:
            await self.journal.append(batch)
        except SequenceConflict:
            repeated = True  # the same request has been here before; its payload is compared below
        except NotWritten as error:
            raise unavailable(error) from error
        except JournalError as error:
            unknown = error
        table = await self.get(name) if unknown is None else await self._find_out(name, unknown)
        if unknown is not None or repeated:
            await self._confirm(name)
        found = table.state.requests.get((entry.actor, entry.request_id))
        if entry.request_id and (found is None or found.digest != entry.request_digest):
            raise _reused()
        return table

    async def _opened_long_ago(self, name: str) -> Archived | None:
        """The table that the same request opened, if it is in the archive; nobody waits for that one."""
        try:
            return await self._from_archive(name)
        except Refusal:
            return None  # play goes on without the archive

    async def _find_out(self, name: str, error: JournalError) -> Table:
        """After a creation whose outcome is unknown: is the table there? Raises ``Refusal`` if not."""
        try:
            return await self.get(name)
        except Refusal as refusal:
            if refusal.reason == "TABLE_NOT_FOUND":
                raise unavailable(error) from error
            raise refuse("OUTCOME_UNKNOWN", "the store does not say whether this was done") from error

    async def _confirm(self, name: str) -> None:
        """Before a creation that was found there is answered. Raises ``Refusal`` OUTCOME_UNKNOWN."""
        try:
            await self.journal.confirm(name)
        except JournalError as error:
            raise refuse("OUTCOME_UNKNOWN", "the store does not say whether this was done") from error

    async def exists(self, name: str) -> bool:
        """Whether there is such a table. Raises ``Refusal`` TABLE_UNREADABLE or JOURNAL_UNAVAILABLE."""
        try:
            await self.get(name)
        except Refusal as refusal:
            if refusal.reason != "TABLE_NOT_FOUND":
                raise
            return False
        return True

    async def count_of(self, subject: str) -> int:
        """How many unfinished tables concern a subject. Raises ``Refusal`` JOURNAL_UNAVAILABLE."""
        try:
            return len(await self.journal.rows_of(subject))
        except JournalError as error:
            raise unavailable(error) from error

    @asynccontextmanager
    async def counted(self, subject: str) -> AsyncIterator[int]:
        """How many unfinished tables concern a subject, while nobody else in this process adds one.

        Raises ``Refusal`` JOURNAL_UNAVAILABLE.
        """
        lock = self._counting.get(subject)
        if lock is None:
            lock = self._counting[subject] = asyncio.Lock()
        async with lock:
            yield await self.count_of(subject)

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """A page of the lobby. Raises ``Refusal`` JOURNAL_UNAVAILABLE."""
        try:
            return await self.journal.page(where, after, limit)
        except JournalError as error:
            raise unavailable(error) from error

    async def _expire(self, deadline: Deadline) -> int:
        """Act on a deadline; when it may not act yet, the milliseconds until then. Raises ``Refusal``."""
        table = await self.get(deadline.stream)
        if table.state.deadline_seq != deadline.seq:
            await table.catch_up()
        state = table.state
        if state.deadline_seq != deadline.seq:
            return AGAIN_MS  # it was moved just now
        wait = self.clock.wait_ms(state.deadline_set_ms, deadline.at_ms, table.failed_ms)
        if wait == 0:
            await table.expire(deadline.seq)
        return wait

    def evict(self) -> None:
        """Drop tables that nobody has followed or used for a while, ended ones at once."""
        now = time.monotonic()
        for table in list(self._live.values()):
            if table.busy or table.stale:
                table.idle_since = now
            elif (
                table.gone
                or table.state.phase is Phase.ENDED
                or now - table.idle_since >= self.settings.evict_after_s
            ):
                self._drop(table)

    def retired(self, name: str) -> None:
        """A table was moved to the archive by this process."""
        table = self._live.get(name)
        if table is not None:
            self._drop(table)

    def _evict_again(self) -> None:
        self.evict()
        wait = max(self.settings.evict_after_s / 4, 0.05)
        self._evictor = asyncio.get_running_loop().call_later(wait, self._evict_again)


def _reused() -> Refusal:
    return refuse("REQUEST_ID_REUSED", "this request_id was used for another request")
