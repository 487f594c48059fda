"""Counts of one player, or of one player against another, deal by deal.

The law of this file: counts are kept for every deal, because the deal is the unit of all that is
estimated; a figure is computed when it is asked for.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from croupier.arena.intervals import Interval, ratio_interval, wilson


def _counts() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Tally:
    """Four counts a deal: games, those that somebody won, those that were won, and points."""

    games: array[int] = field(default_factory=_counts)
    decided: array[int] = field(default_factory=_counts)
    wins: array[int] = field(default_factory=_counts)
    points: array[int] = field(default_factory=_counts)

    def add(self, games: int, decided: int, wins: int, points: int) -> None:
        """Adds a deal."""
        self.games.append(games)
        self.decided.append(decided)
        self.wins.append(wins)
        self.points.append(points)

    @property
    def share(self) -> float:
        """Wins among the games that somebody won, 0 to 1; 0 when there are none."""
        decided = sum(self.decided)
        return sum(self.wins) / decided if decided else 0.0

    @property
    def share_interval(self) -> Interval:
        """The 95% interval of ``share``.

        Where all deals agree no resample differs either; it is Wilson's then, each deal counted
        once.
        """
        found = ratio_interval(self.wins, self.decided)
        if found is None:
            deals = sum(1 for decided in self.decided if decided)
            return wilson(self.share * deals, deals)
        return (max(0.0, found[0]), min(1.0, found[1]))

    @property
    def mean(self) -> float:
        """Points a game."""
        games = sum(self.games)
        return sum(self.points) / games if games else 0.0

    @property
    def mean_interval(self) -> Interval | None:
        """The 95% interval of ``mean``; None where all deals agree."""
        return ratio_interval(self.points, self.games)
