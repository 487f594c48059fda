"""The load: a process in which players play table after table. ``python -m chaos.load SETTINGS``.

The law of this file: so many tables are in play until a line of input says ``no more``; then those
that have begun are played to their end and read again, and it ends. What it says are JSON lines:
``playing``, ``steps`` and ``finished``. Its input ends with who started it, and it with that.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from chaos.log import Log
from chaos.players import Player, Sitting, look_on
from chaos.workload import Plan, plans
from croupier_games.records import format_record

RECORDS = "records.jsonl"
ONLOOKERS = 2
TABLES_EACH = 5
"""Tables that a player sits at, at a time, where there are enough for it."""
_STEPS_A_LINE = 50
_READ_AGAIN = 300
"""So many of the last tables are read a second time."""


@dataclass(frozen=True)
class Settings:
    """``addresses`` are given to players in turn; ``think`` is the mean wait before a move, in seconds.

    ``brief``: short games; ``house``: the servers have house bots.
    """

    addresses: list[str]
    folder: str
    games: int
    seed: int = 1
    think: float = 0.0
    brief: bool = False
    house: bool = False

    def to_text(self) -> str:
        """As the process takes it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The settings in what ``to_text`` gave."""
        return cls(**json.loads(text))


def say(event: str, **facts: Any) -> None:
    """Write a line of output."""
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


class Load:
    """All players and all tables."""

    def __init__(
        self,
        settings: Settings,
        players: list[Player],
        onlookers: list[Player],
        log: Log,
        no_more: asyncio.Event,
    ) -> None:
        self._settings = settings
        self._players = players
        self._onlookers = onlookers
        self._log = log
        self._plans: Iterator[Plan] = plans(settings.seed, brief=settings.brief)
        self._no_more = no_more
        self._steps = 0
        self._begun = 0
        self._ended: list[tuple[str, dict[int, Player]]] = []

    async def run(self) -> None:
        """Play until there are to be no more tables, and all have ended."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._settings.games):
                group.create_task(self._table_after_table())
        limit = asyncio.Semaphore(8)
        await asyncio.gather(*(self._again(limit, *table) for table in self._ended[-_READ_AGAIN:]))
        say("finished", games=len(self._ended), steps=self._steps)

    def _think(self) -> float:
        """Nobody thinks for long once there are to be no more tables."""
        return 0.0 if self._no_more.is_set() else self._settings.think

    def _told(self) -> None:
        self._steps += 1
        if self._steps % _STEPS_A_LINE == 0:
            say("steps", count=self._steps)

    async def _table_after_table(self) -> None:
        while True:
            await self._table(next(self._plans))
            if self._no_more.is_set():
                return

    async def _table(self, plan: Plan) -> None:
        house = plan.house and self._settings.house
        seated = self._seated(plan)[: plan.players - house]
        table = await seated[0].client.create_table(
            plan.game, players=plan.players, options=plan.options, move_seconds=plan.move_seconds
        )
        sat: dict[int, Player] = {}
        async with asyncio.TaskGroup() as group:
            if plan.watched:
                group.create_task(self._look_on(plan, table.name))
            if house:
                await seated[0].client.invite_bot(table.name)
            for number, player in enumerate(seated):
                if plan.invited:
                    await seated[0].client.invite(table.name, player.name, seat=number)
            for player in seated:
                group.create_task(self._sit(player, plan, table.name, sat))
        record = await seated[-1].client.record(table.name)
        with (Path(self._settings.folder) / RECORDS).open("a") as file:
            file.write(format_record(record) + "\n")
        self._log.put_away(table.name)
        self._ended.append((table.name, sat))

    def _seated(self, plan: Plan) -> list[Player]:
        """Each table has other players, as far as there are."""
        count = len(self._players)
        return [self._players[(plan.number * 7 + n) % count] for n in range(plan.players)]

    async def _sit(self, player: Player, plan: Plan, table: str, sat: dict[int, Player]) -> None:
        number = await player.invited_to(table) if plan.invited else None
        seat = await player.client.join(table, seat=number, after_seq=0)
        sat[seat.number] = player
        self._begun += 1
        if self._begun == self._settings.games:
            say("playing")
        await Sitting(player, plan, seat, self._told).play(self._think)

    async def _look_on(self, plan: Plan, table: str) -> None:
        onlooker = self._onlookers[plan.number % len(self._onlookers)]
        watch = await onlooker.client.watch(table, after_seq=0)
        await look_on(watch, self._log, f"{table} onlooker", self._told)

    async def _again(self, limit: asyncio.Semaphore, table: str, sat: dict[int, Player]) -> None:
        """Read a table again through one seat and as a spectator."""
        number, player = next(iter(sat.items()))
        onlooker = self._onlookers[0]
        async with limit:
            seat = await player.client.resume(table, seat=number, after_seq=0)
            await look_on(seat, self._log, f"{table} seat {number} again", self._told)
            watch = await onlooker.client.watch(table, after_seq=0)
            await look_on(watch, self._log, f"{table} onlooker again", self._told)
        self._log.put_away(table)


async def main(settings: Settings) -> None:
    """Run a load; ends early when its input does."""
    log, no_more = Log(Path(settings.folder)), asyncio.Event()
    playing = asyncio.create_task(_play(settings, log, no_more))
    listening = asyncio.create_task(_listen(no_more))
    try:
        await asyncio.wait({playing, listening}, return_when=asyncio.FIRST_COMPLETED)
        if playing.done():
            playing.result()
    finally:
        playing.cancel()
        listening.cancel()
        await asyncio.gather(playing, listening, return_exceptions=True)
        log.close()


async def _play(settings: Settings, log: Log, no_more: asyncio.Event) -> None:
    count = max(6, settings.games * 3 // TABLES_EACH) + ONLOOKERS
    addresses = settings.addresses
    players = [Player(f"P{n}", addresses[n % len(addresses)], log) for n in range(count)]
    async with AsyncExitStack() as opened:
        await asyncio.gather(*map(opened.enter_async_context, players))
        await Load(settings, players[ONLOOKERS:], players[:ONLOOKERS], log, no_more).run()


async def _listen(no_more: asyncio.Event) -> None:
    """Take lines of input; returns at its end."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line == b"no more\n":
            no_more.set()


if __name__ == "__main__":
    asyncio.run(main(Settings.from_text(sys.argv[1])))
