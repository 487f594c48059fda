"""The statements of a SQLite journal: groups of changes in, entries and rows out. All of it blocks.

The law of this file: a group is one transaction, and nothing of it is seen before all of it is
on disk; a batch in it that is not next is left out, and the others go in.

A thread lets go of the interpreter's lock at each step of a statement, and on a busy server it
waits up to milliseconds to get it back. So a statement here does much in few steps: a group is
one INSERT, and a query gives all that it finds as one JSON text (reading 200 entries beside a
busy event loop takes 0.5 ms that way, and 10 to 30 ms row by row).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any, Final, NamedTuple

from croupier_server.journal.base import (
    Append,
    Deadline,
    Finished,
    PageKey,
    Row,
    RowFilter,
    SequenceConflict,
    Stored,
)
from croupier_server.journal.local import Clock


class KeyRequest(NamedTuple):
    """The arguments of ``Journal.key``."""

    name: str
    fresh: bytes
    replace: bool


class PutOff(NamedTuple):
    """The arguments of ``Journal.put_off``."""

    finished: Finished
    until_ms: int


class Retire(NamedTuple):
    """The arguments of ``Journal.retire``."""

    stream: str
    last: int


Clearing = PutOff | Retire
"""Changes to streams that are over, never in one group with others: what they free may begin anew."""

Change = Append | KeyRequest | Clearing
"""What the writer takes."""

Outcome = tuple[str, ...] | bytes | bool | None | SequenceConflict
"""What came of it: of an append the subjects of the row that it replaced, of a key the key."""

_ENTRIES_A_STATEMENT: Final = 64
_STREAMS_KNOWN: Final = 100_000
_CLOCK_LEAD_MS: Final = 1000
_KEEP: Final = -1
_OF_A_STREAM: Final = ("entries", "deadlines", "finished", "lobby")

_Values = list[str | int | bytes | None]


class Writer:
    """Writes groups on its own connection. Not thread-safe: one thread calls ``write``."""

    def __init__(self, db: sqlite3.Connection, clock: Clock, not_before_ms: int) -> None:
        """``not_before_ms`` is the time that is stored, from which ``clock`` goes on."""
        self._db: Final = db
        self._clock: Final = clock
        self._last: Final[dict[str, int]] = {}
        self._not_before_ms = not_before_ms
        clock.not_before(not_before_ms)

    def write(self, group: Sequence[Change]) -> list[Outcome]:
        """Store all of the group that can be; the outcomes are in its order.

        A group is of ``Clearing`` alone or has none. Whatever it raises, nothing is stored, as
        far as SQLite can tell.
        """
        try:
            clearing = [change for change in group if isinstance(change, Clearing)]
            return self._clear(clearing) if clearing else self._write(group)
        except BaseException:
            self._last.clear()
            raise

    def _write(self, group: Sequence[Change]) -> list[Outcome]:
        if len(self._last) > _STREAMS_KNOWN:
            self._last.clear()
        values: _Values = []
        outcomes: list[Outcome] = []
        extras: list[tuple[int, Row | KeyRequest]] = []
        over: list[Finished] = []
        for index, change in enumerate(group):
            assert not isinstance(change, Clearing)
            if isinstance(change, KeyRequest):
                outcomes.append(change.fresh)
                extras.append((index, change))
                continue
            conflict = self._number(change, values)
            outcomes.append(conflict or ())
            if change.row is not None and conflict is None:
                extras.append((index, change.row))
            if change.retire_ms is not None and conflict is None:
                over.append(Finished(change.stream, change.retire_ms))
        late = self._clock.latest_ms > self._not_before_ms
        width = 4 * _ENTRIES_A_STATEMENT
        with self._transaction() if late or extras or over or len(values) > width else nullcontext():
            for start in range(0, len(values), width):
                some = values[start : start + width]
                self._db.execute(_insert(len(some) // 4), some)
            for index, extra in extras:
                outcomes[index] = self._put_row(extra) if isinstance(extra, Row) else self._key(extra)
            self._db.executemany("INSERT OR REPLACE INTO finished VALUES (?, ?)", over)
            if late:
                self._keep_time()
        return outcomes

    def _clear(self, group: Sequence[Clearing]) -> list[Outcome]:
        with self._transaction():
            return [self._put_off(c) if isinstance(c, PutOff) else self._retire(c) for c in group]

    def _put_off(self, change: PutOff) -> bool:
        sql = "UPDATE finished SET at_ms = ? WHERE stream = ? AND at_ms = ?"
        return self._db.execute(sql, (change.until_ms, *change.finished)).rowcount == 1

    def _retire(self, change: Retire) -> SequenceConflict | None:
        """Free what there is of a stream, unless it has gone on."""
        stream = change.stream
        last = _last_seq(self._db, stream)
        if last not in (0, change.last):
            return SequenceConflict(stream, change.last, last)
        self._last.pop(stream, None)
        found = self._db.execute("SELECT subjects FROM lobby WHERE stream = ?", (stream,)).fetchone()
        subjects = json.loads(found[0]) if found else ()
        gone = [(subject, stream) for subject in subjects]
        self._db.executemany("DELETE FROM subjects WHERE subject = ? AND stream = ?", gone)
        for table in _OF_A_STREAM:
            self._db.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))  # noqa: S608 (constants)
        return None

    def _number(self, batch: Append, values: _Values) -> SequenceConflict | None:
        """Add the batch's entries to ``values`` if they are next."""
        stream = batch.stream
        last = self._last.get(stream)
        if last is None:
            last = _last_seq(self._db, stream)
        if batch.after != last:
            self._last[stream] = last
            return SequenceConflict(stream, batch.after, last)
        for data in batch.entries:
            last += 1
            values += (stream, last, data, _KEEP)
        deadline = batch.deadline_ms
        if deadline is None or isinstance(deadline, int):
            values[-1] = deadline
        self._last[stream] = last
        return None

    def _put_row(self, row: Row) -> tuple[str, ...]:
        """Replace a stream's row; the subjects of the former one."""
        found = self._db.execute("SELECT subjects FROM lobby WHERE stream = ?", (row.stream,)).fetchone()
        before = tuple(json.loads(found[0])) if found else ()
        values = (row.stream, row.game, row.state, row.free_seats, row.listed, row.created_ms)
        subjects = json.dumps(row.subjects, ensure_ascii=False)
        self._db.execute(
            "INSERT OR REPLACE INTO lobby VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*values, subjects, row.data)
        )
        gone = [(subject, row.stream) for subject in before if subject not in row.subjects]
        come = [(subject, row.stream) for subject in row.subjects if subject not in before]
        self._db.executemany("DELETE FROM subjects WHERE subject = ? AND stream = ?", gone)
        self._db.executemany("INSERT OR IGNORE INTO subjects VALUES (?, ?)", come)
        return before

    def _key(self, request: KeyRequest) -> bytes:
        insert = "INSERT OR REPLACE INTO" if request.replace else "INSERT OR IGNORE INTO"
        self._db.execute(f"{insert} keys VALUES (?, ?)", (request.name, request.fresh))
        key: bytes
        (key,) = self._db.execute("SELECT data FROM keys WHERE name = ?", (request.name,)).fetchone()
        return key

    def _keep_time(self) -> None:
        """Store a time ahead of all given out so far, once a second: behind none in any entry."""
        self._not_before_ms = self._clock.latest_ms + _CLOCK_LEAD_MS
        self._db.execute("UPDATE clock SET not_before_ms = ?", (self._not_before_ms,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


class Reader:
    """Reads what is stored, on its own connection. Not thread-safe: one thread at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db: Final = db

    def last_seq(self, stream: str) -> int:
        """See ``Journal.last_seq``."""
        return _last_seq(self._db, stream)

    def entries(self, stream: str, after: int, limit: int) -> list[Stored]:
        """See ``Journal.read``."""
        query = "entries WHERE stream = ? AND seq > ? ORDER BY seq"
        found = self._find("hex(data)", query, (stream, after), limit)
        return [Stored(seq, bytes.fromhex(data)) for seq, data in enumerate(found, max(after, 0) + 1)]

    def due(self, now_ms: int, limit: int) -> list[Deadline]:
        """See ``Journal.due``."""
        query = "deadlines WHERE at_ms <= ? ORDER BY at_ms, stream"
        found = self._find("json_array(stream, seq, at_ms)", query, (now_ms,), limit)
        return [Deadline(*deadline) for deadline in found]

    def finished(self, now_ms: int, limit: int) -> list[Finished]:
        """See ``Journal.finished``."""
        query = "finished WHERE at_ms <= ? ORDER BY at_ms, stream"
        return [Finished(*one) for one in self._find("json_array(stream, at_ms)", query, (now_ms,), limit)]

    def row(self, stream: str) -> Row | None:
        """See ``Journal.row``."""
        rows = self._rows("lobby WHERE stream = ?", (stream,), 1)
        return rows[0] if rows else None

    def rows_of(self, subject: str) -> list[Row]:
        """See ``Journal.rows_of``."""
        query = "subjects JOIN lobby USING (stream) WHERE subject = ? ORDER BY created_ms, stream"
        return self._rows(query, (subject,), 1 << 31)

    def page(self, where: RowFilter, after: PageKey | None, limit: int) -> list[Row]:
        """See ``Journal.page``."""
        return self._rows(*page_query(where, after), limit)

    def _rows(self, query: str, values: Sequence[str | int], limit: int) -> list[Row]:
        found = self._find(
            "json_array(stream, game, state, free_seats, created_ms, listed, subjects, hex(data))",
            query,
            values,
            limit,
        )
        return [_row(*columns) for columns in found]

    def _find(self, what: str, query: str, values: Sequence[str | int], limit: int) -> list[Any]:
        """``what`` of each row that the query finds, in its order."""
        sql = f"SELECT json_group_array({what}) FROM (SELECT * FROM {query} LIMIT ?)"  # noqa: S608 (constants)
        (found,) = self._db.execute(sql, (*values, max(limit, 0))).fetchone()
        return list(json.loads(found))


def page_query(where: RowFilter, after: PageKey | None) -> tuple[str, list[str | int]]:
    """What to select a page from, newest first, and its values. It walks the index ``lobby_by_age``."""
    terms, values = ["listed"], list[str | int]()
    if where.game:
        terms.append("game = ?")
        values.append(where.game)
    if where.states:
        terms.append(f"state IN ({', '.join('?' * len(where.states))})")
        values += where.states
    if where.with_free_seats:
        terms.append("free_seats > 0")
    if after is not None:
        terms.append("(created_ms, stream) < (?, ?)")
        values += after
    return f"lobby WHERE {' AND '.join(terms)} ORDER BY created_ms DESC, stream DESC", values


def _row(
    stream: str, game: str, state: str, free: int, created: int, listed: int, subjects: str, data: str
) -> Row:
    return Row(
        stream, game, state, free, bool(listed), created, tuple(json.loads(subjects)), bytes.fromhex(data)
    )


def _last_seq(db: sqlite3.Connection, stream: str) -> int:
    last: int
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM entries WHERE stream = ?", (stream,)).fetchone()
    return last


@cache
def _insert(entries: int) -> str:
    rows = ", ".join(["(?, ?, ?, ?)"] * entries)
    return f"INSERT INTO appends VALUES {rows}"  # noqa: S608 (question marks only)
