"""A real Redis with the settings and the user that are deployed: it keeps what servers acknowledge."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from croupier_server.journal import Append, JournalError, JournalUnavailable
from croupier_server.journal.redis import RedisJournal
from croupier_server.operate import operate
from croupier_server.tokens import Tokens
from deploy.manifests import DEPLOY, OVERLAY
from server import redis_server
from system.components import die_with_parent, program

PASSWORD = secrets.token_urlsafe(24)


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """A server that keeps its file in ``folder`` and runs as k8s/redis does, but on a Unix socket; a URL."""
    examples = list(yaml.safe_load_all((OVERLAY / "secrets.example.yaml").read_text()))
    users = next(e["stringData"]["users.acl"] for e in examples if "users.acl" in e["stringData"])
    (folder / "users.acl").write_text(users.replace("PASSWORD", PASSWORD))
    settings = DEPLOY / "k8s" / "redis" / "redis.conf"
    place = ("--aclfile", folder / "users.acl", "--dir", folder, "--port", "0", "--unixsocket", folder / "s")
    command = [redis_server.program(), settings, *place]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=die_with_parent) as process:
        yield f"redis+unix://croupier:{PASSWORD}@/{quote(str(folder).lstrip('/'))}/s"
        process.kill()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short one, for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="redis-") as name:
        yield Path(name)


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with redis(folder) as url:
        yield url


async def opened(url: str) -> RedisJournal:
    """The journal, as soon as the server is there."""
    while True:
        try:
            return await RedisJournal.open(url)
        except JournalUnavailable:
            await asyncio.sleep(0.01)


async def test_it_keeps_what_is_acknowledged_and_nothing_is_left_to_warn_of(url: str) -> None:
    journal = await opened(url)
    await journal.append(Append("tables/a", 0, (b"one",)))
    tokens = await Tokens.load(journal)
    assert (await tokens.identify(tokens.issue("players/a", "Ann").token)).player == "players/a"
    assert await journal.durability_warnings() == []
    await journal.close()


async def test_nobody_comes_in_without_the_password(url: str) -> None:
    await (await opened(url)).close()
    for intruder in (url.replace(f"croupier:{PASSWORD}@", ""), url.replace(PASSWORD, "guess")):
        with pytest.raises(JournalError):
            await RedisJournal.open(intruder)


async def test_a_copy_of_the_append_only_folder_is_a_backup(folder: Path, url: str, tmp_path: Path) -> None:
    """As the runbook has it: rewrites are off, and others go on writing meanwhile."""
    journal = await opened(url)
    for seq in range(100):
        await journal.append(Append("tables/a", seq, (b"before",)))
    assert as_operator(folder, "CONFIG", "SET", "auto-aof-rewrite-percentage", "0") == "OK"
    assert "aof_rewrite_in_progress:0" in as_operator(folder, "INFO", "persistence")
    writing = asyncio.create_task(write_on(journal))
    await asyncio.to_thread(shutil.copytree, folder / "appendonlydir", tmp_path / "appendonlydir")
    writing.cancel()
    await asyncio.wait([writing])
    await journal.close()
    with tempfile.TemporaryDirectory(prefix="redis-") as other:
        shutil.copytree(tmp_path / "appendonlydir", Path(other) / "appendonlydir")
        with redis(Path(other)) as restored_url:
            restored = await opened(restored_url)
            assert [stored.data for stored in await restored.read("tables/a")][:100] == [b"before"] * 100
            epoch = await restored.key("epoch", b"that of the backup")
            await operate("restored", restored_url)
            assert await restored.key("epoch", b"") != epoch
            await restored.close()


async def write_on(journal: RedisJournal) -> None:
    last = await journal.last_seq("tables/a")
    while True:
        await journal.append(Append("tables/a", last, (b"meanwhile",)))
        last += 1


def as_operator(folder: Path, *command: str) -> str:
    """What ``redis-cli`` prints."""
    cli = program("redis-cli", "valkey-cli", package="redis-tools")
    given = {**os.environ, "REDISCLI_AUTH": f"OPERATOR_{PASSWORD}"}
    asked = [cli, "-s", folder / "s", "--user", "operator", *command]
    return subprocess.run(asked, env=given, check=True, capture_output=True, text=True).stdout.strip()
