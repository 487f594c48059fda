"""What a seat gave away by taking the Playpile.

The law of this file: whoever takes the pile could not play (HU-13), so what nobody has seen of
that hand is lower than the card on top, and neither a 2 nor a 10. That holds for as many cards as
are still held unseen, until the hand is filled again.
"""

from __future__ import annotations

from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.hidden_unders.rounds import HAND_SIZE, TEN
from croupier.bots.hidden_unders.texts import play_of, ranks_of

Limit = tuple[int, int, int]
"""A seat, a rank on top, and how many unseen cards of the seat do not fit on it."""

_NO_TOP: Final = -1


class Memory:
    """One seat's memory of a game; forgets with every new round."""

    def __init__(self) -> None:
        self._round = -1
        self._top = _NO_TOP
        self._known: list[int] = []
        self._limits: dict[int, tuple[int, int]] = {}

    def see(self, view: Plain) -> list[Limit]:
        """Takes in a view of the seat to act; what is known now."""
        if view["round"] != self._round:
            self._round, self._top, self._limits = view["round"], _NO_TOP, {}
        seats = view["seats"]
        if self._top != _NO_TOP and view["phase"] in ("overs", "play"):
            after = (view["to_act"] + 1) % len(seats)
            if len(seats[after]["known"]) > self._known[after]:
                self._limits[after] = (self._top, seats[after]["hand_count"])
            self._top = _NO_TOP
        self._known = [len(seat["known"]) for seat in seats]
        return [limit for at, seat in enumerate(seats) for limit in self._still(at, seat, view["deck_count"])]

    def _still(self, at: int, seat: Plain, deck: int) -> list[Limit]:
        if at not in self._limits:
            return []
        top, count = self._limits[at]
        if deck and seat["hand_count"] <= HAND_SIZE:
            del self._limits[at]
            return []
        count = min(count, seat["hand_count"] - len(seat["known"]))
        self._limits[at] = (top, count)
        return [(at, top, count)] if count else []

    def made(self, view: Plain, move: str) -> None:
        """Takes in the move that the seat makes: what the next one finds on the pile."""
        if move == "done" and view["phase"] == "done":
            pile = ranks_of(view["playpile"])
            self._top = pile[-1] if pile else _NO_TOP
        elif move.startswith("play"):
            rank, count = play_of(move)
            pile = [*ranks_of(view["playpile"]), *[rank] * count]
            cleared = rank == TEN or pile[-4:] == [rank] * 4
            self._top = _NO_TOP if cleared else rank
        elif not move.startswith("overs"):
            self._top = _NO_TOP
