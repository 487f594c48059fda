"""All games of one board: the same cards in every seating of the schedule.

The law of this file: what is played follows from the plan and the board's number alone, never
from who plays it, where, or what was played before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from croupier.arena.game import Entrant, PlayedGame, Table, play_on
from croupier.arena.isolation import IsolatedPlace
from croupier.arena.plan import Plan
from croupier.arena.schedule import TWO_SIDED
from croupier.bots import bot_maker, make_bot
from croupier_games import game_named

_CALLER: Final = "easy"
"""The level that calls for all seats where two sides play."""
_HIGHEST_BID: Final = "bid 3"


class Crew:
    """The bots of a plan's players, in this process or each in its own; ``close`` ends those.

    Raises ``UnknownBot``.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan: Final = plan
        self._places: Final[dict[tuple[int, int], IsolatedPlace]] = {}
        isolated = plan.isolate is not None
        self._makers: Final = [] if isolated else [bot_maker(plan.game, each) for each in plan.players]

    def seated(self, players: Sequence[int]) -> list[Entrant]:
        """What makes the bot of each seat; the second bot of a player has a process of its own."""
        return [self._entrant(player, players[:seat].count(player)) for seat, player in enumerate(players)]

    def _entrant(self, player: int, copy: int) -> Entrant:
        plan = self.plan
        if plan.isolate is None:
            return Entrant(plan.names[player], self._makers[player])
        if (player, copy) not in self._places:
            self._places[player, copy] = IsolatedPlace(plan.game, plan.players[player], plan.isolate)
        return Entrant(plan.names[player], self._places[player, copy].new_bot)

    def close(self) -> None:
        """Ends the bots' processes."""
        for place in self._places.values():
            place.close()


def play_board(crew: Crew, number: int) -> list[PlayedGame]:
    """The games of board ``number``, one for each seating in order."""
    plan = crew.plan
    schedule = plan.schedule
    opening = Table(game_named(plan.game), plan.options, schedule.seats, plan.board(number))
    first, table_options = 0, None
    if schedule.caller is not None:
        first = _called(opening) if schedule.caller == "easy" else _forced(opening)
        table_options = {"bids": schedule.caller}
    games = []
    for places in schedule.seatings:
        seated = crew.seated([places[(seat - first) % schedule.seats] for seat in range(schedule.seats)])
        games.append(play_on(opening.fork(), seated, table_options, with_record=plan.with_records))
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
