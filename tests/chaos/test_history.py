"""The history checker on made-up histories: a true one passes, and each broken promise is named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chaos.history import (
    Answered,
    Asked,
    Entry,
    Fact,
    Given,
    Kind,
    Over,
    Refused,
    Sent,
    Shown,
    Snapshot,
    Told,
    check,
)

JOURNAL = [
    Entry("created"),
    Entry("dealt", changes_game=True),
    Entry("0 a", "ann", "r1", (0, "a"), changes_game=True),
    Entry("1 b", "bob", "r2", (1, "b"), changes_game=True),
    Entry("ended", changes_game=True, ends=True),
]

MOVES: list[Fact] = [
    Sent("r1", "ann", 0, "a", turn=2),
    Answered("r1", 3),
    Sent("r2", "bob", 1, "b", turn=3),
    Answered("r2", 4),
]


def told(*seqs: int, stream: str = "s", seat: int | None = 0) -> list[Fact]:
    return [Told(stream, seat, seq, JOURNAL[seq - 1].told, f"all of {seq}") for seq in seqs]


def given(*seqs: int) -> list[Fact]:
    return [Given("ann", seq) for seq in seqs]


ALL: list[Fact] = [*MOVES, Asked("s", 0, 0), *told(1, 2, 3, 4, 5), *given(1, 2, 3, 4, 5), Over("ann")]


def kinds(facts: Sequence[Fact], journal: Sequence[Entry] = JOURNAL, *, finished: bool = False) -> list[Kind]:
    violations = check(
        journal, facts, lambda seq, seat: {"2C"} if seat == 0 and seq > 1 else set(), finished=finished
    )
    assert all(str(violation) for violation in violations)
    return [violation.kind for violation in violations]


def test_a_true_history_keeps_every_promise() -> None:
    assert kinds(ALL, finished=True) == []


def test_a_history_without_moves_and_clients_must_only_have_ended() -> None:
    assert kinds([], finished=True) == []
    assert kinds([], JOURNAL[:4]) == []
    assert kinds([], JOURNAL[:4], finished=True) == [Kind.UNFINISHED]
    assert kinds([], [], finished=True) == [Kind.UNFINISHED]


# --- moves --------------------------------------------------------------------------------------


def test_an_acknowledged_move_that_is_not_there_was_lost() -> None:
    assert kinds(MOVES, JOURNAL[:3]) == [Kind.LOST]


def test_a_move_under_another_number_than_was_told_was_lost() -> None:
    assert kinds([MOVES[0], Answered("r1", 4)]) == [Kind.LOST]


def test_a_move_that_is_there_twice_is_named_whether_or_not_it_was_acknowledged() -> None:
    twice = [*JOURNAL[:4], JOURNAL[2]]
    assert kinds(MOVES, twice) == [Kind.TWICE]
    assert kinds([], twice) == [Kind.TWICE]


@pytest.mark.parametrize(
    "entry",
    [
        Entry("0 a", "bob", "r1", (0, "a")),
        Entry("0 a", "ann", "r1", (1, "a")),
        Entry("0 a", "ann", "r1", (0, "b")),
    ],
)
def test_a_move_must_be_stored_as_it_was_sent(entry: Entry) -> None:
    assert kinds(MOVES[:2], [*JOURNAL[:2], entry]) == [Kind.ALTERED]


def test_a_move_comes_behind_all_that_was_acknowledged_before_it_was_sent() -> None:
    journal = [*JOURNAL[:2], JOURNAL[3], JOURNAL[2]]
    ann, bob = Sent("r1", "ann", 0, "a"), Sent("r2", "bob", 1, "b")
    assert kinds([ann, Answered("r1", 4), bob, Answered("r2", 3)], journal) == [Kind.OUT_OF_ORDER]
    side_by_side: list[Fact] = [ann, bob, Answered("r1", 4), Answered("r2", 3)]
    assert kinds(side_by_side, journal) == []  # either order will do


def test_a_move_comes_behind_all_that_anybody_was_told_before_it_was_sent() -> None:
    facts = [Asked("s", 0, 0), *told(1, 2, 3), MOVES[0], Answered("r1", 3)]
    assert kinds(facts) == [Kind.OUT_OF_ORDER]


def test_of_a_move_that_was_sent_again_the_first_sending_counts() -> None:
    facts = [MOVES[0], Asked("s", 0, 0), *told(1, 2, 3), MOVES[0], Answered("r1", 3)]
    assert kinds(facts) == []


def test_a_repeat_gets_the_same_answer() -> None:
    assert kinds([*MOVES, Answered("r2", 4)]) == []
    assert kinds([*MOVES, Answered("r2", 3)]) == [Kind.CHANGED_ANSWER]
    assert kinds([*MOVES, Refused("r2", final=False)]) == []
    refused_then_made = [MOVES[0], Refused("r1", final=True), Answered("r1", 3)]
    assert kinds(refused_then_made) == [Kind.CHANGED_ANSWER, Kind.REFUSED_BUT_MADE]
    made_then_refused = [*MOVES[:2], Refused("r1", final=True)]
    assert kinds(made_then_refused) == [Kind.CHANGED_ANSWER, Kind.REFUSED_BUT_MADE]


def test_what_was_refused_for_good_is_not_made() -> None:
    assert kinds([MOVES[0], Refused("r1", final=True)]) == [Kind.REFUSED_BUT_MADE]
    assert kinds([MOVES[0], Refused("r1", final=True)], JOURNAL[:2]) == []
    assert kinds([MOVES[0], Refused("r1", final=False)]) == []  # nobody knew; it may be there


def test_of_two_moves_for_one_turn_one_is_stale() -> None:
    rival = Sent("r3", "ann", 0, "c", turn=2)
    journal = [*JOURNAL[:3], Entry("0 c", "ann", "r3", (0, "c"), changes_game=True)]
    assert kinds([MOVES[0], rival, Answered("r1", 3), Answered("r3", 4)], journal) == [Kind.STALE]


def test_what_does_not_change_the_game_makes_no_move_stale() -> None:
    journal = [*JOURNAL[:2], Entry("somebody came"), JOURNAL[2]]
    assert kinds([MOVES[0], Answered("r1", 4)], journal) == []


# --- streams ------------------------------------------------------------------------------------


def test_a_number_that_is_left_out_is_a_gap() -> None:
    assert kinds([Asked("s", 0, 0), *told(1, 2, 4)]) == [Kind.GAP]
    assert kinds([Asked("s", 0, 0), *told(2)]) == [Kind.GAP]
    assert kinds(told(1)) == [Kind.GAP]  # nobody asked for it


def test_a_number_that_comes_again_unasked_is_a_repeat() -> None:
    assert kinds([Asked("s", 0, 0), *told(1, 2, 2)]) == [Kind.REPEAT]
    assert kinds([Asked("s", 0, 0), *told(1, 2, 3, 1)]) == [Kind.REPEAT]


def test_a_stream_may_be_asked_again() -> None:
    assert kinds([Asked("s", 0, 0), *told(1, 2), Asked("s", 0, 1), *told(3), *told(2, 3)]) == []
    assert kinds([Asked("s", 0, 0), Asked("s", 0, 3), *told(4, 5)]) == []
    again_and_again = [Asked("s", 0, 0), *told(1), Asked("s", 0, 0), *told(1), *told(1)]
    assert kinds(again_and_again) == [Kind.REPEAT]


def test_every_stream_and_seat_counts_for_itself() -> None:
    facts = [Asked("s", 0, 0), *told(1, 2), Asked("t", 0, 2), *told(3, stream="t"), *told(3)]
    assert kinds(facts) == []
    assert kinds([Asked("s", 0, 0), *told(1), *told(2, seat=1)]) == [Kind.GAP]


def test_a_snapshot_stands_for_all_up_to_its_number() -> None:
    assert kinds([Asked("s", 0, None), Snapshot("s", 0, 2), *told(3)]) == []
    assert kinds([Asked("s", 0, 0), *told(1), Snapshot("s", 0, 3), *told(4)]) == []
    assert kinds([Asked("s", 0, None), Snapshot("s", 0, 2), *told(4)]) == [Kind.GAP]


def test_a_snapshot_goes_back_only_where_one_was_asked_for() -> None:
    assert kinds([Asked("s", 0, 0), *told(1, 2, 3), Snapshot("s", 0, 2)]) == [Kind.REPEAT]
    assert kinds([Asked("s", 0, 0), *told(1, 2, 3), Asked("s", 0, None), Snapshot("s", 0, 2)]) == []


def test_no_stream_takes_back_what_it_told() -> None:
    assert kinds([Asked("s", 0, 5), Snapshot("s", 0, 2, reset=True)]) == [Kind.RESET]


def test_what_the_journal_has_not_must_not_be_told() -> None:
    beyond = [*JOURNAL, Entry("more")]
    facts = [Asked("s", 0, 5), Told("s", 0, 6, "more", "more")]
    assert kinds(facts) == [Kind.UNKNOWN]
    assert kinds(facts, beyond) == []
    assert kinds([Asked("s", 0, None), Snapshot("s", 0, 6)]) == [Kind.UNKNOWN]


def test_everybody_is_told_what_the_journal_has() -> None:
    assert kinds([Asked("s", 0, 0), Told("s", 0, 1, "closed", "")]) == [Kind.DIFFERENT]


def test_a_seat_is_told_the_same_of_a_number_every_time() -> None:
    other = Told("t", 0, 1, "created", "something else")
    assert kinds([Asked("s", 0, 0), *told(1), Asked("t", 0, 0), other]) == [Kind.DIFFERENT]
    assert kinds([Asked("s", 0, 0), *told(1), Asked("t", 1, 0), other._replace(seat=1)]) == []


# --- cards --------------------------------------------------------------------------------------

CARD = frozenset({"2C"})


def test_a_card_is_for_those_who_may_know_it_from_then_on() -> None:
    at_one, at_two = (Told("s", 0, n, JOURNAL[n - 1].told, "", CARD) for n in (1, 2))
    assert kinds([Asked("s", 0, 1), at_two]) == []
    assert kinds([Asked("s", 0, 0), at_one]) == [Kind.SEEN]
    assert kinds([Asked("s", 1, 1), at_two._replace(seat=1)]) == [Kind.SEEN]


def test_snapshots_and_turns_show_no_other_cards_than_steps() -> None:
    assert kinds([Asked("s", None, None), Snapshot("s", None, 2, cards=CARD)]) == [Kind.SEEN]
    assert kinds([Shown("s", 1, 2, CARD)]) == [Kind.SEEN]
    assert kinds([Shown("s", 0, 2, CARD)]) == []
    assert kinds([Shown("s", 0, 2, CARD | {"3C"})]) == [Kind.SEEN]


# --- readers ------------------------------------------------------------------------------------


def test_the_library_gives_every_step_once() -> None:
    assert kinds(given(1, 3)) == [Kind.GAP]
    assert kinds(given(1, 2, 2)) == [Kind.REPEAT]
    assert kinds(given(2)) == [Kind.GAP]
    assert kinds([*given(1), Given("ann", None), *given(2)]) == [Kind.SNAPSHOT]


def test_a_reader_that_stops_short_was_not_told_to_the_end() -> None:
    assert kinds([*given(1, 2), Over("ann")]) == [Kind.UNFINISHED]
    assert kinds([*given(1, 2, 3, 4, 5), Over("ann", "refused")]) == [Kind.UNFINISHED]
    assert kinds(given(1, 2, 3, 4, 5), finished=True) == [Kind.UNFINISHED]  # it waits for the end
