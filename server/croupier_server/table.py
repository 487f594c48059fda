"""One table: commands in, journal entries out, every follower told.

The law of this file: a command is checked against the state, becomes a batch of entries, and the
batch is appended only if it is next; nothing reaches anybody before the journal has it. The
state changes in ``_deliver`` alone, for entries of this process and of others alike. A lost race
means: catch up, and decide again. Where the journal has lost entries that were folded, the whole
state is dropped and read again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

import structlog

from croupier_server import logs
from croupier_server.drafts import Request, retire_ms, set_deadline
from croupier_server.errors import Refusal, refuse, unavailable
from croupier_server.fold import Accepted, Draft, Phase, Step, TableState, UnreadableTable
from croupier_server.journal.base import (
    KEEP,
    Append,
    Journal,
    JournalError,
    NotWritten,
    SequenceConflict,
    Stored,
)
from croupier_server.journal.v1 import entry_pb2
from croupier_server.lobby import row_after
from croupier_server.moves import AskedMove, decide_move, due_steps, is_plain_move, overdue, steps_due
from croupier_server.views import EventView

if TYPE_CHECKING:
    from croupier_server.archive.base import Archived
    from croupier_server.followers import Followers
    from croupier_server.metrics import Metrics
    from croupier_server.settings import Settings

log = structlog.get_logger()

_TAIL: Final = 8
"""How many of the last events are kept at hand for those who resume."""
_ATTEMPTS: Final = 16
"""How often a command that lost the race for the next entry is decided again."""
_SLICE: Final = 32
"""How many stored entries are folded before other tasks get their turn."""

_BY: Final = {
    entry_pb2.MOVED_BY_UNSPECIFIED: "player",
    entry_pb2.MOVED_BY_TIMEOUT: "timeout",
    entry_pb2.MOVED_BY_TAKEOVER: "takeover",
}

Decide = Callable[[int], list[Draft]]
"""Decides a command at a time (Unix ms) from the table's state. Raises ``Refusal``."""

Landed = Callable[[int | Coroutine[Any, Any, int]], None]
"""Is told the number of a begun move's entry, or given what finds out what became of the move."""


class Table:
    """One table in this process: a cache of its journal stream that can be dropped at any time."""

    __slots__ = (
        "_begun",
        "_cancel",
        "_journal",
        "_lock",
        "_metrics",
        "_now_ms",
        "_own",
        "_settings",
        "_when_set_back",
        "archived",
        "failed_ms",
        "followers",
        "gone",
        "idle_since",
        "stale",
        "state",
        "tail",
        "unreadable",
    )

    def __init__(
        self,
        name: str,
        journal: Journal,
        settings: Settings,
        now_ms: Callable[[], int],
        followers: Followers,
        metrics: Metrics,
        when_set_back: Callable[[Table], None],
    ) -> None:
        self.state = TableState(name)
        self.stale = False
        """True while the state rests on entries that the journal has lost."""
        self.followers: Final = followers
        self.tail: deque[EventView] = deque(maxlen=_TAIL)
        self.unreadable: Exception | None = None
        self.gone = False
        """True when the stream has left the journal and this process did not hear of its end."""
        self.archived: Archived | None = None
        """What the archive keeps of it: there is no stream any more, and nothing to catch up with."""
        self.idle_since = 0.0
        self.failed_ms = 0
        self._journal: Final = journal
        self._settings: Final = settings
        self._now_ms: Final = now_ms
        self._metrics: Final = metrics
        self._when_set_back: Final = when_set_back
        self._own: dict[int, tuple[bytes, Draft]] = {}
        self._lock: Final = asyncio.Lock()
        self._begun: asyncio.Future[None] | None = None
        self._cancel: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """The resource name, ``tables/{id}``."""
        return self.state.name

    @property
    def busy(self) -> bool:
        """True while a command is under way or somebody follows the table."""
        return self._lock.locked() or self._begun is not None or bool(self.followers)

    @property
    def usable(self) -> bool:
        """False when ``check_readable`` would raise."""
        return not (self.gone or self.stale or self.unreadable is not None)

    async def load(self) -> None:
        """Fold what is stored and follow what comes; then take the steps that are nobody's.

        Raises ``Refusal`` TABLE_NOT_FOUND, TABLE_UNREADABLE or JOURNAL_UNAVAILABLE.
        """
        try:
            await self._read_all()
            await self._listen()
            self.check_readable()
            await self.step()
        except JournalError as error:
            raise unavailable(error) from error
        except BaseException:
            self.close()
            raise

    async def _stored(self) -> list[Stored]:
        stored = await self._journal.read(self.name)
        if not stored:
            raise refuse("TABLE_NOT_FOUND", f"there is no table {self.name}", table=self.name)
        return stored

    async def _read_all(self) -> None:
        stored = await self._stored()
        for start in range(0, len(stored), _SLICE):
            self._deliver(stored[start : start + _SLICE])
            await asyncio.sleep(0)
        self.check_readable()

    async def _listen(self) -> None:
        after = self.state.seq
        self._cancel = await self._journal.listen(self.name, after, self._deliver, self._set_back)

    def _set_back(self) -> None:
        """The journal has lost entries that were folded here: nothing is to rest on them."""
        if not self.stale and not self.gone:
            self.stale = True
            self._when_set_back(self)

    async def reload(self) -> None:
        """Read the stream again after it was set back; who follows is told to forget what it showed.

        Raises ``Refusal`` TABLE_NOT_FOUND, TABLE_UNREADABLE or JOURNAL_UNAVAILABLE.
        """
        async with self._lock:
            if self._begun is not None:
                await asyncio.wait((self._begun,))
            self.close()
            try:
                fresh = TableState(self.name)
                for stored in await self._stored():
                    fresh.fold(stored)
                    if stored.seq % _SLICE == 0:
                        await asyncio.sleep(0)
                self._begin_again(fresh)
                await self._listen()
            except UnreadableTable as error:
                self._give_up(error)
            except JournalError as error:
                self.stale = True
                raise unavailable(error) from error
        self.check_readable()
        await self.step()

    def _begin_again(self, fresh: TableState) -> None:
        before, self.state, self.stale = self.state, fresh, False
        self.tail.clear()
        self._own.clear()
        self.followers.set_back(before, fresh)

    def close(self) -> None:
        """Let go of the stream; the object is not to be used any more."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    def check_readable(self) -> None:
        """Raises ``Refusal`` TABLE_UNREADABLE when the journal holds what this version can't read.

        JOURNAL_UNAVAILABLE when the stream is gone, to be looked for anew, and while the state rests
        on entries that were lost.
        """
        if self.gone:
            raise refuse("JOURNAL_UNAVAILABLE", "this table has left the journal; ask again", table=self.name)
        if self.stale:
            raise refuse("JOURNAL_UNAVAILABLE", "the store has lost the last of this table; it is read again")
        if self.unreadable is not None:
            raise refuse(
                "TABLE_UNREADABLE",
                "this table was written by another version of the server; try another replica or later",
                table=self.name,
            )

    # --- entries in ---------------------------------------------------------------------------

    def _deliver(self, entries: Sequence[Stored]) -> None:
        """Fold entries and show them to all who follow; the only place where state changes."""
        before = self.state.seq
        try:
            for stored in entries:
                if stored.seq > self.state.seq and self.unreadable is None and not self.stale:
                    self._take_in(stored)
        except Exception as error:  # noqa: BLE001 (who follows must not miss an event unawares)
            self._give_up(error)
        if self.state.seq > before and self.unreadable is None:
            self._own.clear()
            self.followers.settle(self.state)

    def _take_in(self, stored: Stored) -> None:
        data, own = self._own.pop(stored.seq, (b"", None))
        step = self.state.fold(stored, own if data == stored.data else None)
        if own is not None and step.kind == "moved":
            self._metrics.moved(self.state.rules.name, _BY[step.entry.moved.by])
        if logs.debug_on:
            self._say(step)
        event = EventView(self.state, step)
        self.tail.append(event)
        self.followers.show(event)

    def _say(self, step: Step) -> None:
        seat = getattr(getattr(step.entry, step.kind), "seat", None)
        about = {"seq": step.seq, "kind": step.kind, "seat": seat, "player": step.entry.actor}
        log.debug("table.event", table=self.name, **about)

    def _give_up(self, error: Exception) -> None:
        self.unreadable = error
        # Another error's text may name cards.
        problem = str(error) if isinstance(error, UnreadableTable) else type(error).__name__
        log.error("table.unreadable", table=self.name, problem=problem)
        try:
            self.check_readable()
        except Refusal as refusal:
            self.followers.end(refusal)

    async def catch_up(self) -> None:
        """Fold what others have appended. Raises ``Refusal`` JOURNAL_UNAVAILABLE."""
        if self.archived is not None:
            return
        try:
            # With the last entry that is known here: without it entries were lost, or the stream has left.
            stored = await self._journal.read(self.name, max(self.state.seq - 1, 0))
            left = stored or await self._journal.last_seq(self.name)
        except JournalError as error:
            raise unavailable(error) from error
        if stored:
            self._deliver(stored)
        elif left:
            self._set_back()
        else:
            self.lose()
        self.check_readable()

    async def refresh(self) -> None:
        """Where others write too, fold what they have appended. Raises ``Refusal`` as ``catch_up`` does."""
        if self._journal.shared:
            await self.catch_up()

    def lose(self) -> None:
        """Others have seen the end, and the table was retired: who follows it here is to ask again."""
        self.gone = True
        log.warning("table.gone", table=self.name, seq=self.state.seq)
        try:
            self.check_readable()
        except Refusal as refusal:
            self.followers.end(refusal)

    # --- commands -----------------------------------------------------------------------------

    async def command(self, decide: Decide, request: Request | None = None) -> int:
        """Run one command: the number of the entry it made (or had made, when repeated).

        Raises ``Refusal``: whatever ``decide`` refuses, REQUEST_ID_REUSED, JOURNAL_UNAVAILABLE.
        """
        async with self._lock:
            for _ in range(_ATTEMPTS):
                if self._begun is not None:
                    await asyncio.wait((self._begun,))
                self.check_readable()
                if request is not None:
                    accepted = self.accepted(request)
                    if accepted is not None:
                        await self._confirm()
                        return accepted.seq
                try:
                    drafts = decide(max(self._now_ms(), self.state.time_ms))
                except Refusal:
                    if not await self._has_news():
                        raise
                    continue
                if not drafts:
                    if not await self._has_news():
                        return self.state.seq
                    continue
                first = self.state.seq + 1
                if await self._append(drafts):
                    return first
            raise refuse("SERVER_BUSY", "too many others change this table at once; nothing was done")

    async def _has_news(self) -> bool:
        """Whether what was decided without an append rests on what is no longer so: decide again then."""
        before = self.state.seq
        await self.refresh()
        return self.state.seq > before

    def accepted(self, request: Request) -> Accepted | None:
        """The earlier acceptance of the same request. Raises ``Refusal`` REQUEST_ID_REUSED."""
        if not request.request_id:
            return None
        found = self.state.requests.get((request.actor, request.request_id))
        if found is not None and found.digest != request.digest:
            raise refuse(
                "REQUEST_ID_REUSED",
                "this request_id was used for another request; take a fresh one for each",
                request_id=request.request_id,
            )
        return found

    async def _append(self, drafts: list[Draft]) -> bool:
        """Append a batch; False when others were first (their entries are folded then)."""
        began = time.perf_counter()
        batch = self._batch(drafts)
        try:
            await self._journal.append(batch)
        except SequenceConflict:
            await self.catch_up()
            return False
        except JournalError as error:
            await self._find_out(batch, error)
        self._metrics.appended(time.perf_counter() - began)
        return True

    def _batch(self, drafts: list[Draft]) -> Append:
        state = self.state
        deadline = set_deadline(state, drafts, self._settings)
        datas = tuple([d.entry.SerializeToString() for d in drafts])
        for seq, (data, d) in enumerate(zip(datas, drafts, strict=True), state.seq + 1):
            self._own[seq] = (data, d)
        row = None if is_plain_move(drafts) else row_after(state, datas, drafts)
        over = retire_ms(drafts, self._settings)
        return Append(state.name, state.seq, datas, KEEP if deadline == 0 else deadline, row, over)

    async def _find_out(self, batch: Append, error: JournalError) -> None:
        """After an append that failed: is our entry there all the same? Raises ``Refusal`` if not."""
        self._metrics.append_failed(error)
        self.failed_ms = self._now_ms()
        if isinstance(error, NotWritten):
            raise unavailable(error) from error
        try:
            stored = await self._journal.read(self.name, batch.after)
        except JournalError as again:
            log.debug("journal.unavailable", problem=str(again))
            raise refuse("OUTCOME_UNKNOWN", "the store does not say whether this was done") from error
        self._deliver(stored)
        self.check_readable()
        if not stored or stored[0].data != batch.entries[0]:
            raise unavailable(error) from error
        await self._confirm(error)

    async def _confirm(self, error: JournalError | None = None) -> None:
        """What was found by reading is to last like what was appended. Raises ``Refusal`` OUTCOME_UNKNOWN."""
        try:
            await self._journal.confirm(self.name)
        except JournalError as again:
            log.debug("journal.unavailable", problem=str(again))
            raise refuse("OUTCOME_UNKNOWN", "the store does not say whether this was done") from (
                error or again
            )

    # --- steps that are nobody's --------------------------------------------------------------

    async def step(self) -> None:
        """Take the steps that are nobody's, if any are due. Raises ``Refusal`` JOURNAL_UNAVAILABLE."""
        if steps_due(self.state):
            await self.command(lambda now_ms: due_steps(self.state, now_ms))

    async def expire(self, deadline_seq: int) -> None:
        """The deadline set by an entry has passed: act, unless a later entry has moved it."""

        def decide(now_ms: int) -> list[Draft]:
            if self.state.deadline_seq != deadline_seq or self.state.phase is Phase.ENDED:
                return []
            return overdue(self.state, now_ms)

        await self.command(decide)

    # --- moves --------------------------------------------------------------------------------

    async def move(self, asked: AskedMove) -> int:
        """Make a player's move: the number of its entry. Raises ``Refusal``; see MakeMove."""
        return await self.command(lambda now_ms: decide_move(self.state, asked, now_ms), asked.request)

    def begin_move(self, asked: AskedMove, landed: Landed) -> bool:
        """Make a move without a task of its own, where nothing is in its way.

        ``landed`` is called when the journal has it, later. False when nothing was done because
        the move has to wait, was made before or is refused: ``move`` says what holds.
        """
        if self._begun is not None or self._lock.locked() or not self.usable:
            return False
        request = asked.request
        if request.request_id and (request.actor, request.request_id) in self.state.requests:
            return False
        began = time.perf_counter()
        try:
            now_ms = max(self._now_ms(), self.state.time_ms)
            batch = self._batch(decide_move(self.state, asked, now_ms))
            appending = asyncio.ensure_future(self._journal.append(batch))
        except (Refusal, JournalError):
            return False

        def appended(appending: asyncio.Future[None]) -> None:
            self._begun = None
            error = asyncio.CancelledError() if appending.cancelled() else appending.exception()
            if error is None:
                self._metrics.appended(time.perf_counter() - began)
                landed(batch.after + 1)
            else:
                landed(self._settle(asked, batch, error))

        self._begun = appending
        appending.add_done_callback(appended)
        return True

    async def _settle(self, asked: AskedMove, batch: Append, error: BaseException) -> int:
        """What became of a begun move whose append failed. Raises ``Refusal``, or the error."""
        if isinstance(error, SequenceConflict):
            return await self.move(asked)
        if not isinstance(error, JournalError):
            raise error
        async with self._lock:
            await self._find_out(batch, error)
        return batch.after + 1
