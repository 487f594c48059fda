"""The level ``normal``: a fixed order of ranks, found by play against itself; pairs as Overs; blocking."""

from __future__ import annotations

from collections.abc import Sequence

from croupier.bots.bot import Plain
from croupier.bots.hidden_unders.rounds import FITS, strongest_four
from croupier.bots.hidden_unders.texts import counts_of, overs_text, play_text
from croupier.bots.hidden_unders.worlds import Unseen


class NormalBot:
    """Plays each move as the players of a ``Round`` do."""

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        if view["phase"] == "overs":
            return overs_text(strongest_four(counts_of(view["hand"])), legal_moves)
        if "done" in legal_moves:
            return "done"  # after clearing, too: more cards to choose from
        if legal_moves[0].startswith("flip"):
            return legal_moves[0]  # nobody knows one Hidden Under from another (HU-3)
        shown = Unseen(view).shown()
        active = shown.hands[shown.seat] or shown.overs[shown.seat]
        rank, count = shown.choice(active & FITS[shown.top])
        return play_text(rank, count, legal_moves)
