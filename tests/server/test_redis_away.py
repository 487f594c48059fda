"""A server whose Redis is away, or refuses: as players and operators see it, over a real channel.

``CROUPIER_TEST_AWAY_SECONDS`` makes Redis stay away for longer than is needed to pass every
timeout of the server: 30 is the long form.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import grpc
import pytest

from croupier.v1 import tables_pb2
from croupier_server.journal import redis_wire
from croupier_server.journal.redis_names import Names
from server.live_table import LiveTable, Metadata
from server.redis_server import RedisServer
from server.serve_process import ServeProcess, serve_process

AWAY_SECONDS = float(os.environ.get("CROUPIER_TEST_AWAY_SECONDS", 2.5 * redis_wire.ANSWER_SECONDS))


REFUSED = {(grpc.StatusCode.UNAVAILABLE, reason) for reason in ("JOURNAL_UNAVAILABLE", "OUTCOME_UNKNOWN")}


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    # A user for the journal alone, whose rights a test may take away.
    with RedisServer("user croupier on >secret ~* &* +@all") as server:
        yield server


@pytest.fixture
async def served(redis: RedisServer) -> AsyncIterator[ServeProcess]:
    url = f"redis://croupier:secret@127.0.0.1:{redis.port}"
    async with serve_process({"CROUPIER_HEARTBEAT_S": "1"}, journal_url=url, metrics="127.0.0.1:0") as served:
        yield served


@pytest.fixture
async def table(served: ServeProcess) -> AsyncIterator[LiveTable]:
    async with grpc.aio.insecure_channel(served.address) as channel:
        table = await LiveTable.deal(channel)
        yield table
        await table.close()


async def metric(served: ServeProcess, name: str) -> float:
    """What the server's metrics say, all labels together."""
    page = await asyncio.to_thread(urllib.request.urlopen, f"http://{served.ready['metrics']}/metrics")
    lines = (line.split() for line in page.read().decode().splitlines())
    return sum(float(value) for label, value, *_ in lines if label.partition("{")[0] == name)


async def ended(served: ServeProcess) -> list[dict[str, Any]]:
    """End it: what it has logged as a warning or worse, and what became of that."""
    served.send(signal.SIGTERM)
    code, log = await served.ended()
    assert code == 0
    lines = [json.loads(line) for line in log.splitlines()]
    about = [line for line in lines if line["level"] != "info" or line["message"].startswith("journal.")]
    assert all(line["message"] not in {"server.fault", "call.failed"} for line in about), about
    return about


async def keep_trying(
    table: LiveTable, player: Metadata, move: tables_pb2.MakeMoveRequest, seconds: float
) -> Counter[object]:
    """Repeat a request for so long: what was answered, and how often."""
    answers: Counter[object] = Counter()
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while loop.time() < until:
        answers[await table.make(player, move)] += 1
        await asyncio.sleep(0.05)
    return answers


class TestAway:
    @pytest.mark.parametrize("how", ["stopped", "killed"])
    @pytest.mark.timeout(120 + 2 * AWAY_SECONDS)
    async def test_moves_fail_at_once_streams_stay_and_play_goes_on_by_itself(
        self, redis: RedisServer, served: ServeProcess, table: LiveTable, how: str
    ) -> None:
        assert isinstance(await table.make(*await table.a_move()), int)
        player, move = await table.a_move()
        before = (await table.table()).seq
        assert redis.process
        if how == "stopped":
            redis.process.send_signal(signal.SIGSTOP)
        else:
            redis.kill()
        beats = list(table.beats)
        under_way = asyncio.create_task(table.make(player, move))
        answers = await keep_trying(table, player, move, AWAY_SECONDS)
        assert answers.keys() <= REFUSED
        assert answers.total() > 3
        assert await under_way in REFUSED
        assert await metric(served, "croupier_journal_failing") == 1
        assert await metric(served, "croupier_failed_appends_total") > 1
        if how == "stopped":
            redis.process.send_signal(signal.SIGCONT)
        else:
            redis.start()

        seq = await table.make_at_last(player, move)
        assert seq == before + 1, "Redis may have got one of the repeats, and none twice"
        for _ in range(3):
            seq = max(seq, await table.make_at_last(*await table.a_move()))
        await table.until(lambda: all(heard and heard[-1] >= seq for heard in table.heard))
        assert table.open_streams == 3
        for heard in table.heard:
            assert heard == list(range(heard[0], heard[-1] + 1)), "a gap or a repeat"
        assert all(now > then for now, then in zip(table.beats, beats, strict=True)), "no heartbeat meanwhile"
        assert [len(seen) for seen in table.snapshots] == [1, 1, 1]
        assert redis.command("LLEN", Names(0).entries(table.name)) == (await table.table()).seq
        while await metric(served, "croupier_journal_failing"):
            pass
        said = Counter(line["message"] for line in await ended(served))
        assert said == {"archive.none": 1, "journal.lost": 1, "journal.found_again": 1}


def out_of_memory(redis: RedisServer, _: str) -> Callable[[], object]:
    redis.command("CONFIG", "SET", "maxmemory", 1)
    return lambda: redis.command("CONFIG", "SET", "maxmemory", 0)


def a_replica(redis: RedisServer, _: str) -> Callable[[], object]:
    redis.command("REPLICAOF", "127.0.0.1", 1)
    return lambda: redis.command("REPLICAOF", "NO", "ONE")


def a_key_taken(redis: RedisServer, table: str) -> Callable[[], object]:
    key = Names(0).entries(table)
    redis.command("RENAME", key, "elsewhere")
    redis.command("SET", key, "taken")
    return lambda: redis.command("RENAME", "elsewhere", key)


def no_rights(redis: RedisServer, _: str) -> Callable[[], object]:
    redis.command("ACL", "SETUSER", "croupier", "-@scripting")
    return lambda: redis.command("ACL", "SETUSER", "croupier", "+@scripting")


def another_password(redis: RedisServer, _: str) -> Callable[[], object]:
    redis.command("ACL", "SETUSER", "croupier", "resetpass", ">another")
    redis.command("CLIENT", "KILL", "USER", "croupier")
    return lambda: redis.command("ACL", "SETUSER", "croupier", ">secret")


class TestRefusing:
    @pytest.mark.parametrize(
        ("fault", "begins", "ends", "problem"),
        [
            (out_of_memory, "journal.write_failed", "journal.write_recovered", "out of memory"),
            (a_replica, "journal.write_failed", "journal.write_recovered", "read-only replica"),
            (a_key_taken, "journal.key_taken", "journal.key_given_back", "something else"),
            (no_rights, "journal.write_failed", "journal.write_recovered", "lacks rights"),
            (another_password, "journal.lost", "journal.found_again", "password"),
        ],
    )
    async def test_it_is_unavailable_said_once_and_over_when_it_is_over(
        self,
        redis: RedisServer,
        served: ServeProcess,
        table: LiveTable,
        fault: Callable[[RedisServer, str], Callable[[], object]],
        begins: str,
        ends: str,
        problem: str,
    ) -> None:
        player, move = await table.a_move()
        before = (await table.table()).seq
        cure = fault(redis, table.name)
        for _ in range(5):
            assert await table.make(player, move) in REFUSED
        assert await metric(served, "croupier_journal_failing") == 1
        assert await metric(served, "croupier_failed_appends_total") >= 5
        cure()
        assert await table.make_at_last(player, move) == before + 1
        await table.until(lambda: all(heard[-1:] == [before + 1] for heard in table.heard))
        while await metric(served, "croupier_journal_failing"):
            pass
        lines = await ended(served)
        assert any(line["message"] == begins and problem in line["error"] for line in lines), lines
        said = Counter(line["message"] for line in lines)
        # A connection that is lost says so as well, and once more when its reason becomes known.
        assert max(said.values()) <= 2, lines
        assert said[begins] - (begins == "journal.lost") <= 1
        assert said[ends] == 1, lines
