"""Positions of Dou Dizhu for the tests of this folder.

The law of this file: a position is made by dealing and moving, except that ``playing`` sets
out small hands as they are late in a deal.
"""

from __future__ import annotations

import random

from croupier_games.doudizhu import GAME, State
from croupier_games.doudizhu.cardset import BIT_OF_TEXT, counts_of
from croupier_games.doudizhu.state import NOBODY, PLAYING, Bidding, Deal, Match
from croupier_games.game import Plain

RANKS = "3456789TJQKA2BR"
"""The ranks as the vectors write them, weakest first."""


def bits(cards: str) -> int:
    """``"3C TD"`` as bits."""
    return sum(BIT_OF_TEXT[card] for card in cards.split())


def bits_of_ranks(ranks: str) -> int:
    """``"334B"`` as bits, each rank in its lowest suits."""
    return sum(1 << 4 * rank + suit for rank, r in enumerate(RANKS) for suit in range(ranks.count(r)))


def ranks_of(counts: int) -> str:
    """The counts of a set of cards as the vectors write them."""
    return "".join(rank * (counts >> 4 * i & 15) for i, rank in enumerate(RANKS))


def ranks_of_bits(cards: int) -> str:
    """``bits`` as the vectors write ranks."""
    return ranks_of(counts_of(cards))


def some_deal(seed: int = 0, first: int = 0) -> Plain:
    """A shuffled deal."""
    deck = GAME.deck(3, {})
    random.Random(seed).shuffle(deck)
    return GAME.deal_from(deck, first, 3)


def dealt(seed: int = 0, first: int = 0, **options: int) -> State:
    """The state just after a shuffled deal."""
    return GAME.load_deal(some_deal(seed, first), 3, options)


def playing(*hands: str, landlord: int = 0, bid: int = 1) -> State:
    """The landlord is to lead, and all hands are as given."""
    first, second, third = (bits(hand) for hand in hands)
    deal = Deal(number=0, redeals=0, first=landlord, bottom=bits("3C 3D 3H"))
    bidding = Bidding((bid, 0, 0), bid, landlord)
    match = Match(deals=1, max_redeals=9, played=0, voids=0, totals=(0, 0, 0))
    return State(match, deal, bidding, PLAYING, landlord, (first, second, third), (), None, 1, ())


def after(state: State, *texts: str) -> State:
    """The state after these moves, each by the seat to act."""
    for text in texts:
        assert state.to_act != NOBODY
        state = GAME.apply(state, state.to_act, GAME.parse_move(text))
    return state


def legal(state: State) -> list[str]:
    """The texts of the legal moves."""
    return [GAME.format_move(move) for move in GAME.legal_moves(state)]


def effects(state: State, seat: int | None = None) -> list[Plain]:
    """What ``seat`` is told about the last deal or move."""
    return GAME.happened(state, seat)


def moments(seed: int, **options: int) -> list[State]:
    """Every state of a game of random moves."""
    chance = random.Random(seed)
    state = dealt(seed, chance.randrange(3), **options)
    states = [state]
    while GAME.scores(state) is None:
        if GAME.needs_deal(state):
            state = GAME.next_deal(state, some_deal(chance.randrange(10**6), chance.randrange(3)))
        else:
            moves = GAME.legal_moves(state)
            state = GAME.apply(state, state.to_act, moves[chance.randrange(len(moves))])
        states.append(state)
    return states
