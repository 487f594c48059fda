"""``croupier token``: sign in at a server.

The law of this file: the token is a secret. It is written to stdout and nowhere else, so that it
can go into a variable or a file.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from croupier.cli.output import emit, say
from croupier.cli.server import JsonFlag, ServerAddress, token_given


def token(
    at: ServerAddress,
    name: Annotated[str, typer.Option(help="The name that others see.")] = "Guest",
    json: JsonFlag = False,
) -> int:
    """Sign in as a guest and print the token.

    Other commands take it from the variable CROUPIER_TOKEN. With one that is still good, the same
    player gets a new token.
    """
    player, fresh = asyncio.run(_sign_in(at, name))
    if json:
        emit({"event": "token", "player": player, "token": fresh})
    else:
        say(fresh)
    return 0


async def _sign_in(at: ServerAddress, name: str) -> tuple[str, str]:
    async with at.connect(name=name, token=token_given()) as client:
        return client.player.name, client.token
