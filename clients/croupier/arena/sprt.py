"""A sequential test: which of two strengths the first of two players has, in as few deals as it takes.

The law of this file: one observation is a deal's score, the mean over its games; deals come in
the order of the schedule, and what comes after the decision is not looked at.

It is the generalised sequential probability ratio test as the chess testers' fishtest runs it over
pairs of games (M. Van den Bergh, "A Practical Introduction to the GSPRT"; J. Li, J. Liu and
Z. Ying, "Generalized Sequential Probability Ratio Tests for Separate Families of Hypotheses",
2014): the likelihood of the deals' scores under each hypothesis is that of the most likely
distribution with the hypothesis's mean. Two games with the same cards are anything but
independent, and a pair's five scores carry that where single wins and losses would not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, log
from typing import Final, Literal

from croupier.arena.game import PlayedGame
from croupier.arena.schedule import ArenaError
from croupier.bots import Plain

Accepted = Literal["elo0", "elo1"]

_UNSEEN: Final = 1e-3
"""What a score counts that was not seen yet; without it no first deal could be judged."""
_SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The scores of two games that a deal may have."""
_HALVINGS: Final = 40


def share_of_elo(elo: float) -> float:
    """The share of points, 0 to 1, that is expected of who is ``elo`` stronger (logistic)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def deal_score(games: Sequence[PlayedGame], player: str, other: str) -> float:
    """The mean over the games: 1 where ``player`` did better, 0 where worse, a half where neither."""
    return sum((played.better(player, other) + 1) / 2 for played in games) / len(games)


@dataclass(slots=True)
class Sprt:
    """The test of ``elo0`` against ``elo1``; ``alpha`` and ``beta`` bound its two errors.

    ``alpha`` is how often ``elo1`` is accepted where ``elo0`` is true, ``beta`` the reverse.
    Raises ``ArenaError`` unless ``elo0`` is less than ``elo1``, both of them finite.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    deals: int = 0
    accepted: Accepted | None = None
    llr: float = 0.0
    _seen: Counter[float] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not (isfinite(self.elo0) and isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ArenaError(f"the first Elo is less than the second, not {self.elo0:g} and {self.elo1:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        """At the lower one ``elo0`` is accepted, at the upper one ``elo1`` (Wald's)."""
        return (log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha))

    def add(self, score: float) -> Accepted | None:
        """Counts the next deal, and says what is accepted now; once decided it stays so."""
        if self.accepted is not None:
            return self.accepted
        self.deals += 1
        self._seen[score] += 1
        self.llr = self._ratio()
        low, high = self.bounds
        if self.llr <= low:
            self.accepted = "elo0"
        elif self.llr >= high:
            self.accepted = "elo1"
        return self.accepted

    def _ratio(self) -> float:
        counts = {score: self._seen[score] or _UNSEEN for score in {*_SCORES, *self._seen}}
        total = sum(counts.values())
        shares = {score: count / total for score, count in counts.items()}
        likely0 = _most_likely(shares, share_of_elo(self.elo0))
        likely1 = _most_likely(shares, share_of_elo(self.elo1))
        return total * sum(shares[score] * log(likely1[score] / likely0[score]) for score in shares)

    def as_plain(self) -> Plain:
        """The test as plain data; ``accepted`` is None while it is undecided."""
        low, high = self.bounds
        return {
            "elo0": self.elo0,
            "elo1": self.elo1,
            "alpha": self.alpha,
            "beta": self.beta,
            "deals": self.deals,
            "llr": round(self.llr, 4),
            "bounds": [round(low, 4), round(high, 4)],
            "accepted": self.accepted,
        }


def _most_likely(shares: dict[float, float], mean: float) -> dict[float, float]:
    """The distribution with that mean under which scores seen with these shares are most likely.

    It is ``share / (1 + x * (score - mean))`` where x makes the mean right: the sum of
    ``share * (score - mean) / (1 + x * (score - mean))`` falls in x and is 0 there.
    """
    low, high = -1 / (max(shares) - mean), 1 / (mean - min(shares))
    terms = [(share * (score - mean), score - mean) for score, share in shares.items()]
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        if sum(weighted / (1 + x * distance) for weighted, distance in terms) > 0:
            low = x
        else:
            high = x
    return {score: share / (1 + x * (score - mean)) for score, share in shares.items()}
