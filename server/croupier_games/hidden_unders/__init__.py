"""Hidden Unders, for two to six players, as pure rules.

Where to look: ``ranks`` what goes on the Playpile and what clears it; ``moves`` the four
moves and their texts; ``options`` and ``deals`` what a game begins with; ``state`` the
immutable state; ``legal`` the one checker and the legal moves; ``steps`` what a move does and
what follows by itself; ``effects`` and ``view`` what each seat may know; ``game`` puts them
together as ``GAME``.
"""

from croupier_games.hidden_unders.game import GAME, HiddenUnders
from croupier_games.hidden_unders.moves import Done, Flip, Move, PlaceOvers, Play
from croupier_games.hidden_unders.state import State

__all__ = ["GAME", "Done", "Flip", "HiddenUnders", "Move", "PlaceOvers", "Play", "State"]
