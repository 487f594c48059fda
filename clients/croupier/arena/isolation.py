"""Bots in processes of their own: what raises, hangs or dies there ends there.

The law of this file: one process a bot. It is asked over a socket, one JSON object a message, and
when it does not answer in time it is killed; the next game gets a new one. Nothing that a bot's
process sends is unpickled.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final

from croupier.arena.game import BotCrash, BotTimeout, NoText
from croupier.arena.interrupts import held_back
from croupier.bots import Bot, Plain

_BEGIN_SECONDS: Final = 60.0
"""What a new process has to import the bot's module, on top of the time for a move."""
_END_SECONDS: Final = 2.0
"""What a process has to end by itself once its socket is closed."""


class IsolatedPlace:
    """A place for one bot at a time; its process is started when it is needed and kept for the next game."""

    def __init__(self, game: str, player: str, move_timeout: float) -> None:
        self._asked_for: Final = (game, player)
        self._move_timeout: Final = move_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None

    def new_bot(self, seed: int) -> Bot:
        """A new bot, made over there. Raises ``BotCrash``, ``BotTimeout``."""
        began = self._process is None
        if began:
            self._begin()
        self._ask({"new": seed}, self._move_timeout + (_BEGIN_SECONDS if began else 0))
        return _IsolatedBot(self)

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> tuple[str, int]:
        """The bot's answer, and its ``watchdog_cuts`` so far.

        Raises ``BotCrash``, ``BotTimeout`` and, for an answer that is none, ``NoText``.
        """
        said = self._ask({"view": view, "legal_moves": list(legal_moves)}, self._move_timeout)
        if "move" not in said:
            raise NoText(str(said.get("type")))
        return str(said["move"]), int(said.get("watchdog_cuts", 0))

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        self._kill()

    def _begin(self) -> None:
        # A process by exec and not one of multiprocessing's: those may not be started from every
        # worker (Dask's are daemons), and would import the main module of whoever is the parent.
        ours, theirs = socket.socketpair()
        with theirs, held_back():
            command = [sys.executable, "-m", "croupier.arena.isolated", str(theirs.fileno())]
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [*command, *self._asked_for],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._connection = Connection(ours.detach())

    def _ask(self, message: Plain, seconds: float) -> Plain:
        assert self._connection is not None
        try:
            self._connection.send_bytes(json.dumps(message).encode())
            if not self._connection.poll(seconds):
                self._kill()
                raise BotTimeout(f"gave no answer in {seconds:g} s")
            said: object = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError, ValueError) as error:
            raise BotCrash(self._last_words(), None) from error
        if not isinstance(said, dict):
            self._kill()
            raise BotCrash("its process does not keep to the protocol", None)
        if "crash" in said:
            raise BotCrash(str(said["crash"]), str(said["traceback"]))
        return said

    def _last_words(self) -> str:
        process = self._process
        assert process is not None
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        self._kill()
        code = process.returncode
        return f"its process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}"

    def _kill(self) -> None:
        """Ends the process at once."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class _IsolatedBot:
    """Stands for a bot in its own process."""

    def __init__(self, place: IsolatedPlace) -> None:
        self._place: Final = place
        self.watchdog_cuts = 0

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """What the bot answers."""
        move, self.watchdog_cuts = self._place.choose(view, legal_moves)
        return move
