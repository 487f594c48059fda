"""Effects: what follows from a deal or a move, kept whole and shown to each audience.

The law of this file: an effect never changes, and only ``plain`` turns it into what a viewer
gets; ``private`` is true exactly when seats are shown different things.
"""

from abc import ABC, abstractmethod
from typing import Final

from croupier_games.cards import CARD_TEXTS, HIDDEN, format_cards
from croupier_games.game import Plain
from croupier_games.hidden_unders.ranks import Cards


class Effect(ABC):
    """One thing that happened. ``private`` when not everybody may know all of it."""

    __slots__ = ("private",)

    def __init__(self, private: bool) -> None:
        self.private: Final = private

    @abstractmethod
    def plain(self, viewer: int | None) -> Plain:
        """One key, the kind, with the fields that ``viewer`` (None: a spectator) may know."""


class Dealt(Effect):
    """A round was dealt; ``hands`` are all hands, sorted (HU-2)."""

    __slots__ = ("deck_count", "hands", "round", "start")

    def __init__(self, round_number: int, start: int, hands: tuple[Cards, ...], deck_count: int) -> None:
        super().__init__(True)
        self.round: Final = round_number
        self.start: Final = start
        self.hands: Final = hands
        self.deck_count: Final = deck_count

    def plain(self, viewer: int | None) -> Plain:
        """``dealt``, with the viewer's own hand."""
        hand: list[str] = [] if viewer is None else format_cards(self.hands[viewer])
        fields = {"round": self.round, "start": self.start, "hand": hand, "deck_count": self.deck_count}
        return {"dealt": fields}


class OversPlaced(Effect):
    """A seat placed ``cards`` (sorted) as Overs (HU-5)."""

    __slots__ = ("cards", "seat")

    def __init__(self, seat: int, cards: Cards) -> None:
        super().__init__(False)
        self.seat: Final = seat
        self.cards: Final = cards

    def plain(self, viewer: int | None) -> Plain:  # noqa: ARG002 - everybody sees it
        """``overs_placed``."""
        return {"overs_placed": {"seat": self.seat, "cards": format_cards(self.cards)}}


class Played(Effect):
    """``cards`` went from ``zone`` to the Playpile (HU-7)."""

    __slots__ = ("cards", "seat", "zone")

    def __init__(self, seat: int, cards: Cards, zone: str) -> None:
        super().__init__(False)
        self.seat: Final = seat
        self.cards: Final = cards
        self.zone: Final = zone

    def plain(self, viewer: int | None) -> Plain:  # noqa: ARG002 - everybody sees it
        """``played``."""
        return {"played": {"seat": self.seat, "cards": format_cards(self.cards), "zone": self.zone}}


class Flipped(Effect):
    """A Hidden Under was turned (HU-16, HU-17)."""

    __slots__ = ("card", "playable", "seat", "slot")

    def __init__(self, seat: int, slot: int, card: int, playable: bool) -> None:
        super().__init__(False)
        self.seat: Final = seat
        self.slot: Final = slot
        self.card: Final = card
        self.playable: Final = playable

    def plain(self, viewer: int | None) -> Plain:  # noqa: ARG002 - everybody sees it
        """``flipped``."""
        fields = {
            "seat": self.seat,
            "slot": self.slot,
            "card": CARD_TEXTS[self.card],
            "playable": self.playable,
        }
        return {"flipped": fields}


class Cleared(Effect):
    """``count`` cards of the Playpile left the round (HU-10, HU-11)."""

    __slots__ = ("count", "seat")

    def __init__(self, seat: int, count: int) -> None:
        super().__init__(False)
        self.seat: Final = seat
        self.count: Final = count

    def plain(self, viewer: int | None) -> Plain:  # noqa: ARG002 - everybody sees it
        """``cleared``."""
        return {"cleared": {"seat": self.seat, "count": self.count}}


class Drew(Effect):
    """A seat used the Draw/Done pile and drew ``cards``, perhaps none (HU-12, HU-14)."""

    __slots__ = ("automatic", "cards", "seat")

    def __init__(self, seat: int, cards: Cards, automatic: bool) -> None:
        super().__init__(len(cards) > 0)
        self.seat: Final = seat
        self.cards: Final = cards
        self.automatic: Final = automatic

    def plain(self, viewer: int | None) -> Plain:
        """``drew``; to others the cards are face down."""
        cards = format_cards(self.cards) if viewer == self.seat else [HIDDEN] * len(self.cards)
        return {"drew": {"seat": self.seat, "cards": cards, "automatic": self.automatic}}


class PickedUp(Effect):
    """A seat took ``cards``: the Playpile and, after a failed flip, the flipped card (HU-13, HU-17)."""

    __slots__ = ("cards", "seat")

    def __init__(self, seat: int, cards: Cards) -> None:
        super().__init__(False)
        self.seat: Final = seat
        self.cards: Final = cards

    def plain(self, viewer: int | None) -> Plain:  # noqa: ARG002 - everybody sees it
        """``picked_up``."""
        return {"picked_up": {"seat": self.seat, "cards": format_cards(self.cards)}}


class RoundOver(Effect):
    """The round ended; ``winner`` is None at the turn limit (HU-19 to HU-21)."""

    __slots__ = ("left", "scores", "totals", "winner")

    def __init__(
        self, winner: int | None, left: tuple[int, ...], scores: tuple[int, ...], totals: tuple[int, ...]
    ) -> None:
        super().__init__(False)
        self.winner: Final = winner
        self.left: Final = left
        self.scores: Final = scores
        self.totals: Final = totals

    def plain(self, viewer: int | None) -> Plain:  # noqa: ARG002 - everybody sees it
        """``round_over``."""
        fields = {
            "winner": self.winner,
            "left": list(self.left),
            "scores": list(self.scores),
            "totals": list(self.totals),
        }
        return {"round_over": fields}
