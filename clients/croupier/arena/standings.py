"""What came of an arena, player by player.

The law of this file: a figure is computed from counts when it is asked for; shares come with
their 95% interval.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Final

from croupier.arena.game import ILLEGAL_MOVE, Forfeit, PlayedGame
from croupier.bots import Plain

_Z: Final = 1.96
"""Standard deviations on each side of a 95% interval."""

_HEADINGS: Final = (
    "player",
    "games",
    "wins",
    "win share",
    "95%",
    "mean score",
    "illegal",
    "crashes",
    "p50 ms",
    "p99 ms",
)


@dataclass(slots=True)
class Standing:
    """What one player has done so far.

    ``undecided`` games have no winner. ``score`` is summed over games and the player's seats;
    ``thinking`` is in nanoseconds, one for each move.
    """

    player: str
    games: int = 0
    wins: int = 0
    undecided: int = 0
    score: int = 0
    illegal_moves: int = 0
    crashes: int = 0
    thinking: list[int] = field(default_factory=list)

    def count(self, played: PlayedGame) -> None:
        """Adds one game that the player was in."""
        self.games += 1
        self.wins += self.player in played.winners
        self.undecided += not played.winners
        for seat, name in enumerate(played.names):
            if name == self.player:
                self.score += played.scores[seat]
                self.thinking += played.thinking[seat]
        forfeit = played.forfeit
        if forfeit is not None and forfeit.player == self.player:
            illegal = forfeit.reason == ILLEGAL_MOVE
            self.illegal_moves += illegal
            self.crashes += not illegal

    @property
    def win_share(self) -> float:
        """Wins among the games that somebody won, 0 to 1; 0 when there are none."""
        decided = self.games - self.undecided
        return self.wins / decided if decided else 0.0

    @property
    def win_share_interval(self) -> tuple[float, float]:
        """The 95% interval of ``win_share`` (Wilson's), the games taken as independent."""
        decided = self.games - self.undecided
        if not decided:
            return (0.0, 1.0)
        share, squared = self.win_share, _Z * _Z
        middle = share + squared / (2 * decided)
        half = _Z * (share * (1 - share) / decided + squared / (4 * decided * decided)) ** 0.5
        whole = 1 + squared / decided
        return (max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole))

    @property
    def mean_score(self) -> float:
        """Points a game."""
        return self.score / self.games if self.games else 0.0

    def ms_per_move(self, percent: int) -> float:
        """Milliseconds that ``percent`` (1 to 100) of the moves took at most; 0 without moves."""
        times = sorted(self.thinking)
        return times[-(-len(times) * percent // 100) - 1] / 1e6 if times else 0.0

    def as_plain(self) -> Plain:
        """The figures as plain data, rounded."""
        low, high = self.win_share_interval
        return {
            "player": self.player,
            "games": self.games,
            "wins": self.wins,
            "undecided": self.undecided,
            "win_share": round(self.win_share, 4),
            "win_share_interval": [round(low, 4), round(high, 4)],
            "mean_score": round(self.mean_score, 4),
            "illegal_moves": self.illegal_moves,
            "crashes": self.crashes,
            "moves": len(self.thinking),
            "ms_per_move_p50": round(self.ms_per_move(50), 4),
            "ms_per_move_p99": round(self.ms_per_move(99), 4),
        }

    def to_row(self) -> tuple[str, ...]:
        """The figures as texts, one for each heading of ``ArenaResult.to_rows``."""
        low, high = self.win_share_interval
        return (
            self.player,
            str(self.games),
            str(self.wins),
            f"{self.win_share:.1%}",
            f"{low:.1%} to {high:.1%}",
            f"{self.mean_score:+.2f}",
            str(self.illegal_moves),
            str(self.crashes),
            f"{self.ms_per_move(50):.3f}",
            f"{self.ms_per_move(99):.3f}",
        )


@dataclass(frozen=True, slots=True)
class ArenaResult:
    """Standings in the order in which the players were given, and forfeits as they came."""

    game: str
    seed: str
    boards: int
    games: int
    standings: tuple[Standing, ...]
    forfeits: tuple[Forfeit, ...]

    def as_plain(self) -> Plain:
        """All of it as plain data."""
        return {
            "game": self.game,
            "seed": self.seed,
            "boards": self.boards,
            "games": self.games,
            "players": [standing.as_plain() for standing in self.standings],
            "forfeits": [asdict(forfeit) for forfeit in self.forfeits],
        }

    def to_rows(self) -> list[tuple[str, ...]]:
        """A table of texts: the headings, then a row a player."""
        return [_HEADINGS, *(standing.to_row() for standing in self.standings)]
