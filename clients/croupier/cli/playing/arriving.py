"""The ways to a seat.

The law of this file: each way is a context that gives a seat and leaves nothing behind but a kept
game that is not over. A token that must outlive the process is written before the first move.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import croupier
from croupier.bots import UnknownBot
from croupier.cli.output import Failed, Misused
from croupier.cli.playing.embedded import embedded_server
from croupier.cli.playing.kept import Keeping, KeptGame, delete_journal, fresh_journal
from croupier.cli.playing.online import OnlineSitting
from croupier.cli.playing.practice import PracticeSitting
from croupier.cli.playing.sitting import Sitting
from croupier.cli.server import LONG_PATIENCE, ServerAddress, token_given
from croupier_games.game import Game, Options

OPEN: Final = "open"
"""Stands for a seat that is left to whoever comes."""
PLAYER_PREFIX: Final = "players/"
_LOSTS: Final = (croupier.NotFound, croupier.PermissionDenied, croupier.Unauthenticated)


class At(NamedTuple):
    """A seat; ``keeping`` is None where there is nothing to come back to."""

    sitting: Sitting
    keeping: Keeping | None


@dataclass(frozen=True)
class NewTable:
    """A table to open: the game with its resolved options, and who is to sit on the other seats.

    ``others`` are levels, ``open`` or ``players/ID``, one for each seat from 1 on.
    """

    rules: Game[Any, Any]
    options: Options
    others: tuple[str, ...]
    name: str
    private: bool = False
    move_seconds: int = 0
    title: str = ""


@asynccontextmanager
async def practising(new: NewTable, seed: str) -> AsyncIterator[At]:
    """A table in this process. Raises ``Misused`` for who cannot sit there."""
    try:
        sitting = PracticeSitting(new.rules, new.options, new.others, seed, new.name)
    except UnknownBot as error:
        raise Misused(str(error)) from None
    yield At(sitting, None)


@asynccontextmanager
async def on_own_server(new: NewTable, *, keep: bool) -> AsyncIterator[At]:
    """A new table on an embedded server; ``keep`` lets one come back to it."""
    journal = fresh_journal() if keep else None
    keeping: Keeping | None = None
    try:
        url = "memory:" if journal is None else f"sqlite:{journal}"
        async with embedded_server(url) as address, ServerAddress(address).connect(name=new.name) as client:
            seat = await _new_seat(client, new)
            if journal is not None:
                kept = KeptGame(new.rules.name, seat.table, client.token, journal=str(journal))
                keeping = Keeping.begin(kept)
            async with seat:
                yield At(OnlineSitting(seat), keeping)
    finally:
        if keeping is not None:
            keeping.close()
        elif journal is not None:
            delete_journal(journal)


@asynccontextmanager
async def on_server(at: ServerAddress, new: NewTable, *, keep: bool) -> AsyncIterator[At]:
    """A new table on a server."""
    async with (
        at.connect(name=new.name, token=token_given()) as client,
        _kept(client, at, await _new_seat(client, new), keep=keep) as place,
    ):
        yield place


@asynccontextmanager
async def at_table(at: ServerAddress, table: str, code: str, name: str, *, keep: bool) -> AsyncIterator[At]:
    """A seat at a table that there is: one's own, with the token of the environment, or a free one."""
    async with at.connect(name=name, token=token_given()) as client:
        try:
            seat = await client.join(table, code=code)
        except croupier.AlreadySeated:
            seat = await client.resume(table)
        async with _kept(client, at, seat, keep=keep) as place:
            yield place


@asynccontextmanager
async def coming_back(keeping: Keeping) -> AsyncIterator[At]:
    """The seat of a kept game. Raises ``Failed`` when it is gone; then it is forgotten."""
    kept = keeping.kept
    try:
        if kept.is_lost():
            raise _gone(keeping)
        async with _server_of(kept) as at, _resumed(at, keeping) as place:
            yield place
    finally:
        keeping.close()


@asynccontextmanager
async def _server_of(kept: KeptGame) -> AsyncIterator[ServerAddress]:
    if kept.journal:
        async with embedded_server(f"sqlite:{kept.journal}") as address:
            yield ServerAddress(address)
    else:
        yield ServerAddress(kept.server, kept.tls, Path(kept.tls_ca) if kept.tls_ca else None)


@asynccontextmanager
async def _resumed(at: ServerAddress, keeping: Keeping) -> AsyncIterator[At]:
    try:
        client = await at.connect(token=keeping.kept.token).open()
    except _LOSTS as error:
        raise _gone(keeping) from error
    try:
        client.connection.retry_for = LONG_PATIENCE
        try:
            seat = await client.resume(keeping.kept.table)
        except _LOSTS as error:
            raise _gone(keeping) from error
        async with seat:
            yield At(OnlineSitting(seat), keeping)
    finally:
        await client.close()


def _gone(keeping: Keeping) -> Failed:
    keeping.over = True
    return Failed(f"the game at {keeping.kept.table} is gone")


@asynccontextmanager
async def _kept(
    client: croupier.Client, at: ServerAddress, seat: croupier.Seat, *, keep: bool
) -> AsyncIterator[At]:
    client.connection.retry_for = LONG_PATIENCE
    keeping: Keeping | None = None
    if keep:
        roots = "" if at.tls_ca is None else str(at.tls_ca.resolve())
        kept = KeptGame(seat.game, seat.table, client.token, server=at.server, tls=at.tls, tls_ca=roots)
        keeping = Keeping.begin(kept)
    try:
        async with seat:
            yield At(OnlineSitting(seat), keeping)
    finally:
        if keeping is not None:
            keeping.close()


async def _new_seat(client: croupier.Client, new: NewTable) -> croupier.Seat:
    """Open the table, sit down and invite the others. Raises ``Misused`` for a level that there is not."""
    await _check_levels(client, new)
    table = await client.create_table(
        new.rules.name,
        players=len(new.others) + 1,
        options=new.options,
        private=new.private,
        move_seconds=new.move_seconds,
        title=new.title,
    )
    seat = await client.join(table.name, seat=0, code=table.join_code)
    for number, other in enumerate(new.others, 1):
        if other.startswith(PLAYER_PREFIX):
            await client.invite(table.name, other, seat=number)
        elif other != OPEN:
            await client.invite_bot(table.name, level=other, seat=number)
    return seat


async def _check_levels(client: croupier.Client, new: NewTable) -> None:
    wanted = {other for other in new.others if other != OPEN and not other.startswith(PLAYER_PREFIX)}
    for game in await client.games():
        unknown = sorted(wanted - set(game.bot_levels))
        if game.game == new.rules.name and unknown:
            levels = ", ".join([*game.bot_levels, OPEN, PLAYER_PREFIX + "ID"])
            raise Misused(f"there is no level {unknown[0]!r}; who sits with you is one of {levels}")
