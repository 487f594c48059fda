"""Canonical bytes of a position, for state digests.

The law of this file: equal positions have equal bytes however they were reached, and every
later version of the code writes the same bytes. So the bytes are written out field by field,
in texts and numbers of the rules, and hold of the past only what still matters.
"""

from __future__ import annotations

import json
from typing import Final

from croupier_games.doudizhu.cardset import RANK_TEXTS, texts_of
from croupier_games.doudizhu.combinations import Combination
from croupier_games.doudizhu.state import (
    BIDDING,
    NOBODY,
    PLAYING,
    State,
    farmers_played,
    landlord_plays,
)
from croupier_games.game import Plain

_PHASES: Final = ("", "bidding", "playing", "redeal due", "deal due", "over")


def fingerprint(state: State) -> bytes:
    """Sorted compact JSON in ASCII of everything that decides the future."""
    match, bidding = state.match, state.bidding
    position: Plain = {
        "deals": match.deals,
        "max_redeals": match.max_redeals,
        "played": match.played,
        "voids": match.voids,
        "totals": list(match.totals),
        "deal": state.deal.number,
        "redeals": state.deal.redeals,
        "phase": _PHASES[state.phase],
        "to_act": _seat_or_none(state.to_act),
        "hands": [texts_of(hand) for hand in state.hands],
        "bid": bidding.bid,
        "bidder": _seat_or_none(bidding.bidder),
        "multiplier": state.multiplier,
    }
    if state.phase == BIDDING:
        position["bottom"] = texts_of(state.deal.bottom)
        position["passes"] = _passes(bidding.calls)
    elif state.phase == PLAYING:
        position["table"] = _table(state.table)
        position["passes"] = _passes(state.plays)
        position["landlord_plays"] = min(landlord_plays(state), 2)
        position["farmers_played"] = farmers_played(state)
    return json.dumps(position, sort_keys=True, separators=(",", ":")).encode("ascii")


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else seat


def _passes(turns: tuple[int, ...]) -> int:
    """How many turns at the end were passes."""
    passes = 0
    while passes < len(turns) and turns[-1 - passes] == 0:
        passes += 1
    return passes


def _table(table: Combination | None) -> list[str | int] | None:
    """The kind, size and deciding rank: all that matters for beating it (DDZ-9)."""
    return None if table is None else [table.name, table.shape.size, RANK_TEXTS[table.top]]
