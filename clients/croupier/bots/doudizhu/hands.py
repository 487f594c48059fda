"""Dou Dizhu hands by rank: how a hand falls into plays, and what that is worth.

The law of this file: a hand is its *counts*, an int with four bits a rank, the weakest rank
(DDZ-9) lowest; so suits are gone (DDZ-9) and equal hands are equal ints. ``split`` depends on
nothing but the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

RANKS: Final = "3456789TJQKA2BR"
"""The first letter of each rank's cards, weakest first."""
ACE: Final = RANKS.index("A")
BLACK_JOKER: Final = RANKS.index("B")
DECK: Final = 0x114444444444444
"""The counts of all 54 cards."""

# What is left to do with a hand, in tenths of a lead that somebody has to give away: a low card
# costs a whole one, what nobody beats costs nothing, a triple or plane takes low cards along.
_SINGLE_COSTS: Final = (10, 10, 10, 10, 10, 10, 10, 10, 9, 9, 8, 5, 2, 0, -2)
_PAIR_COSTS: Final = (10, 10, 10, 10, 10, 10, 10, 10, 9, 8, 7, 4, 1)
_TRIPLE_COSTS: Final = (3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 0, -2)
_BOMB_COST: Final = -8
_ROCKET_COST: Final = -12
_RUN_COST: Final = 10
_TAKEN_ALONG: Final = 7

_SHORTEST_RUN: Final = {1: 5, 2: 3, 3: 2}
"""By copies of each rank: the least number of ranks in a straight, pair run and plane."""

_UNITS: Final = tuple(sum(1 << 4 * rank for rank in range(length)) for length in range(13))
"""By length: one card of each of the weakest ranks."""

_ROCKET_COUNTS: Final = 0x11 << 4 * BLACK_JOKER


class Group(NamedTuple):
    """``copies`` cards of each of ``length`` ranks from ``low`` up; the rocket is one of length 2."""

    copies: int
    low: int
    length: int

    @property
    def top(self) -> int:
        """The rank that decides."""
        return self.low + self.length - 1

    @property
    def size(self) -> int:
        """How many cards it has."""
        return self.copies * self.length

    @property
    def counts(self) -> int:
        """Its cards."""
        return self.copies * _UNITS[self.length] << 4 * self.low

    @property
    def beats_all(self) -> bool:
        """True for a bomb and the rocket (DDZ-10)."""
        return self.copies == 4 or (self.low == BLACK_JOKER and self.length == 2)


ROCKET: Final = Group(1, BLACK_JOKER, 2)


class Split(NamedTuple):
    """A hand in groups, weakest first, and its ``cost`` in tenths of a lead given away."""

    cost: int
    groups: tuple[Group, ...]


_NOTHING: Final = Split(0, ())


def counts_of(cards: Iterable[str]) -> int:
    """The counts of card texts."""
    return sum([1 << 4 * RANKS.index(card[0]) for card in cards])


def text_of(hand: Sequence[str], counts: int) -> str:
    """The move that plays these counts from a sorted hand's lowest suits; a pass for none."""
    cards = []
    for card in hand:
        unit = 1 << 4 * RANKS.index(card[0])
        if counts // unit & 15:
            counts -= unit
            cards.append(card)
    return "play " + " ".join(cards) if cards else "pass"


def size_of(counts: int) -> int:
    """How many cards there are."""
    size = 0
    while counts:
        size += counts & 15
        counts >>= 4
    return size


_ONE_RANK: Final = [sum(1 << 16 * level for level in range(count)) for count in range(5)] + [0] * 11
_THREE_RANKS: Final = [
    low | middle << 1 | high << 2 for high in _ONE_RANK for middle in _ONE_RANK for low in _ONE_RANK
]


def levels_of(counts: int) -> int:
    """Which ranks are held once, twice, thrice and four times: ``cardset``'s levels of the rules."""
    return (
        _THREE_RANKS[counts & 0xFFF]
        | _THREE_RANKS[counts >> 12 & 0xFFF] << 3
        | _THREE_RANKS[counts >> 24 & 0xFFF] << 6
        | _THREE_RANKS[counts >> 36 & 0xFFF] << 9
        | _THREE_RANKS[counts >> 48 & 0xFFF] << 12
    )


@lru_cache(maxsize=1 << 14)
def split(counts: int) -> Split:
    """The cheapest way found to lay a hand down in groups; bombs and the rocket are kept whole."""
    if not counts:
        return _NOTHING
    if counts == _ROCKET_COUNTS:
        return Split(_ROCKET_COST, (ROCKET,))
    low = ((counts & -counts).bit_length() - 1) // 4
    count = counts >> 4 * low & 15
    best = _with(Group(count, low, 1), counts)
    if count == 4:
        return best
    for copies in range(1, count + 1):
        longest = _longest_run(counts, low, copies)
        for length in range(_SHORTEST_RUN[copies], longest + 1):
            best = min(best, _with(Group(copies, low, length), counts))
    return best


def _with(group: Group, counts: int) -> Split:
    rest = split(counts - group.counts)
    return Split(_cost(group) + rest.cost, (group, *rest.groups))


def _longest_run(counts: int, low: int, copies: int) -> int:
    """How many ranks from ``low`` up, none of them a bomb's, are there ``copies`` times."""
    rank = low
    while rank <= ACE and copies <= counts >> 4 * rank & 15 < 4:
        rank += 1
    return rank - low


def _cost(group: Group) -> int:
    if group.copies == 4:
        return _BOMB_COST
    if group.length > 1:
        return _RUN_COST - (_TAKEN_ALONG * group.length if group.copies == 3 else 0)
    costs = (_SINGLE_COSTS, _PAIR_COSTS, _TRIPLE_COSTS)[group.copies - 1]
    return costs[group.low]
