"""Redis servers for tests: real ones, on a Unix socket and a free loopback port, gone with the tests.

The law of this file: no server outlives the process that started it, and a test that asks for one
gets one or fails. Only where no redis-server is installed, and not under CI, is it skipped.
"""

from __future__ import annotations

import asyncio
import atexit
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

import hiredis

from croupier_server.journal import Append, Journal, JournalUnavailable
from croupier_server.journal.redis import RedisJournal
from system import components
from system.processes import free_port

_PROGRAMS = ("redis-server", "valkey-server")


def installed() -> str | None:
    """The server's program, if there is one."""
    return components.installed(*_PROGRAMS)


def program() -> str:
    """The server's program. Fails where there is none under CI, and skips elsewhere."""
    return components.program(*_PROGRAMS, package="redis-server (7 or later; valkey-server does as well)")


class RedisServer:
    """A server in a folder of its own, with every append synced to disk unless ``settings`` differ.

    ``users`` are lines of an ACL file, for users beside the default one.
    """

    def __init__(self, users: str = "", **settings: str | int) -> None:
        self._program = program()
        self.folder = Path(tempfile.mkdtemp(prefix="redis-"))
        self.socket = self.folder / "s"
        self.port = free_port()
        self.settings: dict[str, str | int] = {
            "port": self.port,
            "bind": "127.0.0.1",
            "unixsocket": str(self.socket),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "maxmemory": "200mb",
            "repl-diskless-sync-delay": 0,
        }
        self.settings |= {name.replace("_", "-"): value for name, value in settings.items()}
        if users:
            self.settings["aclfile"] = str(self.folder / "users.acl")
            (self.folder / "users.acl").write_text(f"user default on nopass ~* &* +@all\n{users}\n")
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """What to open a journal with."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, with what its folder holds, and wait until it answers."""
        command = [self._program]
        for name, value in self.settings.items():
            command += [f"--{name}", str(value)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, preexec_fn=components.die_with_parent
            )
        while True:
            try:
                if self.command("PING") == b"PONG":
                    return
            except OSError:
                if self.process.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()) from None

    def command(self, *command: str | int | bytes) -> Any:
        """A command's reply, by a connection of its own."""
        nothing = object()
        reader = hiredis.Reader(notEnoughData=nothing)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self.socket))
            connection.sendall(hiredis.pack_command(command))
            while (reply := reader.gets()) is nothing:
                data = connection.recv(1 << 16)
                if not data:
                    raise ConnectionError("it has gone")
                reader.feed(data)
        return reply

    def copy(self) -> Path:
        """A copy of all that is on its disk now."""
        copy = Path(tempfile.mkdtemp(dir=self.folder)) / "appendonlydir"
        shutil.copytree(self.folder / "appendonlydir", copy)
        return copy

    def restore(self, copy: Path) -> None:
        """Put a copy in place of what is on the disk of a server that was killed."""
        shutil.rmtree(self.folder / "appendonlydir")
        shutil.copytree(copy, self.folder / "appendonlydir")

    def kill(self) -> None:
        """End it as a power cut would, short of what the disk does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@cache
def shared_server() -> RedisServer:
    """The one server of this test session, started by the first test that needs it."""
    server = RedisServer()
    atexit.register(server.close)
    return server


@asynccontextmanager
async def opened(server: RedisServer, options: str = "", **settings: Any) -> AsyncIterator[RedisJournal]:
    """A journal in that server for as long as the block lasts."""
    journal = await RedisJournal.open(server.url + options, **settings)
    try:
        yield journal
    finally:
        await journal.close()


async def until(holds: Callable[[], bool]) -> None:
    """Until others, or Redis, have done what was begun; the test's own time limit ends it."""
    while not holds():  # noqa: ASYNC110 (other processes set no event here)
        await asyncio.sleep(0.005)


async def append_at_last(journal: Journal, stream: str) -> None:
    """Append one entry, as soon as the store takes it."""
    while True:
        try:
            last = await journal.last_seq(stream)
            return await journal.append(Append(stream, last, (f"{stream}#{last + 1}".encode(),)))
        except JournalUnavailable:
            await asyncio.sleep(0.02)


async def empty_journal() -> RedisJournal:
    """A journal in the session's server, from which all else is removed."""
    server = shared_server()
    server.command("FLUSHALL")
    return await RedisJournal.open(server.url)


def certificate_for_loopback(folder: Path) -> tuple[str, str]:
    """A certificate and its key for 127.0.0.1, which is its own authority."""
    openssl = components.program("openssl", package="openssl")
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    made = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    names = ["-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [openssl, "req", *made, *names, "-out", certificate, "-keyout", key], check=True, capture_output=True
    )
    return certificate, key
