"""Bots at the table: ask, play, go on.

The law of this file: a bot never leaves a table hanging. When it raises, or answers with what is
no legal move, that is a fault: it is logged and counted, and the first legal move is played in
its place (with ``strict`` the fault is raised instead). That the turn was over before the answer
came is nobody's fault and is passed over. A bot that is slow never holds up the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final, Protocol

from croupier.codec import Plain
from croupier.errors import IllegalMove, InvalidRequest, StaleMove, WrongState
from croupier.events import Ended, Moved, Snapshot, Turn, result_text
from croupier.seat import Seat

log = logging.getLogger("croupier")

QUICK: Final = 0.005
"""Seconds that a bot may hold up the event loop; one that took longer is asked in a thread."""


class Bot(Protocol):
    """What chooses moves; ``croupier.bots`` has some. May be an ``async def`` too."""

    def choose(self, view: Plain, legal_moves: Sequence[str], /) -> str | Awaitable[str]:
        """One of ``legal_moves``, or any other text of a legal move.

        ``view`` has the fields of the game's view message, its own seat is ``view["to_act"]``.
        """


class BotFault(Exception):
    """A bot raised, or its answer was no legal move; ``__cause__`` says which."""


class Thinking:
    """Where bots think.

    ``threads``: True in a thread of ``executor`` (None: the loop's own), False in the event
    loop, None in the event loop until an answer takes longer than 5 ms; bots of that class are
    asked in a thread from then on.
    """

    def __init__(self, threads: bool | None = None, executor: Executor | None = None) -> None:
        self._threads: Final = threads
        self._executor: Final = executor
        self._slow: set[type] = set()

    async def ask(self, bot: Bot, view: Plain, legal_moves: list[str]) -> str:
        """The bot's answer; raises what it raises."""
        if self._threads or (self._threads is None and type(bot) in self._slow):
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._executor, bot.choose, view, legal_moves)
        else:
            begun = time.perf_counter()
            answer = bot.choose(view, legal_moves)
            if time.perf_counter() - begun > QUICK:
                self._slow.add(type(bot))
        return answer if isinstance(answer, str) else await answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a table ended for a bot: ``result`` as in ``Ended``, ``scores`` one a seat.

    ``moves`` is how many moves of the seat were seen, ``faults`` how often the bot failed. An
    empty ``result`` means that the seat was closed before the end.
    """

    table: str
    seat: int
    result: str
    scores: tuple[int, ...]
    moves: int
    faults: int


async def play_bot(
    seat: Seat,
    bot: Bot,
    *,
    strict: bool = False,
    threads: bool | None = None,
    executor: Executor | None = None,
    thinking: Thinking | None = None,
) -> Outcome:
    """Let a bot play a seat to the end of its table; connections are retried without bound.

    ``threads`` and ``executor`` say where the bot thinks, as in ``Thinking``, of which several
    bots may share one. The seat must give legal moves and views with its turns, as it does by
    default, and is closed in the end.

    Raises ``BotFault`` when ``strict``, and the ``Error`` by which the server ended the seat.
    """
    player = _Player(seat, bot, thinking or Thinking(threads, executor), strict=strict)
    with seat.client.connection.without_bound():
        try:
            return await player.play()
        finally:
            await seat.close()


class _Player:
    """One bot on one seat."""

    def __init__(self, seat: Seat, bot: Bot, thinking: Thinking, *, strict: bool) -> None:
        self._seat: Final = seat
        self._bot: Final = bot
        self._thinking: Final = thinking
        self._strict: Final = strict
        self._answered = 0
        self._moves = 0
        self._faults = 0

    async def play(self) -> Outcome:
        result = ""
        scores: tuple[int, ...] = ()
        async for event in self._seat:
            if isinstance(event, Turn):
                await self._answer(event)
            elif isinstance(event, Moved):
                self._moves += event.seat == self._seat.number
            elif isinstance(event, Ended):
                result, scores = event.result, event.scores
            elif isinstance(event, Snapshot):
                result, scores = result_text(event.now.result), tuple(event.now.scores)
        return Outcome(self._seat.table, self._seat.number, result, scores, self._moves, self._faults)

    async def _answer(self, turn: Turn) -> None:
        if turn.seq < self._answered:
            return  # it was repeated, and has been answered meanwhile
        legal = turn.legal_moves
        if turn.truncated or not legal:
            legal = await self._seat.legal_moves()
        if not legal:
            return  # the turn is over already
        instead = legal[0]
        try:
            move = await self._choose(turn.view or {}, legal)
            await self._make(move, turn)
        except BotFault as fault:
            self._faults += 1
            if self._strict:
                raise
            log.warning("%s seat %d: %s; playing %r", turn.table, turn.seat, fault, instead)
            await self._make(instead, turn)

    async def _choose(self, view: Plain, legal: list[str]) -> str:
        """The bot's answer. Raises ``BotFault``."""
        try:
            move = await self._thinking.ask(self._bot, view, legal)
        except Exception as error:  # whatever the bot's own code raises
            raise BotFault(f"the bot failed: {type(error).__name__}: {error}") from error
        if not isinstance(move, str):
            raise BotFault(f"the bot answered {move!r}, which is no text")
        return move

    async def _make(self, move: str, turn: Turn) -> None:
        """Make the move. Raises ``BotFault`` when it is none, or not legal."""
        try:
            self._answered = await self._seat.play(move, expected_seq=turn.seq)
        except (IllegalMove, InvalidRequest) as error:
            raise BotFault(f"the bot answered {move!r}: {error}") from error
        except (StaleMove, WrongState) as error:
            log.debug("%s seat %d: the turn was over: %s", turn.table, turn.seat, error)
