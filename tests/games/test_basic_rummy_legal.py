"""Basic Rummy: legal moves are just what ``check`` lets pass, found here by trying everything."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from croupier_games.basic_rummy import GAME, Discard, Draw, LayOff, Meld, Move, State
from croupier_games.basic_rummy.melds import ALL_MELDS, FITTING, mask_of
from croupier_games.basic_rummy.state import MELD, TableMeld
from croupier_games.cards import CARD_TEXTS
from croupier_games.game import IllegalMove
from games.basic_rummy_positions import CHOICES, position, random_game

# Cards that often make melds: the ranks A 2 3 4 of all suits.
LOW_CARDS = [card for card in range(52) if CARD_TEXTS[card][0] in "A234"]
LOW_MELDS = [meld for meld in ALL_MELDS if not meld >> 16]


def is_meld(cards: tuple[int, ...]) -> bool:
    """RUM-6 word for word."""
    ranks = sorted("A23456789TJQK".index(CARD_TEXTS[card][0]) for card in cards)
    suits = {CARD_TEXTS[card][1] for card in cards}
    run = len(suits) == 1 and ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    group = len(set(ranks)) == 1
    return len(cards) >= 3 and (run or group)


@st.composite
def positions(draw: st.DrawFn, most_cards: int) -> State:
    """A small hand of low cards after a draw, up to three melds on the table."""
    state = position("", "KD")
    on_table = 0
    for meld in draw(st.lists(st.sampled_from(LOW_MELDS), max_size=3)):
        if not meld & on_table:
            on_table |= meld
            state.melds = (*state.melds, TableMeld(draw(st.integers(0, 1)), meld))
    free = [card for card in LOW_CARDS if not mask_of([card]) & on_table]
    assume(free)
    hand = draw(st.lists(st.sampled_from(free), min_size=1, max_size=most_cards, unique=True))
    state.hands = (mask_of(hand), state.hands[1])
    state.melded = sum({1 << meld.seat for meld in state.melds})
    state.drawn = hand[0]
    state.taken = hand[0] if draw(st.booleans()) else state.taken
    return state


def subsets(state: State) -> list[tuple[int, ...]]:
    hand = [card for card in range(52) if mask_of([card]) & state.hands[0]]
    return [some for size in range(1, len(hand) + 1) for some in combinations(hand, size)]


def passes(state: State, move: Move) -> bool:
    try:
        GAME.check(state, 0, move)
    except IllegalMove:
        return False
    return True


def every_move(state: State) -> list[Move]:
    moves: list[Move] = [Draw("stock"), Draw("discard")]
    moves += [Meld(some) for some in subsets(state)]
    moves += [LayOff(number, [card]) for number in range(len(state.melds) + 1) for card in range(52)]
    return moves + [Discard(card) for card in range(52)]


@settings(deadline=None)
@given(positions(most_cards=7))
def test_legal_moves_are_all_that_check_lets_pass(state: State) -> None:
    listed = GAME.legal_moves(state)
    assert len(set(listed)) == len(listed)
    assert set(listed) == {move for move in every_move(state) if passes(state, move)}


@settings(deadline=None)
@given(positions(most_cards=7))
def test_a_turn_can_always_go_on(state: State) -> None:
    assume(state.hands[0].bit_count() > 1)
    for move in GAME.legal_moves(state):
        after = GAME.apply(state, 0, move)
        assert after.phase != MELD or GAME.legal_moves(after)


@settings(deadline=None)
@given(positions(most_cards=5))
def test_rum7_a_lay_off_of_several_is_some_order_of_single_ones(state: State) -> None:
    for some in subsets(state):
        for number in range(len(state.melds)):
            together = LayOff(number, some)
            ends = [end for order in permutations(some) if (end := one_by_one(state, number, order))]
            assert passes(state, together) is bool(ends)
            for end in ends:
                assert GAME.fingerprint(end) == GAME.fingerprint(GAME.apply(state, 0, together))


def one_by_one(state: State, number: int, order: tuple[int, ...]) -> State | None:
    for card in order:
        if not passes(state, LayOff(number, [card])):
            return None
        state = GAME.apply(state, 0, LayOff(number, [card]))
    return state


def test_rum6_there_are_264_runs_and_65_groups() -> None:
    assert len(set(ALL_MELDS)) == 264 + 65
    groups_of_four = [meld for meld in ALL_MELDS if meld.bit_count() == 4 and FITTING[meld] == 0]
    assert len(groups_of_four) == 13


@given(st.lists(st.sampled_from(LOW_CARDS), min_size=1, max_size=5, unique=True))
def test_rum6_a_set_of_cards_is_a_meld_by_the_words_of_the_rule(cards: list[int]) -> None:
    assert (mask_of(cards) in FITTING) is is_meld(tuple(cards))


@given(st.sampled_from(ALL_MELDS), st.integers(0, 51))
def test_rum7_a_card_fits_when_the_whole_is_a_meld(meld: int, card: int) -> None:
    whole = tuple(each for each in range(52) if mask_of([each]) & meld or each == card)
    fits = bool(FITTING[meld] & mask_of([card]))
    assert fits is (len(whole) > meld.bit_count() and is_meld(whole))


@settings(deadline=None, max_examples=20)
@given(st.integers(), st.sampled_from(GAME.players), st.sampled_from(CHOICES))
def test_every_listed_move_of_a_game_passes_and_the_default_is_listed(
    seed: int, players: int, choose: Any
) -> None:
    for state in random_game(seed, players, choose, 150):
        seat, moves = GAME.to_act(state), GAME.legal_moves(state)
        if seat is None:
            assert moves == []
            continue
        for move in moves:
            GAME.check(state, seat, move)
        assert GAME.default_move(state) in moves
