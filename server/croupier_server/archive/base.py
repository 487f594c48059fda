"""What an archive promises, whatever keeps it.

The law of this file: a table is kept once, under its name, and never changed; what ``put``
returned from survives the death of any process. Whoever puts the same table again, in this
process or another, changes nothing.

An archive holds what the journal held of ended tables (every hand, the join codes of private
tables), so it is as secret as a record of a private table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Archived:
    """An ended table: its record and what is shown of it."""

    name: str
    """The resource name, ``tables/{id}``."""
    ended_ms: int
    """When it ended, Unix milliseconds."""
    digest: bytes
    """SHA-256 over the journal entries that it was made from: tells it from another of its name."""
    request_digest: bytes
    """The payload's digest of the request that created it; empty when that had no id."""
    table: bytes
    """An encoded ``croupier.v1.Table`` as those inside may see it: with its join code."""
    record: str
    """One line of JSON, without a line's end."""


class ArchiveError(Exception):
    """What an archive may raise."""


class ArchiveUnavailable(ArchiveError):
    """The store cannot be reached or will not write now. After ``put`` the outcome is unknown: put again."""


class ArchiveRefused(ArchiveUnavailable):
    """The store refuses for what waiting does not mend: a password, a folder that is not there."""


class AnotherIsKept(ArchiveError):
    """The archive keeps another table of that name; it was left as it is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"another {name} is in the archive already")


class Archive(Protocol):
    """A store of ended tables. All methods run on one event loop, that of its opening."""

    shared: bool
    """True when servers on other machines see the same archive."""

    async def put(self, archived: Archived) -> None:
        """Keep a table for good, unless it is kept. Raises ``AnotherIsKept``, ``ArchiveUnavailable``."""

    async def get(self, name: str) -> Archived | None:
        """The table of that name. Raises ``ArchiveUnavailable``."""

    async def close(self) -> None:
        """Let go of the store. Later calls raise ``ArchiveUnavailable``."""
