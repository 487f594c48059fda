"""What is shown: views, effects, facts and the fingerprint (RUM-4).

The law of this file: a view and an effect are built up from nothing, out of what its seat may know.
Hidden are the cards in the other hands, but for those that everybody saw go there, and the stock, until
the discard pile, which everybody saw grow, has become the stock.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from croupier_games.basic_rummy.melds import texts_of
from croupier_games.basic_rummy.moves import STOCK, Discard, Draw, LayOff, Meld
from croupier_games.basic_rummy.state import NO_CARD, NOBODY, HandResult, State
from croupier_games.cards import CARD_TEXTS, HIDDEN, format_cards

if TYPE_CHECKING:
    from croupier_games.game import Plain


def _check_viewer(state: State, seat: int | None) -> None:
    if seat is not None and not 0 <= seat < state.settings.players:
        raise ValueError(f"seat {seat} is none of the seats 0 to {state.settings.players - 1}")


def view(state: State, seat: int | None) -> Plain:
    """The fields of message ``BasicRummyView``. Raises ``ValueError`` for a seat there is not."""
    _check_viewer(state, seat)
    return {
        "phase": state.phase,
        "to_act": state.to_act(),
        "hand_number": state.hand_number,
        "scores": list(state.totals),
        "hand": [] if seat is None else texts_of(state.hands[seat]),
        "seats": [_seat(state, each) for each in range(state.settings.players)],
        "melds": _melds(state),
        "discard_pile": format_cards(state.pile),
        "stock_count": len(state.stock),
        "stock_known": format_cards(state.stock) if state.turn_overs else [],
        "turn_overs": state.turn_overs,
        "taken": _card(state.taken),
        "start": state.start,
        "turns": state.turns,
    }


def _seat(state: State, seat: int) -> Plain:
    return {
        "hand_count": state.hands[seat].bit_count(),
        "has_melded": bool(state.melded >> seat & 1),
        "has_gone_down": bool(state.gone_down >> seat & 1),
        "known": texts_of(state.known[seat]),
    }


def _melds(state: State) -> list[Plain]:
    return [{"seat": meld.seat, "cards": texts_of(meld.mask)} for meld in state.melds]


def _card(card: int) -> str | None:
    return None if card == NO_CARD else CARD_TEXTS[card]


def _winner(result: HandResult) -> int | None:
    return None if result.winner == NOBODY else result.winner


def happened(state: State, seat: int | None) -> list[Plain]:
    """The effects of the deal or move that made ``state``, each a field of ``BasicRummyEffect``.

    Raises ``ValueError`` for a seat there is not.
    """
    _check_viewer(state, seat)
    mover, move = state.mover, state.last
    effects: list[Plain] = []
    if move is None:
        effects.append({"dealt": _dealt(state, seat)})
    elif isinstance(move, Draw):
        if _turned_over(state, move):
            count = len(state.stock) + 1
            effects.append({"turned_over": {"stock_count": count, "turn_overs": state.turn_overs}})
        seen = seat == mover or move.source != STOCK
        card = CARD_TEXTS[state.drawn] if seen else HIDDEN
        effects.append({"drew": {"seat": mover, "source": move.source, "card": card}})
    elif isinstance(move, Meld):
        number, cards = len(state.melds) - 1, format_cards(move.cards)
        effects.append({"melded": {"seat": mover, "meld": number, "cards": cards}})
    elif isinstance(move, LayOff):
        cards = format_cards(move.cards)
        effects.append({"laid_off": {"seat": mover, "meld": move.meld, "cards": cards}})
    elif isinstance(move, Discard):
        effects.append({"discarded": {"seat": mover, "card": CARD_TEXTS[move.card]}})
    if state.to_act() is None:
        effects.append({"hand_over": _hand_over(state)})
    return effects


def happened_in_public(state: State) -> bool:
    """False for a deal, and for a card from the stock."""
    move = state.last
    return move is not None and not (isinstance(move, Draw) and move.source == STOCK)


def _turned_over(state: State, move: Draw) -> bool:
    """Only a pile that has just been turned over is empty after a draw from the stock (RUM-8)."""
    return move.source == STOCK and not state.pile


def _dealt(state: State, seat: int | None) -> Plain:
    return {
        "hand_number": state.hand_number,
        "start": state.start,
        "hand": [] if seat is None else texts_of(state.hands[seat]),
        "discard": CARD_TEXTS[state.pile[0]],
        "stock_count": len(state.stock),
    }


def _hand_over(state: State) -> Plain:
    result = state.results[-1]
    return {
        "winner": _winner(result),
        "went_out": result.went_out,
        "values": list(result.values),
        "points": list(result.points),
        "doubled": result.doubled,
        "totals": list(state.totals),
    }


def facts(state: State) -> list[Plain]:
    """The facts of the hands that are over, oldest first."""
    return [
        {
            "winner": _winner(result),
            "points": list(result.points),
            "doubled": result.doubled,
            "turn_overs": result.turn_overs,
        }
        for result in state.results
    ]


def fingerprint(state: State) -> bytes:
    """Canonical JSON of the position: equal for equal positions, however they were reached."""
    settings = state.settings
    position = {
        "discard": format_cards(state.pile),
        "double_with_discard": settings.double_with_discard,
        "drawn": _card(state.drawn),
        "gone_down": state.gone_down,
        "hand_number": state.hand_number,
        "hands": [texts_of(hand) for hand in state.hands],
        "known": [texts_of(cards) for cards in state.known],
        "melded": state.melded,
        "melds": [[meld.seat, texts_of(meld.mask)] for meld in state.melds],
        "phase": state.phase,
        "points": settings.points,
        "seat": state.seat,
        "start": state.start,
        "stock": format_cards(state.stock),
        "taken": _card(state.taken),
        "totals": list(state.totals),
        "turn_limit": settings.turn_limit,
        "turn_overs": state.turn_overs,
        "turns": state.turns,
    }
    return json.dumps(position, sort_keys=True, separators=(",", ":")).encode()
