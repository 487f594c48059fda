"""Worlds: deals that a seat cannot tell from the real one.

The law of this file: a world has the right number of cards in each hand and, in the landlord's,
what is left of the bottom cards; worlds are drawn by the bot's own seeded generator.
"""

from __future__ import annotations

import random
from bisect import bisect
from itertools import accumulate

from croupier.bots.doudizhu.clues import clues_for, weight
from croupier.bots.doudizhu.hands import size_of
from croupier.bots.doudizhu.knowledge import Knowledge

World = list[int]
"""The counts of the three hands, by role."""


def ranks_of(counts: int) -> list[int]:
    """The rank of each card, lowest first."""
    return [rank for rank in range(15) for _ in range(counts >> 4 * rank & 15)]


def drawn(known: Knowledge, number: int, choice: int, rng: random.Random) -> list[World]:
    """So many worlds; likelier ones come more often.

    ``choice`` times as many are dealt blindly and weighed by the clues. The worlds are taken at
    even steps of the summed weight, so each comes about as often as it is likely.
    """
    pool = _dealt(known, number * choice, rng)
    if choice == 1:
        return pool
    clues = clues_for(known.role, known.plays)
    sums = list(accumulate(weight(clues, hands) for hands in pool))
    step, start = sums[-1] / number, rng.random()
    return [pool[min(bisect(sums, (start + index) * step), len(pool) - 1)] for index in range(number)]


def _dealt(known: Knowledge, number: int, rng: random.Random) -> list[World]:
    """Worlds without a look at the clues."""
    fewer, more = sorted((role for role in range(3) if role != known.role), key=known.held.__getitem__)
    shown = [known.shown if role == 0 else 0 for role in (fewer, more)]
    free = [1 << 4 * rank for rank in ranks_of(known.unseen - sum(shown))]
    missing = known.held[fewer] - size_of(shown[0])
    pool = []
    for _ in range(number):
        hands = [known.hand] * 3
        hands[fewer] = shown[0] + sum(rng.sample(free, missing))
        hands[more] = known.unseen - hands[fewer]
        pool.append(hands)
    return pool
