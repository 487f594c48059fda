"""Dou Dizhu: the end of a deal and its score (DDZ-25 to DDZ-29)."""

from __future__ import annotations

import pytest

from croupier_games.doudizhu import GAME
from games.doudizhu_positions import after, dealt, effects, playing, some_deal


def test_ddz_25_the_deal_ends_when_a_hand_is_empty() -> None:
    state = after(playing("3C 5C", "4C 7C", "6C 8C"), "play 3C", "play 4C", "pass", "play 5C")
    assert GAME.to_act(state) is None
    assert GAME.scores(state) == [2, -1, -1]


@pytest.mark.parametrize(("bid", "scores"), [(1, [-2, 1, 1]), (2, [-4, 2, 2]), (3, [-6, 3, 3])])
def test_ddz_25_and_28_one_farmer_wins_for_both(bid: int, scores: list[int]) -> None:
    state = playing("3C 5C TC", "4C 6C", "7C 9C", bid=bid)
    state = after(state, "play 3C", "play 4C", "pass", "play 5C", "play 6C")
    assert GAME.scores(state) == scores
    assert GAME.facts(state) == {"void": False, "landlord": 0, "bid": bid, "multiplier": 1}


def test_ddz_26_bombs_and_rockets_of_anyone_double() -> None:
    state = playing("3C 4C 9C", "5C 5D 5H 5S 6C", "BJ RJ 7C 8C", landlord=0, bid=3)
    state = after(state, "play 3C", "play 5C 5D 5H 5S")
    assert effects(state) == [{"doubled": {"by": "bomb", "multiplier": 2}}]
    state = after(state, "play BJ RJ")
    assert effects(state) == [{"doubled": {"by": "rocket", "multiplier": 4}}]
    state = after(state, "pass", "pass", "play 7C", "play 9C", "pass", "pass", "play 4C")
    assert GAME.scores(state) == [24, -12, -12]


def test_ddz_26_the_last_play_counts() -> None:
    state = after(playing("3C 3D 8C", "7C", "4C 4D 4H 4S"), "play 3C", "play 7C")
    assert GAME.facts(state)["multiplier"] == 2
    state = after(playing("3C 9C 8C", "7C 5C", "4C 4D 4H 4S"), "play 3C", "pass", "play 4C 4D 4H 4S")
    assert [next(iter(effect.values()))["multiplier"] for effect in effects(state)] == [2, 4, 4]


def test_ddz_26_a_four_with_attachments_does_not_double() -> None:
    state = after(playing("3C 3D 3H 3S 4C 5C 6C", "7C", "8C"), "play 3C 3D 3H 3S 4C 5C")
    assert state.multiplier == 1


def test_ddz_27_spring_when_no_farmer_played() -> None:
    state = after(playing("3C AC", "4C", "5C"), "play AC", "pass", "pass", "play 3C")
    assert effects(state)[0] == {"doubled": {"by": "spring", "multiplier": 2}}
    assert GAME.scores(state) == [4, -2, -2]


@pytest.mark.parametrize("follow", [("play 5C", "pass"), ("pass", "play 6C")])
def test_ddz_27_no_spring_when_one_farmer_played(follow: tuple[str, str]) -> None:
    state = after(playing("3C AC 2C", "5C 7C", "6C 8C"), "play 3C", *follow, "play AC", "pass", "pass")
    assert GAME.scores(after(state, "play 2C")) == [2, -1, -1]


def test_ddz_27_reverse_spring_when_the_landlord_played_once() -> None:
    state = after(playing("3C 4C", "5C 6C", "7C"), "play 3C", "play 5C", "pass", "pass", "play 6C")
    assert effects(state)[0] == {"doubled": {"by": "reverse_spring", "multiplier": 2}}
    assert GAME.scores(state) == [-4, 2, 2]


def test_ddz_27_no_reverse_spring_when_the_landlord_played_twice() -> None:
    state = playing("3C 6C 4C", "5C 7C", "8C 9C")
    state = after(state, "play 3C", "play 5C", "pass", "play 6C", "play 7C")
    assert GAME.scores(state) == [-2, 1, 1]


@pytest.mark.parametrize("landlord", range(3))
def test_ddz_27_springs_go_by_the_landlord_whatever_the_seat(landlord: int) -> None:
    hands = ["4C", "5C", "6C"]
    hands[landlord] = "3C AC"
    state = after(playing(*hands, landlord=landlord), "play AC", "pass", "pass", "play 3C")
    assert GAME.running_scores(state)[landlord] == 4


def test_ddz_28_the_result_is_told() -> None:
    state = after(playing("3C", "4C", "5C", bid=2), "play 3C")
    assert effects(state)[1] == {
        "deal_over": {
            "void": False,
            "winner": 0,
            "landlord": 0,
            "bid": 2,
            "multiplier": 2,
            "scores": [8, -4, -4],
            "totals": [8, -4, -4],
        }
    }


def test_ddz_29_several_deals_are_summed() -> None:
    state = dealt(deals=2)
    for seed in (1, 2):
        state = after(state, "bid 3")
        while GAME.to_act(state) is not None:
            state = after(state, GAME.format_move(GAME.default_move(state)))
        assert (state.match.played, GAME.needs_deal(state)) == (seed, seed == 1)
        state = GAME.next_deal(state, some_deal(seed)) if seed == 1 else state
    (over,) = [effect["deal_over"] for effect in effects(state) if "deal_over" in effect]
    assert GAME.scores(state) == over["totals"] != over["scores"]


def test_ddz_29_void_deals_count_but_a_game_with_one_real_deal_is_not_void() -> None:
    state = after(dealt(deals=2, max_redeals=0), "pass", "pass", "pass")
    state = after(GAME.next_deal(state, some_deal(1)), "bid 1", "pass", "pass")
    while GAME.to_act(state) is not None:
        state = after(state, GAME.format_move(GAME.default_move(state)))
    assert GAME.scores(state) is not None
    assert not GAME.void(state)
