"""Server processes on one Redis and one archive: games leave, each once, whatever dies meanwhile."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from pathlib import Path

import grpc

from bench.bench_archive import Course
from croupier.v1 import tables_pb2
from croupier_games import records
from server.redis_server import RedisServer, until
from server.serve_process import ServeProcess, serve_process, start

AT_ONCE = {
    "CROUPIER_ARCHIVE_AFTER_S": "0",
    "CROUPIER_ARCHIVE_LEASE_S": "0.3",
    "CROUPIER_EVICT_AFTER_S": "0.2",
}


async def record_of(server: ServeProcess, table: str) -> str:
    async with grpc.aio.insecure_channel(server.address) as channel:
        get = channel.unary_unary(
            "/croupier.v1.TableService/GetRecord",
            request_serializer=tables_pb2.GetRecordRequest.SerializeToString,
            response_deserializer=tables_pb2.GetRecordResponse.FromString,
        )
        answer: tables_pb2.GetRecordResponse = await get(tables_pb2.GetRecordRequest(table=table))
        return answer.record_json


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("archive/??/*.jsonl"))


async def test_ended_games_leave_redis_as_it_was(tmp_path: Path) -> None:
    """The short form of ``bench.bench_archive``: it counts, and measures nothing."""
    with RedisServer() as redis:
        given = {"journal_url": redis.url, "archive_url": f"dir:{tmp_path}/archive"}
        async with serve_process(AT_ONCE, **given) as server:
            seen = await Course(redis, server._process.pid, leaves=True).run(server.address, 40, 2)
            kept = files(tmp_path)
            verdicts = [list(records.verify_lines(path.read_text().splitlines())) for path in kept]
            record = await record_of(server, f"tables/{kept[0].stem}")
    assert kept[0].read_text().startswith(f'{record.removesuffix("}")},"archive":')
    assert [row["streams"] for row in seen] == [0, 0, 0]
    assert seen[1]["keys"] == seen[2]["keys"]
    assert len(kept) == 40
    assert [verdict.error for (verdict,) in verdicts] == [None] * len(kept)


async def test_processes_that_are_killed_while_they_archive_lose_and_double_nothing(tmp_path: Path) -> None:
    with RedisServer() as redis:
        given = {"journal_url": redis.url, "archive_url": f"dir:{tmp_path}/archive"}
        async with serve_process(AT_ONCE, **given) as server:
            course = Course(redis, server._process.pid, leaves=True)
            playing = asyncio.create_task(course.run(server.address, 60, 1))
            kills = 0

            def done(enough: int) -> bool:
                return len(files(tmp_path)) >= enough or playing.done()

            while not playing.done() and kills < 4:
                other = await start(AT_ONCE, **given)
                await other.until_ready()
                enough = len(files(tmp_path)) + 3
                await until(partial(done, enough))
                other.send(signal.SIGKILL)
                await other.ended()
                kills += 1
            await playing
            opened = course.played
        kept = files(tmp_path)
    assert kills > 0
    assert len(kept) == opened
    for path in kept:
        (verdict,) = records.verify_lines(path.read_text().splitlines())
        assert verdict.error is None
        assert records.parse_record(path.read_text())["table"] == f"tables/{path.stem}"
