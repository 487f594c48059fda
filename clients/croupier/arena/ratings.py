"""Ratings: one number a player, from all its games against all others.

The law of this file: ratings are Bradley and Terry's, fitted to who did better in the games of each
two players (``Pairing``), in Elo and 0 on average. ``choix`` fits them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import log
from typing import TYPE_CHECKING, Final

from croupier.arena.intervals import Interval, resampled_sums
from croupier.arena.standings import Pairing
from croupier.bots import Plain

if TYPE_CHECKING:
    from croupier.arena.intervals import Floats

_RESAMPLES: Final = 200
_ELO: Final = 400 / log(10)
_PRIOR: Final = 0.5
"""Wins that each of a pair gets before its first game: who won all of them is not infinitely strong."""
_AGREED: Final = 1e-3
"""Elo that fits of the same wins differ by at most."""
_MOST_ROUNDS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating with its 95% interval, by bootstrap over deals; None where all deals agree."""

    player: str
    elo: float
    interval: Interval | None

    def as_plain(self) -> Plain:
        """As plain data, rounded."""
        return {
            "player": self.player,
            "elo": round(self.elo, 1),
            "elo_interval": None if self.interval is None else [round(bound, 1) for bound in self.interval],
        }


def ratings_of(names: Sequence[str], pairings: Sequence[Pairing]) -> list[Rating]:
    """Best first; none for less than two players, and where the extra ``arena`` is missing."""
    if len(names) < 2 or not find_spec("choix"):
        return []
    import numpy as np

    wins = np.array([pairing.tally.wins for pairing in pairings], dtype=np.float64).T
    elos = _fitted(names, pairings, wins.sum(axis=0))
    sums = resampled_sums(wins, _RESAMPLES)
    drawn = np.array([_fitted(names, pairings, row) for row in sums])
    lows, highs = np.percentile(drawn, (2.5, 97.5), axis=0)
    ratings = [
        Rating(name, float(elo), (float(low), float(high)) if high - low > _AGREED else None)
        for name, elo, low, high in zip(names, elos, lows, highs, strict=True)
    ]
    return sorted(ratings, key=lambda rating: -rating.elo)


def _fitted(names: Sequence[str], pairings: Sequence[Pairing], wins: Floats) -> Floats:
    import choix
    import numpy as np

    place = {name: index for index, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    for pairing, won in zip(pairings, wins, strict=True):
        matrix[place[pairing.player], place[pairing.against]] = won + _PRIOR
    strengths: Floats = choix.ilsr_pairwise_dense(matrix, max_iter=_MOST_ROUNDS)
    strengths -= strengths.mean()
    return strengths * _ELO
