"""Dou Dizhu: a landlord alone against two farmers.

``GAME`` is the rules. ``cardset`` turns cards into bits, ``combinations`` knows what a play
is, ``legal`` lists plays, ``judge`` decides, ``turns`` moves on, ``view`` shows.
"""

from typing import Final

from croupier_games.doudizhu.combinations import Combination, classify
from croupier_games.doudizhu.game import DouDizhu
from croupier_games.doudizhu.moves import BIDS, PASS, Bid, Move, Pass, Play
from croupier_games.doudizhu.state import State

GAME: Final = DouDizhu()
"""The rules of Dou Dizhu."""

__all__ = [
    "BIDS",
    "GAME",
    "PASS",
    "Bid",
    "Combination",
    "DouDizhu",
    "Move",
    "Pass",
    "Play",
    "State",
    "classify",
]
