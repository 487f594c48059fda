"""Dou Dizhu: the deal, the bidding and redeals (DDZ-1 to DDZ-5, DDZ-29)."""

from __future__ import annotations

import pytest

from croupier_games.doudizhu import GAME, Bid, Pass, State
from croupier_games.doudizhu.cardset import DECK
from croupier_games.game import IllegalMove
from games.doudizhu_positions import after, bits, dealt, effects, legal, some_deal

ALL_PASS = ("pass", "pass", "pass")


def refused(state: State, text: str) -> str:
    with pytest.raises(IllegalMove) as refusal:
        GAME.check(state, state.to_act, GAME.parse_move(text))
    return refusal.value.reason


def test_ddz_1_seventeen_cards_each_and_three_on_the_bottom() -> None:
    state = dealt()
    assert [hand.bit_count() for hand in state.hands] == [17, 17, 17]
    assert state.deal.bottom.bit_count() == 3
    assert sum(state.hands) + state.deal.bottom == DECK


@pytest.mark.parametrize("first", range(3))
def test_ddz_2_the_first_bidder_begins_and_the_turn_goes_round(first: int) -> None:
    state = dealt(first=first)
    turns = [state.to_act, after(state, "pass").to_act, after(state, "pass", "bid 1").to_act]
    assert turns == [first, (first + 1) % 3, (first + 2) % 3]


def test_ddz_2_a_bid_is_higher_than_the_last() -> None:
    state = dealt()
    assert legal(state) == ["pass", "bid 1", "bid 2", "bid 3"]
    state = after(state, "bid 2")
    assert legal(state) == ["pass", "bid 3"]
    assert {refused(state, "bid 1"), refused(state, "bid 2")} == {"BID_TOO_LOW"}


def test_ddz_2_who_passed_may_bid_again() -> None:
    state = after(dealt(), "pass", "bid 1", "pass", "bid 2")
    assert (state.bidding.bidder, state.to_act) == (0, 1)


def test_ddz_3_three_ends_the_bidding_at_once() -> None:
    state = after(dealt(), "pass", "bid 3")
    assert GAME.facts(state) == {"void": False, "landlord": 1, "bid": 3, "multiplier": 1}
    assert state.to_act == 1


@pytest.mark.parametrize(
    ("calls", "landlord"),
    [
        (("bid 1", "pass", "pass"), 0),
        (("pass", "pass", "bid 1", "pass", "pass"), 2),
        (("bid 1", "pass", "bid 2", "pass", "pass"), 2),
        (("bid 1", "bid 2", "pass", "pass"), 1),
    ],
)
def test_ddz_3_two_passes_after_a_bid_end_the_bidding(calls: tuple[str, ...], landlord: int) -> None:
    assert GAME.facts(after(dealt(), *calls[:-1]))["landlord"] is None
    assert GAME.facts(after(dealt(), *calls))["landlord"] == landlord


def test_ddz_4_three_passes_are_dealt_again() -> None:
    state = after(dealt(), *ALL_PASS)
    assert GAME.needs_deal(state)
    assert GAME.to_act(state) is None
    assert effects(state) == [{"all_passed": {"redeals": 1}}]
    assert GAME.next_first(state) is None
    again = GAME.next_deal(state, some_deal(1, first=2))
    assert (again.deal.number, again.deal.redeals, again.match.played, again.to_act) == (1, 1, 0, 2)


def test_ddz_4_one_all_pass_too_many_makes_the_deal_void() -> None:
    state = after(dealt(max_redeals=1), *ALL_PASS)
    state = after(GAME.next_deal(state, some_deal(1)), *ALL_PASS)
    assert GAME.scores(state) == [0, 0, 0]
    assert GAME.void(state)
    assert GAME.facts(state) == {"void": True, "landlord": None, "bid": 0, "multiplier": None}
    assert list(effects(state)[1]) == ["deal_over"]


def test_ddz_4_nine_redeals_by_default() -> None:
    state = dealt()
    for number in range(1, 10):
        state = GAME.next_deal(after(state, *ALL_PASS), some_deal(number))
        assert state.deal.redeals == number
    assert GAME.void(after(state, *ALL_PASS))


def test_ddz_4_a_void_deal_counts_as_played_and_redeals_start_anew() -> None:
    state = after(dealt(max_redeals=0, deals=2), *ALL_PASS)
    assert GAME.needs_deal(state)
    assert GAME.facts(state)["void"]
    assert not GAME.void(state)
    state = GAME.next_deal(state, some_deal(1))
    assert (state.match.played, state.deal.number, state.deal.redeals) == (1, 1, 0)
    assert not GAME.facts(state)["void"]


def test_ddz_5_the_landlord_takes_the_bottom_and_leads() -> None:
    before = dealt()
    state = after(before, "bid 3")
    bottom = some_deal()["bottom"]
    assert state.hands[0] == before.hands[0] | bits(" ".join(bottom))
    (effect,) = effects(state)
    assert sorted(effect["landlord"].pop("bottom")) == sorted(bottom)
    assert effect == {"landlord": {"seat": 0, "bid": 3}}
    assert "pass" not in legal(state)


def test_nothing_but_calls_while_bidding_and_no_bid_after() -> None:
    state = dealt()
    assert refused(state, "play 3C") == "STILL_BIDDING"
    assert refused(after(state, "bid 3"), "bid 3") == "NOT_BIDDING"


def test_only_the_seat_to_act_may_call() -> None:
    state = dealt(first=1)
    for seat in (-2, -1, 0, 2, 3):
        with pytest.raises(IllegalMove) as refusal:
            GAME.check(state, seat, Pass())
        assert refusal.value.reason == "NOT_YOUR_TURN"
    GAME.check(state, 1, Bid(1))


@pytest.mark.parametrize(("options", "reason"), [({}, "DEAL_DUE"), ({"max_redeals": 0}, "GAME_OVER")])
def test_nobody_moves_when_nobody_is_to_act(options: dict[str, int], reason: str) -> None:
    state = after(dealt(**options), *ALL_PASS)
    assert list(GAME.legal_moves(state)) == []
    for seat in (-1, 0, 1, 2):
        with pytest.raises(IllegalMove) as refusal:
            GAME.apply(state, seat, Pass())
        assert refusal.value.reason == reason
    with pytest.raises(IllegalMove) as refusal:
        GAME.default_move(state)
    assert refusal.value.reason == reason
