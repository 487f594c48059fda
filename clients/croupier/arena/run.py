"""The run of an arena, from its plan to its result.

The law of this file: boards are counted in order, so the result follows from the plan and not
from who was quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from croupier.arena.board import entrants_of, play_board
from croupier.arena.game import PlayedGame
from croupier.arena.plan import plan_of
from croupier.arena.result import ArenaResult, Count
from croupier.arena.schedule import ArenaError, Roles
from croupier_games.records import format_record


def run_arena(
    game: str,
    players: Sequence[str],
    deals: int,
    seed: str,
    options: Mapping[str, Any] | None = None,
    *,
    roles: Roles = "auction",
    round_robin: bool = False,
    record: TextIO | None = None,
    on_game: Callable[[PlayedGame], object] | None = None,
) -> ArenaResult:
    """Plays ``deals`` boards in this process and adds up what came of them.

    ``players`` are levels or ``module:Class``. ``record`` gets one line a game, ``on_game``
    every game once its board is over.

    Raises what ``plan_of`` raises, and ``ArenaError`` for no board to play, all before the
    first card.
    """
    if deals < 1:
        raise ArenaError(f"an arena plays one board or more, not {deals}")
    plan = plan_of(game, players, seed, options, roles=roles, round_robin=round_robin)
    entrants, count = entrants_of(plan), Count(plan)
    for number in range(deals):
        games = play_board(plan, entrants, number)
        count.add(games)
        for played in games:
            if record is not None:
                record.write(format_record(played.record) + "\n")
            if on_game is not None:
                on_game(played)
    return count.result()
