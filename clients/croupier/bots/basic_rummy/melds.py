"""Cards as masks: what makes a meld, what fits one, what a hand costs.

The law of this file: a set of cards is a 52-bit mask with the card of rank ``r`` (ace 0, king 12)
and suit ``s`` (in ``CDHS``) at bit ``4 * r + s``. So one rank up in the same suit is a shift by
four, rising bits are rising ranks, and the ace is low only because shifts fall off (RUM-1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
DECK: Final = (1 << 52) - 1
_CLUBS: Final = DECK // 15

CARD_BITS: Final = {
    rank + suit: 1 << 4 * r + s for r, rank in enumerate(RANKS) for s, suit in enumerate(SUITS)
}
"""The bit of each card text."""
TEXTS: Final = [rank + suit for rank in RANKS for suit in SUITS]
"""The text of each bit, lowest first."""


def mask_of(cards: Iterable[str]) -> int:
    """The mask of card texts."""
    mask = 0
    for card in cards:
        mask |= CARD_BITS[card]
    return mask


def texts_of(mask: int) -> list[str]:
    """The card texts of a mask, in rummy order."""
    texts = []
    while mask:
        low = mask & -mask
        texts.append(TEXTS[low.bit_length() - 1])
        mask ^= low
    return texts


def value_of(mask: int) -> int:
    """What cards left in a hand cost (RUM-16)."""
    value = 0
    while mask:
        low = mask & -mask
        value += _VALUES[low.bit_length() - 1]
        mask ^= low
    return value


_VALUES: Final = [min(bit // 4 + 1, 10) for bit in range(52)]


def has_meld(hand: int) -> bool:
    """True when a hand holds a run or a group (RUM-6)."""
    return bool(hand & hand >> 4 & hand >> 8 or threes(hand))


def threes(hand: int) -> int:
    """The clubs of the ranks that a hand holds three times or more."""
    clubs, diamonds, hearts, spades = hand, hand >> 1, hand >> 2, hand >> 3
    return (clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)) & _CLUBS


def pairs(hand: int) -> int:
    """The cards of a hand that another of their rank is with."""
    clubs, diamonds = hand & _CLUBS, hand >> 1 & _CLUBS
    hearts, spades = hand >> 2 & _CLUBS, hand >> 3 & _CLUBS
    two = clubs & diamonds | hearts & spades | (clubs | diamonds) & (hearts | spades)
    return hand & two * 15


def melds_in(hand: int) -> list[int]:
    """Every meld in a hand (RUM-6)."""
    melds = []
    starts = hand & hand >> 4 & hand >> 8
    while starts:
        low = starts & -starts
        starts ^= low
        run = low * 0x111
        after = low << 12
        melds.append(run)
        while hand & after:
            run |= after
            after <<= 4
            melds.append(run)
    ranks = threes(hand)
    while ranks:
        low = ranks & -ranks
        ranks ^= low
        group = hand & low * 15
        melds.append(group)
        if group == low * 15:
            melds += [group ^ low << suit for suit in range(4)]
    return melds


def fitting(meld: int) -> int:
    """The single cards that may be laid off on a meld (RUM-7)."""
    low = meld & -meld
    rank = low.bit_length() - 1 & ~3
    whole = 15 << rank
    if not meld & ~whole:
        return whole & ~meld
    high = 1 << meld.bit_length() - 1
    return (low >> 4 | high << 4) & DECK


def wants(hand: int) -> int:
    """The cards that would make a meld with two of a hand."""
    next_up, next_down = hand << 4, hand >> 4
    runs = next_up & hand << 8 | next_down & hand >> 8 | next_up & next_down
    clubs, diamonds = hand & _CLUBS, hand >> 1 & _CLUBS
    hearts, spades = hand >> 2 & _CLUBS, hand >> 3 & _CLUBS
    two = clubs & diamonds | hearts & spades | (clubs | diamonds) & (hearts | spades)
    return (runs | two * 15) & DECK & ~hand


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
