"""The rule policy: what to play, from one's own hand and what everybody knows.

The law of this file: roles, not seats. 0 is the landlord, 1 the farmer after and 2 the farmer
before the landlord; they act in that order. Hands and plays are counts (see ``hands``), a pass
is 0. It is quick, because a playout asks it at every turn, and the same for the same arguments.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from croupier.bots.doudizhu.hands import ACE, levels_of
from croupier.bots.doudizhu.plans import cost, plan
from croupier_games.doudizhu.combinations import PLAYS, Combination
from croupier_games.doudizhu.legal import follows

PASS: Final = 0

_FEW: Final = 4
"""An enemy with this few cards has to be stopped."""
_HARMLESS: Final = 50
"""How much dearer a hand may become by keeping an enemy from the lead."""
_ENOUGH: Final = 70
"""A play that makes a hand so much cheaper is not looked beyond."""
_SHORT: Final = 4
"""Hands of so few groups are searched for a sure win."""
_SHED: Final = 2
"""How many ranks lower a lead may seem for each card that it sheds."""
_FIRST_WEIGHED: Final = 40
_LAST_WEIGHED: Final = 8


class _Deference(NamedTuple):
    """When a farmer beats its partner's play."""

    gain: int
    """At least so much cheaper its hand must become,"""
    below: int
    """and the rank that it beats is lower than this."""


_DEFERENCE: Final = (_Deference(0, 0), _Deference(100, 7), _Deference(40, 8))
"""By role. The farmer before the landlord makes the landlord's way dearer; the other would only
take what the landlord has let pass."""


def choose(hand: int, unseen: int, role: int, held: list[int], table: int, owner: int) -> int:
    """The play or pass of ``role``; ``table`` is ``owner``'s play, or 0 where ``role`` leads.

    ``unseen`` are the cards of the two other hands together, ``held`` the sizes of all three.
    """
    if not table:
        return _lead(hand, unseen, role, held)
    return _follow(hand, unseen, role, held, PLAYS[table], owner)


def _enemy_cards(role: int, held: list[int]) -> int:
    """The fewest cards that an enemy holds."""
    return held[0] if role else min(held[1], held[2])


def _lead(hand: int, unseen: int, role: int, held: list[int]) -> int:
    if hand in PLAYS:
        return hand
    groups = plan(hand)
    sure = _keeps_lead(groups, levels_of(unseen)) if len(groups) <= _SHORT else PASS
    if sure:
        return sure
    enemy = _enemy_cards(role, held)
    feeds = role > 0 and held[3 - role] == 1
    chosen, best = PASS, 1 << 20
    for group in groups:
        combination = PLAYS[group]
        if combination.shape.power:
            continue
        size, top = combination.shape.size, combination.top
        order = top - _SHED * size
        if feeds and size == 1:
            order = top - 1000
        elif size == enemy and size <= _FEW:
            order = 1000 - top
        if order < best:
            chosen, best = group, order
    return chosen + _kickers(hand, groups, chosen) if chosen else groups[0]


def _keeps_lead(groups: list[int], unseen: int) -> int:
    """What nobody beats, where that is all groups but one, which then goes out; else 0."""
    sure, open_groups = PASS, 0
    for group in groups:
        if _beaten(group, unseen):
            open_groups += 1
            if open_groups > 1:
                return PASS
        elif not sure or PLAYS[group].shape.power < PLAYS[sure].shape.power:
            sure = group
    return sure


def _beaten(play: int, levels: int) -> bool:
    """Whether cards of these levels have anything that beats ``play``."""
    return len(follows(levels, PLAYS[play])) > 1


def _kickers(hand: int, groups: list[int], chosen: int) -> int:
    """The counts of the low cards that a triple or plane takes along (DDZ-12, 13, 17, 18)."""
    shape = PLAYS[chosen].shape
    if shape.copies != 3:
        return 0
    for copies in (1, 2):
        taken, number, high = 0, 0, 0
        for group in groups:
            combination = PLAYS[group]
            if combination.shape.size == copies == combination.shape.copies:
                taken += group
                number += 1
                high = combination.top
                if number == shape.length:
                    break
        if number == shape.length and (high <= ACE or chosen + taken == hand) and chosen + taken in PLAYS:
            return taken
    return 0


def _follow(hand: int, unseen: int, role: int, held: list[int], table: Combination, owner: int) -> int:
    plays = follows(levels_of(hand), table)
    if len(plays) == 1:
        return PASS
    if len(plays) > _FIRST_WEIGHED + _LAST_WEIGHED:
        plays = plays[:_FIRST_WEIGHED] + plays[-_LAST_WEIGHED:]
    # A single before an enemy with one card left is the highest.
    highest = role != 1 and table.shape.size == 1 and held[role + 1 if role < 2 else 0] == 1
    before = cost(hand)
    chosen, best = PASS, 1 << 20
    for play in plays:
        if not play:
            continue
        rest = hand - play
        if not rest or (rest in PLAYS and not _beaten(play, levels_of(unseen))):
            return play
        after = cost(rest) - (1000 * PLAYS[play].top if highest else 0)
        if after < best:
            chosen, best = play, after
            if before - after >= _ENOUGH and not highest:
                break
    gain = before - cost(hand - chosen)
    if role + owner == 3:
        return chosen if _beats_partner(role, held, table, chosen, gain) else PASS
    return chosen if gain >= -_HARMLESS or _enemy_cards(role, held) <= _FEW else PASS


def _beats_partner(role: int, held: list[int], table: Combination, chosen: int, gain: int) -> bool:
    when = _DEFERENCE[role]
    return held[3 - role] > 1 and gain >= when.gain and table.top < when.below and PLAYS[chosen].top <= ACE
