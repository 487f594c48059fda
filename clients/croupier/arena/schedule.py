"""Which games a board is played in: who sits where.

The law of this file: within a board every player has every seat that matters equally often, so
the luck of the cards, the seats and the first turn is everybody's alike.

- Dou Dizhu with two sides: one is the landlord, the other both farmers, and swapped. The seats
  are counted from the landlord's.
- Dou Dizhu with three players: all six seatings. Who sits before and who behind the landlord
  matters as much as who is it.
- The other games: the rows of a balanced Latin square (Williams): every player once in every
  seat, and directly behind every other player equally often; for an odd number of players that
  takes the mirrored rows too. With two players these are both seatings, with three all six.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final, Literal, get_args

TWO_SIDED: Final = "doudizhu"
"""The game that two players play as two sides, and whose roles can be fixed."""
TWO_SIDED_SEATS: Final = 3

Roles = Literal["auction", "fixed"]
ROLES: Final[tuple[Roles, ...]] = get_args(Roles)

Caller = Literal["easy", "forced"]

Seating = tuple[int, ...]
"""The number of the player in each place: each seat, or counted on from the landlord's."""


class ArenaError(ValueError):
    """What an arena cannot be asked for."""


class ArenaFailed(ArenaError):
    """Why an arena that was asked for rightly cannot begin or go on."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The games of every board.

    ``caller`` says who calls before the players of Dou Dizhu begin: ``"easy"`` the level for all
    seats, ``"forced"`` the first bidder at once the highest bid; None: the players themselves.
    With a caller the places of a seating are counted from the landlord's seat, else from seat 0.
    """

    seats: int
    seatings: tuple[Seating, ...]
    caller: Caller | None = None


def seats_of(game: str, players: int, *, round_robin: bool = False) -> int:
    """How many seats a game between that many players has."""
    if game == TWO_SIDED and (players == 2 or round_robin):
        return TWO_SIDED_SEATS
    return 2 if round_robin else players


def schedule_of(game: str, players: int, roles: Roles = "auction", *, round_robin: bool = False) -> Schedule:
    """The schedule for that many players; in a round robin each two of them play each other.

    Raises ``ArenaError`` for fixed roles in a game without roles and for a round robin of one.
    """
    if roles == "fixed" and game != TWO_SIDED:
        raise ArenaError(f"{game} has no roles to fix; {TWO_SIDED} has")
    if round_robin and players < 2:
        raise ArenaError("a round robin takes two players or more")
    seats = seats_of(game, players, round_robin=round_robin)
    forced: Caller | None = "forced" if roles == "fixed" else None
    if seats == players and not round_robin:
        all_of_them = tuple(permutations(range(players)))
        return Schedule(seats, all_of_them if game == TWO_SIDED else balanced_latin_square(players), forced)
    if seats == 2:
        return Schedule(seats, tuple(permutations(range(players), 2)))
    pairs = combinations(range(players), 2)
    sides = tuple(seating for a, b in pairs for seating in ((a, b, b), (b, a, a)))
    return Schedule(seats, sides, forced or "easy")


def balanced_latin_square(players: int) -> tuple[Seating, ...]:
    """Seatings in which each player is in each seat, and behind each other player, equally often.

    Williams (1949): the first row goes 0, 1, n-1, 2, n-2, …, whose steps are all different; the
    others add 1 to it, modulo n. For odd n the same rows from right to left follow.

    >>> balanced_latin_square(4)
    ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
    """
    first = [(i + 1) // 2 if i % 2 else -i // 2 % players for i in range(players)]
    rows = [tuple((player + shift) % players for player in first) for shift in range(players)]
    return (*rows, *_mirrored(rows)) if players % 2 else tuple(rows)


def _mirrored(rows: Sequence[Seating]) -> list[Seating]:
    return [row[::-1] for row in rows]
