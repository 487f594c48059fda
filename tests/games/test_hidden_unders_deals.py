"""What a game begins with: options, decks and deals, and every way they can be wrong."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from croupier_games.cards import CARD_TEXTS, fresh_deck
from croupier_games.game import InvalidDeal, InvalidOptions
from croupier_games.hidden_unders import GAME


def a_deal(players: int = 2, decks: int = 1, start: int = 0) -> dict[str, Any]:
    return GAME.deal_from(fresh_deck(decks), start, players)


def test_hu1_one_deck_up_to_four_players_and_two_from_five() -> None:
    assert [GAME.options(players)["decks"] for players in (None, 2, 3, 4, 5, 6)] == [1, 1, 1, 1, 2, 2]


def test_hu1_two_decks_hold_every_card_twice() -> None:
    assert set(Counter(GAME.deck(6, {})).values()) == {2}
    assert GAME.deck(2, {"decks": 1}) == list(range(52))


def test_hu1_one_deck_does_not_do_for_five() -> None:
    with pytest.raises(InvalidOptions) as refusal:
        GAME.options(5, decks=1)
    assert refusal.value.reason == "TOO_FEW_CARDS"


@pytest.mark.parametrize("players", [0, 1, 7, True])
def test_hu1_two_to_six_players(players: int) -> None:
    with pytest.raises(InvalidOptions):
        GAME.options(players)


def test_options_have_the_defaults_of_the_rules_and_are_taken_back_unchanged() -> None:
    options = GAME.options(3)
    assert options == {"decks": 1, "rounds": 1, "auto_done": False, "turn_limit": 1000}
    assert GAME.options(3, **options) == options
    assert [spec.name for spec in GAME.option_specs()] == list(options)


@pytest.mark.parametrize(
    "given",
    [
        {"decks": 3},
        {"decks": True},
        {"decks": None},
        {"rounds": 0},
        {"rounds": 21},
        {"auto_done": 1},
        {"turn_limit": 19},
        {"turn_limit": 10_001},
        {"points": 100},
    ],
)
def test_options_out_of_range_or_unknown_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions):
        GAME.options(2, **given)


def test_hu2_a_block_of_twelve_a_seat_the_first_four_its_unders() -> None:
    deal = a_deal(players=2, start=1)
    assert deal["start"] == 1
    assert deal["unders"] == [list(CARD_TEXTS[0:4]), list(CARD_TEXTS[12:16])]
    assert deal["hands"] == [list(CARD_TEXTS[4:12]), list(CARD_TEXTS[16:24])]
    assert deal["deck"] == list(CARD_TEXTS[24:52])


@pytest.mark.parametrize(("players", "decks"), [(2, 1), (4, 1), (2, 2), (6, 2)])
def test_a_deal_that_was_cut_can_be_loaded(players: int, decks: int) -> None:
    deal = json.loads(json.dumps(a_deal(players, decks, start=players - 1)))
    state = GAME.load_deal(deal, players, {"decks": decks})
    assert GAME.to_act(state) == players - 1


def test_options_are_resolved_again_when_a_deal_is_loaded() -> None:
    assert GAME.to_act(GAME.load_deal(a_deal(6, 2), 6, {})) == 0
    with pytest.raises(InvalidOptions):
        GAME.load_deal(a_deal(), 2, {"rounds": 99})


@pytest.mark.parametrize("name", ["start", "unders", "hands", "deck"])
def test_a_deal_with_a_part_missing_is_refused(name: str) -> None:
    deal = a_deal()
    del deal[name]
    with pytest.raises(InvalidDeal) as refusal:
        GAME.load_deal(deal, 2, {})
    assert refusal.value.reason == "MISSING_FIELD"


@pytest.mark.parametrize("start", [2, -1, True, "0", None])
def test_a_deal_starts_with_a_seat(start: Any) -> None:
    with pytest.raises(InvalidDeal) as refusal:
        GAME.load_deal({**a_deal(), "start": start}, 2, {})
    assert refusal.value.reason == "INVALID_START"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda deal: deal["hands"].pop(), "WRONG_SIZE"),
        (lambda deal: deal["hands"][0].pop(), "WRONG_SIZE"),
        (lambda deal: deal["unders"][1].append("2C"), "WRONG_SIZE"),
        (lambda deal: deal["deck"].pop(), "WRONG_SIZE"),
        (lambda deal: deal.update(deck="2C 3C"), "WRONG_TYPE"),
        (lambda deal: deal["hands"].__setitem__(0, None), "WRONG_TYPE"),
        (lambda deal: deal["deck"].__setitem__(0, "BJ"), "NOT_A_CARD"),
        (lambda deal: deal["deck"].__setitem__(0, "??"), "NOT_A_CARD"),
        (lambda deal: deal["deck"].__setitem__(0, ["2C"]), "NOT_A_CARD"),
        (lambda deal: deal["deck"].__setitem__(0, deal["deck"][1]), "WRONG_CARDS"),
    ],
)
def test_a_deal_of_the_wrong_cards_is_refused(
    change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    deal = a_deal()
    change(deal)
    with pytest.raises(InvalidDeal) as refusal:
        GAME.load_deal(deal, 2, {})
    assert refusal.value.reason == reason


def test_what_is_no_deal_at_all_is_refused() -> None:
    with pytest.raises(InvalidDeal) as refusal:
        GAME.load_deal(None, 2, {})  # type: ignore[arg-type]
    assert refusal.value.reason == "WRONG_TYPE"


def test_a_deal_is_refused_when_none_is_due() -> None:
    state = GAME.load_deal(a_deal(), 2, {"rounds": 2})
    with pytest.raises(InvalidDeal) as refusal:
        GAME.next_deal(state, a_deal(start=1))
    assert refusal.value.reason == "NO_DEAL_DUE"
    assert GAME.next_first(state) is None


def test_the_order_of_a_hand_does_not_matter_and_that_of_the_deck_does() -> None:
    deal = a_deal()
    hands = [list(reversed(hand)) for hand in deal["hands"]]
    deck = list(reversed(deal["deck"]))
    base = GAME.fingerprint(GAME.load_deal(deal, 2, {}))
    assert GAME.fingerprint(GAME.load_deal({**deal, "hands": hands}, 2, {})) == base
    assert GAME.fingerprint(GAME.load_deal({**deal, "deck": deck}, 2, {})) != base
