"""Basic Rummy: options, cards and deals (RUM-1 to RUM-4)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from croupier_games.basic_rummy import GAME
from croupier_games.cards import CARD_TEXTS
from croupier_games.game import InvalidDeal, InvalidOptions
from games.basic_rummy_positions import legal, play, position, refusal, shuffled_deal


def a_deal(players: int = 2, start: int = 0) -> dict[str, Any]:
    return shuffled_deal(random.Random(5), start, players)


def test_rum1_the_deck_is_52_cards() -> None:
    assert GAME.deck(2, {}) == list(range(52))


def test_rum1_the_ace_is_low_only() -> None:
    state = position("AS 2S 3S JS QS KS", "4C")
    assert [move for move in legal(state) if move.startswith("meld")] == ["meld AS 2S 3S", "meld JS QS KS"]
    assert refusal(state, "meld AS QS KS").reason == "NOT_A_MELD"
    assert refusal(state, "meld AS 2S KS").reason == "NOT_A_MELD"


@pytest.mark.parametrize("players", GAME.players)
def test_rum2_ten_cards_each_then_a_discard_then_the_stock(players: int) -> None:
    deal = GAME.deal_from(range(52), 1, players)
    blocks = [list(CARD_TEXTS[at : at + 10]) for at in range(0, 10 * players, 10)]
    stock = list(CARD_TEXTS[10 * players + 1 : 52])
    assert deal == {"start": 1, "hands": blocks, "discard": CARD_TEXTS[10 * players], "stock": stock}


@pytest.mark.parametrize("players", GAME.players)
def test_rum2_a_deal_sets_the_table(players: int) -> None:
    deal = a_deal(players, start=1)
    view = GAME.view(GAME.load_deal(deal, players, {}), 1)
    assert set(view["hand"]) == set(deal["hands"][1])
    assert (view["to_act"], view["phase"], view["start"]) == (1, "draw", 1)
    assert (view["discard_pile"], view["stock_count"]) == ([deal["discard"]], 51 - 10 * players)


def test_rum3_the_start_moves_one_seat_on_with_each_hand() -> None:
    for start, following in ((0, 1), (1, 2), (2, 0)):
        state = position("4H", "5C", "KD")
        state.start = start
        over = play(state, "discard 4H")
        assert GAME.next_first(over) == following
        assert GAME.to_act(GAME.next_deal(over, a_deal(3, following))) == following


def test_rum3_no_start_is_named_while_no_hand_is_due() -> None:
    assert GAME.next_first(GAME.load_deal(a_deal(), 2, {})) is None
    assert GAME.next_first(play(position("4H", "KD"), "discard 4H")) == 1
    assert GAME.next_first(play(position("4H", "KD", totals=(99, 0)), "discard 4H")) is None


def test_rum4_hand_and_stock_sizes_melds_and_discards_are_public() -> None:
    state = position("4H 5H", "7C 8C 9C", pile="KS 3D", melds=((1, "JC JD JH"),))
    view = GAME.view(state, None)
    assert [seat["hand_count"] for seat in view["seats"]] == [2, 3]
    assert (view["stock_count"], view["discard_pile"]) == (3, ["KS", "3D"])
    assert view["melds"] == [{"seat": 1, "cards": ["JC", "JD", "JH"]}]
    assert (view["hand"], view["stock_known"]) == ([], [])


def test_a_next_deal_begins_a_new_hand_and_keeps_the_totals() -> None:
    over = play(position("4H", "KD", melds=((0, "AC 2C 3C"),)), "discard 4H")
    state = GAME.next_deal(over, a_deal(2, 1))
    view = GAME.view(state, 0)
    assert (view["hand_number"], view["scores"], view["turns"]) == (1, [20, 0], 0)
    assert (view["melds"], view["turn_overs"], len(view["hand"])) == ([], 0, 10)
    assert not any(seat["has_melded"] or seat["has_gone_down"] or seat["known"] for seat in view["seats"])


def test_options_have_defaults() -> None:
    assert GAME.options(3) == {"points": 100, "double_with_discard": True, "turn_limit": 500}
    assert GAME.options(points=300, turn_limit=20)["points"] == 300
    assert [spec.name for spec in GAME.option_specs()] == ["points", "double_with_discard", "turn_limit"]


@pytest.mark.parametrize(
    "given",
    [
        {"points": 200},
        {"points": True},
        {"double_with_discard": 1},
        {"turn_limit": 19},
        {"turn_limit": 10_001},
        {"decks": 2},
        {"players": 1},
        {"players": 5},
    ],
)
def test_impossible_options_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions):
        GAME.options(**given)
    with pytest.raises(InvalidOptions):
        GAME.load_deal(a_deal(), given.get("players", 2), given)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"start": 2}, "INVALID_START"),
        ({"start": -1}, "INVALID_START"),
        ({"start": True}, "INVALID_START"),
        ({"start": None}, "INVALID_START"),
        ({"hands": None}, "INVALID_HANDS"),
        ({"hands": []}, "INVALID_HANDS"),
        ({"hands": [["4H"] * 9, ["5H"] * 10]}, "WRONG_NUMBER_OF_CARDS"),
        ({"hands": ["4H5H6H7H8H", "4C5C6C7C8C"]}, "WRONG_NUMBER_OF_CARDS"),
        ({"stock": None}, "WRONG_NUMBER_OF_CARDS"),
        ({"stock": ["4H"] * 30}, "WRONG_NUMBER_OF_CARDS"),
        ({"stock": ["4H"] * 31}, "DUPLICATE_CARD"),
        ({"discard": "??"}, "UNKNOWN_CARD"),
        ({"discard": "BJ"}, "UNKNOWN_CARD"),
        ({"discard": 7}, "UNKNOWN_CARD"),
        ({"discard": ["4H"]}, "UNKNOWN_CARD"),
    ],
)
def test_a_wrong_deal_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidDeal) as refused:
        GAME.load_deal(a_deal() | change, 2, {})
    assert refused.value.reason == reason


def test_a_deal_of_another_game_is_refused() -> None:
    with pytest.raises(InvalidDeal):
        GAME.load_deal({"first": 0, "hands": [], "bottom": []}, 2, {})


def test_a_next_deal_is_refused_when_none_is_due() -> None:
    for state in (GAME.load_deal(a_deal(), 2, {}), play(position("4H", "KD", totals=(99, 0)), "discard 4H")):
        with pytest.raises(InvalidDeal, match="when the one before is over") as refused:
            GAME.next_deal(state, a_deal())
        assert refused.value.reason == "NO_DEAL_DUE"


@pytest.mark.parametrize("start", [0, True, 2, None])
def test_rum3_a_next_deal_with_another_start_is_refused(start: Any) -> None:
    over = play(position("4H", "KD"), "discard 4H")
    with pytest.raises(InvalidDeal) as refused:
        GAME.next_deal(over, a_deal() | {"start": start})
    assert refused.value.reason == "INVALID_START"
