"""What a journal promises, whatever stores it.

The law of this file: a stream is a sequence of entries numbered 1, 2, 3, …, append-only. An
append is a batch, all or nothing, and only goes in if its first number is the next one; what
``append`` returned from survives the death of any process. The deadline and the lobby row of
a stream change with the append that carries them, never apart from it. A stream that is over
may be retired: all of it goes at once, as if it had never been. The journal does not read
entries: they are bytes to it.

A journal holds secrets (seeds, cards, keys): whoever can read it can see every hand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol


class Stored(NamedTuple):
    """An entry as stored: its number in the stream, from 1, and its bytes."""

    seq: int
    data: bytes


class Deadline(NamedTuple):
    """When the server acts on a stream by itself: bound to the entry that set it."""

    stream: str
    seq: int
    at_ms: int


class Finished(NamedTuple):
    """A stream that is over, and when it may be retired."""

    stream: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Row:
    """A stream's row in the lobby index, replaced as a whole by each append that carries one.

    ``subjects`` are those whom the row concerns (players seated or invited, ``house``): the row
    is found under each of them and each hears of its changes. ``listed`` rows show in pages.
    """

    stream: str
    game: str
    state: str
    free_seats: int
    listed: bool
    created_ms: int
    subjects: tuple[str, ...]
    data: bytes


class _Keep:
    """Says that an append leaves the stream's deadline as it is."""


KEEP: Final = _Keep()


@dataclass(frozen=True, slots=True)
class Append:
    """A batch of entries for one stream, and what changes with it.

    ``after`` is the number of the last entry the writer knows (0 for a new stream); the batch
    gets ``after + 1`` and so on. ``deadline_ms`` sets the stream's deadline (Unix ms, bound to
    the last entry of the batch), None clears it, ``KEEP`` leaves it. ``row``, of the same stream,
    replaces the stream's row; None leaves it. ``retire_ms`` says that the stream is over with
    this batch and may be retired from then on (Unix ms); it goes with a cleared deadline.
    """

    stream: str
    after: int
    entries: tuple[bytes, ...]
    deadline_ms: int | _Keep | None = KEEP
    row: Row | None = None
    retire_ms: int | None = None


class RowFilter(NamedTuple):
    """Which rows a page lists; empty fields do not filter. Only listed rows are shown."""

    game: str = ""
    states: tuple[str, ...] = ()
    with_free_seats: bool = False


class PageKey(NamedTuple):
    """Where a page ended: pages run from the newest row to the oldest."""

    created_ms: int
    stream: str


class JournalError(Exception):
    """What a journal may raise."""


class SequenceConflict(JournalError):
    """The batch was not next: nothing was written. ``last`` is the stream's last number."""

    def __init__(self, stream: str, after: int, last: int) -> None:
        super().__init__(f"{stream}: append after {after}, but the last entry is {last}")
        self.last: Final = last


class JournalUnavailable(JournalError):
    """The store cannot be reached or will not write now; nothing is known to be written.

    After this from ``append`` the outcome is unknown: read the stream and compare entry ids.
    """


class JournalRefused(JournalUnavailable):
    """The store refuses for what waiting does not mend: a password, a right, a folder that is not there.

    Whoever starts while a store is away waits after any other ``JournalUnavailable``.
    """


class JournalLocked(JournalError):
    """Another process has this store open, and it can be open only once."""


class NotWritten(JournalUnavailable):
    """The store was not reached or has refused, so it is known that nothing was written."""


class QueueFull(NotWritten):
    """Too many calls are waiting; this one was not taken."""


Deliver = Callable[[Sequence[Stored]], None]
"""Gets entries in order, without a gap or a repeat, on the event loop. Must not block or raise."""

DeliverRow = Callable[[Row], None]
"""Gets a row that has changed and concerns the subject, on the event loop."""

SetBack = Callable[[], None]
"""Hears, on the event loop, that the store has lost what was delivered. Must not block or raise."""

Cancel = Callable[[], None]
"""Ends a subscription; calling it again does nothing."""


class Journal(Protocol):
    """A store of streams. All methods run on one event loop, that of ``open``."""

    shared: bool
    """True when other processes may append to the same streams."""

    @property
    def failing(self) -> bool:
        """True while the store is away, or refuses what it was last asked for.

        A journal logs when that begins and when it is over; whoever calls it need not.
        """

    def append(self, batch: Append) -> Awaitable[None]:
        """Store a batch durably. Done once it is stored and was delivered to listeners here.

        What makes a future (and no coroutine) has queued the batch when it returns it, and raises
        ``QueueFull`` and ``ValueError`` at once.

        Raises ``SequenceConflict``, ``NotWritten`` (both: nothing was written) or
        ``JournalUnavailable`` (unknown). ``ValueError`` for an empty batch, a negative deadline,
        another stream's row, or an end that leaves a deadline. Unknown is the outcome also for a
        caller that is cancelled.
        """

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        """Entries numbered above ``after``, in order, at most ``limit``; [] for an unknown stream."""

    async def confirm(self, stream: str) -> None:
        """Return once all that is stored of a stream is as durable as an append makes it.

        For whoever found an entry by reading and is about to say that it is done. Raises
        ``JournalUnavailable``.
        """

    async def last_seq(self, stream: str) -> int:
        """The number of the last entry, 0 for an unknown stream."""

    async def listen(
        self, stream: str, after: int, deliver: Deliver, set_back: SetBack | None = None
    ) -> Cancel:
        """Deliver every entry numbered above ``after``, those already stored before it returns.

        Gaps are repaired by reading. An entry appended here is delivered before its ``append``
        returns. ``set_back`` is called when the store turns out to have lost entries that were
        delivered (a failover to a replica that lacked them): whoever folded them forgets them,
        cancels, reads the stream anew and listens again.
        """

    async def clock_ms(self) -> int:
        """The journal's clock, Unix milliseconds. Never runs backwards.

        Not after a restart either: never below a time that it gave before an append that is stored.
        """

    async def due(self, now_ms: int, limit: int = 100) -> list[Deadline]:
        """Deadlines at or before ``now_ms``, earliest first, at one moment by stream.

        They stay until an append moves them.
        """

    async def finished(self, now_ms: int, limit: int = 100) -> list[Finished]:
        """Streams that may be retired at ``now_ms``, earliest first, at one moment by stream."""

    async def put_off(self, finished: Finished, until_ms: int) -> bool:
        """Name another time, if the stream is to be retired at the time in ``finished`` still.

        Of all who ask with the same ``finished`` one gets True: it has the stream to itself until
        then.
        """

    async def retire(self, stream: str, last: int) -> None:
        """Free all of a stream whose last entry is ``last``: entries, row, deadline, end.

        Of a stream that is not there nothing happens. Whoever listens hears nothing of it. Raises
        ``SequenceConflict`` when the last entry is another: nothing was freed.
        """

    async def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """Listed rows that match, newest first, beginning behind ``after``."""

    async def row(self, stream: str) -> Row | None:
        """One stream's row, listed or not."""

    async def rows_of(self, subject: str) -> list[Row]:
        """All rows that concern ``subject``, listed or not, oldest first."""

    async def listen_rows(self, subject: str, deliver: DeliverRow) -> Cancel:
        """Deliver each row that concerns ``subject``, or did until now, when an append replaces it.

        Whoever wants all of them listens first, then asks ``rows_of``, and then takes what was
        delivered meanwhile in its order: a delivery may be a little older than what was read, but
        then the newer row is delivered as well.
        """

    async def key(self, name: str, fresh: bytes, *, replace: bool = False) -> bytes:
        """The stored key of that name; ``fresh`` is stored and returned when there is none.

        All who ask at once get the same one. ``replace`` stores ``fresh`` over what there is.
        """

    async def close(self) -> None:
        """Finish what is queued and let go of the store. Later calls raise ``JournalUnavailable``."""
