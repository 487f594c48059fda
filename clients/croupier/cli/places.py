"""Where files of the command line are kept, by the XDG base directories.

The law of this file: what is kept is its owner's alone: directories are made with mode 0700,
files with 0600.
"""

from __future__ import annotations

import os
from pathlib import Path

from croupier.cli.output import Failed

_MODE = 0o700


def data_dir() -> Path:
    """Journals: ``$XDG_DATA_HOME/croupier``, else ``~/.local/share/croupier``; made when missing."""
    return _directory("XDG_DATA_HOME", ".local/share")


def state_dir() -> Path:
    """Games: ``$XDG_STATE_HOME/croupier``, else ``~/.local/state/croupier``; made when missing."""
    return _directory("XDG_STATE_HOME", ".local/state")


def _directory(variable: str, fallback: str) -> Path:
    given = os.environ.get(variable, "")
    # The specification has relative paths ignored.
    base = Path(given) if Path(given).is_absolute() else Path.home() / fallback
    path = base / "croupier"
    try:
        path.mkdir(parents=True, exist_ok=True, mode=_MODE)
    except OSError as error:
        raise Failed(f"{path} cannot be made: {error.strerror}; {variable} says where instead") from None
    return path
