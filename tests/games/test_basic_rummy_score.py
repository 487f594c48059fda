"""Basic Rummy: how hands end and are scored (RUM-13 to RUM-19)."""

from __future__ import annotations

from typing import Any

import pytest

from croupier_games.basic_rummy import GAME, State, zero_sum
from croupier_games.basic_rummy.melds import value_of
from games.basic_rummy_positions import mask, play, position


def last_hand(state: State) -> dict[str, Any]:
    hand: dict[str, Any] = GAME.facts(state)["hands"][-1]
    return hand


def counted(*hands: str) -> dict[str, Any]:
    """The hand in which seat 0 makes the last turn by the end of the stock (RUM-12)."""
    return last_hand(play(position("KS " + hands[0], *hands[1:], stock="", turn_overs=2), "discard KS"))


def test_rum13_the_single_lowest_hand_wins_the_differences() -> None:
    assert counted("9C", "2C 2D", "KC TC")["points"] == [0, 5 + 16, 0]
    assert counted("AC", "2C 2D", "KC TC")["points"] == [3 + 19, 0, 0]
    assert counted("9C", "2C 2D")["winner"] == 1


def test_rum13_a_tie_for_lowest_scores_nothing() -> None:
    assert counted("4C", "2C 2D", "KC TC") == {
        "winner": None,
        "points": [0, 0, 0],
        "doubled": False,
        "turn_overs": 2,
    }


def test_rum13_a_tie_above_the_lowest_does_not_matter() -> None:
    assert counted("AC", "4C", "4D")["points"] == [6, 0, 0]


def test_rum13_counted_hands_are_not_doubled_and_may_end_the_game() -> None:
    state = position("KS AC", "KC KD QC QD JC", stock="", turn_overs=2, totals=(52, 0))
    over = play(state, "discard KS")
    assert last_hand(over) == {"winner": 0, "points": [49, 0], "doubled": False, "turn_overs": 2}
    assert GAME.scores(over) == [101, 0]


def test_rum14_the_turn_that_reaches_the_limit_ends_the_hand() -> None:
    assert GAME.to_act(play(position("KS 2S", "9C", turn_limit=20, turns=18), "discard KS")) == 1
    over = play(position("KS 2S", "9C", turn_limit=20, turns=19), "discard KS")
    assert last_hand(over) == {"winner": 0, "points": [7, 0], "doubled": False, "turn_overs": 0}
    assert GAME.view(over, None)["turns"] == 20


def test_rum14_the_limit_is_500_unless_given() -> None:
    assert GAME.to_act(play(position("KS 2S", "9C", turns=498), "discard KS")) == 1
    assert GAME.to_act(play(position("KS 2S", "9C", turns=499), "discard KS")) is None


@pytest.mark.parametrize(
    ("hand", "move"), [("4H 5H 6H", "meld 4H 5H 6H"), ("7S", "layoff 0 7S"), ("9C", "discard 9C")]
)
def test_rum15_a_player_with_no_cards_wins_the_hand_at_once(hand: str, move: str) -> None:
    state = play(position(hand, "KD 2D", melds=((0, "4S 5S 6S"),), gone_down=(0,)), move)
    assert last_hand(state) == {"winner": 0, "points": [12, 0], "doubled": False, "turn_overs": 0}
    assert GAME.needs_deal(state)


def test_rum15_going_out_comes_before_the_end_of_stock_and_turns() -> None:
    ends: dict[str, Any] = {"stock": "", "turn_overs": 2, "turn_limit": 20, "turns": 19}
    state = play(position("9C", "KD", "AD", melds=((0, "4S 5S 6S"),), gone_down=(0,), **ends), "discard 9C")
    assert last_hand(state)["points"] == [11, 0, 0]
    assert GAME.happened(state, None)[-1]["hand_over"]["went_out"] is True


@pytest.mark.parametrize(
    ("texts", "value"), [("AC", 1), ("2C 9D", 11), ("TS", 10), ("JC QD KH", 30), ("", 0), ("AS AH 5D KC", 17)]
)
def test_rum16_card_values(texts: str, value: int) -> None:
    assert value_of(mask(texts)) == value


def test_rum16_the_winner_scores_all_cards_left_in_all_other_hands() -> None:
    state = position(
        "9C", "KD AD", "5C", "JH", melds=((0, "4S 5S 6S"),), gone_down=(0,), totals=(7, 8, 9, 10)
    )
    assert GAME.running_scores(play(state, "discard 9C")) == [7 + 26, 8, 9, 10]


def test_rum17_going_out_in_a_single_turn_is_doubled() -> None:
    state = play(position("4H 5H 6H 9C", "KD", melds=((1, "3S 4S 5S"),)), "meld 4H 5H 6H", "discard 9C")
    assert last_hand(state) == {"winner": 0, "points": [20, 0], "doubled": True, "turn_overs": 0}


def test_rum17_a_meld_in_an_earlier_turn_forbids_it() -> None:
    state = position("4H 5H 6H 9C 8C", "KD", stock="2C 2D 2H")
    state = play(state, "meld 4H 5H 6H", "discard 9C", "draw stock", "discard 2C", "draw stock")
    assert GAME.view(state, 1)["seats"][0]["has_gone_down"] is True
    over = play(state, "discard 2D", "draw stock", "discard 2H", "draw discard", "discard 8C")
    assert GAME.to_act(over) == 1
    assert last_hand(play(position("9C", "KD", gone_down=(0,)), "discard 9C"))["doubled"] is False


def test_rum17_a_meld_of_this_turn_has_not_gone_down_yet() -> None:
    state = play(position("4H 5H 6H 9C 8C", "KD"), "meld 4H 5H 6H")
    seat = GAME.view(state, 1)["seats"][0]
    assert (seat["has_melded"], seat["has_gone_down"]) == (True, False)


@pytest.mark.parametrize(("moves", "doubled"), [(["discard 7H"], False), (["layoff 0 7H"], True)])
def test_rum17_the_option_off_forbids_it_with_a_last_discard(moves: list[str], doubled: bool) -> None:
    state = position("4H 5H 6H 7H", "KD", double_with_discard=False)
    over = play(state, "meld 4H 5H 6H", *moves)
    assert last_hand(over)["doubled"] is doubled
    assert last_hand(over)["points"] == [20 if doubled else 10, 0]


def test_rum17_the_option_off_still_doubles_a_last_meld() -> None:
    over = play(position("4H 5H 6H", "KD", double_with_discard=False), "meld 4H 5H 6H")
    assert last_hand(over)["doubled"] is True


@pytest.mark.parametrize("points", [100, 300, 500])
def test_rum18_the_game_ends_when_a_total_reaches_the_target(points: int) -> None:
    short = position("9C", "KD", gone_down=(0,), totals=(points - 11, 0), points=points)
    reached = position("9C", "KD", gone_down=(0,), totals=(points - 10, 0), points=points)
    over = play(reached, "discard 9C")
    assert GAME.needs_deal(play(short, "discard 9C"))
    assert (GAME.needs_deal(over), GAME.to_act(over), GAME.scores(over)) == (False, None, [points, 0])
    assert GAME.view(over, 0)["phase"] == "over"


def test_rum18_there_are_no_scores_and_it_is_not_finished_before() -> None:
    state = play(position("9C", "KD", gone_down=(0,)), "discard 9C")
    assert (GAME.scores(state), GAME.running_scores(state)) == (None, [10, 0])
    assert GAME.facts(state)["finished"] is False


def test_rum18_a_game_that_is_over_counts() -> None:
    over = play(position("9C", "KD", totals=(90, 0)), "discard 9C")
    assert GAME.facts(over)["finished"] is True
    assert GAME.void(over) is False


@pytest.mark.parametrize(
    ("totals", "results"),
    [([100, 40], [60, -60]), ([100, 40, 10], [150, -30, -120]), ([5, 5, 5, 105], [-100, -100, -100, 300])],
)
def test_rum19_the_rated_result_is_the_zero_sum_difference(totals: list[int], results: list[int]) -> None:
    assert zero_sum(totals) == results
    assert sum(results) == 0
