"""What the others' moves say about their hands: how likely a world makes what was done.

The law of this file: weak evidence only. A pass says "could not or would not beat", a lead says
"little that is lower stands alone"; each multiplies a world's weight and none rules it out. The
factors fit recorded games of rule players and of search alike, so they hold for any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from croupier.bots.doudizhu.hands import levels_of
from croupier_games.doudizhu.cardset import ALL_RANKS
from croupier_games.doudizhu.combinations import PAIR, PLAYS, SINGLE, plays_of_shape

_HIGH: Final = 0x7000
"""The ranks that are held back most: 2 and the jokers."""
_PASSED_WITH_ALIKE: Final = 0.4
"""It held back a single or pair that beats and would have broken nothing,"""
_PASSED_WITH_HIGH: Final = 0.45
"""or one of the highest,"""
_PASSED_WITH_MORE: Final = 0.8
"""or one that it would have had to break off a pair or triple,"""
_PASSED_WITH_LARGER: Final = 0.2
"""or a higher play of a larger type."""
_LED_OVER: Final = 0.7
"""For each lower rank that it held once or twice and did not lead."""


class Clue(NamedTuple):
    """One turn of another player: a pass on an enemy's play, or a lead."""

    role: int
    since: int
    """The counts that it has played from that turn on: with what it holds, its hand at the time."""
    passed: int
    """The play that it did not beat, else 0."""
    led: int
    """What it led, else 0."""


def clues_for(role: int, plays: Sequence[tuple[int, int]]) -> list[Clue]:
    """What ``role`` learned from the turns so far, each a role and the counts it played."""
    tables: list[tuple[int, int]] = []
    table, owner = 0, -1
    for who, play in plays:
        if owner == who:
            table = 0
        tables.append((table, owner))
        if play:
            table, owner = play, who
    clues = []
    since = [0, 0, 0]
    for (who, play), (table, owner) in zip(reversed(plays), reversed(tables), strict=True):
        since[who] += play
        if who == role:
            continue
        if not play and who + owner != 3:
            clues.append(Clue(who, since[who], table, 0))
        elif play and not table:
            clues.append(Clue(who, since[who], 0, play))
    return clues


def weight(clues: Sequence[Clue], hands: Sequence[int]) -> float:
    """How likely, over 0 and up to 1, the hands by role make the clues."""
    product = 1.0
    for role, since, passed, led in clues:
        levels = levels_of(hands[role] + since)
        product *= _passed(levels, passed) if passed else _led(levels, led)
    return product


def _passed(levels: int, table: int) -> float:
    combination = PLAYS[table]
    shape, top = combination.shape, combination.top
    if shape.power:
        return 1.0
    if shape.kind not in (SINGLE, PAIR):
        return _PASSED_WITH_LARGER if plays_of_shape(levels, shape, top) else 1.0
    if shape.kind == PAIR:
        levels >>= 16
    beating = levels & ALL_RANKS & -2 << top
    more = beating & levels >> 16
    if beating & ~more & ~_HIGH:
        return _PASSED_WITH_ALIKE
    if more & ~_HIGH:
        return _PASSED_WITH_MORE
    return _PASSED_WITH_HIGH if beating & ~more else 1.0


def _led(levels: int, led: int) -> float:
    lowest = ((led & -led).bit_length() - 1) >> 2
    lower = levels & (1 << lowest) - 1 & ~(levels >> 32)
    return float(_LED_OVER ** lower.bit_count())
