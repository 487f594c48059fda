"""Dou Dizhu: moves as values and as text."""

from __future__ import annotations

import doctest
from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier_games.cards import CARD_TEXTS
from croupier_games.doudizhu import BIDS, GAME, PASS, Bid, Pass, Play, cardset, moves
from croupier_games.doudizhu.combinations import PLAYS
from croupier_games.game import MalformedMove


@given(st.lists(st.sampled_from(CARD_TEXTS), min_size=1, max_size=20, unique=True), st.randoms())
def test_any_order_reads_as_the_canonical_one(cards: list[str], chance: Random) -> None:
    move = GAME.parse_move("play " + " ".join(cards))
    canonical = GAME.format_move(move)
    chance.shuffle(cards)
    assert GAME.parse_move("play " + " ".join(cards)) == move
    assert GAME.parse_move(canonical) == move
    assert Play.of(move.cards) == move  # type: ignore[union-attr]


def test_cards_are_sorted_by_rank_then_suit() -> None:
    move = GAME.parse_move("play RJ 2C AS TD 3S 3C BJ")
    assert GAME.format_move(move) == "play 3C 3S TD AS 2C BJ RJ"


@pytest.mark.parametrize("text", ["pass", "bid 1", "bid 2", "bid 3", "play 3C", "play 3C 3D 3H 5S"])
def test_canonical_texts_come_back(text: str) -> None:
    assert GAME.format_move(GAME.parse_move(text)) == text
    assert GAME.format_move(GAME.parse_move(f"  {text.replace(' ', '   ')} ")) == text


NO_MOVES = """
pas|PASS|pass 1|bid|bid 0|bid 4|bid 01|bid -1|bid x|bid 1 2|bid ²|play|play 1C|play 3c|play 3C3D
play ??|play 3C 3C|play BJ BJ|play 10C|3C|Play 3C
"""


@pytest.mark.parametrize("text", ["", " ", *NO_MOVES.strip().replace("\n", "|").split("|")])
def test_what_is_no_move_is_malformed(text: str) -> None:
    with pytest.raises(MalformedMove):
        GAME.parse_move(text)


def test_a_message_does_not_repeat_a_long_text() -> None:
    with pytest.raises(MalformedMove) as refusal:
        GAME.parse_move("x" * 10_000)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("cards", [[], [1, 1], [54], [-1], ["3C"], [None], [True], [1.0]])
def test_values_that_are_no_play(cards: list[int]) -> None:
    with pytest.raises(MalformedMove):
        Play.of(cards)


@pytest.mark.parametrize("amount", [0, 4, -1, 1 << 80])
def test_values_that_are_no_bid(amount: int) -> None:
    with pytest.raises(MalformedMove, match="a bid is 1, 2 or 3, not"):
        Bid(amount)


def test_moves_are_values() -> None:
    assert {Pass(), PASS, Bid(1), BIDS[0], Play.of([3]), Play.of([3])} == {PASS, Bid(1), Play.of([3])}
    assert PASS not in (Bid(1), Play.of([0]))
    assert [repr(PASS), repr(Bid(2)), repr(Play.of([1]))] == ["Pass()", "Bid(2)", "<play 3C>"]


def test_every_play_has_a_text() -> None:
    deck = cardset.DECK
    for counts in list(PLAYS)[::97]:
        play = Play(cardset.lowest_suits(deck, counts))
        assert GAME.parse_move(GAME.format_move(play)) == play


@pytest.mark.skipif(not str(moves.__file__).endswith(".py"), reason="compiled functions keep no examples")
@pytest.mark.parametrize("module", [cardset, moves])
def test_examples_in_the_documentation(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)
