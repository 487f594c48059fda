"""Search: candidates are tried in the same worlds, and the worse half is dropped each round.

The law of this file: the budget is a number of playouts, never a time, so the same seed thinks
the same thought. Only a watchdog knows the clock, far beyond what a thought takes; when it has
to cut one short, it counts that.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from croupier.bots.doudizhu import worlds
from croupier.bots.doudizhu.hands import levels_of
from croupier.bots.doudizhu.knowledge import Knowledge
from croupier.bots.doudizhu.plans import cost
from croupier.bots.doudizhu.playout import landlord_wins
from croupier.bots.doudizhu.policy import PASS, choose
from croupier.bots.doudizhu.solver import Solver
from croupier.bots.doudizhu.worlds import World
from croupier_games.doudizhu.combinations import PLAYS
from croupier_games.doudizhu.legal import follows, leads

_CERTAIN: Final = 4
"""A lead over the second best whose square is so many times the worlds tried is certain enough."""
_OF_EACH_KIND: Final = 2
"""So many of the plays that differ in their wings alone are weighed, those that cost least."""


class Budget(NamedTuple):
    """How much a level thinks about one move."""

    candidates: int
    """Moves that are tried at all."""
    playouts: int
    """For one move, all candidates together."""
    bidding: int
    """Playouts for a bid."""
    choice: int
    """Deals that are weighed for each world that is taken; with 1 none is weighed."""
    solved: int
    """With at most so many cards in all hands, worlds are solved rather than played out."""
    nodes: int
    """Positions that the solver may look at for a candidate in a world, before it is played out."""
    watchdog: float
    """Seconds after which a thought is cut short."""


def by_policy(known: Knowledge) -> int:
    """What the rule policy plays."""
    return choose(known.hand, known.unseen, known.role, known.held, known.table, known.owner)


def candidates(known: Knowledge, most: int) -> list[int]:
    """The moves worth a thought: the policy's, a pass, then those that leave the cheapest hands."""
    levels = levels_of(known.hand)
    plays = follows(levels, PLAYS[known.table])[1:] if known.table else leads(levels)
    if known.hand in plays:
        return [known.hand]
    alike: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for play in plays:
        combination = PLAYS[play]
        key = (combination.shape.kind, combination.shape.size, combination.top)
        alike.setdefault(key, []).append((cost(known.hand - play), play))
    best = sorted(pair for pairs in alike.values() for pair in sorted(pairs)[:_OF_EACH_KIND])
    passes = [PASS] if known.table else []
    return list(dict.fromkeys([by_policy(known), *passes, *(play for _, play in best)]))[:most]


class Search:
    """One bot's search through one game."""

    def __init__(
        self, budget: Budget, rng: random.Random, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._budget: Final = budget
        self._rng: Final = rng
        self._clock: Final = clock
        self._solver: Final = Solver()
        self.playouts = 0
        """Playouts and solved worlds so far."""
        self.watchdog_cuts = 0
        """Thoughts that the watchdog cut short."""

    def best(self, known: Knowledge) -> int:
        """The counts of the move to make, 0 for a pass."""
        left = candidates(known, self._budget.candidates)
        numbers = _worlds_by_round(len(left), self._budget.playouts)
        if not numbers:
            return left[0]
        end = self._clock() + self._budget.watchdog
        wins = dict.fromkeys(left, 0)
        tried = 0
        for number in numbers:
            for world in worlds.drawn(known, number, self._budget.choice, self._rng):
                if self._clock() > end:
                    self.watchdog_cuts += 1
                    return max(left, key=wins.__getitem__)
                for play in left:
                    wins[play] += self._wins(known, world, play)
            tried += number
            if _settled([wins[play] for play in left], tried):
                break
            left = sorted(left, key=lambda play: -wins[play])[: (len(left) + 1) // 2]
        return max(left, key=wins.__getitem__)

    def _wins(self, known: Knowledge, world: World, play: int) -> bool:
        """Whether the seat's side wins this world after the play."""
        self.playouts += 1
        role = known.role
        after = [*world]
        after[role] -= play
        table, owner = (play, role) if play else (known.table, known.owner)
        held = sum(known.held) - (PLAYS[play].shape.size if play else 0)
        following = (role + 1) % 3
        won = None
        if held <= self._budget.solved:
            won = self._solver.landlord_wins(after, following, table, owner, self._budget.nodes)
        if won is None:
            won = landlord_wins(after, following, table, owner)
        return won == (role == 0)


def _settled(wins: list[int], tried: int) -> bool:
    """Whether more worlds would hardly change the choice.

    All candidates win as many of them, or the best leads by two or more standard deviations: in
    a world two candidates differ by one win at most, so the variance of a lead is ``tried``, too.
    """
    best, second = sorted(wins)[-1:-3:-1]
    return min(wins) == best or (best - second) ** 2 > _CERTAIN * tried


def _worlds_by_round(left: int, playouts: int) -> list[int]:
    """How many worlds each round tries: the playouts are shared out evenly between the rounds."""
    rounds = (left - 1).bit_length()
    numbers = []
    for _ in range(rounds):
        numbers.append(max(1, playouts // (rounds * left)))
        left = (left + 1) // 2
    return numbers
