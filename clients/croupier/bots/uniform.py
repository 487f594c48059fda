"""The level ``random``: every legal move is as likely as any other.

The law of this file: the moves follow from the seed and from how many moves were legal.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from croupier.bots.bot import Plain


class UniformBot:
    """Plays any game."""

    def __init__(self, seed: int) -> None:
        self._random: Final = random.Random(seed)  # noqa: S311 - repeatable play, not secrets

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:  # noqa: ARG002 - looks at no card
        """One of ``legal_moves``, drawn uniformly."""
        return legal_moves[self._random.randrange(len(legal_moves))]
