"""Exact play with all hands open: who wins a deal that is nearly over.

The law of this file: an answer is right, or there is none. The two farmers win together, so a
position is won by one side or the other; every legal move of both sides is tried until that is
settled or the nodes are spent. Roles and counts are those of ``policy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from croupier.bots.doudizhu.hands import levels_of
from croupier_games.doudizhu.combinations import PLAYS, Combination
from croupier_games.doudizhu.legal import follows, leads

_REMEMBERED: Final = 1 << 16
"""At most so many positions are remembered; then all are forgotten."""

_Position = tuple[int, int, int, int, int, Combination | None]


class Solver:
    """Answers questions, each within a number of nodes; remembers the positions that it settled."""

    def __init__(self) -> None:
        self._known: dict[_Position, bool] = {}
        self._left = 0

    def landlord_wins(
        self, hands: Sequence[int], role: int, table: int, owner: int, nodes: int
    ) -> bool | None:
        """Whether the landlord wins with best play; None when ``nodes`` positions did not tell.

        ``role`` is to act on ``owner``'s play ``table``; 0, or its owner's turn, is a new lead.
        """
        self._left = nodes
        beat = PLAYS[table] if table and owner != role else None
        return self._solved([*hands], role, beat, owner)

    def _solved(self, hands: list[int], role: int, table: Combination | None, owner: int) -> bool | None:
        position = (hands[0], hands[1], hands[2], role, owner if table else role, table)
        known = self._known.get(position)
        if known is not None:
            return known
        if not self._left:
            return None
        self._left -= 1
        won = self._tried(hands, role, table, owner)
        if won is not None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[position] = won
        return won

    def _tried(self, hands: list[int], role: int, table: Combination | None, owner: int) -> bool | None:
        """Every move until one wins for the side to move; the largest plays come first."""
        hand, after, wanted = hands[role], (role + 1) % 3, role == 0
        levels = levels_of(hand)
        plays = leads(levels) if table is None else follows(levels, table)
        if hand in plays:
            return wanted
        for play in reversed(plays):
            if play:
                hands[role] = hand - play
                won = self._solved(hands, after, PLAYS[play], role)
                hands[role] = hand
            else:
                won = self._solved(hands, after, None if owner == after else table, owner)
            if won is None or won == wanted:
                return won
        return not wanted
