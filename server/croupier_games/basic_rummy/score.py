"""How hands are scored and the game is won (RUM-13, RUM-16 to RUM-19).

The law of this file: it is asked only when a hand has ended; whether one has is decided in ``turn``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from croupier_games.basic_rummy.melds import value_of
from croupier_games.basic_rummy.state import NOBODY, HandResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from croupier_games.basic_rummy.state import State


def went_out(state: State, seat: int, *, by_discard: bool) -> HandResult:
    """The result when ``seat`` has no cards left (RUM-15): the value of all other hands.

    Doubled when the seat had laid nothing before this turn; with ``double_with_discard`` off, only
    when its last card was laid and not discarded (RUM-17).
    """
    values = tuple([value_of(hand) for hand in state.hands])
    single_turn = not state.gone_down >> seat & 1
    doubled = single_turn and (state.settings.double_with_discard or not by_discard)
    scored = sum(values) * (2 if doubled else 1)
    points = _only(state.settings.players, seat, scored)
    return HandResult(seat, True, values, points, doubled, state.turn_overs)


def counted(state: State) -> HandResult:
    """The result of a hand that ended with nobody out (RUM-13).

    The single lowest hand scores the differences to the others; a tie for lowest scores nothing.
    """
    values = tuple([value_of(hand) for hand in state.hands])
    lowest = min(values)
    winner = values.index(lowest) if values.count(lowest) == 1 else NOBODY
    players = state.settings.players
    points = _only(players, winner, sum(values) - lowest * players)
    return HandResult(winner, False, values, points, False, state.turn_overs)


def _only(players: int, seat: int, points: int) -> tuple[int, ...]:
    return tuple([points if each == seat else 0 for each in range(players)])


def zero_sum(totals: Sequence[int]) -> list[int]:
    """The result for ratings (RUM-19): each total × (players − 1) minus the others' totals.

    >>> zero_sum([100, 40, 10])
    [150, -30, -120]
    """
    everything = sum(totals)
    return [total * len(totals) - everything for total in totals]
