"""Thinking by playouts: which of several choices does best over many worlds.

The law of this file: what is chosen follows from the worlds alone, never from the clock, unless
the watchdog cuts a thought short; and that is counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final, TypeVar

_World = TypeVar("_World")


class Playouts:
    """A budget of ``playouts`` for each decision, and a watchdog of ``seconds`` over it.

    ``trust`` is how many standard errors better than the first choice, which a rule of thumb has
    put there, another one has to be. ``watchdog_cuts`` is how many decisions so far were cut short:
    those may differ from run to run.
    """

    def __init__(
        self,
        playouts: int,
        seconds: float,
        trust: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._playouts: Final = playouts
        self._seconds: Final = seconds
        self._trust: Final = trust
        self._clock: Final = clock
        self.watchdog_cuts = 0

    def best(self, choices: int, deal: Callable[[], _World], outcome: Callable[[_World, int], float]) -> int:
        """The choice, from 0, whose outcomes are best; the first, where none is better enough.

        Every choice meets the same worlds. The worse half of all but the first is given up stage by
        stage, so what is hard to tell apart gets most of the budget. ``outcome`` leaves its world as
        it was.
        """
        gains, squares = [0.0] * choices, [0.0] * choices
        worlds = 0
        left = list(range(1, choices))
        stages = max(1, (choices - 1).bit_length())
        late = self._clock() + self._seconds
        for _ in range(stages):
            for _ in range(max(1, self._playouts // stages // (1 + len(left)))):
                if self._clock() > late:
                    self.watchdog_cuts += 1
                    return self._better(left, gains, squares, worlds)
                world = deal()
                first = outcome(world, 0)
                worlds += 1
                for choice in left:
                    gain = outcome(world, choice) - first
                    gains[choice] += gain
                    squares[choice] += gain * gain
            left.sort(key=lambda choice: -gains[choice])
            left = left[: (len(left) + 1) // 2]
        return self._better(left, gains, squares, worlds)

    def _better(self, left: list[int], gains: list[float], squares: list[float], worlds: int) -> int:
        best = max(left, key=lambda choice: gains[choice], default=0)
        spread = math.sqrt(max(0.0, squares[best] - gains[best] ** 2 / max(1, worlds)))
        return best if gains[best] > self._trust * spread else 0
