"""How cards and lines are written for people.

The law of this file: a line is never wider than the pen's width, counted in terminal cells, as
long as no single word is. Colour only repeats what the text says already. In ASCII nothing
leaves but ASCII; without colour no escape sequence does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size

GLYPHS: Final = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
"""The suits by their letters. Each glyph is one cell wide; the jokers' are not, so those stay letters."""

LONGEST_NAME: Final = 20
"""Cells of a player's name that are shown."""

_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]*m")
_TWO_COLOURS: Final = {"D": "31", "H": "31"}
_FOUR_COLOURS: Final = {"C": "32", "D": "34", "H": "31"}


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes for one output: ``ascii`` suits, ``colour`` or none, lines of ``width`` cells."""

    ascii: bool = False
    colour: bool = False
    four_colour: bool = False
    width: int = 80

    def card(self, text: str) -> str:
        """One card from its text: ``TD`` is ``10♦``, in ASCII ``10D``; ``BJ``, ``RJ`` and ``??`` stay."""
        suit = text[-1]
        if suit not in GLYPHS:
            return self._coloured(text, "31") if text == "RJ" else text
        rank = "10" if text[0] == "T" else text[0]
        colours = _FOUR_COLOURS if self.four_colour else _TWO_COLOURS
        return self._coloured(rank + (suit if self.ascii else GLYPHS[suit]), colours.get(suit))

    def cards(self, texts: Iterable[str]) -> str:
        """Cards with a space between them; ``none`` where there are none."""
        return " ".join(map(self.card, texts)) or "none"

    def strong(self, text: str) -> str:
        """A heading."""
        return self._coloured(text, "1")

    def name(self, text: str) -> str:
        """Somebody else's words on one line: printable, without the ends of long ones."""
        shown = "".join(c if c.isprintable() else " " for c in text).strip()
        if cell_len(shown) > LONGEST_NAME:
            shown = set_cell_size(shown, LONGEST_NAME - 2).rstrip() + ".."
        return shown.encode("ascii", "replace").decode() if self.ascii else shown

    def wrap(self, text: str, indent: str = "  ") -> list[str]:
        """A paragraph in lines; the second and later ones are indented."""
        return self.fill(text.split(), "", indent, " ")

    def fill(self, items: Sequence[str], first: str, rest: str = "  ", between: str = "  ") -> list[str]:
        """Items in lines, none broken; the first line begins with ``first``, the others with ``rest``."""
        lines: list[str] = []
        line, empty = first, True
        for item in items:
            added = item if empty else between + item
            if not empty and cells(line) + cells(added) > self.width:
                lines.append(line)
                line, added = rest, item
            line, empty = line + added, False
        return [*lines, line] if line.strip() else lines

    def _coloured(self, text: str, code: str | None) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text


def cells(text: str) -> int:
    """How many terminal cells a text takes, escape sequences not counted."""
    return cell_len(_ESCAPE.sub("", text))
