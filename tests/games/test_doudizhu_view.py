"""Dou Dizhu: what is shown to whom."""

from __future__ import annotations

import json
import random

import pytest

from croupier_games.doudizhu import GAME, Bid, Move, Play, State
from croupier_games.doudizhu.cardset import BITS
from croupier_games.doudizhu.state import NOBODY, landlord_of
from croupier_games.game import IllegalMove
from games.doudizhu_positions import after, dealt, effects, moments, playing, some_deal


def test_a_seat_sees_its_own_hand_sorted() -> None:
    state = playing("2C TS 3H", "4C", "5C")
    assert GAME.view(state, 0)["hand"] == ["3H", "TS", "2C"]
    assert GAME.view(state, None)["hand"] == []
    assert GAME.view(state, 1)["hand_counts"] == [3, 1, 1]


def test_a_fresh_deal() -> None:
    view = GAME.view(dealt(first=2), None)
    assert view == {
        "phase": "bidding",
        "to_act": 2,
        "deal": 0,
        "deals_played": 0,
        "redeals": 0,
        "scores": [0, 0, 0],
        "hand": [],
        "hand_counts": [17, 17, 17],
        "bottom": ["??", "??", "??"],
        "first": 2,
        "bids": [],
        "landlord": None,
        "bid": 0,
        "multiplier": 1,
        "plays": [],
        "to_beat": None,
    }


def test_ddz_2_the_calls_are_shown_but_no_landlord_before_the_bidding_ends() -> None:
    view = GAME.view(after(dealt(first=2), "pass", "bid 1", "bid 2"), 0)
    assert view["bids"] == [{"seat": 2, "amount": 0}, {"seat": 0, "amount": 1}, {"seat": 1, "amount": 2}]
    assert (view["bid"], view["landlord"], view["bottom"]) == (2, None, ["??"] * 3)


def test_ddz_5_the_bottom_is_shown_to_everyone() -> None:
    state = after(dealt(first=1), "bid 3")
    for seat in (0, 1, 2, None):
        view = GAME.view(state, seat)
        assert sorted(view["bottom"]) == sorted(some_deal()["bottom"])
        assert (view["phase"], view["landlord"], view["hand_counts"]) == ("playing", 1, [17, 20, 17])


def test_plays_and_what_is_to_beat() -> None:
    state = after(playing("3C 3D 9C", "4C", "5C", landlord=0), "play 3C 3D", "pass")
    pair = {"seat": 0, "cards": ["3C", "3D"], "combination": "pair"}
    view = GAME.view(state, None)
    assert view["plays"] == [pair, {"seat": 1, "cards": [], "combination": "unspecified"}]
    assert view["to_beat"] == pair
    assert GAME.view(after(state, "pass"), None)["to_beat"] is None


@pytest.mark.parametrize("landlord", range(3))
def test_plays_go_round_from_the_landlord(landlord: int) -> None:
    hands = ["3C 3D", "4C 4D", "5C 5D"]
    state = playing(*hands[-landlord:], *hands[:-landlord], landlord=landlord)
    state = after(state, "play 3C", "play 4C", "play 5C", "pass")
    assert [play["seat"] for play in GAME.view(state, None)["plays"]] == [
        (landlord + i) % 3 for i in range(4)
    ]
    assert GAME.view(state, None)["to_beat"]["seat"] == (landlord + 2) % 3


def test_between_deals_the_last_one_is_shown() -> None:
    state = after(dealt(), "pass", "pass", "pass")
    view = GAME.view(state, 0)
    assert (view["phase"], view["to_act"], view["deal"], view["redeals"]) == ("dealing", None, 0, 0)
    assert (len(view["bids"]), view["bottom"]) == (3, ["??"] * 3)
    view = GAME.view(GAME.next_deal(state, some_deal(1)), 0)
    assert (view["phase"], view["deal"], view["redeals"], view["bids"]) == ("bidding", 1, 1, [])


def test_at_the_end_other_hands_stay_hidden() -> None:
    view = GAME.view(after(playing("3C", "4C", "5C"), "play 3C"), 1)
    assert (view["phase"], view["to_beat"], view["deals_played"]) == ("over", None, 1)
    assert (view["hand"], view["hand_counts"], view["multiplier"]) == (["4C"], [0, 1, 1], 2)
    assert "5C" not in json.dumps(view)


def test_each_seat_is_told_its_own_cards() -> None:
    state = dealt(first=1)
    told = {seat: effects(state, seat) for seat in (0, 1, 2, None)}
    for seat, (effect,) in told.items():
        assert effect["dealt"] == {
            "deal": 0,
            "first": 1,
            "hand": GAME.view(state, seat)["hand"],
            "hand_counts": [17, 17, 17],
        }


def test_only_a_deal_is_told_differently() -> None:
    states = moments(3, deals=2)
    assert any(not GAME.happened_in_public(state) for state in states)
    for state in states:
        private = any("dealt" in effect for effect in effects(state))
        assert GAME.happened_in_public(state) is not private
        assert private or effects(state, 0) == effects(state, 1) == effects(state, None)


def test_a_void_deal_is_told() -> None:
    state = after(dealt(max_redeals=0), "pass", "pass", "pass")
    over = {"void": True, "winner": None, "landlord": None, "bid": 0, "multiplier": 1}
    zero = {"scores": [0, 0, 0], "totals": [0, 0, 0]}
    assert effects(state) == [{"all_passed": {"redeals": 0}}, {"deal_over": {**over, **zero}}]


@pytest.mark.parametrize("seat", [-1, 3])
def test_there_is_no_such_seat(seat: int) -> None:
    for show in (GAME.view, GAME.happened):
        with pytest.raises(ValueError, match="seats are 0 to 2"):
            show(dealt(), seat)


def with_hidden_cards_permuted(state: State, viewer: int | None, chance: random.Random) -> State:
    """The same public history with the cards that ``viewer`` does not see dealt otherwise."""
    known_bottom = landlord_of(state) != NOBODY
    places = [seat for seat in range(3) if seat != viewer]
    sizes = [state.hands[seat].bit_count() for seat in places]
    hidden = sum(state.hands[seat] for seat in places) + (0 if known_bottom else state.deal.bottom)
    cards = [bit for bit in BITS if bit & hidden]
    chance.shuffle(cards)
    hands = list(state.hands)
    for seat, size in zip(places, sizes, strict=True):
        hands[seat], cards = sum(cards[:size]), cards[size:]
    deal = state.deal if known_bottom else state.deal._replace(bottom=sum(cards))
    parts = [getattr(state, name) for name in ("match", "bidding", "phase", "to_act", "plays", "table")]
    match, bidding, phase, to_act, plays, table = parts
    mixed = (hands[0], hands[1], hands[2])
    return State(match, deal, bidding, phase, to_act, mixed, plays, table, state.multiplier, state.effects)


def told(state: State, viewer: int | None, tries: list[Move]) -> str:
    """All that ``viewer`` can learn: what is shown, and how its own moves are refused."""
    answers = []
    for move in tries if viewer is not None else []:
        try:
            GAME.check(state, viewer or 0, move)
        except IllegalMove as refusal:
            answers.append(f"{refusal.reason} {refusal}")
    return json.dumps([GAME.view(state, viewer), GAME.happened(state, viewer), GAME.facts(state), answers])


@pytest.mark.parametrize("seed", range(4))
def test_what_a_seat_cannot_see_changes_nothing_for_it(seed: int) -> None:
    chance = random.Random(seed)
    changed = 0
    for state in moments(seed, max_redeals=1):
        tries: list[Move] = [Bid(1), *(Play(bit) for bit in BITS), Play.of(chance.sample(range(54), 5))]
        for viewer in (0, 1, 2, None):
            other = with_hidden_cards_permuted(state, viewer, chance)
            changed += other.hands != state.hands
            assert told(other, viewer, tries) == told(state, viewer, tries)
    assert changed > 50
