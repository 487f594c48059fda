"""The levels from ``normal`` up: a view comes in, and the text of a legal move goes out.

The law of this file: it decides nothing; ``policy``, ``search`` and ``bidding`` do.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.doudizhu.bidding import call
from croupier.bots.doudizhu.hands import text_of
from croupier.bots.doudizhu.knowledge import Knowledge
from croupier.bots.doudizhu.search import Budget, Search, by_policy

HARD: Final = Budget(candidates=6, playouts=30, bidding=20, choice=2, solved=10, nodes=200, watchdog=2.0)
EXPERT: Final = Budget(
    candidates=10, playouts=400, bidding=120, choice=2, solved=12, nodes=200, watchdog=20.0
)
_NORMAL_BIDDING: Final = 12
"""Playouts for a bid of the level normal."""


class NormalBot:
    """Plays by the rules of ``policy``: a plan for the whole hand, and play for a partner."""

    def __init__(self, seed: int) -> None:
        self._rng: Final = random.Random(seed)  # noqa: S311 - a game, and it has to be repeatable

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """A call in the bidding, else a pass or a play."""
        if len(legal_moves) == 1:
            return legal_moves[0]
        if view["phase"] == "bidding":
            return call(view["hand"], legal_moves, _NORMAL_BIDDING, self._rng)
        return text_of(view["hand"], by_policy(Knowledge(view)))


class SearchBot:
    """Tries its moves in worlds that fit what it has seen."""

    def __init__(self, budget: Budget, seed: int) -> None:
        self._budget: Final = budget
        self._rng: Final = random.Random(seed)  # noqa: S311 - a game, and it has to be repeatable
        self._search: Final = Search(budget, self._rng)

    @property
    def playouts(self) -> int:
        """Worlds played out or solved so far, bids apart."""
        return self._search.playouts

    @property
    def watchdog_cuts(self) -> int:
        """Thoughts that the watchdog cut short; the same seed plays the same game while it is 0."""
        return self._search.watchdog_cuts

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """A call in the bidding, else a pass or a play."""
        if len(legal_moves) == 1:
            return legal_moves[0]
        if view["phase"] == "bidding":
            return call(view["hand"], legal_moves, self._budget.bidding, self._rng)
        return text_of(view["hand"], self._search.best(Knowledge(view)))
