"""Bots for Hidden Unders.

The law of this file: suits mean nothing (HU-6), so a choice is made among ranks; which of them
may be played is read off the legal moves, never worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from croupier.bots.bot import Plain

_KEPT: Final = {rank: worth for worth, rank in enumerate("3456789JQKA2T")}
"""By rank, how much a card is worth keeping: a 2 and a 10 go on anything (HU-9, HU-10)."""

_BIG_PILE: Final = 12
"""Cards in the Playpile from which on clearing it with a 10 is worth more than a low card."""


class EasyBot:
    """Gets rid of low cards first, several at once, and keeps 2s and 10s for when they are needed."""

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        if view["phase"] == "overs":
            return max(legal_moves, key=_overs_worth)
        if "done" in legal_moves:
            # After clearing, a draw takes no more cards than the turn's end would, but sooner.
            return "done"
        if legal_moves[0].startswith("flip"):
            return legal_moves[0]  # nobody knows one Hidden Under from another (HU-3)
        return min(legal_moves, key=lambda move: _play_cost(view, move))


def _overs_worth(move: str) -> int:
    """The strongest cards wait as Overs: at the end no draw makes up for weak ones (HU-15)."""
    return sum(_KEPT[card[0]] for card in move.split()[1:])


def _play_cost(view: Plain, move: str) -> tuple[int, int]:
    cards = move.split()[1:]
    rank, count = cards[0][0], len(cards)
    if _completes_four(view["playpile"], rank, count):
        return (-2, -count)
    if rank == "T":
        return (-1 if len(view["playpile"]) >= _BIG_PILE else _KEPT["T"], count)
    if rank == "2":
        return (_KEPT["2"], count)
    return (_KEPT[rank], -count)


def _completes_four(playpile: Sequence[str], rank: str, count: int) -> bool:
    """True when ``count`` more cards of ``rank`` clear the pile (HU-11)."""
    for card in reversed(playpile):
        if card[0] != rank:
            break
        count += 1
    return count >= 4
