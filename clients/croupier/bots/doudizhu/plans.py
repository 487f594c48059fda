"""Plans: the cheapest way to lay a hand down, group by group.

The law of this file: a plan depends on nothing but the counts of the hand (see ``hands``), so
costs are remembered for all games; forgetting them changes no answer. It is bare ints all
through, because search asks for costs by the hundred thousand.
"""

from __future__ import annotations

from typing import Final

# What is left to do with a hand, in hundredths of a lead that somebody has to give away: a low
# card costs a whole one, what nobody beats costs nothing, a triple or plane takes cards along.
_SINGLE_COSTS: Final = (110, 108, 106, 104, 102, 100, 98, 96, 90, 85, 75, 40, 10, -10, -30)
_PAIR_COSTS: Final = (100, 100, 100, 100, 100, 100, 100, 100, 90, 80, 70, 40, 10)
_TRIPLE_COSTS: Final = (30, 30, 30, 30, 30, 30, 30, 30, 20, 20, 10, 0, -20)
_BOMB_COST: Final = -80
_ROCKET_COST: Final = -120
_RUN_COST: Final = 90
_TAKEN_ALONG: Final = 70
"""How much cheaper a plane is for each of its triples."""

_ROCKET: Final = 0x11 << 4 * 13
_RUN_RANKS: Final = 12
"""The ranks below this one may stand in runs (DDZ-14 to DDZ-16)."""
_REMEMBERED: Final = 1 << 17
"""At most so many hands are remembered; then all are forgotten."""

_UNITS: Final = tuple(sum(1 << 4 * rank for rank in range(length)) for length in range(13))
_costs: Final[dict[int, int]] = {0: 0}
_firsts: Final[dict[int, int]] = {}


def cost(counts: int) -> int:
    """What is left to do with a hand, in hundredths of a lead given away; 0 for no cards."""
    known = _costs.get(counts)
    if known is not None:
        return known
    best, first = (_ROCKET_COST, _ROCKET) if counts == _ROCKET else _cheapest(counts)
    if len(_costs) >= _REMEMBERED:
        _costs.clear()
        _firsts.clear()
        _costs[0] = 0
    _costs[counts] = best
    _firsts[counts] = first
    return best


def plan(counts: int) -> list[int]:
    """The counts of the groups of the cheapest plan, the one with the lowest card first."""
    groups: list[int] = []
    while counts:
        first = _firsts.get(counts)
        if first is None:
            _costs.pop(counts, None)
            cost(counts)
            first = _firsts[counts]
        groups.append(first)
        counts -= first
    return groups


def _cheapest(counts: int) -> tuple[int, int]:
    """The cost, and the counts of the group with the lowest card; bombs are kept whole."""
    shift = ((counts & -counts).bit_length() - 1) & 60
    count = counts >> shift & 15
    rank = shift >> 2
    first = count << shift
    rest = cost(counts - first)
    if count == 4:
        return _BOMB_COST + rest, first
    costs = (_SINGLE_COSTS, _PAIR_COSTS, _TRIPLE_COSTS)[count - 1]
    best = costs[rank] + rest
    for copies in range(1, count + 1):
        length = 1
        after = counts >> shift + 4
        while rank + length < _RUN_RANKS and copies <= after & 15 < 4:
            length += 1
            after >>= 4
            if copies * length < (5 if copies == 1 else 6):
                continue
            run = copies * _UNITS[length] << shift
            total = _RUN_COST + cost(counts - run) - (_TAKEN_ALONG * length if copies == 3 else 0)
            if total < best:
                best, first = total, run
    return best, first
