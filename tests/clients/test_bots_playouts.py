"""The budget and the watchdog of bots that think by playouts."""

from __future__ import annotations

import random
from itertools import count

from croupier.bots.playouts import Playouts

LIKELY = [0.2, 0.6, 0.4, 0.5, 0.1]


def test_the_choice_with_the_best_outcomes_is_found_within_the_budget() -> None:
    chance = random.Random(1)
    played: list[int] = []

    def outcome(world: float, choice: int) -> float:
        played.append(choice)
        return float(world < LIKELY[choice])

    assert Playouts(600, 60).best(5, chance.random, outcome) == 1
    assert len(played) <= 600
    assert played.count(1) > 2 * played.count(4)


def test_of_equals_the_first_is_chosen() -> None:
    assert Playouts(50, 60).best(7, int, lambda world, choice: 1.0) == 0


def test_the_watchdog_cuts_a_thought_short_and_counts_it() -> None:
    ticks = count()
    playouts = Playouts(10_000, 3, clock=lambda: next(ticks))
    worlds = iter(range(10))
    assert playouts.best(2, lambda: next(worlds), lambda world, choice: float(choice)) == 1
    assert playouts.watchdog_cuts == 1
    assert next(worlds) == 3
