"""What the text of a game is, in any language.

The law of this file: a text says all of the rules, and says them for the options and the
number of players that it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class GameText(NamedTuple):
    """One game in one language.

    ``markdown`` makes the whole rules as CommonMark from resolved options and the number of
    players; ``default_move`` says what is played for a seat whose time is over.
    """

    title: str
    markdown: Callable[[Mapping[str, Any], int], str]
    default_move: str


Texts = Mapping[str, GameText]
"""The texts of one language, by the game's key in ``GAMES``."""
