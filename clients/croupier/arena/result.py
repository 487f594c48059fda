"""The whole of what an arena found out.

The law of this file: one object holds all that is shown of an arena; the table, the JSON and the
report are made of it and count nothing themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import permutations
from typing import Final

from croupier.arena.game import Forfeit, PlayedGame
from croupier.arena.intervals import Interval, method
from croupier.arena.plan import Plan
from croupier.arena.ratings import Rating, ratings_of
from croupier.arena.sprt import Sprt
from croupier.arena.standings import Pairing, Standing
from croupier.bots import Plain

_HEADINGS: Final = (
    "player",
    "games",
    "wins",
    "win share",
    "95%",
    "mean score",
    "95%",
    "illegal",
    "crashes",
    "timeouts",
    "p50 ms",
    "p99 ms",
)


@dataclass(frozen=True)
class ArenaResult:
    """Standings in the order in which the players were given, and forfeits as they came.

    ``pairings`` hold each ordered pair of players that met.
    """

    game: str
    seed: str
    roles: str
    boards: int
    games: int
    standings: tuple[Standing, ...]
    pairings: tuple[Pairing, ...]
    forfeits: tuple[Forfeit, ...]
    sprt: Sprt | None = None

    @cached_property
    def ratings(self) -> list[Rating]:
        """The players' ratings, best first; none where the extra ``arena`` is missing."""
        return ratings_of([standing.player for standing in self.standings], self.pairings)

    def as_plain(self) -> Plain:
        """All of it as plain data."""
        return {
            "game": self.game,
            "seed": self.seed,
            "roles": self.roles,
            "boards": self.boards,
            "games": self.games,
            "intervals": method(),
            "players": [standing.as_plain() for standing in self.standings],
            "pairs": [pairing.as_plain() for pairing in self.pairings],
            "ratings": [rating.as_plain() for rating in self.ratings],
            "sprt": None if self.sprt is None else self.sprt.as_plain(),
            "forfeits": [asdict(forfeit) for forfeit in self.forfeits],
        }

    def to_rows(self) -> list[tuple[str, ...]]:
        """A table of texts: the headings, then a row a player."""
        return [_HEADINGS, *map(_row, self.standings)]

    def to_cross_table(self) -> list[tuple[str, ...]]:
        """A table of texts: the win share of each against each, ± half of its 95% interval."""
        found = {(pairing.player, pairing.against): pairing for pairing in self.pairings}
        names = [standing.player for standing in self.standings]
        rows: list[tuple[str, ...]] = [("against", *names)]
        for name in names:
            cells = [found.get((name, against)) for against in names]
            rows.append((name, *("" if cell is None else _cell(cell) for cell in cells)))
        return rows

    def to_rating_rows(self) -> list[tuple[str, ...]]:
        """A table of texts: a row a player, best first; no row at all without ratings."""
        rows = [(each.player, f"{each.elo:+.0f}", _elos(each.interval)) for each in self.ratings]
        return [("rating", "Elo", "95%"), *rows] if rows else []


class Count:
    """What adds up a result, board by board in order."""

    def __init__(self, plan: Plan) -> None:
        self._plan: Final = plan
        self._standings: Final = [Standing(name) for name in plan.names]
        self._pairings: Final = [Pairing(*pair) for pair in permutations(plan.names, 2)]
        self._forfeits: Final[list[Forfeit]] = []
        self._boards = 0
        self._games = 0

    def add(self, games: Sequence[PlayedGame]) -> None:
        """Adds the games of the next board."""
        self._boards += 1
        self._games += len(games)
        for standing in self._standings:
            standing.count(games)
        for pairing in self._pairings:
            pairing.count(games)
        self._forfeits.extend(played.forfeit for played in games if played.forfeit is not None)

    def result(self, sprt: Sprt | None = None) -> ArenaResult:
        """All that was added so far."""
        plan = self._plan
        return ArenaResult(
            game=plan.game,
            seed=plan.seed,
            roles=plan.roles,
            boards=self._boards,
            games=self._games,
            standings=tuple(self._standings),
            pairings=tuple(self._pairings),
            forfeits=tuple(self._forfeits),
            sprt=sprt,
        )


def _row(standing: Standing) -> tuple[str, ...]:
    return (
        standing.player,
        str(standing.games),
        str(standing.wins),
        f"{standing.win_share:.1%}",
        _percents(standing.win_share_interval),
        f"{standing.mean_score:+.2f}",
        _points(standing.tally.mean_interval),
        str(standing.illegal_moves),
        str(standing.crashes),
        str(standing.timeouts),
        f"{standing.ms_per_move(50):.3f}",
        f"{standing.ms_per_move(99):.3f}",
    )


def _cell(pairing: Pairing) -> str:
    low, high = pairing.tally.share_interval
    return f"{pairing.tally.share:.1%} ±{(high - low) * 50:.1f}"


def _percents(interval: Interval) -> str:
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def _points(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval[0]:+.2f} to {interval[1]:+.2f}"


def _elos(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval[0]:+.0f} to {interval[1]:+.0f}"
