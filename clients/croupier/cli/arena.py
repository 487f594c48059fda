"""``croupier arena``: bots against each other, in this process.

The law of this file: who plays what is decided by ``croupier.arena``; here it is asked for and
shown.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, Self, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from croupier.arena import ROLES, ArenaError, ArenaResult, PlayedGame, Roles, run_arena
from croupier.bots import UnknownBot
from croupier.cli.game_options import ArenaOptions, GameName, game_called
from croupier.cli.look.pen import cells
from croupier.cli.output import Failed, Misused, emit, is_terminal, note, say, width
from croupier.cli.server import JsonFlag
from croupier_games.game import InvalidOptions, Plain
from croupier_games.records import format_record

_SHOWN_FORFEITS: Final = 5


def arena(
    game: GameName,
    players: Annotated[
        list[str],
        typer.Argument(metavar="PLAYER", help="Levels, or module:Class; one for each seat."),
    ],
    *,
    deals: Annotated[int, typer.Option(min=1, help="How many boards are played.")] = 100,
    seed: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the cards follow from; default: chance.")
    ] = None,
    roles: Annotated[
        str,
        typer.Option(
            metavar="ROLES",
            help="Dou Dizhu: auction, who is landlord is for the bidding to say; "
            "fixed, the first bidder is it, and every player is in turn.",
        ),
    ] = "auction",
    round_robin: Annotated[
        bool, typer.Option("--round-robin", help="Every two PLAYERs play each other, not all at one table.")
    ] = False,
    record: Annotated[Path | None, typer.Option(help="Write the records there, one game a line.")] = None,
    options: ArenaOptions,
    json: JsonFlag = False,
) -> int:
    """Let bots play each other, and say who won how often.

    Each board is played in every seating that matters, so that the luck of the cards cancels. Dou
    Dizhu with two players is one side against the other: each board is played twice, each side the
    landlord once. Intervals hold 95 times in 100; the deal is their unit.
    """
    rules = game_called(game)
    options.check_known(rules)
    text = secrets.token_hex(4) if seed is None else seed
    try:
        with Records(record) as file, _progress(deals, json) as shown:

            def on_game(played: PlayedGame) -> None:
                file.add(played.record)
                shown(played)

            result = run_arena(
                rules.name,
                players,
                deals,
                text,
                options.given,
                roles=_roles(roles),
                round_robin=round_robin,
                on_game=on_game,
            )
    except (ArenaError, UnknownBot, InvalidOptions) as error:
        raise Misused(str(error)) from None
    if json:
        emit({"event": "result", **result.as_plain()})
    else:
        _report(result)
    return 0


def _roles(text: str) -> Roles:
    for roles in ROLES:
        if text == roles:
            return roles
    raise Misused(f"--roles is one of {', '.join(ROLES)}, not {text!r}")


class _Shown:
    """What is done with every game as it ends."""

    def __init__(self, progress: Progress | None, deals: int, json: bool) -> None:
        self._progress = progress
        self._json = json
        self._task = None if progress is None else progress.add_task("games", total=deals)
        self._boards: set[str] = set()

    def __call__(self, played: PlayedGame) -> None:
        if self._json:
            emit(_plain(played))
        self._boards.add(played.record["board"])
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=len(self._boards))


@contextmanager
def _progress(deals: int, json: bool) -> Iterator[_Shown]:
    """A bar on stderr, when that is a terminal."""
    if json or not is_terminal(sys.stderr):
        yield _Shown(None, deals, json)
        return
    columns = (TextColumn("Boards"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Shown(progress, deals, json)


class Records:
    """A file that records go to; it is made, or emptied, with the first one. None: they go nowhere."""

    def __init__(self, path: Path | None) -> None:
        self._path: Final = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, record: Plain) -> None:
        """Write one. Raises ``Failed``."""
        if self._path is None:
            return
        try:
            if self._file is None:
                self._file = self._path.open("w", encoding="ascii")
            self._file.write(format_record(record) + "\n")
        except OSError as error:
            raise Failed(f"{self._path} cannot be written: {error.strerror}") from None


def _plain(played: PlayedGame) -> dict[str, object]:
    return {
        "event": "game",
        "board": played.record["board"],
        "names": list(played.names),
        "scores": list(played.scores),
        "winners": sorted(played.winners),
        "result": played.record["result"],
        "forfeit": None if played.forfeit is None else asdict(played.forfeit),
    }


def _report(result: ArenaResult) -> None:
    say(f"{result.game}, seed {result.seed}: {result.boards} boards, {result.games} games")
    say(in_columns(result.to_rows(), width(sys.stdout)))
    say()
    say(in_columns(result.to_cross_table(), width(sys.stdout)))
    for forfeit in result.forfeits[:_SHOWN_FORFEITS]:
        note(f"{forfeit.board}: {forfeit.player} forfeits at move {forfeit.move}: {forfeit.message}")
    if len(result.forfeits) > _SHOWN_FORFEITS:
        note(f"and {len(result.forfeits) - _SHOWN_FORFEITS} more forfeits")


def in_columns(rows: Sequence[Sequence[str]], wide: int) -> list[str]:
    """Rows of texts as lines with their columns below each other; turned by 90° where that fits better."""
    lines = _aligned(rows)
    if max(map(cells, lines)) > wide:
        turned = _aligned(list(zip(*rows, strict=True)))
        if max(map(cells, turned)) <= wide:
            return turned
    return lines


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell + " " * (wide - cells(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
