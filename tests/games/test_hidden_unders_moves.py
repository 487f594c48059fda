"""Moves as values and as text: what is one, what is none, and their one canonical form."""

from collections.abc import Callable

import pytest

from croupier_games.cards import CARD_NUMBERS
from croupier_games.game import MalformedMove
from croupier_games.hidden_unders import GAME, Done, Flip, Move, PlaceOvers, Play

SEVENS = [CARD_NUMBERS["7C"], CARD_NUMBERS["7D"]]


@pytest.mark.parametrize(
    "text",
    ["overs 4C 9D JH KS", "play 7C 7D", "play 2S", "play 9C 9C", "play 7C 8D", "flip 0", "flip 3", "done"],
)
def test_a_canonical_text_is_read_and_written_back(text: str) -> None:
    assert GAME.format_move(GAME.parse_move(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("overs KS 4C JH 9D", "overs 4C 9D JH KS"),
        ("  play  7S\t7C 7D ", "play 7C 7D 7S"),
        ("play AC 2S TD", "play 2S TD AC"),
        (" flip  2 ", "flip 2"),
        ("done ", "done"),
    ],
)
def test_any_order_of_cards_and_any_spacing_is_read(text: str, canonical: str) -> None:
    assert GAME.format_move(GAME.parse_move(text)) == canonical


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "EMPTY_MOVE"),
        ("   ", "EMPTY_MOVE"),
        ("pass", "UNKNOWN_MOVE"),
        ("PLAY 7C", "UNKNOWN_MOVE"),
        ("7C", "UNKNOWN_MOVE"),
        ("play", "NO_CARDS"),
        ("play 7c", "NOT_A_CARD"),
        ("play 10C", "NOT_A_CARD"),
        ("play ??", "NOT_A_CARD"),
        ("play BJ", "NOT_A_CARD"),
        ("play 7C,7D", "NOT_A_CARD"),
        ("overs", "NOT_FOUR_CARDS"),
        ("overs 4C 9D JH", "NOT_FOUR_CARDS"),
        ("overs 4C 9D JH KS AS", "NOT_FOUR_CARDS"),
        ("overs 4C 9D JH RJ", "NOT_A_CARD"),
        ("flip", "NO_SUCH_SLOT"),
        ("flip 7", "NO_SUCH_SLOT"),
        ("flip -1", "NO_SUCH_SLOT"),
        ("flip 1 2", "NO_SUCH_SLOT"),
        ("flip ٢", "NO_SUCH_SLOT"),
        ("done 7C", "UNEXPECTED_WORDS"),
    ],
)
def test_a_text_that_is_no_move_is_malformed(text: str, reason: str) -> None:
    with pytest.raises(MalformedMove) as refusal:
        GAME.parse_move(text)
    assert refusal.value.reason == reason


def test_a_refusal_repeats_a_long_word_only_in_part() -> None:
    with pytest.raises(MalformedMove) as refusal:
        GAME.parse_move("x" * 10_000)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Play([]), "NO_CARDS"),
        (lambda: Play([52]), "NOT_A_CARD"),
        (lambda: Play([-1]), "NOT_A_CARD"),
        (lambda: Play(["7C"]), "NOT_A_CARD"),  # type: ignore[list-item]
        (lambda: PlaceOvers([0, 1, 2]), "NOT_FOUR_CARDS"),
        (lambda: Flip(4), "NO_SUCH_SLOT"),
        (lambda: Flip(-1), "NO_SUCH_SLOT"),
    ],
)
def test_values_that_are_no_move_make_none(make: Callable[[], Move], reason: str) -> None:
    with pytest.raises(MalformedMove) as refusal:
        make()
    assert refusal.value.reason == reason


def test_moves_of_the_same_meaning_are_equal_and_hash_alike() -> None:
    pairs = [
        (Play(SEVENS), Play(reversed(SEVENS))),
        (PlaceOvers([0, 1, 2, 3]), PlaceOvers((3, 2, 1, 0))),
        (Flip(2), Flip(2)),
        (Done(), Done()),
    ]
    assert all(one == other and hash(one) == hash(other) for one, other in pairs)


def test_moves_of_different_meaning_are_different() -> None:
    moves = [Play([0, 1, 2, 3]), PlaceOvers([0, 1, 2, 3]), Play([0]), Play([0, 0]), Flip(0), Flip(1), Done()]
    assert len(set(moves)) == len(moves)


def test_a_move_shows_itself_in_a_traceback() -> None:
    moves = [Play(SEVENS), PlaceOvers([0, 1, 2, 3]), Flip(2), Done()]
    assert list(map(repr, moves)) == ["Play(7C 7D)", "PlaceOvers(2C 3C 4C 5C)", "Flip(2)", "Done()"]
