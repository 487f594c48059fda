"""The position: what a game of Basic Rummy is made of between two moves.

The law of this file: a state that has been handed out is never written again. A deal or a move makes
the next one from a ``draft``, a copy that nobody else holds yet. Whenever a seat is to draw, the
discard pile has a card, and the stock has one too or the pile may still be turned over; RUM-8 and
RUM-12 see to that, so both draws are always legal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from croupier_games.basic_rummy.melds import FITTING
from croupier_games.immutable import Immutable

if TYPE_CHECKING:
    from croupier_games.basic_rummy.moves import Move

DRAW: Final = "draw"
MELD: Final = "meld"
DEALING: Final = "dealing"
OVER: Final = "over"

NOBODY: Final = -1
NO_CARD: Final = -1

MOST_TURN_OVERS: Final = 2
"""How often the discard pile becomes the stock in one hand (RUM-11)."""


class Settings:
    """The resolved options and the number of players of one game."""

    __slots__ = ("double_with_discard", "players", "points", "turn_limit")

    def __init__(self, players: int, points: int, double_with_discard: bool, turn_limit: int) -> None:
        self.players: Final = players
        self.points: Final = points
        self.double_with_discard: Final = double_with_discard
        self.turn_limit: Final = turn_limit


class TableMeld:
    """A meld on the table: the seat that laid it, its mask, and the single cards that fit it."""

    __slots__ = ("fitting", "mask", "seat")

    def __init__(self, seat: int, mask: int) -> None:
        self.seat: Final = seat
        self.mask: Final = mask
        self.fitting: Final = FITTING[mask]


class HandResult:
    """How one hand ended (RUM-13 to RUM-17); ``values`` and ``points`` are one a seat."""

    __slots__ = ("doubled", "points", "turn_overs", "values", "went_out", "winner")

    def __init__(
        self,
        winner: int,
        went_out: bool,
        values: tuple[int, ...],
        points: tuple[int, ...],
        doubled: bool,
        turn_overs: int,
    ) -> None:
        self.winner: Final = winner
        self.went_out: Final = went_out
        self.values: Final = values
        self.points: Final = points
        self.doubled: Final = doubled
        self.turn_overs: Final = turn_overs


class State(Immutable):
    """One position. Sets of cards are masks, sets of seats have seat ``s`` at bit ``s``."""

    __slots__ = (
        "drawn",
        "gone_down",
        "hand_number",
        "hands",
        "known",
        "last",
        "melded",
        "melds",
        "mover",
        "phase",
        "pile",
        "results",
        "seat",
        "settings",
        "start",
        "stock",
        "taken",
        "totals",
        "turn_overs",
        "turns",
    )

    def __init__(
        self,
        settings: Settings,
        hand_number: int,
        start: int,
        hands: tuple[int, ...],
        pile: tuple[int, ...],
        stock: tuple[int, ...],
        totals: tuple[int, ...],
        results: tuple[HandResult, ...],
    ) -> None:
        """The position of a hand just dealt."""
        self.settings = settings
        self.hand_number = hand_number
        self.start = start
        self.totals = totals
        self.results = results
        """The hands that are over, oldest first."""
        self.phase = DRAW
        self.seat = start
        """The seat whose turn it is, or was when the hand ended."""
        self.hands = hands
        self.known = (0,) * settings.players
        """The cards in each hand that everybody has seen go there (RUM-4)."""
        self.pile = pile
        """The discard pile, oldest card first."""
        self.stock = stock
        """The stock, next card first."""
        self.turn_overs = 0
        self.melds: tuple[TableMeld, ...] = ()
        self.melded = 0
        """The seats that have laid a meld in this hand (RUM-7)."""
        self.gone_down = 0
        """The seats that had laid one before the present turn (RUM-17)."""
        self.drawn = NO_CARD
        """The card drawn this turn, while it is in the hand."""
        self.taken = NO_CARD
        """The same, where it came from the discard pile (RUM-9)."""
        self.turns = 0
        """The turns of this hand that have ended (RUM-14)."""
        self.mover = NOBODY
        self.last: Move | None = None
        """The move that made this state and the seat that made it; None after a deal."""

    def draft(self) -> State:
        """A copy to write the next position on."""
        new = State(
            self.settings,
            self.hand_number,
            self.start,
            self.hands,
            self.pile,
            self.stock,
            self.totals,
            self.results,
        )
        new.phase = self.phase
        new.seat = self.seat
        new.known = self.known
        new.turn_overs = self.turn_overs
        new.melds = self.melds
        new.melded = self.melded
        new.gone_down = self.gone_down
        new.drawn = self.drawn
        new.taken = self.taken
        new.turns = self.turns
        return new

    def to_act(self) -> int | None:
        """The seat to move, or None when a deal is due or the game is over."""
        return self.seat if self.phase in (DRAW, MELD) else None


def replaced(masks: tuple[int, ...], seat: int, mask: int) -> tuple[int, ...]:
    """``masks`` with that of ``seat`` exchanged."""
    return (*masks[:seat], mask, *masks[seat + 1 :])
