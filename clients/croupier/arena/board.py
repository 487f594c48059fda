"""All games of one board: the same cards in every seating of the schedule.

The law of this file: what is played follows from the plan and the board's number alone, never
from who plays it, where, or what was played before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from croupier.arena.game import Entrant, PlayedGame, Table, play_on
from croupier.arena.plan import Plan
from croupier.arena.schedule import TWO_SIDED
from croupier.bots import bot_maker, make_bot
from croupier_games import game_named

_CALLER: Final = "easy"
"""The level that calls for all seats where two sides play."""
_HIGHEST_BID: Final = "bid 3"


def entrants_of(plan: Plan) -> list[Entrant]:
    """What makes the bots of each player, in the order of the plan."""
    return [
        Entrant(name, bot_maker(plan.game, player))
        for name, player in zip(plan.names, plan.players, strict=True)
    ]


def play_board(plan: Plan, entrants: Sequence[Entrant], number: int) -> list[PlayedGame]:
    """The games of board ``number``, one for each seating in order."""
    schedule = plan.schedule
    opening = Table(game_named(plan.game), plan.options, schedule.seats, plan.board(number))
    first, table_options = 0, None
    if schedule.caller is not None:
        first = _called(opening) if schedule.caller == "easy" else _forced(opening)
        table_options = {"bids": schedule.caller}
    games = []
    for places in schedule.seatings:
        seated = [entrants[places[(seat - first) % schedule.seats]] for seat in range(schedule.seats)]
        played = play_on(opening.fork(), seated, table_options, with_record=plan.with_records)
        games.append(played)
    return games


def _called(table: Table) -> int:
    """Lets the level call for all seats; the landlord's seat, or where nobody bid seat 0."""
    caller = make_bot(TWO_SIDED, _CALLER, 0)
    while (seat := table.to_act()) is not None:
        view: dict[str, Any] = table.view(seat)
        if view["phase"] != "bidding":
            return int(view["landlord"])
        table.make(seat, caller.choose(view, table.legal_moves()))
    return 0


def _forced(table: Table) -> int:
    """Makes the first bidder, whom the deal draws, the landlord for the highest bid (DDZ-2, 3)."""
    landlord = table.to_act()
    assert landlord is not None
    table.make(landlord, _HIGHEST_BID)
    return landlord
