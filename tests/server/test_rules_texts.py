"""The rules for players: whole, right, and with the table's options in place."""

from __future__ import annotations

from typing import Any

import pytest

from croupier.v1 import doudizhu_pb2
from croupier_games import GAMES
from croupier_games.texts import FALLBACK, LANGUAGES, default_move_text, rules_text


def text_of(game: str, players: int | None = None, language: str = FALLBACK, **given: Any) -> str:
    rules = GAMES[game]
    seats = players or rules.default_players
    return rules_text(game, rules.options(seats, **given), seats, language).markdown


def one_line(markdown: str) -> str:
    return " ".join(markdown.split())


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_game_has_its_rules(game: str, language: str) -> None:
    text = text_of(game, language=language)
    assert text.startswith(f"# {LANGUAGES[language][game].title}\n")
    assert text.endswith("\n")
    assert text.count("\n## ") >= 5
    assert default_move_text(game, language).endswith(".")
    assert max(len(line) for line in text.splitlines()) < 250


@pytest.mark.parametrize("game", GAMES)
def test_a_language_without_texts_falls_back(game: str) -> None:
    options = GAMES[game].options(GAMES[game].default_players)
    text = rules_text(game, options, GAMES[game].default_players, "tlh-Piqd")
    assert text.language == FALLBACK
    assert rules_text(game, options, GAMES[game].default_players, "EN-gb").language == "en"


def values(spec: Any) -> list[int]:
    if isinstance(spec.default, bool):
        return []
    return list(spec.choices) or [spec.minimum, spec.default, spec.maximum]


EVERY_NUMBER = [
    (name, spec, value)
    for name, game in GAMES.items()
    for spec in game.option_specs()
    for value in values(spec)
]


@pytest.mark.parametrize(
    ("game", "spec", "value"), EVERY_NUMBER, ids=[f"{g}-{s.name}-{v}" for g, s, v in EVERY_NUMBER]
)
def test_the_value_of_an_option_shows_in_its_own_place(game: str, spec: Any, value: int) -> None:
    text = one_line(text_of(game, **{spec.name: value}))
    head, _, rules = text.partition("##")
    assert f"{value:,}" in head
    other = one_line(text_of(game, **{spec.name: next(v for v in values(spec) if v != value)}))
    assert rules != other.partition("##")[2], "the rules themselves say what the option changes"


@pytest.mark.parametrize(
    ("game", "flag"), [("hidden_unders", "auto_done"), ("basic_rummy", "double_with_discard")]
)
def test_an_option_that_is_on_or_off_changes_the_rules(game: str, flag: str) -> None:
    on, off = (text_of(game, **{flag: value}) for value in (True, False))
    assert on.partition("##")[0] != off.partition("##")[0]
    assert on.partition("##")[2] != off.partition("##")[2]


@pytest.mark.parametrize(
    ("game", "players"), [(name, n) for name, game in GAMES.items() for n in game.players]
)
def test_the_number_of_players_is_said(game: str, players: int) -> None:
    assert f"For {players} players" in text_of(game, players)


@pytest.mark.parametrize(
    ("players", "decks", "left"), [(2, 1, 28), (4, 1, 4), (5, 2, 44), (6, 2, 32), (2, 2, 80)]
)
def test_hidden_unders_says_how_many_cards_are_left(players: int, decks: int, left: int) -> None:
    assert f"The {left} cards left over" in one_line(text_of("hidden_unders", players, decks=decks))


ROWS = {
    "SINGLE": "| single | 1 |",
    "PAIR": "| pair | 2 |",
    "TRIPLE": "| triple | 3 |",
    "TRIPLE_SINGLE": "| triple with a single | 4 |",
    "TRIPLE_PAIR": "| triple with a pair | 5 |",
    "STRAIGHT": "| straight | 5 to 12 |",
    "PAIR_RUN": "| pair run | 6 or more |",
    "PLANE": "| plane | 6 or more |",
    "PLANE_SINGLES": "| plane with single wings | 8 or more |",
    "PLANE_PAIRS": "| plane with pair wings | 10 or more |",
    "FOUR_SINGLES": "| four with two singles | 6 |",
    "FOUR_PAIRS": "| four with two pairs | 8 |",
    "BOMB": "| bomb | 4 |",
    "ROCKET": "| rocket | 2 |",
}


COMBINATIONS = [
    name.removeprefix("DOU_DIZHU_COMBINATION_") for name in doudizhu_pb2.DouDizhuCombination.keys()[1:]
]


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_every_combination_of_dou_dizhu_has_its_row(combination: str) -> None:
    assert ROWS[combination] in text_of("doudizhu")


@pytest.mark.parametrize(
    ("game", "saying"),
    [
        ("hidden_unders", "not even its owner"),  # HU-3
        ("hidden_unders", "Four cards stay in your hand"),  # HU-5
        ("hidden_unders", "A 2 goes on anything"),  # HU-9
        ("hidden_unders", "Cleared cards leave the round"),  # HU-10
        ("hidden_unders", "Four 2s clear as well"),  # HU-11
        ("hidden_unders", "once after each clear"),  # HU-12
        ("hidden_unders", "You may not take the pile while you can play"),  # HU-13
        ("hidden_unders", "you flip one in the same turn"),  # HU-16
        ("hidden_unders", "must empty the hand again"),  # HU-18
        ("hidden_unders", "fewest first; equal numbers share a place"),  # HU-20
        ("doudizhu", "If you passed, you may still bid"),  # DDZ-2
        ("doudizhu", "when two passes in a row follow a bid"),  # DDZ-3
        ("doudizhu", "takes the bottom cards, which are shown to everyone, and leads"),  # DDZ-5
        ("doudizhu", "A pass binds you for that turn only"),  # DDZ-8
        ("doudizhu", "`33334444` is nothing at all"),  # DDZ-23
        ("doudizhu", "A farmer who goes out wins for both farmers"),  # DDZ-25
        ("doudizhu", "**Reverse spring**: a farmer wins and the landlord has played exactly one"),  # DDZ-27
        ("doudizhu", "the landlord twice the stake, so the sum is zero"),  # DDZ-28
        ("basic_rummy", "`Q K A` is no run"),  # RUM-1
        ("basic_rummy", "Melds never move, split or merge"),  # RUM-7
        ("basic_rummy", "may not be this turn's discard"),  # RUM-9
        ("basic_rummy", "that card could not then be laid off"),  # RUM-10
        ("basic_rummy", "turned over at most twice in a hand"),  # RUM-11
        ("basic_rummy", "the single lowest count wins the sum of the differences"),  # RUM-13
        ("basic_rummy", "K, Q and J count ten points, an ace one"),  # RUM-16
        ("basic_rummy", "no meld or lay-off of theirs in this hand before that turn"),  # RUM-17
    ],
)
def test_the_rules_that_are_easily_forgotten_are_there(game: str, saying: str) -> None:
    assert saying in one_line(text_of(game))
