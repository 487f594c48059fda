"""Dou Dizhu: options and deals as plain data (DDZ-1, DDZ-4, DDZ-29)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from croupier_games.cards import fresh_deck
from croupier_games.doudizhu import GAME
from croupier_games.game import InvalidDeal, InvalidOptions
from games.doudizhu_positions import after, dealt, some_deal


def test_options_have_their_defaults() -> None:
    assert GAME.options() == GAME.options(3) == {"deals": 1, "max_redeals": 9}
    assert GAME.options(deals=100, max_redeals=0) == {"deals": 100, "max_redeals": 0}
    assert [spec.name for spec in GAME.option_specs()] == ["deals", "max_redeals"]


@pytest.mark.parametrize(
    "given", [{"deals": 0}, {"deals": 101}, {"max_redeals": -1}, {"deals": True}, {"x": 1}]
)
def test_impossible_options_are_refused(given: dict[str, Any]) -> None:
    for refuse in (lambda: GAME.options(**given), lambda: GAME.load_deal(some_deal(), 3, given)):
        with pytest.raises(InvalidOptions):
            refuse()


def test_it_takes_three_players() -> None:
    refusals: list[Callable[[int], object]] = [
        GAME.options,
        lambda players: GAME.deck(players, {}),
        lambda players: GAME.deal_from(fresh_deck(jokers=True), 0, players),
        lambda players: GAME.load_deal(some_deal(), players, {}),
    ]
    for players in (2, 4):
        for refuse in refusals:
            with pytest.raises(InvalidOptions, match="takes 3 players"):
                refuse(players)


def test_a_deck_is_cut_from_the_front() -> None:
    deck = GAME.deck(3, {})
    deal = GAME.deal_from(deck, 2, 3)
    assert deal["first"] == 2
    assert [hand[0] for hand in deal["hands"]] == ["2C", "6D", "TH"]
    assert deal["bottom"] == ["AS", "BJ", "RJ"]


@pytest.mark.parametrize("cards", [[], list(range(53)), [*range(53), 0], [*range(53), 54], ["2C"] * 54])
def test_what_is_no_deck_is_not_cut(cards: list[int]) -> None:
    with pytest.raises(InvalidDeal):
        GAME.deal_from(cards, 0, 3)


def test_the_order_in_a_hand_does_not_matter() -> None:
    deal = some_deal()
    turned = {"first": 0, "hands": [hand[::-1] for hand in deal["hands"]], "bottom": deal["bottom"][::-1]}
    one, other = GAME.load_deal(deal, 3, {"deals": 1}), GAME.load_deal(turned, 3, {})
    assert GAME.fingerprint(one) == GAME.fingerprint(other)


def changed(*path: Any, value: Any) -> Any:
    """A deal with one thing in it changed; a value of ... takes it out."""
    deal = copy.deepcopy(some_deal())
    part: Any = deal
    for key in path[:-1]:
        part = part[key]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return deal


FIRST: list[Any] = [3, -1, True, None, "0", 1.0]
HANDS: list[Any] = [None, {}, "hands", [[], []], [None] * 3]
CARDS: list[Any] = [
    "??",
    "3c",
    5,
    None,
    ["3C"],
    "1" * 999,
    some_deal()["hands"][1][1],
    some_deal()["bottom"][0],
]
BROKEN: list[Any] = [
    *(None, [], {}),
    *(changed(key, value=...) for key in ("first", "hands", "bottom")),
    *(changed("first", value=first) for first in FIRST),
    *(changed("hands", value=hands) for hands in HANDS),
    changed("hands", 1, value=some_deal()["hands"][0]),
    changed("hands", 1, 0, value=...),
    *(changed("hands", 1, 0, value=card) for card in CARDS),
    changed("bottom", 0, value=some_deal()["bottom"][1]),
    changed("bottom", value=some_deal()["bottom"] * 2),
]


@pytest.mark.parametrize("deal", BROKEN)
def test_a_broken_deal_is_refused(deal: Any) -> None:
    with pytest.raises(InvalidDeal) as first:
        GAME.load_deal(deal, 3, {})
    with pytest.raises(InvalidDeal) as later:
        GAME.next_deal(after(dealt(), "pass", "pass", "pass"), deal)
    assert str(first.value) == str(later.value)
    assert len(str(first.value)) < 200


def test_no_deal_is_taken_that_is_not_due() -> None:
    for state in (dealt(), after(dealt(), "bid 3"), after(dealt(max_redeals=0), "pass", "pass", "pass")):
        with pytest.raises(InvalidDeal) as refusal:
            GAME.next_deal(state, some_deal(1))
        assert refusal.value.reason == "NO_DEAL_DUE"
