"""The command line in processes of its own: piped, and at a terminal.

The law of this file: what is waited for is an output or an end, never a time; a process that a
test began is gone when the test is.
"""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

COMMAND = (sys.executable, "-m", "croupier")
_PATIENCE = 60.0


def run(*arguments: str, text: str = "") -> tuple[int, list[dict[str, Any]], str]:
    """Run a command with ``--json``: its exit code, the objects on stdout, and stderr."""
    command = [*COMMAND, *arguments, "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=_PATIENCE)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


class Running:
    """A process whose stdout is JSON lines and whose stdin is a pipe."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments, "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def next(self, event: str) -> dict[str, Any]:
        """The next object of a kind."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found: dict[str, Any] = json.loads(line)
            if found["event"] == event:
                return found
        raise AssertionError(f"no {event} came; exit code {self.process.wait()}")

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def play_first_moves(self) -> dict[str, Any]:
        """Take the first legal move on each turn; the last object."""
        assert self.process.stdout is not None
        last: dict[str, Any] = {}
        for line in self.process.stdout:
            last = json.loads(line)
            if last["event"] == "turn":
                self.write("1")
        return last


@contextmanager
def running(*arguments: str) -> Iterator[Running]:
    """A process for the length of a block."""
    begun = Running(arguments)
    try:
        yield begun
    finally:
        begun.process.kill()
        begun.process.communicate()


class Terminal:
    """A command at a terminal of 80 columns."""

    def __init__(self, arguments: Sequence[str], **environment: str) -> None:
        self.output = ""
        self._read = 0
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", "COLUMNS": "80", **environment})
            os.execv(COMMAND[0], [*COMMAND, *arguments])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def expect(self, text: str) -> str:
        """Wait until ``text`` is written; what came before it, since the last time."""
        while (found := self.output.find(text, self._read)) < 0:
            assert self._more(), f"{text!r} was not written, but {self.output[self._read :]!r}"
        before, self._read = self.output[self._read : found], found + len(text)
        return before

    def unread(self) -> str:
        """What was written since the last text that was expected."""
        return self.output[self._read :]

    def wait(self) -> None:
        """Wait until more is written."""
        assert self._more(), f"it ended after {self.unread()!r}"

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def end(self) -> int:
        """Wait for the end; the exit code."""
        while self._more():
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def _more(self) -> bool:
        deadline = time.monotonic() + _PATIENCE
        ready, _, _ = select.select([self._terminal], [], [], deadline - time.monotonic())
        assert ready, f"nothing came for {_PATIENCE} s after {self.output[-500:]!r}"
        try:
            chunk = os.read(self._terminal, 65_536)
        except OSError:  # the other end is closed
            return False
        self.output += chunk.decode(errors="replace")
        return bool(chunk)
