"""The checker bites: servers whose append has lost its condition are found out.

The law of this file: the product has no switch for it. A test gives its servers a ``sitecustomize``
that takes one line out of the append script as they start; all else is as it ships.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import croupier
from chaos.cluster import ENVIRONMENT
from chaos.history import Kind
from chaos.log import Log
from chaos.players import Player, note
from chaos.verdict import Verdict, judge
from server.redis_server import RedisServer, opened
from system.processes import ServerProcess

CONDITION = "if string.format('%d', last) ~= ARGV[3] then return last end\n"

BREAK = f"""
from croupier_server.journal import redis_append, redis_scripts
sound = redis_scripts.APPEND.source
assert sound.count({CONDITION!r}) == 1
redis_append.APPEND = redis_scripts.Script(sound.replace({CONDITION!r}, ""))
"""

MOST_TABLES = 50
"""More than enough for two moves to meet."""


@asynccontextmanager
async def two_servers(folder: Path) -> AsyncIterator[tuple[RedisServer, list[ServerProcess]]]:
    """Two servers on one Redis; what is in ``folder`` comes first on their path."""
    async with AsyncExitStack() as opened_:
        store = opened_.enter_context(RedisServer())
        environment = {**ENVIRONMENT, "PYTHONPATH": str(folder)}
        servers = [ServerProcess(store.url, 0, environment) for _ in range(2)]
        for server in servers:
            opened_.push_async_callback(server.end)
        await asyncio.gather(*(server.start() for server in servers))
        yield store, servers


async def two_minds(players: list[Player], log: Log) -> bool:
    """A game in which every turn is answered by two moves at once, over two servers.

    True as soon as both are accepted; false when the table ends without it.
    """
    table = await players[0].client.create_table("doudizhu")
    seats = [await player.client.join(table.name, nonce=False, after_seq=0) for player in players]
    turning = [asyncio.create_task(play(*each, log)) for each in zip(players, seats, strict=True)]
    try:
        for turned in asyncio.as_completed(turning):
            if await turned:
                return True
        return False
    finally:
        for task in turning:
            task.cancel()
        await asyncio.gather(*turning, *(seat.close() for seat in seats), return_exceptions=True)


async def play(player: Player, seat: croupier.Seat, log: Log) -> bool:
    async for event in seat:
        note(log, f"{seat.table} seat {seat.number}", event, lambda: None)
        if isinstance(event, croupier.Turn):
            first, last = event.legal_moves[0], event.legal_moves[-1]
            one, other = await asyncio.gather(
                seat.play(first, expected_seq=event.seq),
                player.second_thought(seat.table, seat.number, last, event.seq),
                return_exceptions=True,
            )
            if isinstance(one, int) and other is True:
                return True
    log.over(seat.table, f"{seat.table} seat {seat.number}")
    return False


async def judged(folder: Path, customized: str, most: int) -> tuple[Verdict, int]:
    """Play until two moves for one turn are accepted; the verdict, and how many tables that took.

    ``customized`` is run by each server as it starts; ``most`` is the most tables.
    """
    (folder / "sitecustomize.py").write_text(customized)
    logs = folder / "logs"
    logs.mkdir()
    log, tables = Log(logs), 0
    async with two_servers(folder) as (store, servers):
        here, there = (server.address for server in servers)
        async with AsyncExitStack() as seated:
            players = [Player(f"P{n}", here, log, second_address=there) for n in range(3)]
            for player in players:
                await seated.enter_async_context(player)
            while tables < most:
                tables += 1
                if await two_minds(players, log):
                    break
        log.close()
        async with opened(store) as journal:
            return await judge(logs, journal, finished=False), tables


async def test_an_append_without_its_condition_is_found_out(tmp_path: Path) -> None:
    verdict, tables = await judged(tmp_path, BREAK, MOST_TABLES)
    assert tables < MOST_TABLES
    kinds = {violation.kind for _, violation in verdict.violations}
    assert Kind.LOST in kinds


async def test_the_same_play_on_sound_servers_breaks_no_promise(tmp_path: Path) -> None:
    verdict, tables = await judged(tmp_path, "", 3)
    assert (verdict.violations, tables) == ([], 3)
    assert verdict.facts["Refused"] > 30
