"""The options of Hidden Unders (HU-1, HU-4, HU-14, HU-21).

The law of this file: resolved options always allow a deal to the number of players they
were resolved for.
"""

from collections.abc import Mapping
from typing import Any, Final

from croupier_games.game import InvalidOptions, Options, OptionSpec, resolve_options

CARDS_EACH: Final = 12
"""Cards that each seat is dealt (HU-2)."""

SPECS: Final = (
    OptionSpec("decks", 1, "Decks of 52 cards; 2 by default from five players on.", choices=(1, 2)),
    OptionSpec("rounds", 1, "Rounds that are played and summed.", minimum=1, maximum=20),
    OptionSpec("auto_done", False, "Let the server make a `done` that is the only legal move."),
    OptionSpec(
        "turn_limit", 1000, "Turns after which a round ends without a winner.", minimum=20, maximum=10_000
    ),
)


class Settings:
    """The number of players and the resolved options of one game. Never changes."""

    __slots__ = ("auto_done", "decks", "players", "rounds", "turn_limit")

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        self.players: Final = players
        self.decks: Final[int] = options["decks"]
        self.rounds: Final[int] = options["rounds"]
        self.auto_done: Final[bool] = options["auto_done"]
        self.turn_limit: Final[int] = options["turn_limit"]


def resolve(players: int | None, given: Mapping[str, Any]) -> Options:
    """Options with defaults for ``players`` (None: not known yet). Raises ``InvalidOptions``."""
    defaults = {"decks": 2 if players is not None and players > 4 else 1}
    options = resolve_options(SPECS, {**defaults, **given})
    if players is not None and CARDS_EACH * players > 52 * options["decks"]:
        raise InvalidOptions(
            "TOO_FEW_CARDS",
            f"{players} players need {CARDS_EACH * players} cards and one deck has 52; set decks to 2",
        )
    return options
