"""The state of a game: settings, the match so far, the round on the table, the last effects.

The law of this file: values in a state are tuples or themselves immutable, so states share
them freely. A state is written to only while ``steps`` is making it, before anybody else has
it; from then on it never changes.
"""

import json
from collections.abc import Iterable
from typing import Final

from croupier_games.cards import format_cards
from croupier_games.hidden_unders.effects import Effect
from croupier_games.hidden_unders.options import Settings
from croupier_games.hidden_unders.ranks import Cards, in_order
from croupier_games.immutable import Immutable

# Phases, named as in the view.
OVERS: Final = "overs"
PLAY: Final = "play"
CLEARED: Final = "cleared"
DONE: Final = "done"
DEALING: Final = "dealing"
OVER: Final = "over"

# Zones, named as in the view.
HAND_ZONE: Final = "hand"
OVERS_ZONE: Final = "overs"
UNDERS_ZONE: Final = "unders"
NO_ZONE: Final = "unspecified"

HAND_SIZE: Final = 4
"""Cards up to which the Draw/Done pile fills a hand (HU-14)."""

GONE: Final = -1
"""Stands in a slot whose Hidden Under has been flipped."""

_NO_UNDERS: Final = (GONE, GONE, GONE, GONE)


class Seat:
    """The cards of one seat. Never changes.

    ``hand``, ``overs`` and ``known`` are sorted; ``unders`` are the four slots (``GONE`` once
    flipped); ``known`` are the cards that everybody knows to be in the hand.
    """

    __slots__ = ("hand", "known", "overs", "placed", "unders")

    def __init__(self, hand: Cards, overs: Cards, unders: Cards, known: Cards, placed: bool) -> None:
        self.hand: Final = hand
        self.overs: Final = overs
        self.unders: Final = unders
        self.known: Final = known
        self.placed: Final = placed

    def left(self) -> int:
        """How many cards are in hand, Overs and Hidden Unders."""
        return len(self.hand) + len(self.overs) + 4 - self.unders.count(GONE)

    def is_out(self) -> bool:
        """True when no card is left anywhere (HU-19)."""
        return not self.hand and not self.overs and self.unders == _NO_UNDERS

    def slots(self) -> list[int]:
        """The slots, 0 to 3, whose Hidden Under is still there."""
        return [slot for slot in range(4) if self.unders[slot] != GONE]

    def zone(self, deck: Cards) -> str:
        """The active zone (HU-15). An empty hand that the deck can still fill is one, too."""
        if self.hand or deck:
            return HAND_ZONE
        if self.overs:
            return OVERS_ZONE
        return NO_ZONE if self.unders == _NO_UNDERS else UNDERS_ZONE

    def cards_in(self, zone: str) -> Cards:
        """The cards that may be played from ``zone``: hand or Overs; Hidden Unders are flipped instead."""
        if zone == HAND_ZONE:
            return self.hand
        return self.overs if zone == OVERS_ZONE else ()

    def placing(self, cards: Cards) -> "Seat":
        """With ``cards`` of the hand placed as Overs."""
        return Seat(_without(self.hand, cards), cards, self.unders, self.known, True)

    def playing(self, cards: Cards) -> "Seat":
        """Without ``cards`` of the hand, or of the Overs when the hand is empty."""
        if not self.hand:
            return Seat((), _without(self.overs, cards), self.unders, self.known, True)
        known = _without(self.known, cards) if self.known else ()
        return Seat(_without(self.hand, cards), self.overs, self.unders, known, True)

    def flipping(self, slot: int) -> "Seat":
        """Without the Hidden Under in ``slot``."""
        unders = (*self.unders[:slot], GONE, *self.unders[slot + 1 :])
        return Seat(self.hand, self.overs, unders, self.known, True)

    def drawing(self, cards: Cards) -> "Seat":
        """With ``cards`` of the deck in the hand, unknown to others."""
        return Seat(in_order(self.hand + cards), self.overs, self.unders, self.known, True)

    def taking(self, cards: Cards) -> "Seat":
        """With ``cards`` that all have seen in the hand."""
        return Seat(in_order(self.hand + cards), self.overs, self.unders, in_order(self.known + cards), True)


def _without(held: Cards, cards: Cards) -> Cards:
    """``held`` less ``cards``, each at most as often as it is there."""
    rest = list(held)
    for card in cards:
        if card in rest:
            rest.remove(card)
    return tuple(rest)


class State(Immutable):
    """One position of a game, and the effects of the deal or move that made it.

    ``round`` counts from 0; ``totals`` and ``pickups`` run over all rounds; ``seat`` is whose
    turn it is, ``turns`` how many turns of the round have ended; ``winner`` is the seat that
    won the round, None while it runs and when nobody did; ``pile`` is bottom first, ``deck``
    next card first, ``cleared`` in order of leaving.
    """

    __slots__ = (
        "cleared",
        "deck",
        "effects",
        "phase",
        "pickups",
        "pile",
        "round",
        "seat",
        "seats",
        "settings",
        "start",
        "totals",
        "turns",
        "winner",
    )

    def __init__(
        self,
        settings: Settings,
        round_number: int,
        totals: tuple[int, ...],
        pickups: int,
        start: int,
        turns: int,
        phase: str,
        seat: int,
        winner: int | None,
        seats: tuple[Seat, ...],
        pile: Cards,
        cleared: Cards,
        deck: Cards,
        effects: tuple[Effect, ...],
    ) -> None:
        self.settings = settings
        self.round = round_number
        self.totals = totals
        self.pickups = pickups
        self.start = start
        self.turns = turns
        self.phase = phase
        self.seat = seat
        self.winner = winner
        self.seats = seats
        self.pile = pile
        self.cleared = cleared
        self.deck = deck
        self.effects = effects

    def draft(self) -> "State":
        """A copy without effects, for ``steps`` to make the next state of."""
        return State(
            self.settings,
            self.round,
            self.totals,
            self.pickups,
            self.start,
            self.turns,
            self.phase,
            self.seat,
            self.winner,
            self.seats,
            self.pile,
            self.cleared,
            self.deck,
            (),
        )

    def to_act(self) -> int | None:
        """The seat to move; None when a deal is due or the game is over."""
        return None if self.phase == DEALING or self.phase == OVER else self.seat


def fingerprint(state: State) -> bytes:
    """Canonical JSON of all that decides the moves, results and facts to come.

    What only the views show (cards cleared, cards known to all, effects) is not part of it.
    """
    settings = state.settings
    parts = {
        "players": settings.players,
        "decks": settings.decks,
        "rounds": settings.rounds,
        "auto_done": settings.auto_done,
        "turn_limit": settings.turn_limit,
        "round": state.round,
        "totals": state.totals,
        "pickups": state.pickups,
        "start": state.start,
        "turns": state.turns,
        "phase": state.phase,
        "to_act": state.to_act(),
        "winner": state.winner,
        "seats": [
            {
                "hand": format_cards(seat.hand),
                "overs": format_cards(seat.overs),
                "placed": seat.placed,
                "unders": _slot_texts(seat.unders),
            }
            for seat in state.seats
        ],
        "pile": format_cards(state.pile),
        "deck": format_cards(state.deck),
    }
    return json.dumps(parts, sort_keys=True, separators=(",", ":")).encode("ascii")


def _slot_texts(unders: Iterable[int]) -> list[str | None]:
    return [None if card == GONE else format_cards((card,))[0] for card in unders]
