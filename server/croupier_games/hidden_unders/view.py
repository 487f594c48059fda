"""What a seat or a spectator may know.

The law of this file: a view is built up from nothing. A viewer's own hand is the only thing in
it that not everybody sees; Hidden Unders and the draw deck are in it as slots and a count
(HU-3). Keys are the fields of ``HiddenUndersView`` and its parts.
"""

from croupier_games.cards import format_cards
from croupier_games.game import Plain
from croupier_games.hidden_unders.ranks import Cards
from croupier_games.hidden_unders.state import Seat, State


def view(state: State, viewer: int | None) -> Plain:
    """What ``viewer`` (None: a spectator) may know. Raises ``ValueError`` for a seat that is not there."""
    _check_viewer(state, viewer)
    return {
        "phase": state.phase,
        "to_act": state.to_act(),
        "round": state.round,
        "scores": list(state.totals),
        "hand": [] if viewer is None else format_cards(state.seats[viewer].hand),
        "seats": [_seat(seat, state.deck) for seat in state.seats],
        "playpile": format_cards(state.pile),
        "cleared": format_cards(state.cleared),
        "deck_count": len(state.deck),
        "start": state.start,
        "turns": state.turns,
    }


def happened(state: State, viewer: int | None) -> list[Plain]:
    """The effects that made ``state``, as ``viewer`` may know them. Raises as ``view`` does."""
    _check_viewer(state, viewer)
    return [effect.plain(viewer) for effect in state.effects]


def happened_in_public(state: State) -> bool:
    """True when ``happened`` is the same for everybody."""
    return not any(effect.private for effect in state.effects)


def _seat(seat: Seat, deck: Cards) -> Plain:
    return {
        "hand_count": len(seat.hand),
        "overs": format_cards(seat.overs),
        "overs_placed": seat.placed,
        "unders": seat.slots(),
        "known": format_cards(seat.known),
        "zone": seat.zone(deck),
    }


def _check_viewer(state: State, viewer: int | None) -> None:
    # A negative seat would count from the end and show another seat's hand.
    if viewer is not None and not 0 <= viewer < state.settings.players:
        raise ValueError(f"there is no seat {viewer}")
