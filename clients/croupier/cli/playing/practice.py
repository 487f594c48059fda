"""A table in this process, whose cards follow from a text: practice.

The law of this file: the same text, levels and moves give the same game. The cards are those of
board 0 of ``croupier arena GAME … --seed TEXT``, and you sit in seat 0. Nobody can promise
anything here, since whoever knows the text knows the cards.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from croupier.arena.game import Table
from croupier.arena.plan import board_name
from croupier.bots import Bot, make_bot
from croupier.cli.playing.sitting import Plain, Refused
from croupier_games import dealing
from croupier_games.game import Game, GameError, MalformedMove, Options
from croupier_games.records import build_record

OWN_SEAT: Final = 0


class PracticeSitting:
    """A ``Sitting`` in seat 0 against bots of ``levels``, one for each other seat.

    ``options`` are resolved. Raises ``croupier.bots.UnknownBot`` for a level that the game has not.
    """

    def __init__(
        self, game: Game[Any, Any], options: Options, levels: Sequence[str], seed: str, name: str
    ) -> None:
        self.proof: Final = f"The cards followed from your seed, {seed}."
        self._names: Final = [name, *_bot_names(levels)]
        self._levels: Final = ["", *levels]
        self._rules: Final = game
        self._table: Final = Table(game, options, len(self._names), board_name(seed, 0))
        self._bots: Final[dict[int, Bot]] = {
            seat: make_bot(game.name, level, _bot_seed(self._table.board, seat, level))
            for seat, level in enumerate(levels, 1)
        }
        self._seq = 1
        self._answered = asyncio.Event()
        self._dealt = 0

    async def events(self) -> AsyncIterator[Plain]:
        """See ``Sitting``."""
        table = self._table
        yield self._snapshot()
        yield self._deal()
        while (seat := self._to_act()) is not None:
            if seat == OWN_SEAT:
                self._answered.clear()
                yield self._turn()
                await self._answered.wait()
            else:
                await self._bot_moves(seat)
            yield self._moved(seat)
            # A move that ends a hand is told before the next one is dealt.
            while self._rules.needs_deal(table.state):
                table.to_act()
                yield self._deal()
        self._seq += 1
        scores, seed = self._rules.scores(table.state), table.seed.hex()
        yield {
            "event": "ended",
            "seq": self._seq,
            "result": self._result(),
            "scores": scores,
            "server_seed": seed,
        }

    def _to_act(self) -> int | None:
        return self._rules.to_act(self._table.state)

    async def _bot_moves(self, seat: int) -> None:
        table = self._table
        try:
            view, legal = table.view(seat), table.legal_moves()
            table.make(seat, await asyncio.to_thread(self._bots[seat].choose, view, legal))
        except GameError:
            table.make(seat, self._rules.format_move(self._rules.default_move(table.state)))

    def _snapshot(self) -> Plain:
        seats = [
            {"seat": seat, "player": "", "name": name, "level": self._levels[seat], "invited": ""}
            for seat, name in enumerate(self._names)
        ]
        table = {
            "name": self._table.board,
            "title": "",
            "game": self._rules.name,
            "options": self._table.options,
            "state": "playing",
            "seats": seats,
            "private": True,
            "move_seconds": 0,
            "seq": self._seq,
            "board": self._table.board,
            "commitment": dealing.commitment(self._table.board, self._table.seed).hex(),
            "result": None,
            "scores": None,
        }
        return {"event": "snapshot", "seq": self._seq, "table": table, "seat": OWN_SEAT, "view": None}

    def _deal(self) -> Plain:
        event = {"event": "dealt", **self._followed(), "number": self._dealt}
        self._dealt += 1
        return event

    def _moved(self, seat: int) -> Plain:
        move = self._table.moves[-1]["m"]
        return {"event": "moved", **self._followed(), "seat": seat, "move": move, "by": "player"}

    def _followed(self) -> Plain:
        self._seq += 1
        effects = self._rules.happened(self._table.state, OWN_SEAT)
        return {"seq": self._seq, "effects": effects, "to_act": self._to_act()}

    def _turn(self) -> Plain:
        view = self._table.view(OWN_SEAT)
        legal = list(self._table.legal_moves())
        return {"event": "turn", "seq": self._seq, "seat": OWN_SEAT, "legal": legal, "view": view}

    async def play(self, move: str, seq: int) -> None:
        """See ``Sitting``. Raises ``Refused``."""
        if self._answered.is_set() or seq != self._seq:
            raise Refused("STALE_SEQ", "it is not your turn any more", still=False)
        try:
            self._table.make(OWN_SEAT, move)
        except MalformedMove as error:
            raise Refused("MALFORMED_MOVE", str(error), still=True) from None
        except GameError as error:
            raise Refused("ILLEGAL_MOVE", str(error), still=True) from None
        self._answered.set()

    def _result(self) -> str:
        return "void" if self._rules.void(self._table.state) else "finished"

    async def record(self) -> Plain:
        """See ``Sitting``."""
        table = self._table
        return build_record(
            game=self._rules.name,
            players=table.players,
            options=table.options,
            deals=table.deals,
            moves=table.moves,
            scores=self._rules.scores(table.state),
            facts=self._rules.facts(table.state),
            result=self._result(),
            rules_version=self._rules.rules_version,
            names=self._names,
            board=table.board,
            commitment=dealing.commitment(table.board, table.seed),
            server_seed=table.seed,
        )


def _bot_names(levels: Sequence[str]) -> list[str]:
    """``Easy bot``, with a number where there are several of a level."""
    names = []
    for place, level in enumerate(levels):
        number = f" {levels[: place + 1].count(level)}" if levels.count(level) > 1 else ""
        names.append(f"{level.capitalize()} bot{number}")
    return names


def _bot_seed(board: str, seat: int, level: str) -> int:
    digest = hashlib.sha256(f"croupier/practice/bot/v1\0{board}\0{seat}\0{level}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
