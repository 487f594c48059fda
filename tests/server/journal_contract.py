"""The stores that the journal's contract is tried on, and what its tests are built with.

The law of this file: every store in ``STORES`` passes every test of a class that is
``OnEachJournal``. A new store is one more line there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from croupier_server.journal import Append, Journal, Row, Stored, open_journal
from server.redis_cluster import empty_cluster_journal
from server.redis_server import empty_journal

STORES: Final[dict[str, Callable[[Path], Awaitable[Journal]]]] = {
    "memory": lambda _: open_journal("memory:"),
    "sqlite": lambda folder: open_journal(f"sqlite:{folder / 'journal.db'}"),
    "redis": lambda _: empty_journal(),
    "redis cluster": lambda _: empty_cluster_journal(),
}


class OnEachJournal:
    """Tests that get a fresh, empty ``journal`` of each kind in turn."""

    @pytest.fixture(params=STORES)
    async def journal(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
        journal = await STORES[request.param](tmp_path)
        yield journal
        await journal.close()


class Heard:
    """A listener that remembers: entries, their numbers, and the sizes of deliveries."""

    def __init__(self) -> None:
        self.entries: list[Stored] = []

    def __call__(self, entries: Sequence[Stored]) -> None:
        assert entries, "nothing was delivered"
        self.entries += entries

    @property
    def seqs(self) -> list[int]:
        return [entry.seq for entry in self.entries]


def batch(stream: str, after: int, *entries: bytes, **changes: Any) -> Append:
    """A batch; of one entry that tells its place when none is given."""
    return Append(stream, after, entries or (f"{stream}#{after + 1}".encode(),), **changes)


def lobby_row(stream: str, created_ms: int = 0, *, subjects: Sequence[str] = (), **changes: Any) -> Row:
    """A listed row with one free seat, unless ``changes`` say otherwise."""
    columns: dict[str, Any] = {"game": "doudizhu", "state": "waiting", "free_seats": 1, "listed": True}
    columns |= {"data": stream.encode()} | changes
    return Row(stream=stream, created_ms=created_ms, subjects=tuple(subjects), **columns)


async def put_rows(journal: Journal, *rows: Row) -> None:
    """Append an entry that carries the row, for each."""
    for row in rows:
        await journal.append(batch(row.stream, await journal.last_seq(row.stream), row=row))
