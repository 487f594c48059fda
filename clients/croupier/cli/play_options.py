"""What ``croupier play`` can be asked for.

The law of this file: it declares; what goes together and what does not is checked in ``play``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.display import AsciiFlag, FourColourFlag
from croupier.cli.groups import Group
from croupier.cli.output import Misused, is_terminal
from croupier.cli.playing.person import SPEEDS
from croupier.cli.server import ServerAddress
from croupier_games import GAMES

OptionalGame = Annotated[
    str | None, typer.Argument(metavar="GAME", help=f"The game: {', '.join(GAMES)}.", show_default=False)
]
SeedOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Practise without a server: cards and bots follow from TEXT, the cards as on board 0 of "
        "`croupier arena GAME ... --seed TEXT`. With --server it does nothing: there the server's seed "
        "and the players' nonces decide.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class PlayServer(Group):
    """As ``ServerAddress``; without one it is a server of one's own."""

    play_server: Annotated[
        str | None,
        typer.Option("--server", metavar="HOST:PORT", help="The server. Default: one of your own."),
    ] = None
    play_tls: Annotated[bool, typer.Option("--tls", help="Reach the server by TLS.")] = False
    play_tls_ca: Annotated[
        Path | None, typer.Option("--tls-ca", help="Root certificates (PEM); implies --tls.")
    ] = None

    def address(self) -> ServerAddress | None:
        """The address that was given, if one was."""
        if self.play_server is None:
            return None
        return ServerAddress(self.play_server, self.play_tls, self.play_tls_ca)


@dataclass(frozen=True)
class TableChoice(Group):
    """Which table: a new one and who sits at it, one there is, or one that was left."""

    vs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LEVEL",
            help="Who sits on the next seat, once for each: a bot's level, `open` for whoever comes, "
            "or players/ID. Missing ones are `easy`.",
            show_default=False,
        ),
    ] = None
    players: Annotated[int | None, typer.Option(help="How many play.", show_default=False)] = None
    private: Annotated[
        bool, typer.Option("--private", help="Do not list the table; others need its code.")
    ] = False
    move_seconds: Annotated[int, typer.Option(min=0, help="Seconds for each move; 0 is no clock.")] = 0
    title: Annotated[str, typer.Option(help="A name for the table.", show_default=False)] = ""
    table: Annotated[
        str, typer.Option(metavar="tables/ID", help="Sit down at this table.", show_default=False)
    ] = ""
    join_code: Annotated[str, typer.Option(help="The code of a private table.", show_default=False)] = ""
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the game that you left last.")] = False

    def opens_one(self) -> bool:
        """True for a new table."""
        return not self.resume and not self.table

    def is_about_a_new_one(self) -> bool:
        """True when something was asked for that only a new table can have."""
        return bool(self.vs or self.players or self.private or self.move_seconds or self.title)


@dataclass(frozen=True)
class Shown(Group):
    """How the game is shown to a person."""

    speed: Annotated[
        str | None,
        typer.Option(
            help=f"How fast the others' moves are shown: {', '.join(SPEEDS)}. Default: normal at a terminal.",
            show_default=False,
        ),
    ] = None
    ascii_only: AsciiFlag = False
    four_colour: FourColourFlag = False

    def pause(self) -> float:
        """Seconds before each of the others' moves. Raises ``Misused``."""
        name = self.speed or ("normal" if is_terminal(sys.stdout) else "instant")
        if name not in SPEEDS:
            raise Misused(f"--speed is one of {', '.join(SPEEDS)}, not {name}")
        return SPEEDS[name]
