"""What a run, a group and a fitting card are (RUM-1, RUM-6, RUM-7).

The law of this file: a set of cards is a 52-bit mask with the card of rank ``r`` (ace 0, king 12) and
suit ``s`` (in ``CDHS``) at bit ``4 * r + s``. So bits in rising order are the rummy order of cards, a
rank is a nibble, and one rank up in the same suit is a shift by four. Shifts fall off at both ends,
which is just what "the ace is low only" asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from croupier_games.cards import CARD_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable

CARDS: Final = 52

RUMMY_RANKS: Final = "A23456789TJQK"

ALL_CARDS: Final = (1 << CARDS) - 1

ONE_SUIT: Final = ALL_CARDS // 0xF
"""The bits of all clubs; shifted by one, two, three, those of the other suits."""

CARD_AT: Final[list[int]] = [suit * 13 + (rank + 12) % 13 for rank in range(13) for suit in range(4)]
"""The card number at each bit."""

BIT: Final[list[int]] = [1 << CARD_AT.index(card) for card in range(CARDS)]
"""The bit of each card number."""


def mask_of(cards: Iterable[int]) -> int:
    """The mask of card numbers 0 to 51."""
    mask = 0
    for card in cards:
        mask |= BIT[card]
    return mask


def cards_of(mask: int) -> list[int]:
    """The card numbers of a mask in rummy order: rank from ace to king, then suit."""
    cards = []
    while mask:
        low = mask & -mask
        cards.append(CARD_AT[low.bit_length() - 1])
        mask ^= low
    return cards


def texts_of(mask: int) -> list[str]:
    """The card texts of a mask in rummy order."""
    return [CARD_TEXTS[card] for card in cards_of(mask)]


def runs_in(hand: int) -> list[int]:
    """Every run in a hand, those inside longer runs included (RUM-6)."""
    runs = []
    starts = hand & hand >> 4 & hand >> 8
    while starts:
        low = starts & -starts
        starts ^= low
        run = low * 0x111
        following = low << 12
        runs.append(run)
        while hand & following:
            run |= following
            following <<= 4
            runs.append(run)
    return runs


def groups_in(hand: int) -> list[int]:
    """Every group in a hand: of four cards of one rank, the four and each three (RUM-6)."""
    clubs, diamonds = hand & ONE_SUIT, hand >> 1 & ONE_SUIT
    hearts, spades = hand >> 2 & ONE_SUIT, hand >> 3 & ONE_SUIT
    ranks = clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)
    groups = []
    while ranks:
        low = ranks & -ranks
        ranks ^= low
        group = hand & low * 0xF
        groups.append(group)
        if group == low * 0xF:
            groups += [group ^ low << suit for suit in range(3, -1, -1)]
    return groups


ALL_MELDS: Final[tuple[int, ...]] = (*runs_in(ALL_CARDS), *groups_in(ALL_CARDS))
"""Every meld there is: 264 runs and 65 groups."""


def _fitting(meld: int) -> int:
    low = meld & -meld
    rank = low.bit_length() - 1 & ~3
    nibble = 0xF << rank
    if not meld & ~nibble:
        return nibble & ~meld
    high = 1 << meld.bit_length() - 1
    return (low >> 4 | high << 4) & ALL_CARDS


FITTING: Final[dict[int, int]] = {meld: _fitting(meld) for meld in ALL_MELDS}
"""The single cards that fit each meld: the whole with one of them is a meld again (RUM-7).

Its keys are the melds, so ``mask in FITTING`` says whether a set of cards is one.
"""


def value_of(mask: int) -> int:
    """The value of cards left in a hand: K Q J ten, ace one, number cards their number (RUM-16)."""
    value = 0
    while mask:
        low = mask & -mask
        value += min((low.bit_length() - 1) // 4 + 1, 10)
        mask ^= low
    return value
