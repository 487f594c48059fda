"""Server processes under measurement: started on a free port, their CPU and memory read from /proc."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
WHEEL = TESTS.parent / ".venv-wheel" / "bin" / "python"
"""Runs what a wheel installs, with its compiled modules."""
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used so far, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def written_bytes(pid: int) -> int:
    """What a process has had written to disk so far, in whole pages."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.partition(":")[2]) for line in lines if line.startswith("write_bytes:"))


def loopback_bytes() -> int:
    """What loopback has carried so far, all processes, with the headers of TCP and IP."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.partition(":")[2].split()[0]) for line in lines if line.strip().startswith("lo:"))


@contextmanager
def server(
    command: list[str], environment: Mapping[str, str] | None = None, python: Path | str = sys.executable
) -> Iterator[tuple[int, str]]:
    """A server that prints a JSON ready line with ``listen``: its pid and address."""
    process = subprocess.Popen(
        [str(python), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS), **(environment or {})},
    )
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        yield process.pid, ready["listen"]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def load(*arguments: str, measuring: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Run the load generator in a process of its own, ``measuring`` as it begins; what it measured."""
    command = [sys.executable, "-m", "bench.load", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        if process.stdout.readline():
            measuring()
        lines = process.stdout.readlines()
    if process.returncode or not lines:
        raise subprocess.CalledProcessError(process.returncode, command)
    result: dict[str, Any] = json.loads(lines[-1])
    return result
