"""The levels ``hard`` and ``expert``: every choice is played out in many worlds.

The law of this file: a choice is as good as the share of rounds that it wins when all go on as
``rounds`` plays; the cards that the view leaves open are dealt anew for each.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.hidden_unders.memory import Memory
from croupier.bots.hidden_unders.rounds import NOBODY, Round, strongest_four
from croupier.bots.hidden_unders.texts import counts_of, play_of
from croupier.bots.hidden_unders.worlds import Unseen
from croupier.bots.playouts import Playouts

_OVERS_TRIED: Final = 12


class SearchBot:
    """Chooses by playouts; ``playouts`` for each decision, at most ``seconds`` (see ``Playouts``)."""

    def __init__(self, seed: int, playouts: int, seconds: float) -> None:
        self._random: Final = random.Random(seed)  # noqa: S311 - repeatable play, not secrets
        self._playouts: Final = Playouts(playouts, seconds)
        self._memory: Final = Memory()

    @property
    def watchdog_cuts(self) -> int:
        """How many decisions were cut short by the clock."""
        return self._playouts.watchdog_cuts

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        limits = self._memory.see(view)
        moves = _choices(view, legal_moves)
        move = moves[0]
        if len(moves) > 1:
            unseen = Unseen(view, limits)
            first = [_Choice(text) for text in moves]
            move = moves[
                self._playouts.best(
                    len(moves),
                    lambda: unseen.deal(self._random),
                    lambda world, choice: first[choice].outcome(world),
                )
            ]
        self._memory.made(view, move)
        return move


def hard(seed: int) -> SearchBot:
    """The level ``hard``."""
    return SearchBot(seed, playouts=1500, seconds=3)


def expert(seed: int) -> SearchBot:
    """The level ``expert``."""
    return SearchBot(seed, playouts=12_000, seconds=20)


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

    def outcome(self, world: Round) -> float:
        """1 for a round won by the seat to move, 0 for one lost, its share of one that nobody wins."""
        me, after = world.seat, world.copy()
        if self._overs:
            after.place(self._overs)
        elif not self._count:
            after.draw()
        else:
            cleared = after.play(self._rank, self._count)
            if after.is_out():
                return 1.0
            after.draw()
            if not cleared:
                after.pass_on()
        winner = after.play_out()
        return 1 / after.players if winner == NOBODY else float(winner == me)
