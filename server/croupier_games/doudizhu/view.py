"""What a seat or a spectator may know, as plain data (``DouDizhuView``, ``DouDizhuEffect``).

The law of this file: a view is built up from nothing. Of the cards it holds only the
viewer's own hand, the bottom once there is a landlord, and what was played; a hand stays
hidden after the deal, too.
"""

from __future__ import annotations

from functools import lru_cache

from croupier_games.cards import HIDDEN
from croupier_games.doudizhu.cardset import texts_of
from croupier_games.doudizhu.combinations import KIND_NAMES, classify
from croupier_games.doudizhu.deals import BOTTOM_SIZE
from croupier_games.doudizhu.state import (
    NOBODY,
    PHASE_NAMES,
    PLAYERS,
    AllPassed,
    DealOver,
    Dealt,
    Doubled,
    Effect,
    LandlordFound,
    NewLead,
    State,
    landlord_of,
    seat_of_play,
)
from croupier_games.game import Plain


def view(state: State, seat: int | None) -> Plain:
    """All that ``seat`` (None: a spectator) may know. Raises ``ValueError`` for no seat."""
    landlord = landlord_of(state)
    return {
        "phase": PHASE_NAMES[state.phase],
        "to_act": _seat_or_none(state.to_act),
        "deal": state.deal.number,
        "deals_played": state.match.played,
        "redeals": state.deal.redeals,
        "scores": list(state.match.totals),
        "hand": _own_hand(state, seat),
        "hand_counts": _hand_counts(state),
        "bottom": [HIDDEN] * BOTTOM_SIZE if landlord == NOBODY else texts_of(state.deal.bottom),
        "first": state.deal.first,
        "bids": [
            {"seat": (state.deal.first + index) % PLAYERS, "amount": amount}
            for index, amount in enumerate(state.bidding.calls)
        ],
        "landlord": _seat_or_none(landlord),
        "bid": state.bidding.bid,
        "multiplier": state.multiplier,
        "plays": [_seat_play(state, index) for index in range(len(state.plays))],
        "to_beat": _to_beat(state),
    }


def happened(state: State, seat: int | None) -> list[Plain]:
    """The effects that made ``state``, as ``seat`` may know them. Raises ``ValueError`` for no seat."""
    if seat is not None and not 0 <= seat < PLAYERS:
        raise _no_seat(seat)
    return [_effect(state, effect, seat) for effect in state.effects]


def happened_in_public(state: State) -> bool:
    """Whether everyone is told the same: all but a deal is public."""
    return not any(isinstance(effect, Dealt) for effect in state.effects)


def _own_hand(state: State, seat: int | None) -> list[str]:
    if seat is None:
        return []
    if not 0 <= seat < PLAYERS:
        raise _no_seat(seat)
    return texts_of(state.hands[seat])


def _no_seat(seat: int) -> ValueError:
    return ValueError(f"seats are 0 to {PLAYERS - 1}, not {seat}")


def _hand_counts(state: State) -> list[int]:
    return [hand.bit_count() for hand in state.hands]


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else seat


def _seat_play(state: State, index: int) -> Plain:
    cards, combination = _played(state.plays[index])
    return {"seat": seat_of_play(state, index), "cards": list(cards), "combination": combination}


@lru_cache(maxsize=4096)
def _played(bits: int) -> tuple[tuple[str, ...], str]:
    """The texts of a play's cards and its kind: a view tells every play of the deal again."""
    combination = classify(bits)
    return tuple(texts_of(bits)), KIND_NAMES[0] if combination is None else combination.name


def _to_beat(state: State) -> Plain | None:
    if state.table is None:
        return None
    last = len(state.plays) - 1
    return _seat_play(state, last if state.plays[last] else last - 1)


def _effect(state: State, effect: Effect, seat: int | None) -> Plain:
    if isinstance(effect, Dealt):
        dealt = {"deal": state.deal.number, "first": state.deal.first}
        return {"dealt": {**dealt, "hand": _own_hand(state, seat), "hand_counts": _hand_counts(state)}}
    if isinstance(effect, AllPassed):
        return {"all_passed": {"redeals": effect.redeals}}
    if isinstance(effect, LandlordFound):
        bottom = texts_of(effect.bottom)
        return {"landlord": {"seat": effect.seat, "bid": effect.bid, "bottom": bottom}}
    if isinstance(effect, Doubled):
        return {"doubled": {"by": effect.by, "multiplier": effect.multiplier}}
    if isinstance(effect, NewLead):
        return {"new_lead": {"seat": effect.seat}}
    return {"deal_over": _deal_over(effect)}


def _deal_over(effect: DealOver) -> Plain:
    return {
        "void": effect.landlord == NOBODY,
        "winner": _seat_or_none(effect.winner),
        "landlord": _seat_or_none(effect.landlord),
        "bid": effect.bid,
        "multiplier": effect.multiplier,
        "scores": list(effect.scores),
        "totals": list(effect.totals),
    }
