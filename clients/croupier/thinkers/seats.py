"""A bot for each seat that the house is offered, thinking where its level belongs.

The law of this file: ``random`` and ``easy`` answer in the event loop at once. Every other level
thinks in the seat's worker, within a share of the turn's clock; whatever goes wrong there, ``easy``
makes the move.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Final

import croupier
from croupier.bots import LEVELS, Bot, Plain, bot_maker, make_bot
from croupier.thinkers.load import LevelLoad, Load
from croupier.thinkers.pool import BotFailed, Pool, Unanswered

log = logging.getLogger("croupier.house")

QUICK: Final = frozenset({"random", "easy"})
"""The levels that take less time than asking a worker does."""
_INSTEAD: Final = "easy"
_LONGEST: Final = 10.0
"""Seconds for a thought, the wait for a worker included, however slow the clock is."""
_SHARE: Final = 0.5
"""Of the turn's clock; the rest is for the ways there and back."""


def budget(move_seconds: int, longest: float = _LONGEST) -> float:
    """Seconds that a thought may take at a table with that clock (0: none)."""
    return min(longest, move_seconds * _SHARE) if move_seconds else longest


class Seats:
    """Makes the bots: ``seats(table, seat)`` is one for ``croupier.serve_invitations``.

    ``players`` says which ``PLAYER`` of ``croupier.bots.bot_maker`` stands behind a level;
    ``longest`` is the most seconds for a thought.
    """

    def __init__(
        self, pool: Pool, players: Mapping[str, str] | None = None, longest: float = _LONGEST
    ) -> None:
        self._pool: Final = pool
        self._players: Final = dict(players or {level: level for level in LEVELS})
        self._longest: Final = longest
        self.load: Final = Load(self._players, pool)

    def __call__(self, table: croupier.Table, seat: int) -> croupier.Bot:
        """A new bot of the level that the seat is offered to. Raises ``croupier.bots.UnknownBot``."""
        level = table.seats[seat].bot_level or "easy"
        player = self._players.get(level, level)
        seed = secrets.randbits(63)
        if player in QUICK or level not in self._players:
            bot = make_bot(table.game, player, seed)
            return _QuickBot(bot, self.load.levels[level])
        bot_maker(table.game, player)  # refuses here what there is no bot for
        number = next(self._pool.numbers)
        thought = {"bot": number, "game": table.game, "player": player, "seed": seed}
        instead = make_bot(table.game, _INSTEAD, seed)
        return _WorkerBot(
            self._pool, thought, instead, self.load.levels[level], budget(table.move_seconds, self._longest)
        )


class _QuickBot:
    """Answers in the event loop."""

    def __init__(self, bot: Bot, load: LevelLoad) -> None:
        self._bot: Final = bot
        self._load: Final = load
        load.seats += 1

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        begun = time.perf_counter()
        try:
            move = self._bot.choose(view, legal_moves)
        except Exception:
            self._load.thought("failed", time.perf_counter() - begun)
            raise
        self._load.thought("answered", time.perf_counter() - begun)
        return move

    def close(self) -> None:
        self._load.seats -= 1


class _WorkerBot:
    """Answers from its worker, or else in the event loop."""

    def __init__(self, pool: Pool, thought: Plain, instead: Bot, load: LevelLoad, seconds: float) -> None:
        self._worker: Final = pool.worker()
        self._thought: Final = thought
        self._instead: Final = instead
        self._load: Final = load
        self._seconds: Final = seconds
        self._worker.seats += 1
        load.seats += 1

    async def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        begun = time.perf_counter()
        message = {**self._thought, "view": view, "legal_moves": list(legal_moves)}
        try:
            move = str((await self._worker.ask(message, self._seconds))["move"])
        except Unanswered as error:
            level = logging.WARNING if isinstance(error, BotFailed) else logging.INFO
            log.log(level, "%s plays for %s: %s: %s", _INSTEAD, self._thought["player"], error.end, error)
            move = self._instead.choose(view, legal_moves)
            self._load.thought(error.end, time.perf_counter() - begun)
        else:
            self._load.thought("answered", time.perf_counter() - begun)
        return move

    def close(self) -> None:
        self._load.seats -= 1
        self._worker.seats -= 1
        self._worker.forget(self._thought["bot"])
