"""The four moves of Hidden Unders and their canonical texts.

The law of this file: a move that exists is well formed (its constructor raises
``MalformedMove`` otherwise) and never changes; its cards are sorted, so moves that mean the
same are equal. Whether a move is legal is not decided here.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from croupier_games.cards import CARD_NUMBERS, CARD_TEXTS
from croupier_games.game import MalformedMove
from croupier_games.hidden_unders.ranks import Cards, in_order
from croupier_games.immutable import Immutable

SLOTS: Final = 4
"""Hidden Unders a seat, and so Overs a seat (HU-2, HU-5)."""

_FORMS: Final = "`overs 4C 9D JH KS`, `play 7C 7D`, `flip 2` or `done`"


class _CardsMove(Immutable):
    """A move that names cards: equal to moves of its own class with the same cards."""

    __slots__ = ("cards",)

    def __init__(self, cards: Iterable[int]) -> None:
        try:
            self.cards: Final[Cards] = in_order(cards)
        except (KeyError, TypeError):
            raise MalformedMove("NOT_A_CARD", "a move names cards from 2C to AS") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CardsMove) and type(other) is type(self) and other.cards == self.cards

    def __hash__(self) -> int:
        return hash(self.cards)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_spaced(self.cards)})"


class PlaceOvers(_CardsMove):
    """Place four hand cards (``cards``, sorted) as Overs (HU-5)."""

    __slots__ = ()

    def __init__(self, cards: Iterable[int]) -> None:
        super().__init__(cards)
        if len(self.cards) != SLOTS:
            raise MalformedMove("NOT_FOUR_CARDS", f"overs takes four cards, not {len(self.cards)}")


class Play(_CardsMove):
    """Play one or more cards (``cards``, sorted) on the Playpile (HU-7)."""

    __slots__ = ()

    def __init__(self, cards: Iterable[int]) -> None:
        super().__init__(cards)
        if not self.cards:
            raise MalformedMove("NO_CARDS", "play takes one or more cards, as in `play 7C 7D`")


class Flip(Immutable):
    """Turn the Hidden Under in ``slot``, 0 to 3 (HU-16)."""

    __slots__ = ("slot",)

    def __init__(self, slot: int) -> None:
        if not 0 <= slot < SLOTS:
            raise MalformedMove("NO_SUCH_SLOT", f"flip takes a slot from 0 to {SLOTS - 1}")
        self.slot: Final = slot

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flip) and other.slot == self.slot

    def __hash__(self) -> int:
        return hash(self.slot)

    def __repr__(self) -> str:
        return f"Flip({self.slot})"


class Done(Immutable):
    """Use the Draw/Done pile: draw up to four cards and, unless just cleared, end the turn (HU-12, HU-14)."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Done)

    def __hash__(self) -> int:
        return hash(Done)

    def __repr__(self) -> str:
        return "Done()"


Move = PlaceOvers | Play | Flip | Done

DONE_MOVE: Final = Done()
FLIPS: Final = tuple(Flip(slot) for slot in range(SLOTS))
SINGLES: Final = tuple(Play((card,)) for card in range(52))
"""The plays of one card, by card number."""


def parse_move(text: str) -> Move:
    """The move that ``text`` says; cards in any order, any spacing. Raises ``MalformedMove``.

    >>> format_move(parse_move(" play  7D 7C "))
    'play 7C 7D'
    """
    words = text.split()
    if not words:
        raise MalformedMove("EMPTY_MOVE", f"an empty text is no move; write {_FORMS}")
    verb, arguments = words[0], words[1:]
    if verb == "play":
        return Play(_cards_of(arguments))
    if verb == "overs":
        return PlaceOvers(_cards_of(arguments))
    if verb == "flip":
        return _parse_flip(arguments)
    if verb == "done":
        if arguments:
            raise MalformedMove("UNEXPECTED_WORDS", f"done stands alone, without {_shown(arguments[0])}")
        return DONE_MOVE
    raise MalformedMove("UNKNOWN_MOVE", f"{_shown(verb)} is no move; write {_FORMS}")


def format_move(move: Move) -> str:
    """The canonical text of ``move``."""
    if isinstance(move, Play):
        return f"play {_spaced(move.cards)}"
    if isinstance(move, PlaceOvers):
        return f"overs {_spaced(move.cards)}"
    if isinstance(move, Flip):
        return f"flip {move.slot}"
    return "done"


def _parse_flip(arguments: Sequence[str]) -> Flip:
    if len(arguments) != 1 or arguments[0] not in ("0", "1", "2", "3"):
        raise MalformedMove("NO_SUCH_SLOT", f"flip takes one slot from 0 to {SLOTS - 1}, as in `flip 2`")
    return FLIPS[int(arguments[0])]


def _cards_of(words: Sequence[str]) -> list[int]:
    cards = []
    for word in words:
        card = CARD_NUMBERS.get(word, 52)
        if card >= 52:
            raise MalformedMove("NOT_A_CARD", f"{_shown(word)} is no card of this game; write them as in TD")
        cards.append(card)
    return cards


def _spaced(cards: Cards) -> str:
    return " ".join([CARD_TEXTS[card] for card in cards])


def _shown(word: str) -> str:
    """The word as a message repeats it: quoted, and short whatever was sent."""
    return repr(word if len(word) <= 20 else word[:20] + "…")
