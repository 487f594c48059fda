"""Dou Dizhu: the legal moves are exactly the moves that pass the check."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier_games.doudizhu import GAME, PASS, Move, Play, State
from croupier_games.doudizhu.cardset import BITS, RANK_TEXTS, counts_of, texts_of
from croupier_games.doudizhu.combinations import PLAYS
from croupier_games.doudizhu.legal import LegalPlays
from croupier_games.game import IllegalMove
from games.doudizhu_positions import after, bits, legal, playing

CARDS = sorted(BITS)


@st.composite
def hand_and_rest(draw: st.DrawFn) -> tuple[int, list[int]]:
    """Up to nine cards of a few neighbouring ranks, or of any, and what is left of the deck."""
    low = draw(st.integers(0, 11))
    width = draw(st.sampled_from([3, 4, 6, 15]))
    pool = [bit for bit in CARDS if low <= (bit.bit_length() - 1) // 4 < low + width] or CARDS
    hand = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=9, unique=True))
    return sum(hand), [bit for bit in CARDS if bit not in hand]


def accepted(state: State, hand: int) -> list[int]:
    """The sets of cards of a hand that ``check`` lets the seat to act play."""
    cards = [bit for bit in CARDS if bit & hand]
    found = []
    for chosen in product((0, 1), repeat=len(cards)):
        played = sum(compress(cards, chosen))
        try:
            GAME.check(state, state.to_act, Play(played))
        except IllegalMove:
            continue
        found.append(played)
    return found


def counts(moves: Sequence[Move]) -> list[int]:
    """The counts of the plays among some moves."""
    return [counts_of(move.bits) for move in moves if isinstance(move, Play)]


def agree(state: State, hand: int) -> None:
    moves = GAME.legal_moves(state)
    allowed = accepted(state, hand)
    assert sorted(counts(moves)) == sorted({counts_of(played) for played in allowed})
    assert {move.bits for move in moves if isinstance(move, Play)} <= set(allowed)


@settings(max_examples=60, deadline=None)
@given(hand_and_rest())
def test_ddz_6_leads_are_all_that_may_be_led(drawn: tuple[int, list[int]]) -> None:
    hand, rest = drawn
    state = playing(" ".join(texts_of(hand)), " ".join(texts_of(rest[0])), " ".join(texts_of(rest[1])))
    agree(state, hand)


@settings(max_examples=120, deadline=None)
@given(hand_and_rest(), st.data())
def test_ddz_7_and_10_follows_are_all_that_beat_the_table(
    drawn: tuple[int, list[int]], data: st.DataObject
) -> None:
    hand, rest = drawn
    start = data.draw(st.integers(0, len(rest) - 21))
    leads = LegalPlays(sum(rest[start : start + 20]), None)
    led = leads[data.draw(st.integers(0, len(leads) - 1))]
    others = [" ".join(texts_of(sum(rest[start : start + 21]))), " ".join(texts_of(hand)), "3C"]
    state = GAME.apply(playing(*others), 0, led)
    agree(state, hand)
    assert GAME.legal_moves(state)[0] == PASS


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(CARDS), min_size=10, max_size=20, unique=True))
def test_ddz_23_a_large_hand_leads_every_play_it_contains(cards: list[int]) -> None:
    held = counts_of(sum(cards))
    high = 0x888888888888888
    contained = [play for play in PLAYS if (held | high) - play & high == high]
    assert sorted(counts(LegalPlays(sum(cards), None))) == sorted(contained)


def test_the_representative_has_the_lowest_suits() -> None:
    assert legal(playing("3H 3S 4D", "5C", "6C")) == ["play 3H", "play 4D", "play 3H 3S"]


@pytest.mark.parametrize("rank", range(13))
def test_a_bomb_is_listed_last_and_once(rank: int) -> None:
    four = " ".join(f"{RANK_TEXTS[rank]}{suit}" for suit in "CDHS")
    moves = legal(playing(four, "BJ", "RJ"))
    assert len(moves) == 4
    assert moves[-1] == f"play {four}"


def test_the_moves_are_a_sequence() -> None:
    moves = GAME.legal_moves(playing("3C 4C 5C", "6C", "7C"))
    assert (len(moves), moves[-1], moves[1:]) == (3, Play(bits("5C")), list(moves)[1:])
    assert Play(bits("4C")) in moves
    assert repr(moves) == "[<play 3C>, <play 4C>, <play 5C>]"
    with pytest.raises(IndexError):
        moves[3]


def test_the_largest_hands_have_their_plays() -> None:
    whole = "3C 3D 3H 4C 4D 4H 5C 5D 5H 6C 6D 6H 7C 7D 7H 8C 9C TC JC QC"
    state = playing(whole, "KC", "AC")
    assert f"play {whole}" in legal(state)
    assert GAME.scores(after(state, f"play {whole}")) == [4, -2, -2]
