"""The level ``normal``: holds melds back to go out in one turn, and minds what the next seat wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from croupier.bots.basic_rummy.melds import TEXTS, best_melds
from croupier.bots.basic_rummy.playing import Play
from croupier.bots.basic_rummy.worlds import Unseen
from croupier.bots.bot import Plain
from croupier_games.basic_rummy.melds import texts_of

_DANGER_COSTS: Final = 10
"""Points that a discard costs which the next seat is sure to want."""


class NormalBot:
    """Plays each move as the players of a ``Play`` do, but for discards that the next seat may want."""

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        unseen = Unseen(view)
        shown = unseen.shown()
        if view["phase"] == "draw":
            return "draw discard" if shown.wants_discard() else "draw stock"
        others = [seat["hand_count"] for at, seat in enumerate(view["seats"]) if at != unseen.me]
        laying = unseen.down[unseen.me] or shown.lays(min(others))
        move = laid(shown, legal_moves) if laying else None
        return move or discard_text(ranked_discards(unseen, shown)[0])


def laid(shown: Play, legal_moves: Sequence[str]) -> str | None:
    """The next move that lays cards: the best melds first, then what fits; None when none is legal."""
    for meld in best_melds(shown.hands[shown.seat]):
        move = "meld " + " ".join(texts_of(meld))
        if move in legal_moves:
            return move
    return next((move for move in legal_moves if move.startswith("layoff")), None)


def ranked_discards(unseen: Unseen, shown: Play) -> list[int]:
    """The cards to discard, best first."""
    worth = {card: worth - _DANGER_COSTS * unseen.danger(card) for card, worth in shown.discards()}
    return sorted(worth, key=lambda card: -worth[card])


def discard_text(card: int) -> str:
    """The text of a discard."""
    return "discard " + TEXTS[card.bit_length() - 1]
