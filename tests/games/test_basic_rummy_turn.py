"""Basic Rummy: a turn and the end of the stock (RUM-5 to RUM-12)."""

from __future__ import annotations

import pytest

from croupier_games.basic_rummy import GAME, Move, State
from croupier_games.game import IllegalMove
from games.basic_rummy_positions import cards, legal, play, position, refusal


def test_rum5_a_turn_begins_with_the_top_of_stock_or_pile() -> None:
    state = position("4H 9C", "5C", pile="KS 3D", stock="2C 7D", to_draw=True)
    assert legal(state) == ["draw stock", "draw discard"]
    assert GAME.view(play(state, "draw stock"), 0)["hand"] == ["2C", "4H", "9C"]
    assert GAME.view(play(state, "draw discard"), 0)["hand"] == ["3D", "4H", "9C"]
    assert play(state, "draw discard").pile == cards("KS")


def test_rum5_one_card_is_drawn_and_it_comes_first() -> None:
    state = position("4H 9C", "5C", to_draw=True)
    assert refusal(state, "discard 4H").reason == "DRAW_FIRST"
    assert refusal(play(state, "draw stock"), "draw discard").reason == "ALREADY_DREW"


def test_rum6_runs_inside_longer_runs_and_threes_of_a_four_are_melds() -> None:
    state = position("4H 5H 6H 7H 9C 9D 9H 9S", "5C")
    assert [move for move in legal(state) if move.startswith("meld")] == [
        "meld 4H 5H 6H",
        "meld 4H 5H 6H 7H",
        "meld 5H 6H 7H",
        "meld 9C 9D 9H 9S",
        "meld 9C 9D 9H",
        "meld 9C 9D 9S",
        "meld 9C 9H 9S",
        "meld 9D 9H 9S",
    ]


@pytest.mark.parametrize("texts", ["4H", "4H 5H", "4H 5H 7H", "4H 5H 6C", "4H 4C", "4H 4C 4D 5H", "4H 9H KD"])
def test_rum6_nothing_else_is_a_meld(texts: str) -> None:
    state = position("4H 5H 6C 7H 4C 4D 9H KD", "5C")
    assert refusal(state, "meld " + texts).reason == "NOT_A_MELD"


def test_rum6_any_number_of_melds_and_lay_offs_in_any_order() -> None:
    state = position("4H 5H 6H 7H 9C 9D 9H 9S KD", "5C")
    state = play(state, "meld 4H 5H 6H", "layoff 0 7H", "meld 9C 9D 9H", "layoff 1 9S", "discard KD")
    assert GAME.scores(state) is None
    assert GAME.facts(state)["hands"][0]["winner"] == 0


def test_rum7_a_run_grows_at_both_ends_and_a_group_to_four() -> None:
    state = position("3H 7H 8H JS KD", "5C", melds=((1, "4H 5H 6H"), (0, "JC JD JH")))
    assert [move for move in legal(state) if move.startswith("layoff")] == [
        "layoff 0 3H",
        "layoff 0 7H",
        "layoff 1 JS",
    ]
    refused = refusal(state, "layoff 0 8H")
    assert refused.reason == "DOES_NOT_FIT"
    assert str(refused) == "meld 0, 4H 5H 6H, with 8H would be no meld; single cards that fit it: 3H 7H"


def test_rum7_nothing_fits_a_whole_suit_or_a_group_of_four() -> None:
    suit = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    state = position("AC KC 9S", "5C", melds=((0, suit), (0, "JC JD JH JS")))
    assert legal(state) == ["discard AC", "discard 9S", "discard KC"]
    assert str(refusal(state, "layoff 0 AC")).endswith("single cards that fit it: none")


def test_rum7_several_cards_go_one_by_one_in_an_order_that_works() -> None:
    state = position("2H 3H 7H 8H KD", "5C", melds=((0, "4H 5H 6H"),))
    together = play(state, "layoff 0 8H 2H 7H 3H")
    assert GAME.fingerprint(together) == GAME.fingerprint(
        play(state, "layoff 0 3H", "layoff 0 2H", "layoff 0 7H", "layoff 0 8H")
    )
    assert refusal(state, "layoff 0 2H 7H").reason == "DOES_NOT_FIT"
    assert refusal(state, "layoff 0 7H KD").reason == "DOES_NOT_FIT"


def test_rum7_one_melds_before_laying_off_and_this_turn_counts() -> None:
    state = position("7H 9C 9D 9H KD", "5C", melds=((1, "4H 5H 6H"),))
    assert refusal(state, "layoff 0 7H").reason == "MELD_FIRST"
    assert "layoff 0 7H" not in legal(state)
    assert "layoff 0 7H" in legal(play(state, "meld 9C 9D 9H"))


def test_rum7_a_meld_keeps_its_number_and_its_owner() -> None:
    state = play(position("7H 8C KD", "5C", melds=((1, "4H 5H 6H"), (0, "9C TC JC"))), "layoff 0 7H")
    assert GAME.view(state, 1)["melds"] == [
        {"seat": 1, "cards": ["4H", "5H", "6H", "7H"]},
        {"seat": 0, "cards": ["9C", "TC", "JC"]},
    ]


def test_rum7_melds_that_would_join_stay_apart() -> None:
    state = position("7H KD 2C", "5C", melds=((1, "4H 5H 6H"), (0, "8H 9H TH")))
    assert [move for move in legal(state) if "7H" in move] == ["layoff 0 7H", "layoff 1 7H", "discard 7H"]
    assert len(play(state, "layoff 1 7H").melds) == 2


@pytest.mark.parametrize(("melds", "there"), [((), "none is on the table"), (((0, "4H 5H 6H"),), "0 to 0")])
def test_rum7_there_is_no_such_meld(melds: tuple[tuple[int, str], ...], there: str) -> None:
    refused = refusal(position("7H KD", "5C", melds=melds), "layoff 999999999 7H")
    assert refused.reason == "NO_SUCH_MELD"
    assert there in str(refused)


def test_rum8_a_discard_goes_on_the_pile_and_ends_the_turn() -> None:
    state = play(position("4H 9C", "5C", pile="KS", drawn="4H"), "discard 9C")
    assert state.pile == cards("KS 9C")
    assert (GAME.to_act(state), GAME.view(state, 1)["phase"]) == (1, "draw")
    assert refusal(state, "draw stock").reason == "NOT_YOUR_TURN"


def test_rum8_the_turn_passes_round_the_table() -> None:
    state = position("4H", "5C", "6C", "7C", stock="2C 2D 2H 2S", to_draw=True)
    for seat in (1, 2, 3, 0):
        drawn = play(state, "draw stock")
        state = play(drawn, legal(drawn)[-1])
        assert GAME.to_act(state) == seat


def test_rum9_the_card_just_taken_is_not_discarded_this_turn() -> None:
    state = play(position("4H 9C", "5C 6D", pile="KS 3D", to_draw=True), "draw discard")
    assert legal(state) == ["discard 4H", "discard 9C"]
    assert refusal(state, "discard 3D").reason == "JUST_TAKEN"
    assert GAME.view(state, 1)["taken"] == "3D"
    later = play(state, "discard 4H", "draw stock", "discard 5C", "draw stock")
    assert "discard 3D" in legal(later)


def test_rum9_a_card_from_the_stock_may_be_discarded_at_once() -> None:
    drawn = play(position("4H 9C", "5C", stock="2C", to_draw=True), "draw stock")
    assert "discard 2C" in legal(drawn)
    turned = play(position("4H 9C", "5C", pile="3D KS", stock="", to_draw=True), "draw stock")
    assert "discard 3D" in legal(turned)


def test_rum10_a_meld_may_not_leave_only_the_card_taken() -> None:
    state = position("4H 5H 6H 9C", "5C", taken="9C")
    assert legal(state) == ["discard 4H", "discard 5H", "discard 6H"]
    refused = refusal(state, "meld 4H 5H 6H")
    assert refused.reason == "LEAVES_TAKEN_CARD"
    assert "leave only 9C, taken" in str(refused)


def test_rum10_a_lay_off_may_not_leave_only_the_card_taken() -> None:
    state = position("7H 8H 9C", "5C", taken="9C", melds=((0, "4H 5H 6H"),))
    assert refusal(state, "layoff 0 7H 8H").reason == "LEAVES_TAKEN_CARD"
    assert legal(play(state, "layoff 0 7H")) == ["discard 8H"]


@pytest.mark.parametrize(("taken", "meld"), [("7H", 1), ("3H", 1), ("7C", 0)])
def test_rum10_unless_it_can_then_be_laid_off_on_any_meld(taken: str, meld: int) -> None:
    state = position(f"4H 5H 6H {taken}", "5C", taken=taken, melds=((1, "4C 5C 6C"),))
    left = play(state, "meld 4H 5H 6H")
    assert legal(left) == [f"layoff {meld} {taken}"]
    assert GAME.facts(play(left, *legal(left)))["hands"][0]["winner"] == 0


def test_rum10_a_lay_off_may_open_the_place_for_the_card_taken() -> None:
    state = position("7H 8H", "5C", taken="8H", melds=((0, "4H 5H 6H"),))
    assert legal(state) == ["layoff 0 7H", "discard 7H"]
    assert legal(play(state, "layoff 0 7H")) == ["layoff 0 8H"]


def test_rum10_does_not_bind_a_card_from_the_stock() -> None:
    state = position("4H 5H 6H 9C", "5C", drawn="9C")
    assert legal(play(state, "meld 4H 5H 6H")) == ["discard 9C"]


def test_rum11_the_pile_is_turned_over_unshuffled_by_a_draw_from_the_empty_stock() -> None:
    state = play(position("4H 9C", "5C", pile="KS 3D 8D", stock="", to_draw=True), "draw stock")
    view = GAME.view(state, 0)
    assert view["hand"] == ["4H", "9C", "KS"]
    assert (view["stock_known"], view["discard_pile"], view["turn_overs"]) == (["3D", "8D"], [], 1)


def test_rum11_the_top_of_the_pile_may_be_taken_instead() -> None:
    state = position("4H 9C", "5C", pile="KS 3D", stock="", to_draw=True)
    assert legal(state) == ["draw stock", "draw discard"]
    taken = play(state, "draw discard", "discard 9C")
    assert (taken.turn_overs, taken.stock, taken.pile) == (0, (), cards("KS 9C"))


def test_rum11_a_pile_of_one_card_is_turned_over_too() -> None:
    state = play(position("4H 9C", "5C", pile="3D", stock="", to_draw=True), "draw stock")
    assert (state.stock, state.pile, state.turn_overs) == ((), (), 1)
    assert legal(play(state, "discard 9C")) == ["draw stock", "draw discard"]


def test_rum11_the_only_discard_may_be_taken() -> None:
    state = play(position("4H 9C", "5C", pile="3D", to_draw=True), "draw discard")
    assert (state.pile, legal(state)) == ((), ["discard 4H", "discard 9C"])


def test_rum12_the_hand_goes_on_while_a_turn_over_is_left() -> None:
    state = position("4H 9C", "5C", pile="KS", stock="2C", turn_overs=1, to_draw=True)
    state = play(state, "draw stock", "discard 2C", "draw stock")
    assert (state.turn_overs, state.stock, GAME.to_act(state)) == (2, cards("2C"), 1)


def test_rum12_after_two_turn_overs_the_turn_that_empties_the_stock_is_the_last() -> None:
    state = position("4H 9C", "5C", pile="KS", stock="2C", turn_overs=2, to_draw=True)
    state = play(state, "draw stock")
    assert GAME.to_act(state) == 0
    over = play(state, "discard 9C")
    assert GAME.needs_deal(over)
    assert GAME.facts(over)["hands"][0]["turn_overs"] == 2


def test_rum12_the_second_turn_over_of_one_card_ends_the_hand_at_once() -> None:
    state = position("4H 9C", "5C", pile="KS", stock="", turn_overs=1, to_draw=True)
    assert GAME.needs_deal(play(state, "draw stock", "discard 9C"))


def test_rum12_a_stock_not_drawn_from_does_not_end_the_hand() -> None:
    state = position("4H 9C", "5C", pile="KS", stock="2C", turn_overs=2, to_draw=True)
    assert GAME.to_act(play(state, "draw discard", "discard 9C")) == 1


@pytest.mark.parametrize("seat", [1, 2, -1, 99])
def test_only_the_seat_to_act_moves(seat: int) -> None:
    state = position("4H 9C", "5C")
    refused = refusal(state, "discard 4H", seat)
    assert (refused.reason, str(refused)) == ("NOT_YOUR_TURN", f"seat 0 is to move, not seat {seat}")


@pytest.mark.parametrize(("total", "reason"), [(0, "DEAL_DUE"), (99, "GAME_OVER")])
def test_nobody_moves_between_hands_or_after_the_end(total: int, reason: str) -> None:
    over = play(position("4H", "KD", totals=(total, 0)), "discard 4H")
    assert GAME.to_act(over) is None
    assert legal(over) == []
    assert refusal(over, "draw stock").reason == reason


@pytest.mark.parametrize("text", ["meld 5C 6C 7C", "layoff 0 7H", "discard 5C"])
def test_cards_must_be_held(text: str) -> None:
    refused = refusal(position("4H 9C 6C 7C", "5C", melds=((0, "4H 5H 6H"),)), text)
    assert refused.reason == "CARDS_NOT_HELD"
    assert str(refused).startswith(f"not in your hand: {'7H' if '7H' in text else '5C'};")


def test_a_move_of_no_kind_is_illegal() -> None:
    with pytest.raises(IllegalMove, match="a draw, a meld, a lay-off or a discard"):
        GAME.check(position("4H", "5C"), 0, Move("pass"))


@pytest.mark.parametrize(
    ("state", "move"),
    [
        (position("4H 9C", "5C", to_draw=True), "draw stock"),
        (position("4H 9C", "5C", pile="3D", stock="", to_draw=True), "draw stock"),
        (position("4H 9C KD", "5C", drawn="4H"), "discard 4H"),
        (position("4H 9C KD KS", "5C", taken="4H"), "discard KS"),
        (position("4H 9C KD KS", "5C", taken="KS"), "discard KD"),
        (position("4H 9C TS", "5C"), "discard TS"),
        (position("7H", "5C", taken="7H", melds=((0, "4H 5H 6H"),)), "layoff 0 7H"),
    ],
)
def test_the_default_move_is_the_card_drawn_or_the_most_valuable(state: State, move: str) -> None:
    assert GAME.default_move(state).text == move
    GAME.check(state, 0, GAME.default_move(state))
