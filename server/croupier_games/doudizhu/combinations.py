"""Combinations: what a set of cards is, and which of two is higher (DDZ-7, DDZ-9 to DDZ-24).

The law of this file: what a play is follows from its counts alone (DDZ-23). ``PLAYS`` holds
all 24,639 plays by their counts; it is filled by the same enumeration, ``plays_of_shape``,
that lists the plays of a hand, so a play is found exactly when it can be listed.

Every combination is a *core*, a run of ``length`` ranks held ``copies`` times each, and some
*wings* beside it: single cards or pairs, none of a rank of the core. Only the rocket is not.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final, final

from croupier_games.doudizhu.cardset import (
    ALL_RANKS,
    JOKERS,
    RANK_TEXTS,
    RUN_RANKS,
    SUITED_RANKS,
    counts_of,
)

SINGLE: Final = 1
PAIR: Final = 2
TRIPLE: Final = 3
TRIPLE_SINGLE: Final = 4
TRIPLE_PAIR: Final = 5
STRAIGHT: Final = 6
PAIR_RUN: Final = 7
PLANE: Final = 8
PLANE_SINGLES: Final = 9
PLANE_PAIRS: Final = 10
FOUR_SINGLES: Final = 11
FOUR_PAIRS: Final = 12
BOMB: Final = 13
ROCKET: Final = 14

KIND_NAMES: Final = (
    "unspecified",
    "single",
    "pair",
    "triple",
    "triple_single",
    "triple_pair",
    "straight",
    "pair_run",
    "plane",
    "plane_singles",
    "plane_pairs",
    "four_singles",
    "four_pairs",
    "bomb",
    "rocket",
)
"""The name of each kind, by its number; number 0 is no cards at all."""

LARGEST_HAND: Final = 20
"""What a landlord holds before the first play; no play is larger."""


@final
class Shape:
    """A type and a size (DDZ-24): the plays of one shape beat each other by rank. Interned."""

    __slots__ = ("copies", "kind", "length", "power", "size", "wing", "wings")

    def __init__(self, kind: int, copies: int, length: int, wings: int, wing: int) -> None:
        self.kind: Final = kind
        self.copies: Final = copies
        """Cards of each core rank."""
        self.length: Final = length
        """Ranks in the core."""
        self.wings: Final = wings
        self.wing: Final = wing
        """Cards in each wing: 1 or 2, 0 without wings."""
        self.size: Final = copies * length + wings * wing
        self.power: Final = 2 if kind == ROCKET else 1 if kind == BOMB else 0
        """What it beats whatever its shape: 0 nothing, 1 the ordinary, 2 everything (DDZ-10)."""


@final
class Combination:
    """A shape and the rank that decides. Interned: compare with ``is``."""

    __slots__ = ("shape", "top")

    def __init__(self, shape: Shape, top: int) -> None:
        self.shape: Final = shape
        self.top: Final = top
        """The highest core rank by strength, 0 (a 3) to 14 (the red joker)."""

    def beats(self, other: Combination) -> bool:
        """Whether this may be played on ``other`` (DDZ-7, DDZ-10)."""
        if self.shape is other.shape:
            return self.top > other.top
        return self.shape.power > other.shape.power

    @property
    def name(self) -> str:
        """The name of the kind, as in ``"triple_single"``."""
        return KIND_NAMES[self.shape.kind]

    def __repr__(self) -> str:
        return f"<{self.name} of {self.shape.size}, top {RANK_TEXTS[self.top]}>"


def _shapes() -> tuple[Shape, ...]:
    shapes = [
        Shape(SINGLE, 1, 1, 0, 0),
        Shape(PAIR, 2, 1, 0, 0),
        Shape(TRIPLE, 3, 1, 0, 0),
        Shape(TRIPLE_SINGLE, 3, 1, 1, 1),
        Shape(TRIPLE_PAIR, 3, 1, 1, 2),
        Shape(FOUR_SINGLES, 4, 1, 2, 1),
        Shape(FOUR_PAIRS, 4, 1, 2, 2),
        Shape(BOMB, 4, 1, 0, 0),
    ]
    for length in range(2, 13):
        runs = [Shape(PLANE, 3, length, 0, 0)]
        runs += [Shape(PLANE_SINGLES, 3, length, length, 1), Shape(PLANE_PAIRS, 3, length, length, 2)]
        if length >= 3:
            runs.append(Shape(PAIR_RUN, 2, length, 0, 0))
        if length >= 5:
            runs.append(Shape(STRAIGHT, 1, length, 0, 0))
        shapes += [shape for shape in runs if shape.size <= LARGEST_HAND]
    return tuple(shapes)


SHAPES: Final[tuple[Shape, ...]] = _shapes()
"""Every shape but the rocket's."""


def _subsets(units: list[int]) -> list[tuple[int, ...]]:
    subsets: list[tuple[int, ...]] = [()]
    for unit in units:
        subsets += [(*subset, unit) for subset in subsets]
    return subsets


UNITS: Final[list[tuple[int, ...]]] = _subsets([1 << 4 * rank for rank in range(15)])
"""By rank mask: the counts of one card of each rank in it, low to high."""

_RUN: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(sum(copies << 4 * rank for rank in range(length)) for length in range(13)) for copies in range(5)
)
"""By copies and length: the counts of that run upwards from the lowest rank."""


def run_starts(mask: int, length: int) -> int:
    """The ranks from which ``length`` ranks in a row are in ``mask``, as a mask.

    A run of one may be of any rank, a longer one holds neither a 2 nor a joker (DDZ-14 to 16).
    """
    if length == 1:
        return mask
    starts = mask & RUN_RANKS
    for _ in range(length - 1):
        starts &= starts >> 1
    return starts


def _single_wings(once: int, twice: int, wings: int) -> list[int]:
    """All counts of ``wings`` cards: no three of a rank and not both jokers (DDZ-17, DDZ-19)."""
    by_size: list[list[int]] = [[0]] + [[] for _ in range(wings)]
    pairs = set(UNITS[twice])
    for unit in UNITS[once & SUITED_RANKS]:
        for size in range(wings, 0, -1):
            by_size[size] += [counts + unit for counts in by_size[size - 1]]
            if size >= 2 and unit in pairs:
                by_size[size] += [counts + 2 * unit for counts in by_size[size - 2]]
    jokers = UNITS[once & JOKERS]
    return by_size[wings] + [counts + joker for joker in jokers for counts in by_size[wings - 1]]


def _wings(levels: int, core: int, shape: Shape) -> list[int]:
    """The counts of all wings that a hand has for a core on the rank mask ``core``."""
    once = levels & ALL_RANKS & ~core
    twice = levels >> 16 & SUITED_RANKS & ~core
    if shape.wing == 2:
        return [2 * sum(pairs) for pairs in combinations(UNITS[twice], shape.wings)]
    if shape.wings == 1:
        return list(UNITS[once])
    return _single_wings(once, twice, shape.wings)


def plays_of_shape(levels: int, shape: Shape, above: int = -1) -> list[int]:
    """The counts of every play of ``shape`` in a hand, lowest first.

    ``levels`` are the hand's; only plays whose top rank is over ``above`` are listed.
    """
    held = levels >> 16 * (shape.copies - 1) & ALL_RANKS
    length = shape.length
    starts = run_starts(held, length)
    if above >= 0:
        starts &= -1 << above - length + 2  # one rank up from the start of the run that ends at `above`
    run = _RUN[shape.copies][length]
    if not shape.wings:
        return [run * unit for unit in UNITS[starts]]
    plays: list[int] = []
    for unit in UNITS[starts]:
        lowest = (unit.bit_length() - 1) // 4
        core = run * unit
        plays += [core + wings for wings in _wings(levels, (1 << length) - 1 << lowest, shape)]
    return plays


ROCKET_COUNTS: Final = sum(UNITS[JOKERS])
"""The counts of the one play that is no core with wings (DDZ-22)."""


def _all_plays() -> dict[int, Combination]:
    whole_deck = ALL_RANKS | SUITED_RANKS << 16 | SUITED_RANKS << 32 | SUITED_RANKS << 48
    plays = {ROCKET_COUNTS: Combination(Shape(ROCKET, 1, 2, 0, 0), 14)}
    for shape in SHAPES:
        level = 16 * (shape.copies - 1)
        for top in range(shape.length - 1, 15):
            core = (1 << shape.length) - 1 << top + 1 - shape.length
            only_this_core = whole_deck & ~(ALL_RANKS << level) | whole_deck & core << level
            combination = Combination(shape, top)
            for counts in plays_of_shape(only_this_core, shape):
                plays[counts] = combination
    return plays


PLAYS: Final[dict[int, Combination]] = _all_plays()
"""Every play there is, by its counts (DDZ-23)."""


def classify(bits: int) -> Combination | None:
    """What a set of cards is; None when it is no combination."""
    return PLAYS.get(counts_of(bits))
