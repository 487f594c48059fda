"""Bots for Dou Dizhu.

The law of this file: a bot leads from its own hand, so its leads need no list of the legal
ones, which can be thousands; what it may follow with is read off the legal moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.doudizhu.hands import ACE, RANKS, Group, Split, counts_of, split, text_of

_BID_COSTS: Final = ((3, 38), (2, 44), (1, 50))
"""A bid, and what the hand of 17 may cost at most for it (about 50 is an even chance)."""
_FEW: Final = 3
"""An enemy with this few cards has to be stopped."""
_HARMLESS: Final = 2
"""How much dearer a hand may become by keeping an enemy from the lead."""
_PARTNER_GAIN: Final = 8
"""How much cheaper a hand must become for the lead to be taken from a partner."""
_PARTNER_LOW: Final = RANKS.index("T")
"""A partner's play of this rank or higher is left alone."""
_FIRST_WEIGHED: Final = 40
_LAST_WEIGHED: Final = 8
_GONE: Final = -1000
"""Less than any hand costs: no card is left."""


class EasyBot:
    """Sheds what costs it least: long and low when it leads, the cheapest that beats when it follows."""

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """A call in the bidding, else a pass or a play."""
        if view["phase"] == "bidding":
            return _call(view, legal_moves)
        if view["to_beat"] is None:
            return _lead(_Position(view))
        return "pass" if len(legal_moves) == 1 else _follow(_Position(view), legal_moves)


class _Position:
    """What an easy bot looks at in a view: its hand, and who has how many cards."""

    def __init__(self, view: Plain) -> None:
        self.hand: Final[list[str]] = view["hand"]
        self.counts: Final = counts_of(self.hand)
        self.split: Final[Split] = split(self.counts)
        seat, landlord, held = view["to_act"], view["landlord"], view["hand_counts"]
        others = [(seat + 1) % 3, (seat + 2) % 3]
        partners = [other for other in others if landlord not in (seat, other)]
        self.enemy_cards: Final = min(held[other] for other in others if other not in partners)
        self.partner_cards: Final[int | None] = held[partners[0]] if partners else None
        to_beat = view["to_beat"]
        self.beats_partner: Final = to_beat is not None and to_beat["seat"] in partners
        self.top_to_beat: Final = (
            max((RANKS.index(c[0]) for c in to_beat["cards"]), default=0) if to_beat else 0
        )


def _call(view: Plain, legal_moves: Sequence[str]) -> str:
    cost = split(counts_of(view["hand"])).cost
    for bid, most in _BID_COSTS:
        if cost <= most:
            call = f"bid {bid}"
            return call if call in legal_moves else "pass"
    return "pass"


def _lead(position: _Position) -> str:
    groups = position.split.groups
    ordinary = [group for group in groups if not group.beats_all]
    if len(ordinary) <= 1 and len(groups) > 1:
        # With one play to go after them, whatever keeps the lead goes first.
        return text_of(position.hand, next(group for group in groups if group.beats_all).counts)
    group = min(ordinary or groups, key=lambda group: _lead_order(position, group))
    return text_of(position.hand, group.counts + _kickers(position, group))


def _lead_order(position: _Position, group: Group) -> tuple[bool, int]:
    if position.partner_cards == group.size == 1:
        return (False, group.top - 100)
    enemy_can_finish = group.size == position.enemy_cards <= _FEW
    if enemy_can_finish:
        return (True, -group.top)
    return (False, group.top - 2 * group.size)


def _kickers(position: _Position, group: Group) -> int:
    """The counts of the low cards that a triple or plane takes along (DDZ-12, 13, 17, 18)."""
    if group.copies != 3:
        return 0
    for copies in (1, 2):
        loose = [g for g in position.split.groups if g.copies == copies and g.length == 1]
        taken = loose[: group.length]
        empties = group.size + copies * group.length == len(position.hand)
        if len(taken) == group.length and (taken[-1].top <= ACE or empties):
            return sum(kicker.counts for kicker in taken)
    return 0


def _follow(position: _Position, legal_moves: Sequence[str]) -> str:
    """The play after which the rest costs least, or a pass where even that costs too much."""
    plays = [move for move in _weighed(legal_moves) if move != "pass"]
    cost, top, play = min((_after(position, play) for play in plays), key=lambda after: after[:2])
    gain = position.split.cost - cost
    if cost == _GONE:
        return play
    if position.beats_partner:
        worth_it = gain >= _PARTNER_GAIN and top <= ACE and position.top_to_beat < _PARTNER_LOW
        return play if worth_it and position.partner_cards != 1 else "pass"
    if position.enemy_cards <= _FEW:
        return play
    return play if gain >= -_HARMLESS else "pass"


def _weighed(legal_moves: Sequence[str]) -> Sequence[str]:
    """All moves, or where wings make them many, the lowest and the last, which are the bombs."""
    if len(legal_moves) <= _FIRST_WEIGHED + _LAST_WEIGHED:
        return legal_moves
    return [*legal_moves[:_FIRST_WEIGHED], *legal_moves[-_LAST_WEIGHED:]]


def _after(position: _Position, play: str) -> tuple[int, int, str]:
    """What the hand costs after ``play``, the highest rank in it, and the play."""
    counts = counts_of(play.split()[1:])
    rest = position.counts - counts
    return (split(rest).cost if rest else _GONE, (counts.bit_length() - 1) // 4, play)
