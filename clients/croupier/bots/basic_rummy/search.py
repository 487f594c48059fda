"""The levels ``hard`` and ``expert``: the likely choices are played out in many worlds.

The law of this file: a choice is as good as the chance to win the game that it leads to when all
go on as ``playing`` plays; ``normal``'s own choice stands until another is clearly better.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Final, NamedTuple

from croupier.bots.basic_rummy.normal import discard_text, laid, ranked_discards
from croupier.bots.basic_rummy.playing import HOLD, HOLD_A_WHILE, LAY, NOBODY, TOO_LATE, Play
from croupier.bots.basic_rummy.worlds import Unseen
from croupier.bots.bot import Plain
from croupier.bots.playouts import Playouts

_DISCARDS_TRIED: Final = 4
_TARGETS: Final = (100, 300, 500)
_AHEAD: Final = 150
"""By so many points more a seat is e times as likely to be first to the target. That is many, since
a hand that is held back and gone out of in one turn is worth some 115: one may well win the game."""
_TRUST: Final = 1.0
_FEW: Final = 4
"""Cards in hand with which anybody goes down."""


class SearchBot:
    """Chooses by playouts; ``playouts`` for each decision, at most ``seconds`` (see ``Playouts``).

    ``style`` is how it takes everybody to play, until somebody shows another one.
    """

    def __init__(
        self, seed: int, playouts: int, seconds: float, trust: float = _TRUST, style: int = HOLD
    ) -> None:
        self._random: Final = random.Random(seed)  # noqa: S311 - repeatable play, not secrets
        self._playouts: Final = Playouts(playouts, seconds, trust)
        self._style: Final = style
        self._styles: list[int] = []

    @property
    def watchdog_cuts(self) -> int:
        """How many decisions were cut short by the clock."""
        return self._playouts.watchdog_cuts

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        self._remember(view)
        unseen = Unseen(view, self._styles)
        shown = unseen.shown()
        race = Race(view["scores"], unseen.me)
        if view["phase"] == "draw":
            return self._draw(unseen, shown, race)
        if unseen.down[unseen.me]:
            move = laid(shown, legal_moves)
            if move is not None:
                return move
        plan = self._plan(unseen, shown, race)
        move = laid(shown, legal_moves) if plan.lays else None
        return move or discard_text(plan.discard)

    def _remember(self, view: Plain) -> None:
        """A seat that has gone down with many cards left, and not too late, does not hold its melds back."""
        seats = view["seats"]
        self._styles = self._styles or [self._style] * len(seats)
        turns = view["turns"] // len(seats) if self._style == HOLD_A_WHILE else 0
        for at, seat in enumerate(seats):
            if (
                seat["has_gone_down"]
                and at != view["to_act"]
                and _FEW < seat["hand_count"] < TOO_LATE - turns
            ):
                self._styles[at] = LAY

    def _draw(self, unseen: Unseen, shown: Play, race: Race) -> str:
        sources = ["draw stock", "draw discard"]
        if shown.wants_discard():
            sources.reverse()
        down = unseen.before[unseen.me]

        def outcome(world: Play, choice: int) -> float:
            after = world.copy()
            if sources[choice] == "draw stock":
                after.draw_stock()
            else:
                after.draw_discard()
            return race.chance(after, ended(after, after.finish_turn(down)))

        return sources[self._playouts.best(2, lambda: unseen.deal(self._random), outcome)]

    def _plan(self, unseen: Unseen, shown: Play, race: Race) -> _Plan:
        plans = plans_of(unseen, shown)
        if len(plans) == 1:
            return plans[0]
        down = unseen.before[unseen.me]

        def outcome(world: Play, choice: int) -> float:
            after, plan = world.copy(), plans[choice]
            if plan.lays:
                after.lay_all()
            if plan.discard:
                after.discard(plan.discard)
            out = not after.hands[after.seat]
            if out:
                after.score(down)
            return race.chance(after, ended(after, out))

        return plans[self._playouts.best(len(plans), lambda: unseen.deal(self._random), outcome)]


def hard(seed: int) -> SearchBot:
    """The level ``hard``."""
    return SearchBot(seed, playouts=300, seconds=3)


def expert(seed: int) -> SearchBot:
    """The level ``expert``."""
    return SearchBot(seed, playouts=2500, seconds=20, style=HOLD_A_WHILE)


class _Plan(NamedTuple):
    """What a turn does after its draw: lay all that can be laid or nothing; then a discard, if any."""

    lays: bool
    discard: int


def plans_of(unseen: Unseen, shown: Play) -> list[_Plan]:
    """The plans worth a playout, ``normal``'s own first."""
    others = [count for at, count in enumerate(unseen.sizes) if at != unseen.me]
    down = unseen.down[unseen.me]
    holding = [_Plan(False, card) for card in ranked_discards(unseen, shown)[:_DISCARDS_TRIED]]
    if down:
        return holding
    after = shown.copy()
    after.lay_all()
    if after.hands[unseen.me] == shown.hands[unseen.me]:
        return holding
    left = after.hands[unseen.me]
    if not left:
        return [_Plan(True, 0)]
    if not left & ~unseen.taken:
        return holding
    laying = [_Plan(True, card) for card in ranked_discards(unseen, after)[:_DISCARDS_TRIED]]
    if not left & (left - 1):
        return laying
    return [*laying, *holding] if shown.lays(min(others)) else [*holding, *laying]


def ended(play: Play, out: bool) -> int:
    """The winner of a hand played on after a turn; ``out`` when that turn has won it."""
    if out:
        return play.seat
    return play.play_out() if play.pass_on() else play.counted()


class Race:
    """How likely a seat is to be first to the target, given what all have (RUM-18)."""

    def __init__(self, scores: Sequence[int], me: int) -> None:
        self._scores: Final = scores
        self._me: Final = me
        self._target: Final = next((t for t in _TARGETS if max(scores) < t), _TARGETS[-1])

    def chance(self, play: Play, winner: int) -> float:
        """The seat's chance to win the game after a hand that ``winner`` won."""
        won = play.points if winner != NOBODY else 0
        if winner != NOBODY and self._scores[winner] + won >= self._target:
            return float(winner == self._me)
        weights = [
            math.exp((score + (won if seat == winner else 0)) / _AHEAD)
            for seat, score in enumerate(self._scores)
        ]
        return float(weights[self._me] / sum(weights))
