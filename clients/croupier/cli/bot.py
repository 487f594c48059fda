"""``croupier bot``: a bot that plays wherever it is invited.

The law of this file: a bot is a player like any other. Whoever knows its ``players/…`` name can
invite it; it plays until it is stopped, through every break of the connection.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import sys
from typing import Annotated, Any, Final

import typer

import croupier
from croupier.bots import BotMaker, UnknownBot, bot_maker
from croupier.cli.game_options import GameName, game_called
from croupier.cli.output import Misused, emit, say
from croupier.cli.server import JsonFlag, ServerAddress, token_given

_INTERRUPTED: Final = 130


def bot(
    game: GameName,
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="A level, or module:Class.")],
    at: ServerAddress,
    name: Annotated[
        str, typer.Option(help="The name that others see. Default: PLAYER.", show_default=False)
    ] = "",
    tables: Annotated[int, typer.Option(min=1, help="How many tables at once, at most.")] = 32,
    json: JsonFlag = False,
) -> int:
    """Connect a bot; it takes invitations until it is stopped.

    It says its players/... name, which is what others invite. The same name again needs the same
    token, in the variable CROUPIER_TOKEN.
    """
    rules = game_called(game)
    try:
        maker = bot_maker(rules.name, player)
    except UnknownBot as error:
        raise Misused(str(error)) from None
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="croupier: %(message)s")
    client = at.connect(name=name or player[:40], token=token_given())
    return asyncio.run(_serve(client, rules.name, maker, tables, json))


async def _serve(client: croupier.Client, game: str, maker: BotMaker, tables: int, json: bool) -> int:
    """Play until SIGTERM (0) or SIGINT (130)."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, _INTERRUPTED)):
        loop.add_signal_handler(number, _stop, stopped, code)
    async with client:
        _say_ready(client.player, game, json)
        playing = loop.create_task(
            croupier.serve_invitations(
                client,
                lambda _table, _seat: maker(secrets.randbits(63)),
                games=(game,),
                concurrency=tables,
                on_outcome=lambda outcome: _say_outcome(outcome, json),
            )
        )
        waiting: list[asyncio.Future[Any]] = [playing, stopped]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if playing.done():
            await playing
        playing.cancel()
        await asyncio.wait([playing])
    return stopped.result() if stopped.done() else 1


def _stop(stopped: asyncio.Future[int], code: int) -> None:
    if not stopped.done():
        stopped.set_result(code)


def _say_ready(player: object, game: str, json: bool) -> None:
    name = getattr(player, "name", "")
    if json:
        emit({"event": "ready", "player": name, "game": game})
    else:
        say(f"{name} plays {game}; Ctrl-C ends it.")


def _say_outcome(outcome: croupier.Outcome, json: bool) -> None:
    if json:
        place = {"table": outcome.table, "seat": outcome.seat, "result": outcome.result}
        counts = {"moves": outcome.moves, "faults": outcome.faults}
        emit({"event": "outcome", **place, "scores": list(outcome.scores), **counts})
    else:
        scores = " ".join(map(str, outcome.scores))
        say(f"{outcome.table}, seat {outcome.seat}: {outcome.result}, scores {scores}")
