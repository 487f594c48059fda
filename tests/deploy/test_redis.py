"""A real Redis with the settings and the user that are deployed: it keeps what servers acknowledge."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from croupier_server.journal import Append, JournalError, JournalUnavailable
from croupier_server.journal.redis import RedisJournal
from croupier_server.tokens import Tokens
from deploy.manifests import DEPLOY, OVERLAY
from server import redis_server
from system.components import die_with_parent

PASSWORD = secrets.token_urlsafe(24)


@pytest.fixture
def url() -> Iterator[str]:
    """The journal of a server that runs as k8s/redis does, but on a Unix socket."""
    program = redis_server.program()
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        examples = list(yaml.safe_load_all((OVERLAY / "secrets.example.yaml").read_text()))
        users = next(e["stringData"]["users.acl"] for e in examples if "users.acl" in e["stringData"])
        (Path(folder) / "users.acl").write_text(users.replace("PASSWORD", PASSWORD))
        settings = DEPLOY / "k8s" / "redis" / "redis.conf"
        place = ("--dir", folder, "--port", "0", "--unixsocket", f"{folder}/s")
        command = [program, settings, "--aclfile", f"{folder}/users.acl", *place]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=die_with_parent) as process:
            yield f"redis+unix://croupier:{PASSWORD}@/{quote(folder.lstrip('/'))}/s"
            process.kill()


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
