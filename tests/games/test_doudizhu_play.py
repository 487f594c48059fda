"""Dou Dizhu: the play (DDZ-6 to DDZ-10) and what is refused in it."""

from __future__ import annotations

import pytest

from croupier_games.doudizhu import GAME, PASS, Play, State
from croupier_games.doudizhu.cardset import bits_of
from croupier_games.game import IllegalMove
from games.doudizhu_positions import after, effects, legal, playing


def refused(state: State, text: str) -> tuple[str, str]:
    """The reason and the message of a refusal."""
    with pytest.raises(IllegalMove) as refusal:
        GAME.apply(state, state.to_act, GAME.parse_move(text))
    return refusal.value.reason, str(refusal.value)


def test_ddz_6_the_leader_plays() -> None:
    state = playing("3C 4C 4D", "5C", "6C")
    assert legal(state) == ["play 3C", "play 4C", "play 4C 4D"]
    assert refused(state, "pass")[0] == "MUST_LEAD"


def test_ddz_7_a_follower_beats_or_passes() -> None:
    state = after(playing("3C 7C 7D 8C", "5C 8D 8H", "6C"), "play 7C 7D")
    assert legal(state) == ["pass", "play 8D 8H"]
    reason, message = refused(state, "play 8D")
    assert reason == "DOES_NOT_BEAT"
    assert message.startswith("a single 8 does not beat a pair of 7; play a higher one")


def test_ddz_8_two_passes_give_the_lead_back() -> None:
    state = after(playing("3C 9C", "5C", "6C"), "play 9C", "pass")
    assert effects(state) == []
    state = after(state, "pass")
    assert (state.to_act, state.table) == (0, None)
    assert effects(state) == [{"new_lead": {"seat": 0}}]


def test_ddz_8_a_pass_binds_only_that_turn() -> None:
    state = after(playing("3C 9C QC", "5C TC", "6C JC"), "play 3C", "pass", "play 6C", "play 9C")
    assert legal(state) == ["pass", "play TC"]


def test_ddz_8_the_leader_after_two_passes_is_who_played_last() -> None:
    state = after(playing("3C 4C", "5C 7C", "6C 8C"), "play 3C", "play 5C", "pass", "pass")
    assert effects(state) == [{"new_lead": {"seat": 1}}]
    assert legal(state) == ["play 7C"]


def test_ddz_10_bomb_on_anything_rocket_on_everything() -> None:
    state = after(playing("AC 9C", "3C 3D 3H 3S 8C", "BJ RJ 7C"), "play AC")
    assert legal(state) == ["pass", "play 3C 3D 3H 3S"]
    state = after(state, "play 3C 3D 3H 3S")
    assert legal(state) == ["pass", "play BJ RJ"]
    state = after(state, "play BJ RJ")
    assert legal(state) == ["pass"]
    assert "nothing does, so pass" in refused(state, "play 9C")[1]


def test_ddz_10_a_bomb_yields_to_a_higher_one() -> None:
    state = playing("5C 5D 5H 5S 9C", "4C 4D 4H 4S 6C", "6D 6H")
    state = after(state, "play 5C 5D 5H 5S")
    assert legal(state) == ["pass"]
    assert "play a higher bomb or the rocket" in refused(state, "play 4C 4D 4H 4S")[1]


def test_ddz_10_bombs_and_the_rocket_may_be_led() -> None:
    assert {"play 5C 5D 5H 5S", "play BJ RJ"} <= set(legal(playing("5C 5D 5H 5S BJ RJ", "3C", "4C")))


def test_what_is_no_combination() -> None:
    reason, message = refused(playing("3C 4C", "5C", "6C"), "play 4C 3C")
    assert reason == "NOT_A_COMBINATION"
    assert message.startswith("3C 4C is not a combination")


def test_cards_that_are_not_held_are_named() -> None:
    assert refused(playing("3C 4C", "5C", "3D"), "play 3C 3D") == (
        "CARDS_NOT_HELD",
        "you do not hold 3D; play cards of your own hand",
    )


@pytest.mark.parametrize("bits", [0, -1, -(1 << 70), 1 << 53, 1 << 60, 3 << 52, (1 << 57) - 1, 1 << 200])
def test_bits_that_are_no_cards_are_refused(bits: int) -> None:
    state = playing("3C BJ RJ", "5C", "6C")
    with pytest.raises(IllegalMove):
        GAME.check(state, 0, Play(bits))


def test_suits_mean_nothing_but_each_card_is_there_once() -> None:
    state = playing("3D 3S 4C", "5C", "6C")
    assert legal(state)[-1] == "play 3D 3S"
    assert after(state, "play 3S").hands[0].bit_count() == 2
    assert refused(after(state, "play 3S", "pass", "pass"), "play 3S")[0] == "CARDS_NOT_HELD"


def test_what_is_no_move_at_all_is_not_taken_for_a_pass() -> None:
    state = after(playing("3C 4C", "5C", "6C"), "play 3C")
    with pytest.raises(TypeError):
        GAME.apply(state, 1, "pass")  # type: ignore[arg-type]


def test_the_default_move_is_a_pass_or_the_lowest_card() -> None:
    state = playing("3D 3S 2C", "5C", "6C")
    assert GAME.format_move(GAME.default_move(state)) == "play 3D"
    assert GAME.default_move(after(state, "play 3D")) == PASS


def test_a_play_counts_by_its_cards_alone() -> None:
    play = GAME.parse_move("play 3D 3C")
    assert play == Play.of([1, 14]) == Play(bits_of([14, 1]))
    assert GAME.apply(playing("3C 3D 4C", "5C", "6C"), 0, play).plays == (bits_of([1, 14]),)
