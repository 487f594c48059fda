"""Where a command's words go, and how it says that it failed.

The law of this file: stdout is for what was asked for, stderr for everything else. What cannot be
written in the terminal's encoding is never written.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

from croupier.cli.look.pen import GLYPHS, Pen

_WIDTH: Final = 80
"""Cells of a line where there is no terminal to ask, and the most that prose is wide."""
_NARROWEST: Final = 40


class Failed(Exception):
    """What was asked for failed; ``str()`` says it to people in one line. Exit code 1."""


class Misused(Exception):
    """It was asked for wrongly; ``str()`` says what is right. Exit code 2."""


def say(lines: str | Iterable[str] = "") -> None:
    """Write a line, or several, to stdout at once."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def write(text: str) -> None:
    """Write to stdout at once, without a line's end."""
    sys.stdout.write(text)
    sys.stdout.flush()


def emit(event: Mapping[str, Any]) -> None:
    """Write an object to stdout as one line of JSON in ASCII."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"croupier: {text}\n")
    sys.stderr.flush()


def is_terminal(stream: TextIO) -> bool:
    """True for a stream that a person looks at."""
    return stream.isatty()


def may_colour(stream: TextIO) -> bool:
    """True for a terminal that shows colours, unless ``NO_COLOR`` is set to anything."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width(stream: TextIO) -> int:
    """How wide lines are: 80 cells, or less on a narrower terminal."""
    if not is_terminal(stream):
        return _WIDTH
    return max(_NARROWEST, min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns))


def pen(*, ascii_only: bool = False, four_colour: bool = False) -> Pen:
    """A pen for stdout; ASCII also where stdout's encoding has no suits."""
    return Pen(
        ascii=ascii_only or not _writes_suits(sys.stdout),
        colour=may_colour(sys.stdout),
        four_colour=four_colour,
        width=width(sys.stdout),
    )


def _writes_suits(stream: TextIO) -> bool:
    try:
        "".join(GLYPHS.values()).encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
