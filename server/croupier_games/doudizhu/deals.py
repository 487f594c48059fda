"""Deals as plain data: cutting a shuffled deck, and reading a deal back (DDZ-1, DDZ-2).

The law of this file: a deal that is let in has a first bidder, three hands of 17 and three
bottom cards, and those are the 54 cards, each once. A deal is
``{"first": 1, "hands": [["3C", …], …], "bottom": ["5S", …]}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier_games.cards import format_cards
from croupier_games.doudizhu.cardset import BIT_OF_TEXT, DECK, bits_of, texts_of
from croupier_games.doudizhu.state import PLAYERS
from croupier_games.game import InvalidDeal, Plain, Untrusted

HAND_SIZE: Final = 17
BOTTOM_SIZE: Final = 3


def cut(cards: Sequence[int], first: Untrusted) -> Plain:
    """Cut a shuffled deck from the front: 17 cards a seat in turn, then the bottom.

    Raises ``InvalidDeal`` when ``cards`` are not the 54 card numbers, or ``first`` is no seat.
    """
    try:
        whole = bits_of(cards) == DECK
    except ValueError as error:
        raise _invalid(f"the cards are not one deck: {error}") from None
    if not whole:
        raise _invalid(f"a deal has 54 cards, not {len(cards)}")
    ends = range(HAND_SIZE, HAND_SIZE * PLAYERS + 1, HAND_SIZE)
    return {
        "first": _seat(first),
        "hands": [format_cards(cards[end - HAND_SIZE : end]) for end in ends],
        "bottom": format_cards(cards[-BOTTOM_SIZE:]),
    }


def read(deal: Mapping[str, Any]) -> tuple[int, tuple[int, int, int], int]:
    """The first bidder, the hands and the bottom cards (as bits) of a deal.

    Raises ``InvalidDeal`` when it is not a whole one.
    """
    if not isinstance(deal, Mapping):
        raise _invalid("it is an object with first, hands and bottom")
    for key in ("first", "hands", "bottom"):
        if key not in deal:
            raise _invalid(f"it has no {key!r}")
    first = _seat(deal["first"])
    hands = deal["hands"]
    if not isinstance(hands, list | tuple) or len(hands) != PLAYERS:
        raise _invalid(f"hands are a list of {PLAYERS}, one a seat")
    read_hands = [_bits(hand, HAND_SIZE, f"the hand of seat {seat}") for seat, hand in enumerate(hands)]
    bottom = _bits(deal["bottom"], BOTTOM_SIZE, "the bottom")
    dealt = bottom
    for hand in read_hands:
        if dealt & hand:
            raise _invalid(f"dealt twice: {' '.join(texts_of(dealt & hand))}")
        dealt |= hand
    return first, (read_hands[0], read_hands[1], read_hands[2]), bottom


def _seat(first: Untrusted) -> int:
    if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first < PLAYERS:
        raise _invalid(f"the first bidder is a seat, 0 to 2, not {str(first)[:20]}")
    return first


def _bits(texts: Untrusted, size: int, what: str) -> int:
    """The cards of one list of texts as bits."""
    if not isinstance(texts, list | tuple) or len(texts) != size:
        raise _invalid(f"{what} is a list of {size} cards")
    bits = 0
    for text in texts:
        bit = BIT_OF_TEXT.get(text) if isinstance(text, str) else None
        if bit is None:
            raise _invalid(f"{what} has something that is no card: {str(text)[:20]}")
        if bits & bit:
            raise _invalid(f"{what} has {text} twice")
        bits |= bit
    return bits


def _invalid(why: str) -> InvalidDeal:
    return InvalidDeal("INVALID_DEAL", f"not a Dou Dizhu deal: {why}")
