"""What came of an arena, player by player and pair by pair.

The law of this file: a figure is computed from counts when it is asked for; shares and means come
with their 95% interval over deals.
"""

from __future__ import annotations

from array import array
from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass, field

from croupier.arena.game import CRASH, ILLEGAL_MOVE, TIMEOUT, PlayedGame
from croupier.arena.intervals import Interval
from croupier.arena.tally import Tally
from croupier.bots import Plain


@dataclass(slots=True)
class Standing:
    """What one player has done so far.

    ``undecided`` games have no winner. ``score`` is summed over games and the player's seats;
    ``thinking`` is in nanoseconds, one for each move. ``watchdog_cuts`` are thoughts that its
    bots say were cut short: where there are any, the same seed may play another game.
    """

    player: str
    tally: Tally = field(default_factory=Tally)
    illegal_moves: int = 0
    crashes: int = 0
    timeouts: int = 0
    watchdog_cuts: int = 0
    thinking: MutableSequence[int] = field(default_factory=lambda: array("q"))

    def count(self, games: Sequence[PlayedGame]) -> None:
        """Adds the games of one board."""
        mine = [played for played in games if self.player in played.names]
        self.tally.add(
            games=len(mine),
            decided=sum(1 for played in mine if played.winners),
            wins=sum(1 for played in mine if self.player in played.winners),
            points=sum(played.points(self.player) for played in mine),
        )
        for played in mine:
            self._count_conduct(played)

    def _count_conduct(self, played: PlayedGame) -> None:
        for seat, name in enumerate(played.names):
            if name == self.player:
                self.thinking.extend(played.thinking[seat])
                self.watchdog_cuts += played.watchdog_cuts[seat]
        if played.forfeit is not None and played.forfeit.player == self.player:
            reason = played.forfeit.reason
            self.illegal_moves += reason == ILLEGAL_MOVE
            self.crashes += reason == CRASH
            self.timeouts += reason == TIMEOUT

    @property
    def games(self) -> int:
        """Games that the player was in."""
        return sum(self.tally.games)

    @property
    def wins(self) -> int:
        """Games that the player won, alone or with a partner."""
        return sum(self.tally.wins)

    @property
    def undecided(self) -> int:
        """Games that nobody won."""
        return self.games - sum(self.tally.decided)

    @property
    def score(self) -> int:
        """Points of all games and seats."""
        return sum(self.tally.points)

    @property
    def win_share(self) -> float:
        """Wins among the games that somebody won, 0 to 1; 0 when there are none."""
        return self.tally.share

    @property
    def win_share_interval(self) -> Interval:
        """The 95% interval of ``win_share`` over deals."""
        return self.tally.share_interval

    @property
    def mean_score(self) -> float:
        """Points a game."""
        return self.tally.mean

    def ms_per_move(self, percent: int) -> float:
        """Milliseconds that ``percent`` (1 to 100) of the moves took at most; 0 without moves."""
        times = sorted(self.thinking)
        return times[-(-len(times) * percent // 100) - 1] / 1e6 if times else 0.0

    def as_plain(self) -> Plain:
        """The figures as plain data, rounded."""
        return {
            "player": self.player,
            "games": self.games,
            "wins": self.wins,
            "undecided": self.undecided,
            "win_share": round(self.win_share, 4),
            "win_share_interval": rounded(self.win_share_interval),
            "mean_score": round(self.mean_score, 4),
            "mean_score_interval": rounded(self.tally.mean_interval),
            "illegal_moves": self.illegal_moves,
            "crashes": self.crashes,
            "timeouts": self.timeouts,
            "watchdog_cuts": self.watchdog_cuts,
            "moves": len(self.thinking),
            "ms_per_move_p50": round(self.ms_per_move(50), 4),
            "ms_per_move_p99": round(self.ms_per_move(99), 4),
        }


@dataclass(slots=True)
class Pairing:
    """What one player has done against another.

    ``tally.decided`` counts the games in which one of the two did better, ``tally.points`` the
    player's points less the other's.
    """

    player: str
    against: str
    tally: Tally = field(default_factory=Tally)

    def count(self, games: Sequence[PlayedGame]) -> None:
        """Adds the games of one board."""
        shared = [played for played in games if {self.player, self.against} <= {*played.names}]
        better = [played.better(self.player, self.against) for played in shared]
        self.tally.add(
            games=len(shared),
            decided=sum(1 for each in better if each),
            wins=sum(1 for each in better if each > 0),
            points=sum(played.points(self.player) - played.points(self.against) for played in shared),
        )

    def as_plain(self) -> Plain:
        """The figures as plain data, rounded."""
        return {
            "player": self.player,
            "against": self.against,
            "games": sum(self.tally.games),
            "decided": sum(self.tally.decided),
            "wins": sum(self.tally.wins),
            "win_share": round(self.tally.share, 4),
            "win_share_interval": rounded(self.tally.share_interval),
            "mean_margin": round(self.tally.mean, 4),
            "mean_margin_interval": rounded(self.tally.mean_interval),
        }


def rounded(interval: Interval | None) -> list[float] | None:
    """The interval as a list of two."""
    return None if interval is None else [round(interval[0], 4), round(interval[1], 4)]
