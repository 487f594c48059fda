"""Small words that all the English texts use.

The law of this file: numbers of things agree with their nouns.
"""

from __future__ import annotations

from typing import Final

CARDS_IN_WRITING: Final = """\
A card is written as its rank and its suit: ranks `2 3 4 5 6 7 8 9 T J Q K A` (`T` is the ten), suits
`C D H S` for clubs, diamonds, hearts and spades. `TD` is the ten of diamonds, and `??` a card that you may
not see. Seats are numbered from 0 in turn order, clockwise. The cards of a move may be named in any order."""
"""The notation of cards and moves."""


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 round``, ``2 rounds``, ``1,000 turns``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
