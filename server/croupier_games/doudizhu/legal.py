"""The legal plays of a hand, one for each set of ranks (DDZ-6, DDZ-7, DDZ-10).

The law of this file: ``leads`` and ``follows`` list the counts of exactly those plays of a
hand that ``check`` accepts, each once. They become cards, those of the lowest suits, only
when a caller looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, final, overload

from croupier_games.doudizhu.cardset import ALL_RANKS, JOKERS, RUN_RANKS, levels_of, lowest_suits
from croupier_games.doudizhu.combinations import (
    PAIR_RUN,
    ROCKET_COUNTS,
    SHAPES,
    SINGLE,
    STRAIGHT,
    UNITS,
    Combination,
    Shape,
    plays_of_shape,
)
from croupier_games.doudizhu.moves import PASS, Move, Play

_PASS_COUNTS: Final = 0
"""Stands for a pass among the counts of plays."""


def _shapes(copies: int, length: int) -> tuple[Shape, ...]:
    return tuple(shape for shape in SHAPES if shape.copies == copies and shape.length == length)


_TRIPLES: Final = _shapes(3, 1)
_PLANES: Final = tuple(_shapes(3, length) for length in range(2, 7))
_FOURS: Final = _shapes(4, 1)
_STRAIGHTS: Final = tuple(shape for shape in SHAPES if shape.kind == STRAIGHT)
_PAIR_RUNS: Final = tuple(shape for shape in SHAPES if shape.kind == PAIR_RUN)


def leads(levels: int) -> list[int]:
    """The counts of all combinations in a hand (DDZ-6), by type and then by rank."""
    once = levels & ALL_RANKS
    twice = levels >> 16 & ALL_RANKS
    thrice = levels >> 32 & ALL_RANKS
    plays = [*UNITS[once], *[2 * unit for unit in UNITS[twice]]]
    if thrice:
        for shape in _TRIPLES:
            plays += plays_of_shape(levels, shape)
    runs = once & RUN_RANKS
    if runs & runs >> 1 & runs >> 2 & runs >> 3 & runs >> 4:
        _add_runs(plays, levels, _STRAIGHTS)
    if twice & twice >> 1 & twice >> 2:
        _add_runs(plays, levels, _PAIR_RUNS)
    if thrice & thrice >> 1:
        _add_planes(plays, levels)
    if levels >> 48:
        for shape in _FOURS:
            plays += plays_of_shape(levels, shape)
    if once & JOKERS == JOKERS:
        plays.append(ROCKET_COUNTS)
    return plays


def _add_runs(plays: list[int], levels: int, shapes: tuple[Shape, ...]) -> None:
    """Add the runs of each length in turn, until there are none of a length."""
    for shape in shapes:
        runs = plays_of_shape(levels, shape)
        if not runs:
            return
        plays += runs


def _add_planes(plays: list[int], levels: int) -> None:
    """Add the planes of each length in turn, without and with wings."""
    for shapes in _PLANES:
        for shape in shapes:
            planes = plays_of_shape(levels, shape)
            if not planes and not shape.wings:
                return
            plays += planes


def follows(levels: int, table: Combination) -> list[int]:
    """The counts of a pass and of all plays in a hand that beat ``table`` (DDZ-7, DDZ-10)."""
    shape = table.shape
    plays = [_PASS_COUNTS]
    if shape.kind == SINGLE:
        plays += UNITS[levels & ALL_RANKS & -2 << table.top]
    elif shape.power < 2:
        plays += plays_of_shape(levels, shape, table.top)
    bombs = levels >> 48
    if bombs and shape.power == 0:
        plays += [4 * unit for unit in UNITS[bombs]]
    if levels & JOKERS == JOKERS and shape.power < 2:
        plays.append(ROCKET_COUNTS)
    return plays


@final
class LegalPlays(Sequence[Move]):
    """The legal moves of one hand: a sequence that makes a move's cards when it is looked at."""

    __slots__ = ("_bits", "_counts")

    def __init__(self, bits: int, table: Combination | None) -> None:
        levels = levels_of(bits)
        self._bits: Final = bits
        self._counts: Final = leads(levels) if table is None else follows(levels, table)

    def __len__(self) -> int:
        return len(self._counts)

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Move]: ...
    def __getitem__(self, index: int | slice) -> Move | Sequence[Move]:
        if isinstance(index, slice):
            return [self._move(counts) for counts in self._counts[index]]
        return self._move(self._counts[index])

    def __iter__(self) -> Iterator[Move]:
        return map(self._move, self._counts)

    def _move(self, counts: int) -> Move:
        return Play(lowest_suits(self._bits, counts)) if counts else PASS

    def __repr__(self) -> str:
        return repr(list(self))
