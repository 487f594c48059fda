"""Games as text: one look a game.

The law of this package: plain data in, text out. ``LOOKS`` is the one list of looks; a new game
is one module here and one line in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from croupier.cli.look.base import Fold, Look
from croupier.cli.look.basic_rummy import BasicRummyLook
from croupier.cli.look.cast import Cast
from croupier.cli.look.doudizhu import DouDizhuLook
from croupier.cli.look.hidden_unders import HiddenUndersLook
from croupier.cli.look.menu import Menu
from croupier.cli.look.pen import Pen
from croupier.cli.look.typed import NotUnderstood, read_move

__all__ = ["LOOKS", "Cast", "Fold", "Look", "Menu", "NotUnderstood", "Pen", "read_move"]

LOOKS: Final[Mapping[str, type[Look]]] = {
    "hidden_unders": HiddenUndersLook,
    "doudizhu": DouDizhuLook,
    "basic_rummy": BasicRummyLook,
}
"""The look of each game, by the game's key."""
