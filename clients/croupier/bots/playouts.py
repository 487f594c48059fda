"""Thinking by playouts: which of several choices does best over many worlds.

The law of this file: what is chosen follows from the worlds alone, never from the clock, unless
the watchdog cuts a thought short; and that is counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

_World = TypeVar("_World")


class Playouts:
    """A budget of ``playouts`` for each decision, and a watchdog of ``seconds`` over it.

    ``watchdog_cuts`` is how many decisions so far were cut short: those may differ from run to run.
    """

    def __init__(self, playouts: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._playouts: Final = playouts
        self._seconds: Final = seconds
        self._clock: Final = clock
        self.watchdog_cuts = 0

    def best(self, choices: int, deal: Callable[[], _World], outcome: Callable[[_World, int], float]) -> int:
        """The choice, from 0, whose outcomes sum highest; of equals the first.

        Every choice meets the same worlds. The worse half of them is given up stage by stage, so
        what is hard to tell apart gets most of the budget. ``outcome`` leaves its world as it was.
        """
        totals = [0.0] * choices
        left = list(range(choices))
        stages = max(1, (choices - 1).bit_length())
        late = self._clock() + self._seconds
        for _ in range(stages):
            if len(left) == 1:
                break
            for _ in range(max(1, self._playouts // stages // len(left))):
                if self._clock() > late:
                    self.watchdog_cuts += 1
                    return max(left, key=lambda choice: totals[choice])
                world = deal()
                for choice in left:
                    totals[choice] += outcome(world, choice)
            left.sort(key=lambda choice: -totals[choice])
            left = left[: (len(left) + 1) // 2]
        return left[0]
