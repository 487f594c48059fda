"""Bidding: how often the hand would win as landlord, and what bid that is worth.

The law of this file: a bid is worth twice its stake for each game won more than lost, so from
an even chance on the highest bid is the best; a little below it, being landlord cheaply is still
better than letting an enemy be one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from croupier.bots.doudizhu.hands import DECK, counts_of
from croupier.bots.doudizhu.playout import landlord_wins
from croupier.bots.doudizhu.worlds import ranks_of

_HAND: Final = 17
_BOTTOM: Final = 3
_EVEN: Final = 0.5
_CHEAP: Final = 0.45
"""From this chance on, a bid of 1."""


def win_rate(hand: Sequence[str], playouts: int, rng: random.Random) -> float:
    """How often a landlord wins with these 17 cards and any bottom, everybody playing by the policy."""
    own = counts_of(hand)
    others = ranks_of(DECK - own)
    won = 0
    for _ in range(playouts):
        rng.shuffle(others)
        bottom, down = others[:_BOTTOM], others[_BOTTOM : _BOTTOM + _HAND]
        landlord = own + sum([1 << 4 * rank for rank in bottom])
        farmer = sum([1 << 4 * rank for rank in down])
        won += landlord_wins([landlord, farmer, DECK - landlord - farmer], 0, 0, 0)
    return won / playouts


def call(hand: Sequence[str], legal_moves: Sequence[str], playouts: int, rng: random.Random) -> str:
    """The bid to make, or a pass."""
    rate = win_rate(hand, playouts, rng)
    if rate >= _EVEN and "bid 3" in legal_moves:
        return "bid 3"
    return "bid 1" if rate >= _CHEAP and "bid 1" in legal_moves else "pass"
