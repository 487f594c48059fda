"""A process that thinks for seats: ``python -m croupier.thinkers.worker DESCRIPTOR``.

The law of this file: one JSON object a line, on the inherited socket. A thought is answered with
one line, in order; that a bot is to be forgotten with none. Every thought says all that is needed
to make its bot, so a new process goes on where a dead one ended; what that one's bots remembered
is lost. It ends when its socket does, even amid a thought that never ends. Stdout is stderr here,
so that a bot may print what it likes.

A thought: ``{"bot": 7, "game": "doudizhu", "player": "hard", "seed": 1, "view": {…},
"legal_moves": […]}``; its answer: ``{"move": "pass"}`` or ``{"failed": "…"}``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from croupier.bots import Bot, Plain, bot_maker
from croupier.lifeline import end_with

_NICE: Final = 5
"""What thinks gives way to what serves, on cores that they share."""


def serve(lines: Iterable[bytes], answer: Callable[[bytes], Any]) -> None:
    """Answer every thought of ``lines``. Raises what ``answer`` raises."""
    bots: dict[int, Bot] = {}
    for line in lines:
        message = json.loads(line)
        if "forget" in message:
            bots.pop(message["forget"], None)
        else:
            answer(json.dumps(_think(bots, message)).encode() + b"\n")


def _think(bots: dict[int, Bot], thought: Plain) -> Plain:
    try:
        bot = bots.get(thought["bot"])
        if bot is None:
            bot = bots[thought["bot"]] = bot_maker(thought["game"], thought["player"])(thought["seed"])
        move: object = bot.choose(thought["view"], thought["legal_moves"])
    except (Exception, SystemExit):  # noqa: BLE001 - a bot's own code raises what it likes
        return {"failed": traceback.format_exc()}
    if not isinstance(move, str):
        return {"failed": f"the bot answered {move!r}, which is no text"}
    return {"move": move}


def main() -> None:
    """Serve on the inherited descriptor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's goes to the house too, which ends us
    descriptor = int(sys.argv[1])
    end_with(descriptor)
    os.dup2(2, 1)
    os.nice(_NICE)
    with socket.socket(fileno=descriptor) as link, suppress(OSError):
        serve(link.makefile("rb"), link.sendall)


if __name__ == "__main__":
    main()
