"""What the rules let each seat know at each number of a table, fast enough for long runs.

The law of this file: as ``server.eyes`` has it, but for the deal that is played alone: a card of an
earlier deal, which everybody saw, says nothing of where it is now.
"""

from __future__ import annotations

from typing import Any

from chaos.history import Seat
from games.knowledge import KNOWN
from server.eyes import History


class Knowledge:
    """Answers ``history.Known`` for one table."""

    def __init__(self, told: History) -> None:
        self._told = told
        self._rules = _RememberedViews(told.state.rules)

    def at(self, seq: int, seat: Seat) -> set[str]:
        """The cards that a seat may know at a number; none before the first deal."""
        deal, count = self._told.at[seq]
        if deal < 0:
            return set()
        known = KNOWN[self._told.state.rules.name]
        return known(self._rules, self._told.deals[deal], self._told.moments[deal][:count], seat)


class _RememberedViews:
    """A game that makes each view once. The states live as long as this does."""

    def __init__(self, rules: Any) -> None:
        self._rules = rules
        self._views: dict[tuple[int, Seat], Any] = {}

    def view(self, state: Any, seat: Seat) -> Any:
        key = id(state), seat
        if key not in self._views:
            self._views[key] = self._rules.view(state, seat)
        return self._views[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)
