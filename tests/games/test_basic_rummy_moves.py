"""Basic Rummy: moves as values and as texts."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier_games.basic_rummy import GAME, Discard, Draw, LayOff, Meld, Move
from croupier_games.game import MalformedMove
from games.basic_rummy_positions import cards

card_sets = st.lists(st.integers(0, 51), min_size=1, max_size=13, unique=True)
moves = st.one_of(
    st.builds(Draw, st.sampled_from(["stock", "discard"])),
    st.builds(Meld, card_sets),
    st.builds(LayOff, st.integers(0, 999_999_999), card_sets),
    st.builds(Discard, st.integers(0, 51)),
)


@given(moves)
def test_parsing_a_formatted_move_gives_the_move(move: Move) -> None:
    again = GAME.parse_move(GAME.format_move(move))
    assert again == move
    assert type(again) is type(move)
    assert hash(again) == hash(move)


@given(card_sets.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))))
def test_the_order_of_cards_does_not_matter(orders: tuple[list[int], list[int]]) -> None:
    some, other = orders
    assert Meld(some) == Meld(other)
    assert LayOff(3, some) == LayOff(3, other)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("draw stock", "draw stock"),
        ("  draw \t discard ", "draw discard"),
        ("meld 6H  4H 5H", "meld 4H 5H 6H"),
        ("meld 3S 3C 3H 3D", "meld 3C 3D 3H 3S"),
        ("meld KD AD TD 9D", "meld AD 9D TD KD"),
        ("layoff 1 7H", "layoff 1 7H"),
        ("layoff 01 8H 7H 7C", "layoff 1 7C 7H 8H"),
        (" discard  KC", "discard KC"),
    ],
)
def test_texts_are_taken_in_any_order_and_written_in_rummy_order(text: str, canonical: str) -> None:
    move = GAME.parse_move(text)
    assert GAME.format_move(move) == canonical
    assert repr(move) == f"<{canonical}>"


def test_moves_are_told_apart() -> None:
    different: list[object] = [Meld(cards("4H")), LayOff(0, cards("4H")), LayOff(1, cards("4H"))]
    different += [Discard(cards("4H")[0]), Draw("stock"), Draw("discard"), "discard 4H"]
    assert all((a == b) is (i == j) for i, a in enumerate(different) for j, b in enumerate(different))


def test_moves_hold_their_values() -> None:
    lay_off = LayOff(2, cards("8H 7H"))
    assert (lay_off.meld, lay_off.cards, Meld(cards("8H 7H")).cards) == (2, cards("7H 8H"), cards("7H 8H"))
    assert (Discard(12).card, Draw("stock").source) == (12, "stock")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "UNKNOWN_MOVE"),
        ("pass", "UNKNOWN_MOVE"),
        ("Draw stock", "UNKNOWN_MOVE"),
        ("draw", "UNKNOWN_MOVE"),
        ("draw stock stock", "UNKNOWN_MOVE"),
        ("draw deck", "UNKNOWN_SOURCE"),
        ("discard", "UNKNOWN_MOVE"),
        ("discard 4H 5H", "UNKNOWN_MOVE"),
        ("discard ??", "UNKNOWN_CARD"),
        ("discard BJ", "UNKNOWN_CARD"),
        ("discard 10H", "UNKNOWN_CARD"),
        ("discard 4h", "UNKNOWN_CARD"),
        ("meld", "NO_CARDS"),
        ("meld 4H 5H 4H", "DUPLICATE_CARD"),
        ("meld 4H5H6H", "UNKNOWN_CARD"),
        ("layoff", "UNKNOWN_MOVE"),
        ("layoff 7H", "UNKNOWN_MELD"),
        ("layoff -1 7H", "UNKNOWN_MELD"),
        ("layoff ² 7H", "UNKNOWN_MELD"),
        ("layoff 1234567890 7H", "UNKNOWN_MELD"),
        ("layoff 1", "NO_CARDS"),
        ("layoff 1 7H 7H", "DUPLICATE_CARD"),
    ],
)
def test_what_is_no_move_is_malformed(text: str, reason: str) -> None:
    with pytest.raises(MalformedMove) as refused:
        GAME.parse_move(text)
    assert refused.value.reason == reason


@given(st.text())
def test_any_text_is_a_move_or_malformed(text: str) -> None:
    for start in ("", "draw ", "meld ", "layoff ", "layoff 1 ", "discard "):
        with suppress(MalformedMove):
            move = GAME.parse_move(start + text)
            assert GAME.parse_move(move.text) == move


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(MalformedMove) as refused:
        GAME.parse_move("x" * 100_000)
    assert len(str(refused.value)) < 200


def test_values_that_are_no_move_are_malformed() -> None:
    for make in (lambda: Meld([52]), lambda: Discard(-1), lambda: LayOff(-1, [3]), lambda: Draw("hand")):
        with pytest.raises(MalformedMove):
            make()
