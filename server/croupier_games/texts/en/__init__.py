"""The rules in English.

The law of this file: a game's text is in the module of its name.
"""

from __future__ import annotations

from typing import Final

from croupier_games.texts.en import basic_rummy, doudizhu, hidden_unders
from croupier_games.texts.form import Texts

TEXTS: Final[Texts] = {
    "hidden_unders": hidden_unders.TEXT,
    "doudizhu": doudizhu.TEXT,
    "basic_rummy": basic_rummy.TEXT,
}
"""By the game's key."""
