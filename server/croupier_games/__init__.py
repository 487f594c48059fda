"""The three games as pure rules: no clock, no randomness, no I/O.

The law of this file: a game is in ``GAMES`` or nowhere. Whoever needs every game goes over it;
see ``croupier_games.game.Game`` for the contract that each of them keeps.
"""

from __future__ import annotations

from typing import Any, Final

from croupier_games import basic_rummy, doudizhu, hidden_unders
from croupier_games.game import Game, GameError, IllegalMove, InvalidOptions, MalformedMove

__all__ = [
    "GAMES",
    "Game",
    "GameError",
    "IllegalMove",
    "InvalidOptions",
    "MalformedMove",
    "UnknownGame",
    "game_named",
]

GAMES: Final[dict[str, Game[Any, Any]]] = {
    "hidden_unders": hidden_unders.GAME,
    "doudizhu": doudizhu.GAME,
    "basic_rummy": basic_rummy.GAME,
}
"""The games by name, in the order in which they are listed to people."""


class UnknownGame(GameError):
    """A name that is none of the games'."""


def game_named(name: str) -> Game[Any, Any]:
    """The game of that name. Raises ``UnknownGame``, which lists the games that there are."""
    game = GAMES.get(name)
    if game is None:
        raise UnknownGame("UNKNOWN_GAME", f"there is no game {name!r}; there are: {', '.join(GAMES)}")
    return game
