"""Archives: where ended tables go. ``base`` says what each promises, ``open_archive`` opens one."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from croupier_server.archive.base import (
    AnotherIsKept,
    Archive,
    Archived,
    ArchiveError,
    ArchiveRefused,
    ArchiveUnavailable,
)
from croupier_server.archive.folder import FolderArchive
from croupier_server.archive.sqlite import SqliteArchive

__all__ = [
    "AnotherIsKept",
    "Archive",
    "ArchiveError",
    "ArchiveRefused",
    "ArchiveUnavailable",
    "Archived",
    "FolderArchive",
    "SqliteArchive",
    "default_archive",
    "open_archive",
]

_FORMS: Final = "dir:PATH (a file a table), sqlite:PATH (one file), postgresql://… or none (tables stay)"


def default_archive(journal_url: str) -> str:
    """The archive of a journal when none is named: a file beside a SQLite journal, else ``none``."""
    scheme, _, rest = journal_url.partition(":")
    if scheme != "sqlite" or not rest:
        return "none"
    path = PurePath(rest)
    return f"sqlite:{path.with_name(f'{path.stem}-archive{path.suffix}')}"


async def open_archive(url: str) -> Archive | None:
    """Open the archive that ``url`` names: ``dir:PATH``, ``sqlite:PATH`` or ``postgresql://…``.

    None for ``none``: ended tables stay in their journal. Raises ``ValueError`` for another URL,
    ``ArchiveError`` for a store that cannot be opened or is no archive.
    """
    scheme, _, rest = url.partition(":")
    if url == "none":
        return None
    if scheme == "dir" and rest:
        return await FolderArchive.open(rest)
    if scheme == "sqlite" and rest and rest != ":memory:":
        return await SqliteArchive.open(rest)
    if scheme in {"postgresql", "postgres"} and rest:
        return await _open_postgres(url)
    raise ValueError(f"no archive is called so; there are {_FORMS}")


async def _open_postgres(url: str) -> Archive:
    """Its driver comes with an extra of its own, which other archives do without."""
    try:
        from croupier_server.archive.postgres import PostgresArchive
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"psycopg", "psycopg_pool"}:
            raise
        raise ValueError("an archive in PostgreSQL needs psycopg: pip install 'croupier[postgres]'") from None
    return await PostgresArchive.open(url)
