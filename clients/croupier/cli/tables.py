"""``croupier tables``: the tables of a server.

The law of this file: the list is the server's, newest first; what is private is not on it.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import typer

from croupier.cli.look.base import counted
from croupier.cli.look.pen import Pen
from croupier.cli.output import Misused, emit, pen, say
from croupier.cli.playing.online import plain_table
from croupier.cli.playing.sitting import Plain
from croupier.cli.server import JsonFlag, ServerAddress

_STATES: Final = ("open", "filled", "playing", "ended")


def tables(
    at: ServerAddress,
    game: Annotated[str, typer.Option(help="Only tables of this game.", show_default=False)] = "",
    state: Annotated[
        list[str] | None,
        typer.Option(help=f"Only in this state, {', '.join(_STATES)}; may be repeated. Default: not ended."),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Only where somebody can sit down.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    json: JsonFlag = False,
) -> int:
    """List the tables of a server, newest first."""
    for each in state or ():
        if each not in _STATES:
            raise Misused(f"--state is one of {', '.join(_STATES)}, not {each}")
    found, more = asyncio.run(_tables(at, game, state or [], free, limit))
    if json:
        for table in found:
            emit({"event": "table", **table})
        return 0
    ink = pen()
    for table in found:
        say(in_words(table, ink))
    if more:
        say(f"There are more; --limit {limit * 2} shows them.")
    elif not found:
        say("No tables.")
    return 0


async def _tables(
    at: ServerAddress, game: str, states: list[str], free: bool, limit: int
) -> tuple[list[Plain], bool]:
    """At most ``limit`` tables, and whether there are more."""
    found: list[Plain] = []
    async with at.connect(sign_in=False) as client:
        pages = client.tables(game=game, states=states, with_free_seats=free, page_size=min(limit + 1, 200))
        async for table in pages:
            if len(found) == limit:
                return found, True
            found.append(plain_table(table))
    return found, False


def in_words(table: Plain, ink: Pen) -> list[str]:
    """A table in two or more lines: what it is, and who sits there."""
    title = f' "{ink.name(table["title"])}"' if table["title"] else ""
    clock = f", {counted(table['move_seconds'], 'second')} a move" if table["move_seconds"] else ""
    lines = ink.wrap(f"{table['name']}  {table['game']}, {table['state']}{clock}{title}")
    seats = [_seat(seat, ink) for seat in table["seats"]]
    return [*lines, *ink.fill([f"{name}," for name in seats[:-1]] + seats[-1:], "  ", "  ", " ")]


def _seat(seat: Plain, ink: Pen) -> str:
    if seat["player"]:
        return ink.name(seat["name"]) or "a guest"
    if seat["level"]:
        return f"{seat['level']} bot expected"
    return "somebody invited" if seat["invited"] else "free seat"
