"""Which games are played, and how their players behave.

The law of this file: everything is drawn from a seed. Some tables have a turn clock and players
who let it run out; at some a player changes his mind and sends two moves for one turn over two
connections, of which the server may take one; at some the seats are kept for players who learn
of it from their inbox; some are watched; where there are house bots, one plays at some.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

LEAST_CLOCK = 5
"""Seconds: the shortest turn clock there is."""


@dataclass(frozen=True)
class Plan:
    """One table. ``dozes`` and ``wavers`` are parts of turns."""

    number: int
    game: str
    players: int
    options: dict[str, Any] = field(default_factory=dict)
    move_seconds: int = 0
    dozes: float = 0.0
    wavers: float = 0.0
    invited: bool = False
    watched: bool = False
    house: bool = False


def plans(seed: int, *, brief: bool = False) -> Iterator[Plan]:
    """Tables without end: all three games in turn, with every number of players; ``brief``: short ones."""
    rng = random.Random(seed)
    for number in count():
        match number % 3:
            case 0:
                game, players = "hidden_unders", rng.randint(2, 6)
                options = {"turn_limit": 60} if brief else {"rounds": rng.randint(1, 2)}
            case 1:
                game, players = "doudizhu", 3
                options = {"deals": 1 if brief else rng.randint(1, 4)}
            case _:
                game, players = "basic_rummy", rng.randint(3 if brief else 2, 4)
                options = {"turn_limit": 20 if brief else 40}
        clocked = number % 5 == 0
        yield Plan(
            number,
            game,
            players,
            options,
            move_seconds=LEAST_CLOCK if clocked else 0,
            dozes=0.02 if clocked else 0.0,
            wavers=0.1 if number % 2 else 0.0,
            invited=number % 4 == 1,
            watched=number % 4 == 2,
            house=number % 6 == 3,
        )
