"""Basic Rummy: pure rules, numbered RUM-1 to RUM-19.

The law of this package: ``GAME`` keeps the contract of ``croupier_games.game.Game``, and each rule has
one home. The parts: ``melds`` (cards as masks, runs and groups), ``moves`` (their texts), ``state`` (the
position), ``deal``, ``turn`` (what is legal and what it does), ``score``, ``view``.
"""

from croupier_games.basic_rummy.game import GAME
from croupier_games.basic_rummy.moves import Discard, Draw, LayOff, Meld, Move
from croupier_games.basic_rummy.score import zero_sum
from croupier_games.basic_rummy.state import State

__all__ = ["GAME", "Discard", "Draw", "LayOff", "Meld", "Move", "State", "zero_sum"]
