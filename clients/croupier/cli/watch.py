"""``croupier watch``: look on at a table.

The law of this file: whoever has no seat sees what everybody may see; with a token (from the
environment, or of a game that was left) the seat that it holds is looked through. Nothing is ever
played.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

import croupier
from croupier.cli.display import AsciiFlag, FourColourFlag
from croupier.cli.output import emit, pen
from croupier.cli.playing.kept import token_left_at
from croupier.cli.playing.narrator import Narrator
from croupier.cli.playing.online import plain_event, plain_table
from croupier.cli.playing.sitting import Plain
from croupier.cli.server import LONG_PATIENCE, JsonFlag, ServerAddress, table_name, token_given


def watch(
    at: ServerAddress,
    table: Annotated[str, typer.Argument(metavar="tables/ID", help="The table.")],
    join_code: Annotated[str, typer.Option(help="The code of a private table.", show_default=False)] = "",
    after_seq: Annotated[
        int | None,
        typer.Option(
            min=0, help="Begin with the event after this number; 0: with the first.", show_default=False
        ),
    ] = None,
    ascii_only: AsciiFlag = False,
    four_colour: FourColourFlag = False,
    json: JsonFlag = False,
) -> int:
    """Watch a table until it has ended."""
    narrator = None if json else Narrator(pen(ascii_only=ascii_only, four_colour=four_colour))
    return asyncio.run(_watch(at, table_name(table), join_code, after_seq, narrator))


async def _watch(
    at: ServerAddress, table: str, code: str, after_seq: int | None, narrator: Narrator | None
) -> int:
    token = token_given() or token_left_at(table, at.server)
    ended: Plain = {}
    async with at.connect(token=token) as client:
        client.connection.retry_for = LONG_PATIENCE
        watching = await _opened(client, table, code, after_seq)
        if narrator is not None and after_seq is not None:
            await narrator.heard(_first(watching, after_seq))
        async with watching:
            async for event in watching:
                plain = plain_event(event)
                if plain["event"] == "ended":
                    ended = plain
                elif plain["event"] == "snapshot" and plain["table"]["result"]:
                    ended = plain["table"]
                if narrator is None:
                    emit(plain)
                else:
                    await narrator.heard(plain)
    if narrator is None:
        emit({"event": "end", "scores": ended.get("scores") or [], "result": ended.get("result") or ""})
    return 0


async def _opened(client: croupier.Client, table: str, code: str, after_seq: int | None) -> croupier.Watch:
    """The table through one's own seat, or as a spectator."""
    seats = (await client.get_table(table)).seats
    if any(seat.player == client.player.name for seat in seats):
        return await client.resume(table, after_seq=after_seq)
    return await client.watch(table, code=code, after_seq=after_seq)


def _first(watching: croupier.Watch, after_seq: int) -> Plain:
    """What a narrator must know first where the stream begins with an event."""
    table = plain_table(watching.info)
    own = watching.number if isinstance(watching, croupier.Seat) else None
    unknown: Plain = {"result": None, "scores": None}
    return {"event": "snapshot", "table": {**table, **unknown}, "seat": own, "seq": after_seq, "view": None}
