"""An archive in one SQLite file, for the servers of one machine.

The law of this file: what is acknowledged is on disk, and the event loop waits for no disk. The
file is no journal, and a journal is no archive: each refuses the other's.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self, TypeVar, TypeVarTuple

from croupier_server.archive.base import (
    AnotherIsKept,
    Archived,
    ArchiveError,
    ArchiveRefused,
    ArchiveUnavailable,
)

APPLICATION_ID: Final = 0x43525541
"""``PRAGMA application_id`` of an archive: "CRUA"."""

FORM: Final = 1
"""``PRAGMA user_version`` of the table below. A new form gets the next number."""

_TABLE: Final = """
CREATE TABLE archived (
    name TEXT NOT NULL PRIMARY KEY, ended_ms INTEGER NOT NULL, digest BLOB NOT NULL,
    request_digest BLOB NOT NULL, "table" BLOB NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE INDEX archived_by_end ON archived (ended_ms);
"""
_BUSY_SECONDS: Final = 5.0

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")


class SqliteArchive:
    """An ``Archive`` in a SQLite file, which other processes here may use as well. Made by ``open``."""

    shared: bool = False

    def __init__(self, path: Path | str, thread: ThreadPoolExecutor, db: sqlite3.Connection) -> None:
        self._path: Final = path
        self._thread: Final = thread
        self._db: Final = db
        self._closed = False

    @classmethod
    async def open(cls, path: Path | str) -> Self:
        """Open or create the archive at ``path``, mode 0600; its folder must exist.

        Raises ``ArchiveRefused``, or ``ArchiveError`` for a file that is no archive or of a
        newer form.
        """
        thread = ThreadPoolExecutor(1, "archive")
        try:
            db = await asyncio.get_running_loop().run_in_executor(thread, _open, Path(path))
            return cls(path, thread, db)
        except BaseException as error:
            thread.shutdown(wait=False)
            if isinstance(error, OSError | sqlite3.Error):
                raise ArchiveRefused(f"cannot open the archive {path}: {error}") from error
            raise

    async def put(self, archived: Archived) -> None:
        """Keep a table; see ``Archive.put``."""
        await self._run(self._put, archived)

    def _put(self, archived: Archived) -> None:
        values = (
            *(archived.name, archived.ended_ms, archived.digest),
            *(archived.request_digest, archived.table, archived.record),
        )
        sql = "INSERT INTO archived VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
        if self._db.execute(sql, values).rowcount == 1:
            return
        sql = "SELECT digest FROM archived WHERE name = ?"
        (digest,) = self._db.execute(sql, (archived.name,)).fetchone()
        if digest != archived.digest:
            raise AnotherIsKept(archived.name)

    async def get(self, name: str) -> Archived | None:
        """A table; see ``Archive.get``."""
        return await self._run(self._get, name)

    def _get(self, name: str) -> Archived | None:
        found = self._db.execute("SELECT * FROM archived WHERE name = ?", (name,)).fetchone()
        return Archived(*found) if found else None

    async def close(self) -> None:
        """Finish what is under way; see ``Archive.close``."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._db.close)
            self._thread.shutdown()

    async def _run(self, work: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        if self._closed:
            raise ArchiveUnavailable("the archive is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        except sqlite3.Error as error:
            raise ArchiveUnavailable(f"the archive {self._path}: {error}") from error


def _open(path: Path) -> sqlite3.Connection:
    path = path.expanduser()
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    db = sqlite3.connect(path, _BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _check_form(path, db)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
    except BaseException:
        db.close()
        raise
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if name.exists():
            name.chmod(0o600)
    return db


def _check_form(path: Path, db: sqlite3.Connection) -> None:
    """Create the table in an empty file. Raises ``ArchiveError`` for a file that is not ours."""
    try:
        db.execute("BEGIN IMMEDIATE")  # so that of two processes one creates it
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (form,) = db.execute("PRAGMA user_version").fetchone()
        (objects,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise ArchiveError(f"{path} is not an archive: {error}") from error
    if (application, form, objects) == (0, 0, 0):
        for statement in (*_TABLE.split(";")[:-1], *_identity()):
            db.execute(statement)
    elif application != APPLICATION_ID:
        raise ArchiveError(f"{path} is a database, but not an archive")
    elif form > FORM:
        raise ArchiveError(f"{path} has form {form}; this version knows forms up to {FORM}: use a newer one")
    db.execute("COMMIT")


def _identity() -> tuple[str, str]:
    return f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {FORM}"
