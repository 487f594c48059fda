"""``croupier arena``: bots against each other, in this process.

The law of this file: who plays what is decided by ``croupier.arena``; here it is asked for and
shown.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from croupier.arena import ROLES, ArenaError, ArenaFailed, ArenaResult, PlayedGame, Roles, run_arena
from croupier.arena.plan import MOVE_TIMEOUT
from croupier.arena.report import can_report, to_html
from croupier.bots import UnknownBot
from croupier.cli.arena_tables import show
from croupier.cli.game_options import ArenaOptions, GameName, game_called
from croupier.cli.output import Failed, Misused, emit, is_terminal
from croupier.cli.server import JsonFlag
from croupier_games.game import InvalidOptions


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
    report: Annotated[
        Path | None, typer.Option(help="Write a page with tables and plots there, all in one HTML file.")
    ] = None,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="ELO0 ELO1",
            help="Stop as soon as it is known whether the first of two PLAYERs is ELO0 or ELO1 stronger.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Keep what is played in that file, and go on from what it holds already."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes play; default: as many as there are cores.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Let the Dask cluster of this scheduler play.")
    ] = None,
    isolate: Annotated[
        bool, typer.Option("--isolate", help="Each bot in its own process; one that hangs is killed.")
    ] = False,
    move_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help=f"What an isolated bot may think a move; default: {MOVE_TIMEOUT:g}."
        ),
    ] = None,
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
    if move_timeout is not None and not isolate:
        raise Misused("--move-timeout needs --isolate: a bot that hangs in this process cannot be stopped")
    if move_timeout is not None and not move_timeout > 0:
        raise Misused("--move-timeout is longer than nothing")
    if dask is not None and workers is not None:
        raise Misused("--dask and --workers: one of them plays")
    if report is not None and not can_report():
        raise Failed("a report needs more packages: pip install 'croupier[arena]'")
    try:
        with _progress(deals, json) as shown:
            result = run_arena(
                rules.name,
                players,
                deals,
                text,
                options.given,
                roles=_roles(roles),
                round_robin=round_robin,
                isolate=(move_timeout or MOVE_TIMEOUT) if isolate else None,
                sprt=sprt,
                workers=None if dask is not None else workers,
                dask=dask,
                resume=resume,
                record=record,
                with_records=False,
                on_game=shown,
            )
    except ArenaFailed as error:
        raise Failed(str(error)) from None
    except (ArenaError, UnknownBot, InvalidOptions) as error:
        raise Misused(str(error)) from None
    if json:
        emit({"event": "result", **result.as_plain()})
    else:
        show(result)
    if report is not None:
        _write(report, result)
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
        self._boards.add(played.board)
        if self._progress is None or self._task is None:
            return
        if played.kept:  # and read in no time, which says nothing of how long the others take
            self._progress.reset(self._task, completed=len(self._boards))
        else:
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


def _write(path: Path, result: ArenaResult) -> None:
    try:
        path.write_text(to_html(result), encoding="utf-8")
    except OSError as error:
        raise Failed(f"{path} cannot be written: {error.strerror}") from None


def _plain(played: PlayedGame) -> dict[str, object]:
    return {
        "event": "game",
        "board": played.board,
        "names": list(played.names),
        "scores": list(played.scores),
        "winners": sorted(played.winners),
        "result": played.result,
        "forfeit": None if played.forfeit is None else asdict(played.forfeit),
    }
