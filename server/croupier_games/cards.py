"""Cards, decks and their text.

The law of this file: a card is an ``int``, its place in the unshuffled deck
``2C 3C … AC 2D … AD 2H … AH 2S … AS BJ RJ`` (0 to 53). So ``card % 13`` is the rank
index in ``23456789TJQKA`` and ``card // 13`` the suit index in ``CDHS`` for the first 52;
52 is the black (small) joker and 53 the red (big) one. In play the cards of one rank and
suit are the same card: a second deck repeats the same numbers.

What a viewer may not see is written ``??`` (``HIDDEN``), never a card number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDHS"
BLACK_JOKER: Final = 52
RED_JOKER: Final = 53
HIDDEN: Final = "??"

CARD_TEXTS: Final[tuple[str, ...]] = (*(r + s for s in SUITS for r in RANKS), "BJ", "RJ")
"""The text of each card, by its number."""

CARD_NUMBERS: Final[dict[str, int]] = {text: number for number, text in enumerate(CARD_TEXTS)}
"""The number of each card, by its text."""


def fresh_deck(decks: int = 1, *, jokers: bool = False) -> list[int]:
    """The cards before the shuffle: each deck in order, then the jokers.

    >>> [CARD_TEXTS[c] for c in fresh_deck(jokers=True)[-3:]]
    ['AS', 'BJ', 'RJ']
    """
    cards = list(range(52)) * decks
    if jokers:
        cards += [BLACK_JOKER, RED_JOKER]
    return cards


def parse_cards(texts: Iterable[str]) -> list[int]:
    """Card numbers of card texts.

    Raises ``ValueError`` naming the first text that is no card (``??`` is none).
    """
    cards = []
    for text in texts:
        card = CARD_NUMBERS.get(text)
        if card is None:
            raise ValueError(f"{text!r} is not a card; write rank then suit, as in TD, or BJ, RJ")
        cards.append(card)
    return cards


def format_cards(cards: Sequence[int]) -> list[str]:
    """Card texts of card numbers, in the order given."""
    return [CARD_TEXTS[card] for card in cards]
