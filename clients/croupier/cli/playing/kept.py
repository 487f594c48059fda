"""Games that can be taken up again.

The law of this file: one file a game, its owner's alone, since it holds the player's token. It is
locked by the process that plays the game, and deleted when the game is over; so an unlocked one is
a game that was left.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from croupier.cli.output import Failed
from croupier.cli.places import data_dir, state_dir

_MODE: Final = 0o600
_JOURNAL_PARTS: Final = ("", "-wal", "-shm", ".lock")


@dataclass(frozen=True)
class KeptGame:
    """What is needed to come back: the table, the token, and where the server or its journal is.

    ``server`` is empty for an embedded server, ``journal`` its SQLite file; else the other way round.
    """

    game: str
    table: str
    token: str = field(repr=False)
    server: str = ""
    tls: bool = False
    tls_ca: str = ""
    journal: str = ""

    def is_lost(self) -> bool:
        """True when the embedded server's journal is gone."""
        return bool(self.journal) and not Path(self.journal).exists()


class Keeping:
    """A kept game and the lock on its file. Set ``over`` when there is nothing to come back to."""

    def __init__(self, path: Path, descriptor: int, kept: KeptGame) -> None:
        self._path: Final = path
        self._descriptor: Final = descriptor
        self.kept: Final = kept
        self.over = False

    @classmethod
    def begin(cls, kept: KeptGame) -> Self:
        """Write the file of a game that begins, and lock it. Raises ``Failed``."""
        path = _folder() / f"{secrets.token_hex(8)}.json"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, json.dumps(asdict(kept)).encode())
        except OSError as error:
            raise Failed(f"{path} cannot be written: {error.strerror}") from None
        return cls(path, descriptor, kept)

    def close(self) -> None:
        """Unlock it; delete it, and its journal, when the game is over."""
        if self.over:
            self._path.unlink(missing_ok=True)
            if self.kept.journal:
                delete_journal(Path(self.kept.journal))
        os.close(self._descriptor)


def take_up(table: str = "", server: str = "") -> Keeping | None:
    """The last game that was left, or that at ``table`` (and ``server``), locked; None: there is none."""
    paths = sorted(_folder().glob("*.json"), key=_age)
    for path in paths:
        keeping = _locked(path)
        if keeping is None:
            continue
        kept = keeping.kept
        if table in ("", kept.table) and server in ("", kept.server):
            return keeping
        keeping.close()
    return None


def token_left_at(table: str, server: str) -> str:
    """The token of a game at a server's table, left or being played; empty: there is none."""
    for path in _folder().glob("*.json"):
        kept = _read(path)
        if kept is not None and (kept.table, kept.server) == (table, server):
            return kept.token
    return ""


def fresh_journal() -> Path:
    """A file for the journal of one embedded game; each has its own, since one process locks it."""
    folder = data_dir() / "games"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{secrets.token_hex(8)}.sqlite"


def delete_journal(path: Path) -> None:
    """Delete a journal that nobody has open."""
    for part in _JOURNAL_PARTS:
        Path(f"{path}{part}").unlink(missing_ok=True)


def _folder() -> Path:
    folder = state_dir() / "games"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _locked(path: Path) -> Keeping | None:
    """The game of a file, locked; None when it is being played, or is no such file."""
    kept = _read(path)
    if kept is None:
        return None
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return Keeping(path, descriptor, kept)


def _read(path: Path) -> KeptGame | None:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        return KeptGame(**content)
    except (OSError, ValueError, TypeError):
        return None
