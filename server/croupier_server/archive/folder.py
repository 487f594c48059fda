"""An archive in a folder, which any number of servers may share: one file of JSON lines a table.

The law of this file: a file appears whole under its name or not at all, and is never changed. It
is written and synced under ``new/`` first, then linked to its name, which fails when the name is
taken: so of all servers that archive one table, one does.

``PATH/ab/ID.jsonl`` is ``tables/ID``, where ``ab`` begins the SHA-256 of its name. Its line is the
table's record, as ``croupier verify`` reads it, with one key more, ``archive``, which comes last.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self, TypeVar, TypeVarTuple

from croupier_server.archive.base import (
    AnotherIsKept,
    Archived,
    ArchiveError,
    ArchiveRefused,
    ArchiveUnavailable,
)

_NAME: Final = re.compile(r"tables/([A-Za-z0-9_-]{1,64})")
_EXTRA: Final = ',"archive":{'
"""Where a record goes on with what the archive adds; no value of the addition holds it again."""
_THREADS: Final = 4
_LEFT_SECONDS: Final = 3600
"""After so long a half-written file has been left by a server that died."""

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")


class FolderArchive:
    """An ``Archive`` in a folder of this machine or of the network. Made by ``open``."""

    shared: bool = True

    def __init__(self, root: Path | str, threads: ThreadPoolExecutor) -> None:
        self._root: Final = Path(root).expanduser()
        self._new: Final = self._root / "new"
        self._threads: Final = threads
        self._closed = False

    @classmethod
    async def open(cls, path: Path | str) -> Self:
        """Open or create the archive at ``path``; the folder's own folder must exist.

        Raises ``ArchiveRefused``, or ``ArchiveError`` where the file system knows no links.
        """
        threads = ThreadPoolExecutor(_THREADS, "archive")
        archive = cls(path, threads)
        try:
            await archive._run(archive._prepare)
        except BaseException as error:
            threads.shutdown(wait=False)
            if isinstance(error, ArchiveUnavailable):
                raise ArchiveRefused(str(error)) from error
            raise
        return archive

    def _prepare(self) -> None:
        for folder in (self._root, self._new):
            folder.mkdir(mode=0o700, exist_ok=True)
        for left in self._new.iterdir():
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                left.unlink(missing_ok=True)
        probe = self._write(b"")
        other = probe.with_suffix(".link")
        try:
            os.link(probe, other)
        except OSError as error:
            raise ArchiveError(f"{self._root} is on a file system without hard links: {error}") from error
        finally:
            probe.unlink()
            other.unlink(missing_ok=True)

    async def put(self, archived: Archived) -> None:
        """Keep a table; see ``Archive.put``."""
        path = self._path(archived.name)
        if path is None:
            raise ValueError(f"{archived.name!r} is no table's name")
        await self._run(self._put, path, archived)

    def _put(self, path: Path, archived: Archived) -> None:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        written = self._write(_line(archived).encode())
        try:
            os.link(written, path)
        except FileExistsError:
            kept = _archived(archived.name, path.read_text())
            if kept.digest != archived.digest:
                raise AnotherIsKept(archived.name) from None
        finally:
            written.unlink(missing_ok=True)
        # Also when it was there: whoever linked it may have died before this.
        for folder in (path.parent, self._root):
            _sync(folder)

    def _write(self, data: bytes) -> Path:
        """A new file with these bytes, on disk, under a name of its own."""
        path = self._new / f"{secrets.token_hex(16)}.jsonl"
        path.touch(0o600, exist_ok=False)
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return path

    async def get(self, name: str) -> Archived | None:
        """A table; see ``Archive.get``."""
        path = self._path(name)
        return None if path is None else await self._run(_read, name, path)

    async def close(self) -> None:
        """Finish what is under way; see ``Archive.close``."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)

    def _path(self, name: str) -> Path | None:
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        return self._root / hashlib.sha256(name.encode()).hexdigest()[:2] / f"{found[1]}.jsonl"

    async def _run(self, work: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        if self._closed:
            raise ArchiveUnavailable("the archive is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        except OSError as error:
            raise ArchiveUnavailable(f"the archive {self._root}: {error}") from error


def _read(name: str, path: Path) -> Archived | None:
    try:
        return _archived(name, path.read_text())
    except FileNotFoundError:
        return None


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(archived: Archived) -> str:
    about = {
        "ended_ms": archived.ended_ms,
        "digest": archived.digest.hex(),
        "request_digest": archived.request_digest.hex(),
        "table": base64.b64encode(archived.table).decode(),
    }
    added = json.dumps(about, separators=(",", ":")).removeprefix("{")
    return f"{archived.record.removesuffix('}')}{_EXTRA}{added}}}\n"


def _archived(name: str, line: str) -> Archived:
    """What a file's line says. Raises ``ArchiveUnavailable`` for a file that this archive did not write."""
    record, _, added = line.rstrip("\n").rpartition(_EXTRA)
    try:
        about = json.loads("{" + added.removesuffix("}"))
        return Archived(
            name=name,
            ended_ms=about["ended_ms"],
            digest=bytes.fromhex(about["digest"]),
            request_digest=bytes.fromhex(about["request_digest"]),
            table=base64.b64decode(about["table"]),
            record=f"{record}}}",
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveUnavailable(f"the file of {name} is damaged") from error
