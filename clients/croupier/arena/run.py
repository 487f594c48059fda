"""The run of an arena: which games are played, and by whom in which seat.

The law of this file: everything that can be refused is refused before the first card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from croupier.arena.game import Entrant, Forfeit, PlayedGame, Table, play_game, play_on
from croupier.arena.standings import ArenaResult, Standing
from croupier.bots import bot_maker, make_bot
from croupier_games import game_named
from croupier_games.game import Game, Options, check_players
from croupier_games.records import format_record

_TWO_SIDED: Final = "doudizhu"
_TWO_SIDED_SEATS: Final = 3
_BIDDER: Final = "easy"
"""The level that calls for all seats where two sides play."""


class ArenaError(ValueError):
    """What an arena cannot be asked for."""


def board_name(seed: str, number: int) -> str:
    """The name of board ``number``, from 0."""
    return f"arena/{seed}/{number}"


def run_arena(
    game: str,
    players: Sequence[str],
    deals: int,
    seed: str,
    options: Mapping[str, Any] | None = None,
    *,
    record: TextIO | None = None,
    on_game: Callable[[PlayedGame], object] | None = None,
) -> ArenaResult:
    """Plays ``deals`` boards and adds up what came of them.

    ``players`` are levels or ``module:Class``; the second of a name is called ``name#2``.
    ``record`` gets one line a game, ``on_game`` every game as it ends.

    Raises ``UnknownGame``, ``UnknownBot``, ``InvalidOptions`` (also for a number of players
    that the game is not for) and ``ArenaError`` (no board to play, a seed that cannot name
    boards, two sides over several deals), all before the first card.
    """
    rules = game_named(game)
    sides = game == _TWO_SIDED and len(players) == 2
    seats = _TWO_SIDED_SEATS if sides else len(players)
    check_players(rules, seats)
    resolved = rules.options(seats, **(options or {}))
    _check(deals, seed, sides, resolved)
    entrants = _entrants(game, players)
    standings = {entrant.name: Standing(entrant.name) for entrant in entrants}
    forfeits: list[Forfeit] = []
    games = 0
    for played in _games(rules, resolved, entrants, seed, deals):
        games += 1
        for name in set(played.names):
            standings[name].count(played)
        if played.forfeit is not None:
            forfeits.append(played.forfeit)
        if record is not None:
            record.write(format_record(played.record) + "\n")
        if on_game is not None:
            on_game(played)
    return ArenaResult(game, seed, deals, games, tuple(standings.values()), tuple(forfeits))


def _check(deals: int, seed: str, sides: bool, options: Options) -> None:
    if deals < 1:
        raise ArenaError(f"an arena plays one board or more, not {deals}")
    try:
        encoded = seed.encode()
    except UnicodeEncodeError as error:
        raise ArenaError(f"the seed {seed!r} is no text") from error
    if b"\0" in encoded:
        raise ArenaError("the seed contains a NUL, which no board's name may")
    if sides and options["deals"] != 1:
        raise ArenaError("two sides play single deals: with each deal the landlord may change")


def _entrants(game: str, players: Sequence[str]) -> list[Entrant]:
    entrants = []
    for index, player in enumerate(players):
        number = players[: index + 1].count(player)
        name = player if number == 1 else f"{player}#{number}"
        entrants.append(Entrant(name, bot_maker(game, player)))
    return entrants


def _games(
    game: Game[Any, Any], options: Options, entrants: Sequence[Entrant], seed: str, deals: int
) -> Iterator[PlayedGame]:
    for number in range(deals):
        board = board_name(seed, number)
        if game.name == _TWO_SIDED and len(entrants) == 2:
            yield from _both_ways(game, options, entrants, board)
        else:
            turned = -number % len(entrants)
            yield play_game(game, options, [*entrants[turned:], *entrants[:turned]], board)


def _both_ways(
    game: Game[Any, Any], options: Options, entrants: Sequence[Entrant], board: str
) -> Iterator[PlayedGame]:
    """The two games of two sides: each of them the landlord once, with the same cards and bid."""
    bidding = Table(game, options, _TWO_SIDED_SEATS, board)
    landlord = _bid(bidding)
    for alone, farmer in (entrants, entrants[::-1]):
        seated = [alone if seat == landlord else farmer for seat in range(_TWO_SIDED_SEATS)]
        yield play_on(bidding.fork(), seated, {"bids": _BIDDER})


def _bid(table: Table) -> int:
    """Lets the bidder call for all seats; the landlord's seat, or where nobody bid seat 0."""
    bidder = make_bot(_TWO_SIDED, _BIDDER, 0)
    while (seat := table.to_act()) is not None:
        view = table.view(seat)
        if view["phase"] != "bidding":
            return int(view["landlord"])
        table.make(seat, bidder.choose(view, table.legal_moves()))
    return 0
