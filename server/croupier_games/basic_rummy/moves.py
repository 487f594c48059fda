"""The moves of Basic Rummy and their texts.

The law of this file: a move is an immutable value that is its canonical text. Two moves are equal when
their texts are. What cannot be written as a move cannot be made one (``MalformedMove``); whether
a move is legal is not asked here, so ``meld 4H 9C`` is a move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from croupier_games.basic_rummy.melds import ALL_MELDS, BIT, CARD_AT, CARDS, cards_of, texts_of
from croupier_games.cards import CARD_NUMBERS, CARD_TEXTS
from croupier_games.game import MalformedMove
from croupier_games.immutable import Immutable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STOCK: Final = "stock"
DISCARD: Final = "discard"

MOST_MELDS: Final = CARDS // 3
"""As many melds as can ever lie on the table."""


class Move(Immutable):
    """One move. ``text`` is its canonical text, its whole identity."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text: Final = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Move) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"<{self.text}>"


class Draw(Move):
    """Takes the top card of the stock or of the discard pile (RUM-5). ``source`` says which."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        if source not in (STOCK, DISCARD):
            raise MalformedMove(
                "UNKNOWN_SOURCE", f"cards are drawn from stock or discard, not {quoted(source)}"
            )
        super().__init__("draw " + source)
        self.source: Final = source


class Meld(Move):
    """Lays a run or a group (RUM-6). ``cards`` are card numbers, sorted; ``mask`` is their mask."""

    __slots__ = ("cards", "mask")

    def __init__(self, cards: Iterable[int]) -> None:
        mask = _distinct(cards)
        super().__init__("meld " + " ".join(texts_of(mask)))
        self.mask: Final = mask
        self.cards: Final[tuple[int, ...]] = tuple(cards_of(mask))


class LayOff(Move):
    """Adds cards to the meld numbered ``meld``, from 0 in order of laying (RUM-7).

    ``cards`` are card numbers, sorted; ``mask`` is their mask.
    """

    __slots__ = ("cards", "mask", "meld")

    def __init__(self, meld: int, cards: Iterable[int]) -> None:
        if meld < 0:
            raise MalformedMove("UNKNOWN_MELD", f"melds are numbered from 0, so {meld} is none")
        mask = _distinct(cards)
        super().__init__(f"layoff {meld} " + " ".join(texts_of(mask)))
        self.meld: Final = meld
        self.mask: Final = mask
        self.cards: Final[tuple[int, ...]] = tuple(cards_of(mask))


class Discard(Move):
    """Ends the turn by discarding (RUM-8). ``card`` is the card number; ``mask`` is its mask."""

    __slots__ = ("card", "mask")

    def __init__(self, card: int) -> None:
        mask = _distinct([card])
        super().__init__("discard " + CARD_TEXTS[card])
        self.card: Final = card
        self.mask: Final = mask


def quoted(text: str) -> str:
    """``text`` as shown in a message; long ones are cut."""
    return repr(text if len(text) <= 20 else text[:20] + "…")


def _distinct(cards: Iterable[int]) -> int:
    mask = 0
    for card in cards:
        if not 0 <= card < CARDS:
            raise MalformedMove("UNKNOWN_CARD", f"card number {card} is none of the 52 cards 0 to 51")
        if mask & BIT[card]:
            raise MalformedMove(
                "DUPLICATE_CARD", f"{CARD_TEXTS[card]} is named twice; there is one of each card"
            )
        mask |= BIT[card]
    if not mask:
        raise MalformedMove("NO_CARDS", "name at least one card, as in meld 4H 5H 6H")
    return mask


def _cards(words: Sequence[str]) -> list[int]:
    cards = []
    for word in words:
        card = CARD_NUMBERS.get(word, CARDS)
        if card >= CARDS:
            raise MalformedMove(
                "UNKNOWN_CARD",
                f"{quoted(word)} is no card of this game; write rank then suit, as in TD, without jokers",
            )
        cards.append(card)
    return cards


def _meld_number(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 9):
        raise MalformedMove(
            "UNKNOWN_MELD", f"{quoted(word)} is no number of a meld; write it first, as in layoff 1 7H"
        )
    return int(word)


def parse_move(text: str) -> Move:
    """The move of its text; cards in any order, spaces at will. Raises ``MalformedMove``."""
    kind, *words = text.split() or [""]
    if kind == "draw" and len(words) == 1:
        return Draw(words[0])
    if kind == "meld":
        return Meld(_cards(words))
    if kind == "layoff" and words:
        return LayOff(_meld_number(words[0]), _cards(words[1:]))
    if kind == "discard" and len(words) == 1:
        return Discard(_cards(words)[0])
    raise MalformedMove(
        "UNKNOWN_MOVE",
        f"{quoted(text)} is no move; there are: draw stock, draw discard, "
        "meld 4H 5H 6H, layoff 1 7H, discard KC",
    )


# All moves that ``legal_moves`` can list are made once, here.

DRAWS: Final = (Draw(STOCK), Draw(DISCARD))

MELD_OF: Final[dict[int, Meld]] = {mask: Meld(cards_of(mask)) for mask in ALL_MELDS}
"""The move that lays each meld, by its mask."""

LAY_OFF_AT: Final[list[list[LayOff]]] = [
    [LayOff(number, [card]) for card in CARD_AT] for number in range(MOST_MELDS)
]
"""The lay-off of a single card, by meld number and the card's bit."""

DISCARD_AT: Final[list[Discard]] = [Discard(card) for card in CARD_AT]
"""The discard of each card, by the card's bit."""
