"""The state of a game and what can be read off it.

The law of this file: a state is made once and never changes; it holds what a view needs (all
that was called and played in this deal) and the effects of the deal or move that made it.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias, final

from croupier_games.doudizhu.combinations import Combination
from croupier_games.immutable import Immutable

PLAYERS: Final = 3
NOBODY: Final = -1
NEXT: Final = (1, 2, 0)
"""The seat after each seat."""

BIDDING: Final = 1
PLAYING: Final = 2
REDEAL_DUE: Final = 3
DEAL_DUE: Final = 4
OVER: Final = 5

PHASE_NAMES: Final = ("", "bidding", "playing", "dealing", "dealing", "over")
"""What each phase is called in a view."""


class Match(NamedTuple):
    """The options of the game and the deals finished so far; changes when a deal ends."""

    deals: int
    """How many deals the game has (DDZ-29)."""
    max_redeals: int
    played: int
    """Deals finished, void ones included."""
    voids: int
    """Deals that ended void (DDZ-4)."""
    totals: tuple[int, int, int]
    """Points so far, by seat."""


class Deal(NamedTuple):
    """What was fixed when the cards were dealt."""

    number: int
    """From 0; redeals count."""
    redeals: int
    """How often this deal of the game was dealt again (DDZ-4)."""
    first: int
    """The first bidder (DDZ-2)."""
    bottom: int
    """The three bottom cards, as bits."""


class Bidding(NamedTuple):
    """The calls of this deal, in turn from the first bidder, and the highest bid."""

    calls: tuple[int, ...]
    """Each bid, 0 for a pass."""
    bid: int
    """The highest, 0 before any."""
    bidder: int
    """Whose it is, ``NOBODY`` before any."""


class Dealt(NamedTuple):
    """The cards were dealt. The one effect that each seat sees differently."""


class AllPassed(NamedTuple):
    """Three passes and no bid (DDZ-4)."""

    redeals: int
    """How often this deal was dealt again, the coming time included."""


class LandlordFound(NamedTuple):
    """The bidding was won and the bottom cards taken (DDZ-3, DDZ-5)."""

    seat: int
    bid: int
    bottom: int


class Doubled(NamedTuple):
    """The stake was doubled (DDZ-26, DDZ-27)."""

    by: str
    multiplier: int


class NewLead(NamedTuple):
    """Two passes in a row: the seat leads again (DDZ-8)."""

    seat: int


class DealOver(NamedTuple):
    """The deal was won, or void (``winner`` and ``landlord`` are ``NOBODY``)."""

    winner: int
    landlord: int
    bid: int
    multiplier: int
    scores: tuple[int, int, int]
    totals: tuple[int, int, int]


Effect: TypeAlias = Dealt | AllPassed | LandlordFound | Doubled | NewLead | DealOver


@final
class State(Immutable):
    """One position. Hands are sets of cards as bits, see ``cardset``."""

    __slots__ = (
        "bidding",
        "deal",
        "effects",
        "hands",
        "match",
        "multiplier",
        "phase",
        "plays",
        "table",
        "to_act",
    )

    def __init__(
        self,
        match: Match,
        deal: Deal,
        bidding: Bidding,
        phase: int,
        to_act: int,
        hands: tuple[int, int, int],
        plays: tuple[int, ...],
        table: Combination | None,
        multiplier: int,
        effects: tuple[Effect, ...],
    ) -> None:
        self.match: Final = match
        self.deal: Final = deal
        self.bidding: Final = bidding
        self.phase: Final = phase
        self.to_act: Final = to_act
        """The seat to move, or ``NOBODY``."""
        self.hands: Final = hands
        self.plays: Final = plays
        """The cards of each turn as bits, 0 for a pass; the landlord's first, then round the table."""
        self.table: Final = table
        """What the seat to act must beat; None when it leads or nobody is to act."""
        self.multiplier: Final = multiplier
        self.effects: Final = effects
        """What followed from the deal or move that made this state, in order."""


def landlord_of(state: State) -> int:
    """The landlord's seat; ``NOBODY`` while the bidding goes on and when all passed."""
    return NOBODY if state.phase == BIDDING else state.bidding.bidder


def is_void(state: State) -> bool:
    """Whether the current deal has ended without a landlord and will not be dealt again."""
    return state.phase >= DEAL_DUE and state.bidding.bidder == NOBODY


def seat_of_play(state: State, index: int) -> int:
    """Whose turn ``plays[index]`` was: the turn goes round without a break from the landlord."""
    return (state.bidding.bidder + index) % PLAYERS


def landlord_plays(state: State) -> int:
    """How many combinations the landlord has played."""
    return sum(1 for bits in state.plays[::PLAYERS] if bits)


def farmers_played(state: State) -> bool:
    """Whether a farmer has played a combination."""
    return any(state.plays[1::PLAYERS]) or any(state.plays[2::PLAYERS])
