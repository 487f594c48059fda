"""PostgreSQL servers for tests: real ones, on a free loopback port, gone with the tests.

The law of this file: no server outlives the process that started it, and a test that asks for one
gets one or fails. Only where no PostgreSQL is installed, and not under CI, is it skipped.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from system import components
from system.processes import free_port

_DEBIAN = Path("/usr/lib/postgresql")
_USER = "croupier"


def program(name: str) -> str:
    """A program of the newest PostgreSQL. Fails where there is none under CI, and skips elsewhere."""
    folders = sorted(_DEBIAN.glob("*/bin"), key=lambda folder: int(folder.parent.name))
    found = shutil.which(name, path=str(folders[-1])) if folders else None
    return found or components.program(name, package="postgresql")


class PostgresServer:
    """A cluster in a folder of its own. It refuses to run as root: then it runs as ``nobody``."""

    def __init__(self) -> None:
        initdb = program("initdb")
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self.port = free_port()
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid}
        command = [initdb, "-D", str(self.folder / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8"]
        self._run([*command, "--no-locale", "--no-sync"])
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """What to open an archive with."""
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/postgres"

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **self._as)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start it, with what its folder holds, and wait until it answers."""
        command = [program("postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-k", str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                preexec_fn=components.die_with_parent,
                **self._as,
            )
        while True:
            try:
                return psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()

    def command(self, sql: str) -> list[tuple[object, ...]]:
        """What a statement answers, by a connection of its own."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            answer = connection.execute(sql.encode())
            return answer.fetchall() if answer.description else []

    def stop(self) -> None:
        """End it at once, as a crash does; what was committed is there when it starts again."""
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def close(self) -> None:
        """End it and remove its folder."""
        with suppress(ProcessLookupError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def shared_server() -> PostgresServer:
    """The one server of this test session, started by the first test that needs it."""
    server = PostgresServer()
    atexit.register(server.close)
    return server


def empty_database() -> str:
    """A URL into the session's server, from which all archives are removed."""
    server = shared_server()
    server.command("DROP TABLE IF EXISTS croupier_archived")
    return server.url
