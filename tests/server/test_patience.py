"""A process that starts while its journal or archive is away: it waits, and for what it does not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from croupier.v1 import games_pb2, games_pb2_grpc
from croupier_server import main
from croupier_server.archive import ArchiveUnavailable
from croupier_server.house_main import JOURNAL_VARIABLE
from croupier_server.journal import JournalError, JournalRefused, JournalUnavailable
from croupier_server.main import CannotServe, serving
from croupier_server.patience import Patience
from croupier_server.settings import Settings
from server.postgres_server import PostgresServer
from server.redis_server import RedisServer, until
from server.serve_process import ServeProcess, start
from system.processes import free_port


@pytest.fixture
def away() -> Iterator[RedisServer]:
    """A Redis that is killed; ``start`` brings it back."""
    with RedisServer() as redis:
        redis.kill()
        yield redis


def waits(logs: list[EventDict]) -> list[tuple[str, str]]:
    """What was waited for, and why, a pair for each line of the log."""
    return [(line["event"], line["problem"]) for line in logs if line["event"].endswith(".waiting")]


async def games_at(address: str) -> int:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = games_pb2_grpc.GameServiceStub(channel)
        return len((await stub.ListGames(games_pb2.ListGamesRequest())).games)


async def test_it_serves_once_redis_is_there_and_listens_nowhere_before(away: RedisServer) -> None:
    port = free_port()
    process = await start(journal_url=away.url, listen=f"127.0.0.1:{port}")
    await process.until_logged("journal.waiting")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    away.start()
    await process.until_ready()
    assert await games_at(process.address) >= 3
    process.send(signal.SIGTERM)
    code, log = await process.ended()
    assert (code, "journal.waiting" in log) == (0, False), "said once"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
@pytest.mark.parametrize("silent", [False, True], ids=["not there", "silent"])
async def test_it_ends_at_once_when_it_is_told_to_while_it_waits(
    away: RedisServer, number: signal.Signals, code: int, silent: bool
) -> None:
    if silent:
        away.start()
        assert away.process
        away.process.send_signal(signal.SIGSTOP)
    process = await start({"CROUPIER_JOURNAL_WAIT_S": "3600"}, journal_url=away.url)
    await process.until_logged("journal.waiting")
    process.send(number)
    assert process_ended(await process.ended()) == (code, ["ended"])


def process_ended(ended: tuple[int, str]) -> tuple[int, list[str]]:
    code, log = ended
    return code, [json.loads(line)["message"] for line in log.splitlines()]


async def test_patience_has_an_end(away: RedisServer) -> None:
    for seconds, lines in (("0.2", 2), ("0", 1)):
        process = await start({"CROUPIER_JOURNAL_WAIT_S": seconds}, journal_url=away.url)
        code, log = await process.ended()
        *waiting, why = log.splitlines()
        assert (code, len(waiting)) == (1, lines - 1)
        assert why.startswith(f"croupier: the journal {away.url} cannot be opened: 127.0.0.1:{away.port}")


async def test_a_redis_that_reads_its_file_is_waited_for(away: RedisServer) -> None:
    away.start()
    away.command("EVAL", "for n = 1, 20000 do redis.call('SET', 'k' .. n, n) end", 0)
    away.kill()
    away.settings["key-load-delay"] = 200  # microseconds; it looks for commands every 1,024 keys
    async with AsyncExitStack() as stack:
        starting = asyncio.create_task(asyncio.to_thread(away.start))
        await until(lambda: answers(away))
        with capture_logs() as logs:
            enter = stack.enter_async_context(serving(Settings(), journal_url=away.url))
            entering = asyncio.create_task(enter)
            await until(lambda: bool(waits(logs)))
            assert not entering.done()
            away.command("CONFIG", "SET", "key-load-delay", 0)
            await asyncio.gather(entering, starting)
    assert waits(logs) == [("journal.waiting", "Redis is still loading its data")]


def answers(redis: RedisServer) -> bool:
    """Whether it answers anything at all."""
    try:
        redis.command("PING")
    except OSError:
        return False
    return True


@pytest.mark.parametrize("step", ["compose", "start"])
async def test_a_redis_that_goes_away_again_is_waited_for_at_every_step(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    compose = main.compose
    parts: list[Any] = []

    async def cut(*given: Any, **named: Any) -> Any:
        if step == "compose" and not parts:
            redis.kill()
        parts.append(None)
        parts[-1] = await compose(*given, **named)
        if step == "start" and len(parts) == 1:
            redis.kill()
        return parts[-1]

    monkeypatch.setattr(main, "compose", cut)
    with RedisServer() as redis, capture_logs() as logs:
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context(serving(Settings(), journal_url=redis.url))
            entering = asyncio.create_task(enter)
            await until(lambda: bool(waits(logs)))
            assert not named("deadline sweeper"), "something of the first try is left"
            redis.start()
            served = await entering
            assert await games_at(served.address) >= 3
            assert len(named("deadline sweeper")) == 1
    assert len(waits(logs)) == 1
    assert not named("deadline sweeper")


def named(name: str) -> list[asyncio.Task[Any]]:
    """The tasks of that name that are not over."""
    return [task for task in asyncio.all_tasks() if task.get_name() == name]


USERS = """user croupier on >secret ~* &* +@all
user reader on >secret ~croupier* &* +@read +@connection +info"""


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("croupier:wrong@", "", "user and password"),
        ("reader:secret@", "", "lacks rights"),
        ("croupier:secret@", "/99", "DB index"),
        ("croupier:secret@", "?cluster=true", "cluster"),
    ],
)
async def test_what_waiting_does_not_mend_is_said_at_once(before: str, after: str, why: str) -> None:
    with RedisServer(USERS) as redis, capture_logs() as logs:
        url = f"redis://{before}127.0.0.1:{redis.port}{after}"
        with pytest.raises(CannotServe, match=why):
            async with serving(Settings(), journal_url=url):
                pytest.fail("it serves")
    assert waits(logs) == []


async def test_a_key_that_is_none_of_ours_is_said_at_once() -> None:
    with RedisServer() as redis, capture_logs() as logs:
        async with serving(Settings(), journal_url=redis.url):
            (key,) = (key for key in redis.command("KEYS", "*") if key.endswith(b"epoch"))
        redis.command("DEL", key)
        redis.command("RPUSH", key, "x")
        with pytest.raises(CannotServe, match="something else"):
            async with serving(Settings(), journal_url=redis.url):
                pytest.fail("it serves")
    assert waits(logs) == []


async def test_an_archive_in_postgresql_is_waited_for_too() -> None:
    server = PostgresServer()
    try:
        server.stop()
        with capture_logs() as logs:
            async with AsyncExitStack() as stack:
                enter = stack.enter_async_context(serving(Settings(), archive_url=server.url))
                entering = asyncio.create_task(enter)
                await until(lambda: bool(waits(logs)))
                server.start()
                assert await games_at((await entering).address) >= 3
        assert [event for event, _ in waits(logs)] == ["archive.waiting"]
    finally:
        server.close()


async def test_a_wrong_password_of_postgresql_is_said_at_once() -> None:
    server = PostgresServer()
    try:
        rules = ("host all ann 127.0.0.1/32 scram-sha-256\n", "host all all 127.0.0.1/32 trust\n")
        (server.folder / "data" / "pg_hba.conf").write_text("".join(rules))
        server.stop()
        server.start()
        url = server.url.replace("croupier@", "ann:wrong@")
        with capture_logs() as logs, pytest.raises(CannotServe, match="password"):
            async with serving(Settings(), archive_url=url):
                pytest.fail("it serves")
        assert waits(logs) == []
    finally:
        server.close()


async def test_the_house_waits_for_its_key_as_well(away: RedisServer) -> None:
    house = ServeProcess(
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "croupier_server.house_main", "--server", "127.0.0.1:1"),
            env={**os.environ, JOURNAL_VARIABLE: away.url},
            stdout=PIPE,
            stderr=PIPE,
        )
    )
    await house.until_logged("journal.waiting")
    away.start()
    await house.until_logged("house.started")
    house.send(signal.SIGINT)
    assert (await house.ended())[0] == 130


class TestPatience:
    async def test_the_store_is_asked_again_until_it_is_there(self) -> None:
        problems: list[Exception] = [JournalUnavailable("one"), ArchiveUnavailable("two")]

        async def begin() -> str:
            if problems:
                raise problems.pop(0)
            return "begun"

        with capture_logs() as logs:
            assert await Patience(60).wait_for("journal", begin) == "begun"
        assert waits(logs) == [("journal.waiting", "one")]

    @pytest.mark.parametrize("error", [JournalRefused("no"), JournalError("no"), ValueError("no")])
    async def test_what_is_refused_is_refused(self, error: Exception) -> None:
        async def begin() -> None:
            raise error

        with capture_logs() as logs, pytest.raises(type(error)):
            await Patience(60).wait_for("journal", begin)
        assert waits(logs) == []

    async def test_one_patience_is_for_everything(self) -> None:
        tries = 0

        async def begin() -> None:
            nonlocal tries
            tries += 1
            raise JournalUnavailable(str(tries))

        patience = Patience(0.1)
        with pytest.raises(JournalUnavailable):
            await patience.wait_for("journal", begin)
        before = tries
        assert before > 1
        with pytest.raises(JournalUnavailable):
            await patience.wait_for("archive", begin)
        assert tries == before + 1
