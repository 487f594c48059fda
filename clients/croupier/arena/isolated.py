"""The process of one isolated bot: ``python -m croupier.arena.isolated DESCRIPTOR GAME PLAYER``.

The law of this file: it answers each message with one, and ends when its socket does. Stdout is
the arena's stderr, so that a bot may print what it likes.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from croupier.bots import Bot, Plain, bot_maker
from croupier.lifeline import end_with


def serve(connection: Connection[Any, Any], game: str, player: str) -> NoReturn:
    """Makes bots and asks them. Raises ``EOFError`` or ``OSError`` when the other end is closed."""
    make = None
    bot: Bot | None = None
    while True:
        message = json.loads(connection.recv_bytes())
        try:
            if "new" in message:
                make = make or bot_maker(game, player)
                bot = make(message["new"])
                answer: Plain = {}
            else:
                assert bot is not None
                answer = _answer(bot, message)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a bot's own code raises what it likes
            answer = {"crash": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        connection.send_bytes(json.dumps(answer).encode())


def _answer(bot: Bot, message: Plain) -> Plain:
    move: object = bot.choose(message["view"], message["legal_moves"])
    cuts = getattr(bot, "watchdog_cuts", 0)
    said: Plain = {"watchdog_cuts": cuts if isinstance(cuts, int) else 0}
    return said | ({"move": move} if isinstance(move, str) else {"type": type(move).__name__})


def main() -> None:
    """Serves on the inherited descriptor."""
    descriptor, game, player = sys.argv[1:]
    end_with(int(descriptor))
    os.dup2(2, 1)
    with suppress(EOFError, OSError):
        serve(Connection(int(descriptor)), game, player)


if __name__ == "__main__":
    main()
