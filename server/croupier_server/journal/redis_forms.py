"""The bytes of rows and of news, as they lie in Redis and go over its channels.

The law of this file: what the scripts read of a row is its first line, and they write news in the
form that is read here. Whatever is changed, is changed in ``redis_scripts`` too.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from croupier_server.journal.base import Row, Stored


class StoredRow(NamedTuple):
    """A row and the number of the entry that came with it: a higher one is newer."""

    row: Row
    seq: int


def pack_row(row: Row, seq: int) -> bytes:
    """A row as it is stored: a line of JSON, which the script reads, and the row's data."""
    head = [seq, row.stream, row.game, row.state, row.free_seats, row.listed, row.created_ms, row.subjects]
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + row.data


def unpack_row(stored: bytes) -> StoredRow:
    """The row in what ``pack_row`` gave."""
    head, _, data = stored.partition(b"\n")
    seq, stream, game, state, free, listed, created, subjects = json.loads(head)
    return StoredRow(Row(stream, game, state, free, listed, created, tuple(subjects), data), seq)


def subjects_in(head: bytes) -> tuple[str, ...]:
    """Whom a row concerned, by its line of JSON; nobody when there was no row."""
    return tuple(json.loads(head)[-1]) if head else ()


def unpack_news(news: bytes) -> list[Stored]:
    """The entries that were told: ``LAST LENGTH LENGTH…``, a line's end, and their bytes."""
    head, _, rest = news.partition(b"\n")
    last, *lengths = map(int, head.split())
    entries: list[Stored] = []
    at = 0
    for seq, length in enumerate(lengths, last + 1):
        entries.append(Stored(seq, rest[at : at + length]))
        at += length
    return entries
