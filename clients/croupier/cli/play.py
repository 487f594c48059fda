"""``croupier play``: sit down and play, as a person or as a program.

The law of this file: it decides where the game is (a server, one of its own, or this process) and
who plays (a person, or with ``--json`` a program); the game itself goes on in ``playing``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Final

import typer

import croupier
from croupier.bots import LEVELS
from croupier.cli.game_options import GameOptions, game_called
from croupier.cli.output import Failed, Misused, emit, is_terminal, note, pen, say
from croupier.cli.play_options import OptionalGame, PlayServer, SeedOption, Shown, TableChoice
from croupier.cli.playing import arriving
from croupier.cli.playing.arriving import OPEN, PLAYER_PREFIX, At, NewTable
from croupier.cli.playing.conversation import converse
from croupier.cli.playing.kept import take_up
from croupier.cli.playing.lines import Lines
from croupier.cli.playing.person import Person
from croupier.cli.playing.program import Program
from croupier.cli.playing.sitting import Sitting
from croupier.cli.rules import show_rules_of
from croupier.cli.server import JsonFlag, table_name
from croupier_games import GAMES
from croupier_games.records import format_record

_EASY: Final = "easy"

Place = AbstractAsyncContextManager[At]


def play(
    game: OptionalGame = None,
    *,
    choice: TableChoice,
    seed: SeedOption = None,
    at: PlayServer,
    name: Annotated[str, typer.Option(help="The name that others see.")] = "Guest",
    options: GameOptions,
    shown: Shown,
    record: Annotated[Path | None, typer.Option(help="Add the record of the game to this file.")] = None,
    json: JsonFlag = False,
) -> int:
    """Play a game, against bots or other people.

    Without --server it starts a server of its own, which ends with the game. Leave with `quit` or
    Ctrl-C; --resume goes on.

    With --json every event is a line on stdout, and each `turn` takes one line of stdin: a place in
    its `legal`, from 1, or a move's text. The last event is `end`.
    """
    pause = shown.pause()
    ink = pen(ascii_only=shown.ascii_only, four_colour=shown.four_colour)
    prompt = is_terminal(sys.stdin)
    _check_record(record)
    if choice.opens_one():
        place = _new_place(at, _new_table(choice, options, game, name), seed, keep=not json)
    elif choice.is_about_a_new_one() or options.given:
        raise Misused(
            "--vs, --players, --private, --move-seconds, --title and a game's options open a new table"
        )
    else:
        place = _known_place(at, choice, name, keep=not json)

    def talk_at(sitting: Sitting) -> Person | Program:
        if json:
            return Program(sitting)
        return Person(sitting, ink, pause=pause, prompt=prompt, rules=show_rules_of)

    return asyncio.run(_spend(place, talk_at, record))


def _check_record(path: Path | None) -> None:
    """Raises ``Failed`` when a record could not be added there in the end."""
    if path is not None and not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Failed(f"{path} cannot be written")


def _new_table(choice: TableChoice, options: GameOptions, game: str | None, name: str) -> NewTable:
    """The table that was asked for. Raises ``Misused``."""
    if game is None:
        raise Misused(f"which game? One of {', '.join(GAMES)}")
    if choice.join_code:
        raise Misused("--join-code needs --table")
    rules, others = game_called(game), list(choice.vs or ())
    players = choice.players or max(rules.default_players, len(others) + 1)
    resolved = options.resolved(rules, players)
    if len(others) >= players:
        raise Misused(f"--vs was given {len(others)} times, but {players} players have {players - 1} others")
    others += [_EASY] * (players - 1 - len(others))
    return NewTable(rules, resolved, tuple(others), name, choice.private, choice.move_seconds, choice.title)


def _new_place(at: PlayServer, new: NewTable, seed: str | None, *, keep: bool) -> Place:
    address = at.address()
    if address is not None:
        if seed is not None:
            note("--seed does nothing here: the server's seed and the players' nonces decide")
        return arriving.on_server(address, new, keep=keep)
    for other in new.others:
        if other not in LEVELS:
            elsewhere = (
                " (others can only come with --server)" if other in (OPEN,) or PLAYER_PREFIX in other else ""
            )
            raise Misused(f"there is no level {other!r}; there are {', '.join(LEVELS)}{elsewhere}")
    if seed is not None:
        return arriving.practising(new, seed)
    return arriving.on_own_server(new, keep=keep)


def _known_place(at: PlayServer, choice: TableChoice, name: str, *, keep: bool) -> Place:
    """A table that there is, or a game that was left."""
    address, table = at.address(), table_name(choice.table)
    keeping = take_up(table, "" if address is None else address.server)
    if keeping is not None:
        return arriving.coming_back(keeping)
    if choice.resume:
        raise Failed(f"there is no game to come back to{' at ' + table if table else ''}")
    if address is None:
        raise Misused("--table needs --server, or --resume for a game that you left")
    return arriving.at_table(address, table, choice.join_code, name, keep=keep)


async def _spend(place: Place, talk_at: Callable[[Sitting], Person | Program], record: Path | None) -> int:
    """Play to the end; the exit code."""
    async with place as at:
        talk, lines = talk_at(at.sitting), Lines()
        try:
            over = await converse(at.sitting, lines, talk)
            if at.keeping is not None:
                at.keeping.over = over
        finally:
            lines.close()
            talk.leave()
            if at.keeping is not None and not at.keeping.over:
                note(f"to go on: croupier play --resume --table {at.keeping.kept.table}")
        if not over:
            if talk.starved:
                note("the input ended before the game")
            return 1 if talk.starved else 0
        held = await _keep_record(at.sitting, talk, record)
        if isinstance(talk, Program):
            talk.close()
        return 0 if held else 1


async def _keep_record(sitting: Sitting, talk: Person | Program, path: Path | None) -> bool:
    """Check the record, and add it to a file; False when there is none that holds."""
    if isinstance(talk, Program) and path is None:
        return True
    try:
        line = format_record(await sitting.record())
        if path is not None:
            with path.open("a", encoding="ascii") as file:
                file.write(line + "\n")
    except (croupier.Error, OSError) as error:
        if isinstance(talk, Program):
            emit({"event": "error", "reason": "NO_RECORD", "message": str(error)})
        note(f"no record: {error}")
        return path is None
    if isinstance(talk, Person):
        talk.say(talk.pen.wrap(sitting.proof))
        say(f"croupier verify {path} checks the record." if path else "--record FILE keeps a record.")
    return True
