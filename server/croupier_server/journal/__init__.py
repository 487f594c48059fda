"""Journals: where tables are kept. ``base`` says what each promises, ``open_journal`` opens one."""

from __future__ import annotations

from croupier_server.journal.base import (
    KEEP,
    Append,
    Cancel,
    Deadline,
    Deliver,
    DeliverRow,
    Finished,
    Journal,
    JournalError,
    JournalLocked,
    JournalRefused,
    JournalUnavailable,
    NotWritten,
    PageKey,
    QueueFull,
    Row,
    RowFilter,
    SequenceConflict,
    SetBack,
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
    "Finished",
    "Journal",
    "JournalError",
    "JournalLocked",
    "JournalRefused",
    "JournalUnavailable",
    "MemoryJournal",
    "NotWritten",
    "PageKey",
    "QueueFull",
    "Row",
    "RowFilter",
    "SequenceConflict",
    "SetBack",
    "SqliteJournal",
    "Stored",
    "open_journal",
]

_FORMS = "memory: (gone with the server), sqlite:PATH (one file) or redis://HOST:PORT (for many servers)"
_REDIS = frozenset({"redis", "rediss", "redis+unix", "redis+cluster", "valkey", "valkeys"})


async def open_journal(url: str) -> Journal:
    """Open the journal that ``url`` names: ``memory:``, ``sqlite:PATH`` or ``redis://HOST:PORT``.

    Raises ``ValueError`` for another URL, and what ``SqliteJournal.open`` or ``RedisJournal.open``
    raises.
    """
    scheme, _, rest = url.partition(":")
    if scheme in _REDIS and rest:
        return await _open_redis(url)
    if url == "memory:":
        return MemoryJournal()
    if scheme == "sqlite" and rest == ":memory:":
        raise ValueError("a journal in memory is memory:")
    if scheme == "sqlite" and rest:
        return await SqliteJournal.open(rest)
    raise ValueError(f"no journal is called {url!r}; there are {_FORMS}")


async def _open_redis(url: str) -> Journal:
    """Its parser comes with an extra of its own, which other journals do without."""
    try:
        from croupier_server.journal.redis import RedisJournal
    except ModuleNotFoundError as error:
        if error.name != "hiredis":
            raise
        raise ValueError("a journal in Redis needs hiredis: pip install 'croupier[redis]'") from None
    return await RedisJournal.open(url)
