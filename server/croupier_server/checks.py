"""Checks of fields that many requests have.

The law of this file: a check returns the value to go on with or raises a ``Refusal`` that
names the field; it never mends what a caller got wrong.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from croupier.codec import plain_options
from croupier.v1 import games_pb2
from croupier_games import GAMES
from croupier_games.game import Game, GameError, Options, check_players
from croupier_server.errors import missing_field, refuse, refused_by_rules, wrong_field
from croupier_server.ids import is_name, may_be_looked_up
from croupier_server.settings import Settings

MAX_REQUEST_ID: Final = 64

_RANDOM_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_UNFIT_CATEGORIES: Final = frozenset({"Cc", "Cs", "Co", "Zl", "Zp"})
_MOST_COMPOSED: Final = 4
"""How many characters of a text normalizing may make one of."""
_JOINERS: Final = "\u200c\u200d"
"""Invisible, but part of words and emoji; other invisible marks can make one name look like another."""


def text_for_people(field: str, value: str, longest: int, *, required: bool = False) -> str:
    """A title or name without surrounding spaces, at most ``longest`` characters, no control characters."""
    if len(value) > _MOST_COMPOSED * longest:  # before normalizing, which takes a quadratic time
        raise wrong_field(field, f"has {len(value)} characters; at most {longest} are allowed")
    text = unicodedata.normalize("NFC", value.strip())
    if required and not text.strip(_JOINERS):
        raise missing_field(field)
    if len(text) > longest:
        raise wrong_field(field, f"has {len(text)} characters; at most {longest} are allowed")
    if any(_is_unfit(character) for character in text):
        raise wrong_field(field, "has control characters or invisible marks")
    return text


def _is_unfit(character: str) -> bool:
    category = unicodedata.category(character)
    return category in _UNFIT_CATEGORIES or (category == "Cf" and character not in _JOINERS)


def request_id(value: str) -> str:
    """A request_id: at most 64 characters, no control characters; may be empty."""
    if len(value) > MAX_REQUEST_ID or not value.isprintable():
        raise wrong_field("request_id", f"is at most {MAX_REQUEST_ID} characters, no control characters")
    return value


def random_uuid(field: str, value: str) -> str:
    """A UUID of a random kind (version 4 or 7) in lower case; empty stays empty."""
    lowered = value.lower()
    if lowered and _RANDOM_UUID.fullmatch(lowered) is None:
        raise wrong_field(field, "is a random UUID (version 4 or 7) such as uuid4() makes")
    return lowered


def table_name(field: str, value: str) -> str:
    """A name to look a table up by, ``tables/{id}``. Ids are opaque: a strange one is of no table."""
    if not value:
        raise missing_field(field, "is required: tables/ and an id")
    if not may_be_looked_up(value, "tables"):
        raise wrong_field(field, "is tables/ and an id, as the server gave it")
    return value


def player_name(field: str, value: str) -> str:
    """The name of a guest, ``players/{id}``. Nobody keeps a list of them, so its form is all there is."""
    if not value:
        raise missing_field(field, "is required: players/ and an id")
    if not is_name(value, "players"):
        raise wrong_field(field, "is players/ and an id of 22 characters")
    return value


def page_size(value: int, settings: Settings) -> int:
    """How many items a page has: 0 is the default, more than the largest is the largest."""
    if value < 0:
        raise wrong_field("page_size", "is not negative")
    return min(value or settings.default_page_size, settings.max_page_size)


def game(field: str, key: str) -> Game[Any, Any]:
    """The game of a key."""
    if not key:
        raise missing_field(field, f"is required: one of {', '.join(GAMES)}")
    if key not in GAMES:
        raise refuse("UNKNOWN_GAME", f"there is no game of that key; there are {', '.join(GAMES)}")
    return GAMES[key]


def options(game: Game[Any, Any], given: games_pb2.GameOptions, players: int) -> Options:
    """The options of a table of ``game`` for ``players`` seats, all set."""
    of_game, set_ones = plain_options(given)
    if of_game not in (None, game.name):
        raise refuse("WRONG_GAME", f"options are those of {of_game}, but the game is {game.name}")
    try:
        check_players(game, players)
        return game.options(players, **set_ones)
    except GameError as error:
        field = "players" if error.reason == "INVALID_PLAYERS" else "options"
        raise refused_by_rules(error, field) from None
