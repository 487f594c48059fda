"""Sets of cards as bits, and their ranks as counts.

The law of this file: three ints describe the same cards at three depths, and each follows
from the one before.

- *bits*: which cards. Bit ``4 * rank + suit``, where ranks are numbered by strength (DDZ-9:
  3 is 0, ace 11, 2 is 12, black joker 13, red joker 14) and suits C D H S are 0 to 3. So the
  bits from low to high are the canonical order of a move's cards.
- *counts*: how many of each rank, suits forgotten. Four bits a rank, at ``4 * rank``.
- *levels*: which ranks are held at least once, twice, three and four times: four masks of a
  bit a rank, 16 bits apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from croupier_games.cards import BLACK_JOKER, CARD_NUMBERS, CARD_TEXTS, RED_JOKER, format_cards

RANK_TEXTS: Final = ("3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2", "BJ", "RJ")
"""The text of each rank, weakest first."""

SUITED_RANKS: Final = 0x1FFF
"""The mask of the ranks that have four cards."""
RUN_RANKS: Final = 0x0FFF
"""The mask of the ranks that may stand in a run: 3 to ace (DDZ-14 to 16)."""
ALL_RANKS: Final = 0x7FFF
JOKERS: Final = 0x6000
"""The mask of both jokers, which are single cards of two ranks."""


def _bit_of(card: int) -> int:
    if card == BLACK_JOKER:
        return 1 << 4 * 13
    if card == RED_JOKER:
        return 1 << 4 * 14
    return 1 << 4 * ((card - 1) % 13) + card // 13


BITS: Final[tuple[int, ...]] = tuple(_bit_of(card) for card in range(54))
"""The one bit of each card, by card number."""

DECK: Final = sum(BITS)
"""All 54 cards."""

BIT_OF_TEXT: Final[dict[str, int]] = {text: BITS[card] for text, card in CARD_NUMBERS.items()}
"""The one bit of each card, by its text."""

_CARD_OF_BIT: Final[dict[int, int]] = {bit: card for card, bit in enumerate(BITS)}


def cards_of(bits: int) -> tuple[int, ...]:
    """The card numbers of a set, low to high; bits that are no card are left out."""
    cards = []
    left = bits & DECK
    while left:
        lowest = left & -left
        cards.append(_CARD_OF_BIT[lowest])
        left ^= lowest
    return tuple(cards)


def texts_of(bits: int) -> list[str]:
    """The card texts of a set, low to high.

    >>> texts_of(BIT_OF_TEXT["2C"] | BIT_OF_TEXT["TS"])
    ['TS', '2C']
    """
    return format_cards(cards_of(bits))


def bits_of(cards: Iterable[Any]) -> int:
    """The set of some card numbers. Raises ``ValueError`` for a number that is no card or comes twice."""
    bits = 0
    for card in cards:
        if isinstance(card, bool) or not isinstance(card, int) or not 0 <= card < 54:
            raise ValueError(f"{card!r} is not a card number; those are 0 to 53")
        bit = BITS[card]
        if bits & bit:
            raise ValueError(f"{CARD_TEXTS[card]} comes twice; there is one of each card")
        bits |= bit
    return bits


def counts_of(bits: int) -> int:
    """The counts of a set: the bits of each group of four added up, all groups at once."""
    pairs = bits - (bits >> 1 & 0x555555555555555)
    return (pairs & 0x333333333333333) + (pairs >> 2 & 0x333333333333333)


_ONE_RANK: Final = [sum(1 << 16 * level for level in range(suits.bit_count())) for suits in range(16)]
_THREE_RANKS: Final = [
    low | middle << 1 | high << 2 for high in _ONE_RANK for middle in _ONE_RANK for low in _ONE_RANK
]


def levels_of(bits: int) -> int:
    """The levels of a set, looked up three ranks at a time."""
    return (
        _THREE_RANKS[bits & 0xFFF]
        | _THREE_RANKS[bits >> 12 & 0xFFF] << 3
        | _THREE_RANKS[bits >> 24 & 0xFFF] << 6
        | _THREE_RANKS[bits >> 36 & 0xFFF] << 9
        | _THREE_RANKS[bits >> 48 & 0xFFF] << 12
    )


def _lowest(count: int, suits: int) -> int:
    """The ``count`` lowest bits of the four in ``suits``, fewer where it has fewer."""
    chosen = 0
    for _ in range(count):
        chosen |= (suits ^ chosen) & -(suits ^ chosen)
    return chosen


_LOWEST: Final = [_lowest(count, suits) for count in range(5) for suits in range(16)]


def lowest_suits(bits: int, counts: int) -> int:
    """The cards of ``bits`` that make up ``counts``, of each rank those of the lowest suits."""
    chosen = 0
    while counts:
        shift = (counts & -counts).bit_length() - 1 & 60
        count = counts >> shift & 15
        chosen |= _LOWEST[count << 4 | bits >> shift & 15] << shift
        counts ^= count << shift
    return chosen
