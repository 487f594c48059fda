"""Processes that die with something half done: what they began is whole or not there, and others go on."""

from __future__ import annotations

import asyncio
import signal

import grpc
import pytest

from croupier_server.journal import Deadline, RowFilter
from croupier_server.journal.redis_names import Names
from croupier_server.journal.v1 import entry_pb2
from server.journal_contract import batch, lobby_row
from server.live_table import LiveTable
from server.redis_server import RedisServer, opened, until
from server.redis_writers import Writers
from server.serve_process import serve_process


async def test_redis_killed_between_any_two_writes_keeps_streams_rows_and_deadlines_together() -> None:
    with RedisServer() as server:
        async with opened(server) as journal, opened(server) as other:
            writers = Writers(journal, [f"tables/{number}" for number in range(16)])
            for _ in range(4):
                await writers.go_on(6)
                server.kill()
                server.start()
            await writers.go_on(2)
            await writers.stop()
            await writers.check(other)
            assert writers.failures


@pytest.mark.parametrize("before", [0, 3])
async def test_a_step_that_a_crash_cut_off_is_not_replayed_with_the_next(before: int) -> None:
    with RedisServer() as server:
        async with opened(server) as journal:
            for seq in range(before):
                await journal.append(batch("t", seq))
            row = lobby_row("t", subjects=["house", "lost"])
            await journal.append(batch("t", before, b"cut off", deadline_ms=5, row=row))
            server.kill()
            (file,) = (server.folder / "appendonlydir").glob("*.incr.aof")
            whole = file.read_bytes()
            file.write_bytes(whole[: whole.rindex(b"EXEC") - 2])  # in the middle of that command
            server.start()
        row = lobby_row("t", subjects=["house"])
        for _ in range(2):
            async with opened(server) as journal:
                if await journal.last_seq("t") == before:
                    await journal.append(batch("t", before, b"in its place", deadline_ms=6, row=row))
                assert [data for _, data in await journal.read("t", before)] == [b"in its place"]
                assert await journal.last_seq("t") == before + 1
                assert await journal.due(9) == [Deadline("t", before + 1, 6)]
                assert await journal.rows_of("house") == await journal.page(RowFilter(), None, 9) == [row]
                assert await journal.rows_of("lost") == []
            server.kill()
            server.start()


async def test_a_turn_that_began_on_a_server_that_died_is_ended_by_another() -> None:
    with RedisServer() as redis:
        given = {"journal_url": redis.url}
        async with serve_process(**given) as dies, serve_process(**given), serve_process(**given) as lives:
            async with grpc.aio.insecure_channel(dies.address) as channel:
                table = await LiveTable.deal(channel, move_seconds=5)
                await table.close()
                entries = Names(0).entries(table.name)
                before = redis.command("LLEN", entries)
                dies.send(signal.SIGKILL)
                await dies.ended()
            await until(lambda: redis.command("LLEN", entries) > before)
            async with grpc.aio.insecure_channel(lives.address) as channel:
                there = LiveTable(channel, table.name, table.players)
                await there.until(lambda: all(there.snapshots))
                await there.close()
        stored = [entry_pb2.Entry.FromString(data) for data in redis.command("LRANGE", entries, before, -1)]
        assert {entry.moved.by for entry in stored if entry.WhichOneof("kind") == "moved"} == {
            entry_pb2.MOVED_BY_TIMEOUT
        }


async def test_a_server_killed_in_the_middle_of_an_append_leaves_all_of_it_or_nothing() -> None:
    with RedisServer() as redis:
        given = {"journal_url": redis.url}
        async with serve_process(**given) as dies, serve_process(**given) as lives:
            async with grpc.aio.insecure_channel(dies.address) as channel:
                table = await LiveTable.deal(channel)
                player, move = await table.a_move()
                redis.command("CLIENT", "PAUSE", 60_000, "WRITE")
                under_way = asyncio.create_task(table.make(player, move))
                await until(lambda: b"blocked_clients:0" not in redis.command("INFO", "clients"))
                dies.send(signal.SIGKILL)
                await dies.ended()
                await table.close()
                assert not isinstance(await under_way, int)
            redis.command("CLIENT", "UNPAUSE")
            async with grpc.aio.insecure_channel(lives.address) as channel:
                there = LiveTable(channel, table.name, table.players)
                await there.until(lambda: all(there.snapshots))
                seq = await there.make_at_last(player, move)
                assert seq == redis.command("LLEN", Names(0).entries(table.name))
                await there.close()
