"""Small Basic Rummy positions and random games for the tests of the rules.

The law of this file: a position holds just the cards a test names, so it need not hold all 52.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from croupier_games.basic_rummy import GAME, State
from croupier_games.basic_rummy.melds import mask_of
from croupier_games.basic_rummy.state import DRAW, MELD, NO_CARD, Settings, TableMeld
from croupier_games.cards import CARD_NUMBERS, parse_cards
from croupier_games.game import IllegalMove

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from croupier_games.basic_rummy import Move

    Choose = Callable[[random.Random, Sequence[Move]], Move]


def cards(texts: str) -> tuple[int, ...]:
    return tuple(parse_cards(texts.split()))


def mask(texts: str) -> int:
    return mask_of(cards(texts))


def position(
    *hands: str,
    pile: str = "KS",
    stock: str = "2C 2D 2H",
    melds: tuple[tuple[int, str], ...] = (),
    gone_down: tuple[int, ...] = (),
    drawn: str = "",
    taken: str = "",
    to_draw: bool = False,
    turn_overs: int = 0,
    turns: int = 0,
    totals: tuple[int, ...] = (),
    **options: Any,
) -> State:
    """Seat 0 to move, by default after its draw; ``melds`` are (seat, cards)."""
    players = len(hands)
    settings = Settings(players, **GAME.options(players, **options))
    masks = tuple(mask(hand) for hand in hands)
    state = State(settings, 0, 0, masks, cards(pile), cards(stock), totals or (0,) * players, ())
    state.phase = DRAW if to_draw else MELD
    state.melds = tuple(TableMeld(seat, mask(texts)) for seat, texts in melds)
    state.melded = sum(1 << seat for seat in {seat for seat, _ in melds})
    state.gone_down = sum(1 << seat for seat in gone_down)
    state.taken = CARD_NUMBERS[taken] if taken else NO_CARD
    state.drawn = CARD_NUMBERS[drawn] if drawn else state.taken
    state.turn_overs, state.turns = turn_overs, turns
    return state


def play(state: State, *texts: str) -> State:
    """The state after these moves, each made by the seat to act."""
    for text in texts:
        seat = GAME.to_act(state)
        assert seat is not None
        state = GAME.apply(state, seat, GAME.parse_move(text))
    return state


def legal(state: State) -> list[str]:
    return [GAME.format_move(move) for move in GAME.legal_moves(state)]


def refusal(state: State, text: str, seat: int = 0) -> IllegalMove:
    """How the move is refused."""
    with pytest.raises(IllegalMove) as caught:
        GAME.check(state, seat, GAME.parse_move(text))
    return caught.value


def shuffled_deal(rng: random.Random, first: int, players: int) -> dict[str, Any]:
    deck = GAME.deck(players, {})
    rng.shuffle(deck)
    return GAME.deal_from(deck, first, players)


def any_move(rng: random.Random, moves: Sequence[Move]) -> Move:
    return rng.choice(moves)


def keen_move(rng: random.Random, moves: Sequence[Move]) -> Move:
    """Lays what it can, so that hands end by going out."""
    laying = [move for move in moves if move.text.startswith(("meld", "layoff"))]
    return rng.choice(laying or moves)


def holding_move(rng: random.Random, moves: Sequence[Move]) -> Move:
    """Never lays anything, so that the stock runs out."""
    return rng.choice([move for move in moves if move.text.startswith(("draw stock", "discard"))] or moves)


CHOICES: tuple[Choose, ...] = (any_move, keen_move, holding_move)


def random_game(seed: int, players: int, choose: Choose, moves: int, **options: Any) -> list[State]:
    """The states of a game played at random, at most ``moves`` moves long, deals included."""
    rng = random.Random(seed)
    first = shuffled_deal(rng, rng.randrange(players), players)
    states = [GAME.load_deal(first, players, options)]
    for _ in range(moves):
        state = states[-1]
        seat = GAME.to_act(state)
        if seat is not None:
            states.append(GAME.apply(state, seat, choose(rng, GAME.legal_moves(state))))
        elif (start := GAME.next_first(state)) is not None:
            states.append(GAME.next_deal(state, shuffled_deal(rng, start, players)))
    return states
