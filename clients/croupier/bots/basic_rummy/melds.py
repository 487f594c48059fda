"""What a bot looks for in a hand: melds, what would make one, which to lay.

The law of this file: a set of cards is a mask as in the rules (``croupier_games.basic_rummy.melds``), which
say what a meld is, what fits one and what a hand costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from croupier_games.basic_rummy.melds import (
    ALL_CARDS,
    ONE_SUIT,
    groups_in,
    runs_in,
    texts_of,
    value_of,
)

TEXTS: Final = texts_of(ALL_CARDS)
"""The text of each bit, lowest first."""
CARD_BITS: Final = {text: 1 << at for at, text in enumerate(TEXTS)}
"""The bit of each card text."""


def mask_of(cards: Iterable[str]) -> int:
    """The mask of card texts."""
    mask = 0
    for card in cards:
        mask |= CARD_BITS[card]
    return mask


def has_meld(hand: int) -> bool:
    """True when a hand holds a run or a group (RUM-6)."""
    return bool(hand & hand >> 4 & hand >> 8 or threes(hand))


def threes(hand: int) -> int:
    """The clubs of the ranks that a hand holds three times or more."""
    clubs, diamonds, hearts, spades = hand, hand >> 1, hand >> 2, hand >> 3
    return (clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)) & ONE_SUIT


def pairs(hand: int) -> int:
    """The cards of a hand that another of their rank is with."""
    clubs, diamonds = hand & ONE_SUIT, hand >> 1 & ONE_SUIT
    hearts, spades = hand >> 2 & ONE_SUIT, hand >> 3 & ONE_SUIT
    two = clubs & diamonds | hearts & spades | (clubs | diamonds) & (hearts | spades)
    return hand & two * 15


def melds_in(hand: int) -> list[int]:
    """Every meld in a hand (RUM-6)."""
    return runs_in(hand) + groups_in(hand)


def wants(hand: int) -> int:
    """The cards that would make a meld with two of a hand."""
    next_up, next_down = hand << 4, hand >> 4
    runs = next_up & hand << 8 | next_down & hand >> 8 | next_up & next_down
    clubs, diamonds = hand & ONE_SUIT, hand >> 1 & ONE_SUIT
    hearts, spades = hand >> 2 & ONE_SUIT, hand >> 3 & ONE_SUIT
    two = clubs & diamonds | hearts & spades | (clubs | diamonds) & (hearts | spades)
    return (runs | two * 15) & ALL_CARDS & ~hand


def best_melds(hand: int) -> list[int]:
    """Melds of a hand, no card in two of them, that together hold the highest value."""
    melds = melds_in(hand)
    if len(melds) <= 1:
        return melds
    return _best(melds, 0)[1]


def _best(melds: list[int], used: int) -> tuple[int, list[int]]:
    value, chosen = 0, list[int]()
    for at, meld in enumerate(melds):
        if meld & used:
            continue
        rest_value, rest = _best(melds[at + 1 :], used | meld)
        total = rest_value + value_of(meld)
        if total > value:
            value, chosen = total, [meld, *rest]
    return value, chosen


def melding_pairs(card: int) -> list[tuple[int, int]]:
    """The pairs of cards that make a meld of three with a card."""
    bit = card.bit_length() - 1
    first = bit & ~3
    others = [1 << at for at in range(first, first + 4) if at != bit]
    pairs = [(others[0], others[1]), (others[0], others[2]), (others[1], others[2])]
    for low, high in ((-8, -4), (-4, 4), (4, 8)):
        if bit + low >= 0 and bit + high < 52:
            pairs.append((1 << bit + low, 1 << bit + high))
    return pairs
