"""The levels ``hard`` and ``expert``: every choice is played out in many worlds.

The law of this file: a choice is as good as the share of rounds that it wins. ``hard`` lets all go on
as ``rounds`` plays, ``expert`` as a tree has found best for each seat; the cards that the view leaves
open are dealt anew.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.hidden_unders.memory import Memory
from croupier.bots.hidden_unders.rounds import NOBODY, ON, Round, strongest_four
from croupier.bots.hidden_unders.texts import counts_of, play_of
from croupier.bots.hidden_unders.tree import Tree
from croupier.bots.hidden_unders.worlds import Unseen
from croupier.bots.playouts import Playouts

_OVERS_TRIED: Final = 12
_WORLD_PLAYED: Final = 8
"""How often a tree plays each world that it deals: dealing one costs more than playing it."""


class _Searcher(ABC):
    """What searches have in common: choices come in, worlds are dealt, a choice goes out."""

    def __init__(self, seed: int) -> None:
        self._random: Final = random.Random(seed)  # noqa: S311 - repeatable play, not secrets
        self._memory: Final = Memory()

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        limits = self._memory.see(view)
        moves = _choices(view, legal_moves)
        move = moves[0]
        if len(moves) > 1:
            unseen = Unseen(view, limits)
            move = moves[self._best([_Choice(text) for text in moves], lambda: unseen.deal(self._random))]
        self._memory.made(view, move)
        return move

    @abstractmethod
    def _best(self, choices: Sequence[_Choice], deal: Callable[[], Round]) -> int:
        """The best choice, from 0, over the worlds that ``deal`` deals."""


class SearchBot(_Searcher):
    """Chooses by playouts; ``playouts`` for each decision, at most ``seconds`` (see ``Playouts``)."""

    def __init__(self, seed: int, playouts: int, seconds: float) -> None:
        super().__init__(seed)
        self._playouts: Final = Playouts(playouts, seconds)

    @property
    def watchdog_cuts(self) -> int:
        """How many decisions were cut short by the clock."""
        return self._playouts.watchdog_cuts

    def _best(self, choices: Sequence[_Choice], deal: Callable[[], Round]) -> int:
        return self._playouts.best(len(choices), deal, lambda world, choice: choices[choice].outcome(world))


class TreeBot(_Searcher):
    """Chooses by a tree of what all seats may do, ``playouts`` rounds large, within ``seconds``."""

    def __init__(
        self, seed: int, playouts: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(seed)
        self._playouts: Final = playouts
        self._seconds: Final = seconds
        self._clock: Final = clock
        self.watchdog_cuts = 0
        """How many decisions were cut short by the clock."""

    def _best(self, choices: Sequence[_Choice], deal: Callable[[], Round]) -> int:
        tree = Tree(len(choices))
        late = self._clock() + self._seconds
        worlds: list[Round] = []
        for number in range(self._playouts):
            if self._clock() > late:
                self.watchdog_cuts += 1
                break
            if number % _WORLD_PLAYED == 0:
                worlds.append(deal())
            world = worlds[number % len(worlds)].copy()
            me, choice = world.seat, tree.next_choice()
            tree.grow(choice, me, world, choices[choice].made(world))
        return tree.most_tried()


def hard(seed: int) -> SearchBot:
    """The level ``hard``."""
    return SearchBot(seed, playouts=1500, seconds=3)


def expert(seed: int) -> TreeBot:
    """The level ``expert``."""
    return TreeBot(seed, playouts=6000, seconds=20)


def _choices(view: Plain, legal_moves: Sequence[str]) -> Sequence[str]:
    """The moves worth a playout: the flips are all alike (HU-3), and of the Overs few are good."""
    if view["phase"] == "overs":
        best = strongest_four(counts_of(view["hand"]))
        return sorted(legal_moves, key=lambda move: _difference(counts_of(move.split()[1:]), best))[
            :_OVERS_TRIED
        ]
    if legal_moves[0].startswith("flip"):
        return legal_moves[:1]
    return list(legal_moves)


def _difference(some: int, others: int) -> int:
    """How many of four cards are not among four others."""
    return sum([max(0, (some >> at & 15) - (others >> at & 15)) for at in range(0, 52, 4)])


class _Choice:
    """A move, ready to be made in many worlds."""

    def __init__(self, move: str) -> None:
        self._overs: Final = counts_of(move.split()[1:]) if move.startswith("overs") else 0
        self._rank, self._count = play_of(move) if move.startswith("play") else (0, 0)

    def made(self, world: Round) -> int:
        """Makes the move and all that follows by itself; the winner, ``NOBODY`` or ``ON``."""
        if self._overs:
            world.place(self._overs)
        elif not self._count:
            world.draw()
        else:
            return world.make(self._rank, self._count)
        return world.settle()

    def outcome(self, world: Round) -> float:
        """1 for a round won by the seat to move, 0 for one lost, its share of one that nobody wins."""
        me, after = world.seat, world.copy()
        winner = self.made(after)
        if winner == ON:
            winner = after.play_out()
        return 1 / after.players if winner == NOBODY else float(winner == me)
