"""Journals: where tables are kept. ``base`` says what each promises, ``open_journal`` opens one."""

from __future__ import annotations

from croupier_server.journal.base import (
    KEEP,
    Append,
    Cancel,
    Deadline,
    Deliver,
    DeliverRow,
    Journal,
    JournalError,
    JournalLocked,
    JournalUnavailable,
    PageKey,
    QueueFull,
    Row,
    RowFilter,
    SequenceConflict,
    Stored,
)
from croupier_server.journal.memory import MemoryJournal
from croupier_server.journal.sqlite import SqliteJournal

__all__ = [
    "KEEP",
    "Append",
    "Cancel",
    "Deadline",
    "Deliver",
    "DeliverRow",
    "Journal",
    "JournalError",
    "JournalLocked",
    "JournalUnavailable",
    "MemoryJournal",
    "PageKey",
    "QueueFull",
    "Row",
    "RowFilter",
    "SequenceConflict",
    "SqliteJournal",
    "Stored",
    "open_journal",
]

_FORMS = "memory: (gone with the server) or sqlite:PATH (one file)"


async def open_journal(url: str) -> Journal:
    """Open the journal that ``url`` names: ``memory:`` or ``sqlite:PATH``.

    Raises ``ValueError`` for another URL, and what ``SqliteJournal.open`` raises.
    """
    scheme, colon, rest = url.partition(":")
    if scheme in {"redis", "rediss"} and colon:
        raise ValueError(f"this build has no redis journal; there are {_FORMS}")
    if url == "memory:":
        return MemoryJournal()
    if scheme == "sqlite" and rest == ":memory:":
        raise ValueError("a journal in memory is memory:")
    if scheme == "sqlite" and rest:
        return await SqliteJournal.open(rest)
    raise ValueError(f"no journal is called {url!r}; there are {_FORMS}")
