"""What follows from the streams of a journal in Redis is made anew from them alone."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from croupier.v1.tables_pb2 import Table
from croupier_games import GAMES
from croupier_server.journal import Row, RowFilter
from croupier_server.journal.redis import RedisJournal
from croupier_server.operate import operate
from croupier_server.rebuild import rebuild
from croupier_server.settings import Settings
from server.journal_contract import batch
from server.redis_cluster import shared_cluster
from server.redis_server import RedisServer, shared_server
from server.room import SHORT, Replica, guest

FOR_EVER = 1 << 52


def told(rows: list[Row]) -> list[tuple[Row, Table]]:
    """Rows without the last number that they name: moves alone do not write it."""
    tables = [Table.FromString(row.data) for row in rows]
    for table in tables:
        table.ClearField("seq")
    return [(replace(row, data=b""), table) for row, table in zip(rows, tables, strict=True)]


async def index(journal: RedisJournal) -> dict[str, Any]:
    """All that the journal finds without being told a stream."""
    filters = [
        RowFilter(),
        RowFilter("doudizhu"),
        RowFilter(states=("OPEN", "ENDED")),
        RowFilter("", (), True),
    ]
    subjects = [subject for n in range(4) for subject in (guest(n).player, f"seated:{guest(n).player}")]
    return {
        "due": await journal.due(FOR_EVER, 1000),
        "finished": await journal.finished(FOR_EVER, 1000),
        "pages": [told(await journal.page(where, None, 100)) for where in filters],
        "rows": {subject: told(await journal.rows_of(subject)) for subject in (*subjects, "house")},
    }


def drop_index(server: RedisServer) -> None:
    """Remove all but the streams and the keys."""
    for key in server.command("KEYS", "croupier:{s*"):
        if b"}:e:" not in key:
            server.command("DEL", key)


@asynccontextmanager
async def process_on(url: str) -> AsyncIterator[tuple[RedisJournal, Replica]]:
    """A journal and what a server does with it."""
    journal = await RedisJournal.open(url)
    replica = Replica(journal, Settings(), time.monotonic)
    try:
        await replica.clock.refresh()
        yield journal, replica
    finally:
        await replica.tables.stop()
        await journal.close()


async def play(replica: Replica) -> list[str]:
    """Tables of all kinds and in all states."""
    names = [await replica.create("doudizhu", private=True), await replica.create("basic_rummy")]
    for game in GAMES:
        names += [await replica.deal(game, move_seconds=60), await replica.deal(game, options=SHORT[game])]
        await replica.play_out(names[-2], random.Random(game), moves=3)
        await replica.play_out(names[-1], random.Random(game))
    return names


@pytest.mark.parametrize("kind", ["redis", "cluster"])
async def test_rows_inboxes_and_deadlines_are_what_they_were(kind: str) -> None:
    servers = [shared_server()] if kind == "redis" else shared_cluster().primaries
    for server in servers:
        server.command("FLUSHALL")
    url = shared_server().url if kind == "redis" else shared_cluster().url
    async with process_on(url) as (journal, replica):
        names = await play(replica)
        before = await index(journal)
        assert (len(before["due"]), len(before["rows"][guest(0).player])) == (5, 3)
        assert len(before["finished"]) == 3
        for server in servers:
            drop_index(server)
        assert not any((await index(journal))["rows"].values())
        assert sorted(await rebuild(journal)) == sorted(names)
        assert await index(journal) == before
        await replica.some_move(names[2])


async def test_what_goes_on_meanwhile_is_not_set_back() -> None:
    server = shared_server()
    server.command("FLUSHALL")
    async with process_on(server.url) as (journal, replica):
        name = await replica.deal("hidden_unders", options=SHORT["hidden_unders"])
        drop_index(server)
        playing = asyncio.create_task(replica.play_out(name, random.Random(1)))
        while not playing.done():
            await rebuild(journal)
        await playing
        assert await journal.row(name) is not None
        assert [row.state for row in await journal.page(RowFilter(), None, 9)] == ["ENDED"]
        assert await journal.due(FOR_EVER) == []


async def test_an_operator_has_it_done_but_for_what_cannot_be_read() -> None:
    server = shared_server()
    server.command("FLUSHALL")
    async with process_on(server.url) as (journal, replica):
        await journal.append(batch("tables/damaged", 0, b"\xff"))
        name = await replica.create("doudizhu")
        drop_index(server)
        with capture_logs() as logs:
            await operate("rebuild", server.url)
        assert [row.stream for row in await journal.page(RowFilter(), None, 9)] == [name]
    assert [(log["event"], log.get("table")) for log in logs if "table" in log] == [
        ("table.unreadable", "tables/damaged")
    ]
    with pytest.raises(ValueError, match="only a journal in Redis"):
        await operate("rebuild", "memory:")
