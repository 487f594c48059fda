"""The legal moves of one turn, numbered.

The law of this file: the number of a move stays the same for the whole turn, whether its kind is
folded or not. Numbers count from 1, kind by kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from croupier.cli.look.base import Fold, Look

LONGEST: Final = 15
"""Kinds with more moves than this are folded."""


class Menu:
    """``moves`` are the canonical texts in the order of their numbers."""

    def __init__(self, look: Look, legal: Sequence[str]) -> None:
        self._pen: Final = look.pen
        self._folds: Final = look.folds(legal)
        self.moves: Final = [move for fold in self._folds for move in fold.moves]

    def lines(self) -> list[str]:
        """The kinds in lines of the pen's width; long ones by their size and an example."""
        lines: list[str] = []
        number = 1
        for fold in self._folds:
            if len(fold.moves) > LONGEST:
                lines += self._pen.wrap(
                    f"{fold.title} ({len(fold.moves)}): such as {fold.shown[0]}; type `more {fold.title}`"
                )
            else:
                lines += self._numbered(fold, number)
            number += len(fold.moves)
        return lines

    def more(self, title: str) -> list[str]:
        """All moves of the kinds whose title begins with ``title``; none when there is no such kind."""
        lines: list[str] = []
        number = 1
        for fold in self._folds:
            if fold.title.lower().startswith(title.lower()):
                lines += self._numbered(fold, number)
            number += len(fold.moves)
        return lines

    def _numbered(self, fold: Fold, number: int) -> list[str]:
        items = [f"{number + place}) {shown}" for place, shown in enumerate(fold.shown)]
        return self._pen.fill(items, f"{fold.title}: ", "    ")
