"""The file of a SQLite journal: who may open it, and its form.

The law of this file: one process at a time has the file open; only its owner can read it; a
file of another program, or of a newer form than is known here, is refused and left as it is.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from croupier_server.journal.base import JournalError, JournalLocked, JournalRefused

APPLICATION_ID: Final = 0x43525550
"""``PRAGMA application_id`` of a journal: "CRUP"."""

FORM: Final = 2
"""``PRAGMA user_version`` of the tables below. A new form gets the next number."""

_FINISHED: Final = """
CREATE TABLE finished (stream TEXT NOT NULL PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX finished_by_time ON finished (at_ms);
"""
"""What form 2 has beyond form 1."""

# Form 1 did not tell which streams are over; by the word of the server's rows it can be told.
_FROM_FORM_1: Final = """
INSERT INTO finished SELECT stream, 0 FROM lobby WHERE state = 'ENDED';
PRAGMA user_version = 2;
"""

# What a statement does per append has one home: the trigger. So a whole group of appends is one
# INSERT into the view, which lets go of the interpreter's lock once and not once an entry.
_TABLES: Final = """
CREATE TABLE entries (
    stream TEXT NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE deadlines (
    stream TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deadlines_by_time ON deadlines (at_ms);
CREATE VIEW appends AS SELECT '' AS stream, 0 AS seq, x'' AS data, 0 AS deadline_ms;
CREATE TRIGGER append INSTEAD OF INSERT ON appends BEGIN
    INSERT INTO entries VALUES (new.stream, new.seq, new.data);
    INSERT OR REPLACE INTO deadlines
        SELECT new.stream, new.seq, new.deadline_ms WHERE new.deadline_ms >= 0;
    DELETE FROM deadlines WHERE new.deadline_ms IS NULL AND stream = new.stream;
END;
CREATE TABLE lobby (
    stream TEXT NOT NULL PRIMARY KEY, game TEXT NOT NULL, state TEXT NOT NULL,
    free_seats INTEGER NOT NULL, listed INTEGER NOT NULL, created_ms INTEGER NOT NULL,
    subjects TEXT NOT NULL, data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lobby_by_age ON lobby (created_ms, stream, game, state, free_seats) WHERE listed;
CREATE TABLE subjects (
    subject TEXT NOT NULL, stream TEXT NOT NULL, PRIMARY KEY (subject, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE keys (name TEXT NOT NULL PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE clock (only INTEGER PRIMARY KEY CHECK (only = 0), not_before_ms INTEGER NOT NULL) STRICT;
INSERT INTO clock VALUES (0, 0);
"""

_WRITER_CACHE_KIB: Final = 64 * 1024
_LARGEST_LOG_LEFT: Final = 64 * 1024 * 1024


class OpenFile(NamedTuple):
    """An open journal file: a connection to write with, one to read with, and the lock.

    ``not_before_ms`` is a time that no stored entry is ahead of.
    """

    writer: sqlite3.Connection
    reader: sqlite3.Connection
    lock: int
    not_before_ms: int

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        try:
            self.reader.close()
            self.writer.close()
        finally:
            os.close(self.lock)


def open_file(path: Path) -> OpenFile:
    """Open or create the journal at ``path``; its folder must exist. Blocks.

    Raises ``JournalLocked`` when it is open elsewhere, ``JournalRefused`` when the system
    refuses, ``JournalError`` for a file that is no journal or of a newer form.
    """
    path = path.expanduser().resolve()  # whatever link one comes by, the lock must be the same
    try:
        with ExitStack() as undo:
            lock = _lock(path)
            undo.callback(os.close, lock)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            writer = _connect(path)
            undo.callback(writer.close)
            _check_form(path, writer)
            _make_private(path)
            _use_log(path, writer)
            reader = _connect(path)
            undo.callback(reader.close)
            reader.execute("PRAGMA query_only = ON")
            (not_before_ms,) = reader.execute("SELECT not_before_ms FROM clock").fetchone()
            undo.pop_all()
            return OpenFile(writer, reader, lock, not_before_ms)
    except (OSError, sqlite3.Error) as error:
        raise JournalRefused(f"cannot open the journal {path}: {error}") from error


def _lock(path: Path) -> int:
    # A file of its own: SQLite's own locks end when any handle on the database is closed. The
    # system gives this lock up when its holder dies, however that happens. It is never deleted.
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise JournalLocked(f"the journal {path} is open in another process") from None
    except OSError:
        os.close(lock)
        raise
    return lock


def _connect(path: Path) -> sqlite3.Connection:
    # Each connection is used by one thread at a time, though not always by the same.
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)


def _check_form(path: Path, db: sqlite3.Connection) -> None:
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (form,) = db.execute("PRAGMA user_version").fetchone()
        (objects,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise JournalError(f"{path} is not a journal: {error}") from error
    if (application, form, objects) == (0, 0, 0):
        _create(db)
    elif application != APPLICATION_ID:
        raise JournalError(f"{path} is a database, but not a journal")
    elif form > FORM:
        raise JournalError(f"{path} has form {form}; this version knows forms up to {FORM}: use a newer one")
    elif form < FORM:
        db.executescript(f"BEGIN IMMEDIATE; {_FINISHED} {_FROM_FORM_1} COMMIT;")


def _create(db: sqlite3.Connection) -> None:
    identity = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORM};"
    db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {_FINISHED} {identity} COMMIT;")


def _make_private(path: Path) -> None:
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if name.exists():
            name.chmod(0o600)


def _use_log(path: Path, db: sqlite3.Connection) -> None:
    (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise JournalRefused(f"no write-ahead log can be kept beside {path}")
    db.execute("PRAGMA synchronous = FULL")  # what is acknowledged survives a loss of power
    db.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
    db.execute(f"PRAGMA journal_size_limit = {_LARGEST_LOG_LEFT}")
