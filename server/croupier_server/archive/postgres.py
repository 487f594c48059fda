"""An archive in PostgreSQL, for any number of servers.

The law of this file: what is acknowledged is committed; the table's name is the primary key, so
that of all servers that archive one table, one does. The connections are made, checked and made
again by psycopg's pool.

The table is ``croupier_archived`` in the first schema of the user's ``search_path``. It is created
where it is not there; a user who may not do that needs SELECT and INSERT on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Self

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from croupier_server.archive.base import (
    AnotherIsKept,
    Archived,
    ArchiveError,
    ArchiveRefused,
    ArchiveUnavailable,
)

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS croupier_archived (
    name text PRIMARY KEY, ended_ms bigint NOT NULL, digest bytea NOT NULL,
    request_digest bytea NOT NULL, "table" bytea NOT NULL, record text NOT NULL
);
CREATE INDEX IF NOT EXISTS croupier_archived_by_end ON croupier_archived (ended_ms)
"""
_PUT: Final = "INSERT INTO croupier_archived VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (name) DO NOTHING"
_DIGEST: Final = "SELECT digest FROM croupier_archived WHERE name = %s"
_GET: Final = (
    'SELECT name, ended_ms, digest, request_digest, "table", record FROM croupier_archived WHERE name = %s'
)
_LOCK: Final = 0x43525541
"""The advisory lock of creating the table: two servers that do it at once disturb each other."""
_CONNECTIONS: Final = 4
_ANSWER_SECONDS: Final = 5.0

_Connection = psycopg.AsyncConnection[TupleRow]


class PostgresArchive:
    """An ``Archive`` in a PostgreSQL database. Made by ``open``."""

    shared: bool = True

    def __init__(self, pool: AsyncConnectionPool[_Connection], answer_seconds: float) -> None:
        self._pool: Final = pool
        self._seconds: Final = answer_seconds
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, answer_seconds: float = _ANSWER_SECONDS) -> Self:
        """Open the archive in the database that ``url`` names, and create its table.

        A call is given up when it had no connection, or then no answer, for ``answer_seconds``.
        Raises ``ArchiveUnavailable``, ``ArchiveRefused`` for a password or rights that do not do, or
        ``ArchiveError`` for such a URL.
        """
        pool = AsyncConnectionPool[_Connection](
            url,
            kwargs={
                "connect_timeout": int(_ANSWER_SECONDS),
                "application_name": "croupier-archive",
                "prepare_threshold": None,  # a pooler in between may give each statement another server
            },
            min_size=1,
            max_size=_CONNECTIONS,
            timeout=answer_seconds,
            reconnect_timeout=answer_seconds,  # then the next call tries anew, and waits for no backoff
            check=AsyncConnectionPool.check_connection,
            open=False,
        )
        archive = cls(pool, answer_seconds)
        try:
            await _try_once(url)
            await pool.open()
            async with archive._connection() as connection:
                await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                if (await (await connection.execute(_IS_THERE)).fetchone()) == (None,):
                    await connection.execute(_TABLE)
        except BaseException:
            await archive.close()
            raise
        return archive

    async def put(self, archived: Archived) -> None:
        """Keep a table; see ``Archive.put``."""
        values = (
            *(archived.name, archived.ended_ms, archived.digest),
            *(archived.request_digest, archived.table, archived.record),
        )
        async with self._connection() as connection:
            if (await connection.execute(_PUT, values)).rowcount == 1:
                return
            found = await (await connection.execute(_DIGEST, (archived.name,))).fetchone()
        if found is None:
            raise ArchiveUnavailable(f"{archived.name} was taken out of the archive just now")
        if found[0] != archived.digest:
            raise AnotherIsKept(archived.name)

    async def get(self, name: str) -> Archived | None:
        """A table; see ``Archive.get``."""
        async with self._connection() as connection:
            found = await (await connection.execute(_GET, (name,))).fetchone()
        return Archived(*found) if found else None

    async def close(self) -> None:
        """Let go of the connections; see ``Archive.close``."""
        self._closed = True
        await self._pool.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[_Connection]:
        """A connection, committed in the end. Raises ``ArchiveUnavailable``."""
        if self._closed:
            raise ArchiveUnavailable("the archive is closed")
        try:
            async with asyncio.timeout(2 * self._seconds), self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, TimeoutError) as error:
            raise ArchiveUnavailable("PostgreSQL cannot be reached now") from error
        except psycopg.ProgrammingError as error:
            raise ArchiveRefused(f"PostgreSQL: {_said(error)}") from error
        except psycopg.Error as error:
            raise ArchiveUnavailable(f"PostgreSQL: {_said(error)}") from error


_NOT_ADMITTED: Final = "authentication failed"
_IS_THERE: Final = "SELECT to_regclass('croupier_archived')"


async def _try_once(url: str) -> None:
    """The pool tries for ever and says nothing: this says why the first connection fails."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=int(_ANSWER_SECONDS))
        await connection.close()
    except psycopg.ProgrammingError as error:
        raise ArchiveError(f"PostgreSQL: {_said(error)}") from error
    except psycopg.Error as error:
        # No code comes with it, and the text may be in another language: in doubt it is waited for.
        kind = ArchiveRefused if _NOT_ADMITTED in str(error) else ArchiveUnavailable
        raise kind(f"PostgreSQL: {_said(error)}") from error


def _said(error: psycopg.Error) -> str:
    """The first line of what went wrong: the next ones may quote values."""
    return str(error).partition("\n")[0] or type(error).__name__
