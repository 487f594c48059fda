"""Moves and their text: pass, bid, play.

The law of this file: a move is a value. Two moves are equal when they say the same, whatever
the order of their cards; a move's text is ``pass``, ``bid 2`` or ``play 3C 3D 3H 5S``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias, final

from croupier_games.doudizhu.cardset import BIT_OF_TEXT, bits_of, cards_of, texts_of
from croupier_games.game import MalformedMove
from croupier_games.immutable import Immutable


@final
class Pass(Immutable):
    """Declines to bid, or to beat the play on the table (DDZ-2, DDZ-7)."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pass)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "Pass()"


@final
class Bid(Immutable):
    """Offers to be the landlord for ``amount``, 1 to 3 (DDZ-2).

    Raises ``MalformedMove`` for any other amount.
    """

    __slots__ = ("amount",)

    def __init__(self, amount: int) -> None:
        if not 1 <= amount <= 3:
            raise MalformedMove("INVALID_BID", f"a bid is 1, 2 or 3, not {_shown(amount)}")
        self.amount: Final = int(amount)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bid) and other.amount == self.amount

    def __hash__(self) -> int:
        return self.amount

    def __repr__(self) -> str:
        return f"Bid({self.amount})"


@final
class Play(Immutable):
    """Lays cards: ``bits`` is their set, see ``cardset``. Make it with ``Play.of`` or ``parse_move``.

    It claims nothing about the cards: whether they are a combination, are held, and beat the
    table is for ``check`` to say.
    """

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits: Final = bits

    @staticmethod
    def of(cards: Iterable[int]) -> Play:
        """The play of card numbers in any order.

        Raises ``MalformedMove`` when there are none, one is no card, or one comes twice.
        """
        try:
            bits = bits_of(cards)
        except ValueError as error:
            raise MalformedMove("INVALID_CARDS", str(error)) from None
        if not bits:
            raise MalformedMove("NO_CARDS", "a play has cards; to lay none, pass")
        return Play(bits)

    @property
    def cards(self) -> tuple[int, ...]:
        """The card numbers, weakest rank first, then by suit C D H S."""
        return cards_of(self.bits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Play) and other.bits == self.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def __repr__(self) -> str:
        return f"<{format_move(self)}>"


Move: TypeAlias = Pass | Bid | Play

PASS: Final = Pass()
BIDS: Final = (Bid(1), Bid(2), Bid(3))

_CALLS: Final[dict[str, Move]] = {"pass": PASS, "bid 1": BIDS[0], "bid 2": BIDS[1], "bid 3": BIDS[2]}


def _shown(value: object) -> str:
    """What a caller gave, short enough for a message."""
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def parse_move(text: str) -> Move:
    """The move of its text; card order and extra spaces are free.

    Raises ``MalformedMove`` for any other text. Cards that are no combination are a move, an
    illegal one.
    """
    words = text.split()
    if words[:1] == ["play"]:
        return _parse_play(words[1:])
    move = _CALLS.get(" ".join(words))
    if move is None:
        raise MalformedMove(
            "UNKNOWN_MOVE", f"{_shown(text)} is not a move; write pass, bid 1, bid 2, bid 3, or play 3C 3D"
        )
    return move


def _parse_play(texts: list[str]) -> Play:
    bits = 0
    for text in texts:
        bit = BIT_OF_TEXT.get(text)
        if bit is None:
            raise MalformedMove(
                "INVALID_CARDS", f"{_shown(text)} is not a card; write rank then suit, as in TD, or BJ, RJ"
            )
        if bits & bit:
            raise MalformedMove("INVALID_CARDS", f"{text} comes twice; there is one of each card")
        bits |= bit
    if not bits:
        raise MalformedMove("NO_CARDS", "a play has cards; to lay none, pass")
    return Play(bits)


def format_move(move: Move) -> str:
    """The canonical text of a move.

    >>> format_move(parse_move("play  5S 3D 3C 3H"))
    'play 3C 3D 3H 5S'
    """
    if isinstance(move, Play):
        return "play " + " ".join(texts_of(move.bits))
    if isinstance(move, Bid):
        return f"bid {move.amount}"
    return "pass"
