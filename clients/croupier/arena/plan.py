"""What an arena plays: everything that its games follow from.

The law of this file: everything that can be refused is refused before the first card. A plan is
small plain data, so it travels to other processes; whoever has it plays the same games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from croupier.arena.schedule import ArenaError, Roles, Schedule, schedule_of, seats_of
from croupier.bots import bot_maker
from croupier_games import game_named
from croupier_games.game import Options, check_players

MOVE_TIMEOUT: Final = 30.0
"""Seconds that an isolated bot may think about a move, unless another number is given."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Made by ``plan_of``, which checks it. ``options`` are resolved, ``seed`` names the boards.

    ``players`` are levels or ``module:Class``, ``names`` what they are called. ``isolate`` is
    None, or how many seconds a bot in its own process may think about a move.
    """

    game: str
    players: tuple[str, ...]
    names: tuple[str, ...]
    seed: str
    options: Options
    schedule: Schedule
    roles: Roles
    isolate: float | None = None
    with_records: bool = True

    def board(self, number: int) -> str:
        """The name of board ``number``, from 0."""
        return board_name(self.seed, number)


def board_name(seed: str, number: int) -> str:
    """The name of board ``number``, from 0."""
    return f"arena/{seed}/{number}"


def plan_of(
    game: str,
    players: Sequence[str],
    seed: str,
    options: Mapping[str, Any] | None = None,
    *,
    roles: Roles = "auction",
    round_robin: bool = False,
    isolate: float | None = None,
    with_records: bool = True,
) -> Plan:
    """The plan of an arena. The second of a name is called ``name#2``.

    Raises ``UnknownGame``, ``UnknownBot``, ``InvalidOptions`` (also for a number of players
    that the game is not for) and ``ArenaError`` (a seed that cannot name boards, roles that
    cannot be fixed, two sides over several deals).
    """
    rules = game_named(game)
    seats = seats_of(game, len(players), round_robin=round_robin)
    check_players(rules, seats)
    resolved = rules.options(seats, **(options or {}))
    schedule = schedule_of(game, len(players), roles, round_robin=round_robin)
    _check_seed(seed)
    if schedule.caller is not None and resolved["deals"] != 1:
        raise ArenaError("sides and fixed roles take single deals: with each deal the landlord may change")
    for player in players:
        bot_maker(game, player)
    return Plan(
        game=game,
        players=tuple(players),
        names=_names(players),
        seed=seed,
        options=resolved,
        schedule=schedule,
        roles=roles,
        isolate=isolate,
        with_records=with_records,
    )


def _names(players: Sequence[str]) -> tuple[str, ...]:
    numbers = [players[: index + 1].count(player) for index, player in enumerate(players)]
    return tuple(
        player if number == 1 else f"{player}#{number}"
        for player, number in zip(players, numbers, strict=True)
    )


def _check_seed(seed: str) -> None:
    try:
        encoded = seed.encode()
    except UnicodeEncodeError as error:
        raise ArenaError(f"the seed {seed!r} is no text") from error
    if b"\0" in encoded:
        raise ArenaError("the seed contains a NUL, which no board's name may")
