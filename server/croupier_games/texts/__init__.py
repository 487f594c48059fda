"""The rules for those who play, with a table's options put in place.

The law of this file: every game of ``GAMES`` has its text in English. Another language is one
more sub-package beside ``en`` and one more line in ``LANGUAGES``; what it lacks is in English.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from croupier_games.texts import en
from croupier_games.texts.form import GameText, Texts

FALLBACK: Final = "en"

LANGUAGES: Final[Mapping[str, Texts]] = {FALLBACK: en.TEXTS}
"""The texts by language, a BCP 47 tag in lower case."""


class RulesText(NamedTuple):
    """The rules of one game: the language they came out in, the game's name in it, CommonMark."""

    language: str
    title: str
    markdown: str


def rules_text(game: str, options: Mapping[str, Any], players: int, language: str = FALLBACK) -> RulesText:
    """The rules of ``game`` with resolved ``options`` for ``players`` seats.

    ``language`` is a BCP 47 tag; where there is no text in it, its main language's or the English
    one comes. Raises ``KeyError`` for a game that has no text at all.
    """
    spoken, text = _text(game, language)
    return RulesText(spoken, text.title, text.markdown(options, players))


def default_move_text(game: str, language: str = FALLBACK) -> str:
    """What is played for a seat whose time is over. Languages and errors as in ``rules_text``."""
    return _text(game, language)[1].default_move


def _text(game: str, language: str) -> tuple[str, GameText]:
    tag = language.lower()
    for spoken in (tag, tag.partition("-")[0]):
        if game in LANGUAGES.get(spoken, {}):
            return spoken, LANGUAGES[spoken][game]
    return FALLBACK, LANGUAGES[FALLBACK][game]
