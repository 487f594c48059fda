"""What every archive promises, and each of its own."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from croupier_games import records
from croupier_server.archive import (
    AnotherIsKept,
    Archive,
    Archived,
    ArchiveError,
    ArchiveUnavailable,
    default_archive,
    open_archive,
)
from croupier_server.archive.postgres import PostgresArchive
from croupier_server.journal import SqliteJournal
from server.postgres_server import PostgresServer, empty_database

STORES: dict[str, Callable[[Path], str]] = {
    "dir": lambda folder: f"dir:{folder / 'archive'}",
    "sqlite": lambda folder: f"sqlite:{folder / 'archive.sqlite'}",
    "postgres": lambda _: empty_database(),
}
RECORD = (Path(__file__).parents[1] / "vectors" / "doudizhu-games.jsonl").read_text().splitlines()[0]


def ended(number: int = 0, **changes: Any) -> Archived:
    """An ended table; the same one for a number."""
    table = Archived(
        name=f"tables/{number:022d}",
        ended_ms=1_700_000_000_000 + number,
        digest=number.to_bytes(32),
        request_digest=b"r" * 16,
        table=bytes(range(256)),
        record=RECORD,
    )
    return replace(table, **changes)


def modes_in(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


async def opened(url: str) -> Archive:
    archive = await open_archive(url)
    assert archive is not None
    return archive


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return STORES[request.param](tmp_path)


@pytest.fixture
async def archive(url: str) -> AsyncIterator[Archive]:
    archive = await opened(url)
    yield archive
    await archive.close()


class TestEachArchive:
    async def test_what_was_put_comes_back(self, archive: Archive) -> None:
        for number in range(5):
            await archive.put(ended(number))
        for number in range(5):
            assert await archive.get(f"tables/{number:022d}") == ended(number)

    @pytest.mark.parametrize(
        "changes",
        [
            {"name": "tables/-_-_-_-_-_-_-_-_-_-_Az"},
            {"request_digest": b"", "table": b"", "ended_ms": 0},
            {"record": '{"names":["\\u724c\\u0000\'; --","}"],"title":",\\"archive\\":{"}'},
            {"record": '{"a":"' + "x" * 1_000_000 + '"}', "table": os.urandom(300_000)},
        ],
    )
    async def test_any_values_come_back(self, archive: Archive, changes: dict[str, Any]) -> None:
        await archive.put(ended(**changes))
        assert await archive.get(ended(**changes).name) == ended(**changes)

    @pytest.mark.parametrize(
        "name", ["tables/" + "x" * 22, "", "tables/", "tables/../../etc/passwd", "players/x"]
    )
    async def test_what_was_not_put_is_not_there(self, archive: Archive, name: str) -> None:
        await archive.put(ended())
        assert await archive.get(name) is None

    async def test_names_differ_by_every_letter(self, archive: Archive) -> None:
        await archive.put(ended(name="tables/a"))
        assert await archive.get("tables/A") is None
        assert await archive.get("tables/") is None

    async def test_again_it_changes_nothing(self, archive: Archive) -> None:
        first = ended()
        await archive.put(first)
        await archive.put(replace(first, record='{"made":"by a later release"}'))
        assert await archive.get(first.name) == first

    async def test_another_table_of_that_name_is_refused(self, archive: Archive) -> None:
        await archive.put(ended())
        with pytest.raises(AnotherIsKept):
            await archive.put(ended(digest=b"another"))
        assert await archive.get(ended().name) == ended()

    async def test_of_all_servers_that_put_one_table_one_does(self, archive: Archive, url: str) -> None:
        others = [await opened(url) for _ in range(4)]
        versions = [replace(ended(), record=f'{{"by":{n}}}') for n in range(5)]
        for _ in range(5):
            each = zip([archive, *others], versions, strict=True)
            await asyncio.gather(*(one.put(version) for one, version in each))
        found = [await one.get(ended().name) for one in (archive, *others)]
        assert found[0] in versions
        assert found == [found[0]] * 5
        await asyncio.gather(*(other.close() for other in others))

    async def test_many_at_once(self, archive: Archive) -> None:
        await asyncio.gather(*(archive.put(ended(n)) for n in range(200)))
        found = await asyncio.gather(*(archive.get(ended(n).name) for n in range(200)))
        assert found == [ended(n) for n in range(200)]

    async def test_it_lasts(self, archive: Archive, url: str) -> None:
        await archive.put(ended())
        await archive.close()
        again = await opened(url)
        assert await again.get(ended().name) == ended()
        await again.put(ended())
        await again.close()

    async def test_closed_it_refuses(self, archive: Archive) -> None:
        await archive.close()
        for call in (archive.put(ended()), archive.get(ended().name)):
            with pytest.raises(ArchiveUnavailable):
                await call
        await archive.close()


class TestFolder:
    async def test_a_file_is_a_record_that_can_be_verified(self, tmp_path: Path) -> None:
        archive = await opened(f"dir:{tmp_path}/a")
        await archive.put(ended())
        (file,) = (tmp_path / "a").glob("??/*.jsonl")
        assert file.name == f"{0:022d}.jsonl"
        (verdict,) = records.verify_lines(file.read_text().splitlines())
        assert verdict.error is None
        assert (await archive.get(ended().name)) == ended()
        await archive.close()

    async def test_only_its_owner_can_read_it(self, tmp_path: Path) -> None:
        archive = await opened(f"dir:{tmp_path}/a")
        await archive.put(ended())
        await archive.close()
        assert modes_in(tmp_path) == {0o700, 0o600}

    async def test_what_a_dead_server_left_is_removed_and_nothing_else(self, tmp_path: Path) -> None:
        archive = await opened(f"dir:{tmp_path}/a")
        await archive.put(ended())
        await archive.close()
        left, fresh = tmp_path / "a/new/left.jsonl", tmp_path / "a/new/fresh.jsonl"
        for half in (left, fresh):
            half.write_text('{"half')
        os.utime(left, (0, 0))
        await (await opened(f"dir:{tmp_path}/a")).close()
        assert [path.name for path in (tmp_path / "a/new").iterdir()] == ["fresh.jsonl"]
        assert len(list((tmp_path / "a").glob("??/*.jsonl"))) == 1

    async def test_a_full_disk_is_told_and_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        archive = await opened(f"dir:{tmp_path}/a")

        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ArchiveUnavailable, match="No space"):
            await archive.put(ended())
        monkeypatch.undo()
        assert await archive.get(ended().name) is None
        await archive.put(ended())
        assert await archive.get(ended().name) == ended()
        await archive.close()

    async def test_a_folder_without_links_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def none(*_: Any) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", none)
        with pytest.raises(ArchiveError, match="without hard links"):
            await opened(f"dir:{tmp_path}/a")

    async def test_a_damaged_file_is_told(self, tmp_path: Path) -> None:
        archive = await opened(f"dir:{tmp_path}/a")
        await archive.put(ended())
        (file,) = (tmp_path / "a").glob("??/*.jsonl")
        for text in ("", RECORD, file.read_text()[:-9]):
            file.write_text(text)
            with pytest.raises(ArchiveUnavailable, match="damaged"):
                await archive.get(ended().name)
        await archive.close()

    async def test_a_name_that_no_table_has_is_refused(self, tmp_path: Path) -> None:
        archive = await opened(f"dir:{tmp_path}/a")
        with pytest.raises(ValueError, match="no table's name"):
            await archive.put(ended(name="tables/../../x"))
        await archive.close()


class TestSqlite:
    async def test_only_its_owner_can_read_it(self, tmp_path: Path) -> None:
        former = os.umask(0)
        try:
            archive = await opened(f"sqlite:{tmp_path}/a.sqlite")
            await archive.put(ended())
        finally:
            os.umask(former)
        assert modes_in(tmp_path) == {0o600}
        await archive.close()

    async def test_a_journal_is_no_archive_and_an_archive_no_journal(self, tmp_path: Path) -> None:
        await (await SqliteJournal.open(tmp_path / "j")).close()
        with pytest.raises(ArchiveError, match="not an archive"):
            await opened(f"sqlite:{tmp_path}/j")
        await (await opened(f"sqlite:{tmp_path}/a")).close()
        with pytest.raises(Exception, match="not a journal"):
            await SqliteJournal.open(tmp_path / "a")

    @pytest.mark.parametrize(("sql", "why"), [("PRAGMA user_version = 2", "form 2")])
    async def test_a_newer_form_is_refused(self, tmp_path: Path, sql: str, why: str) -> None:
        await (await opened(f"sqlite:{tmp_path}/a")).close()
        with closing(sqlite3.connect(tmp_path / "a")) as db:
            db.execute(sql)
        with pytest.raises(ArchiveError, match=why):
            await opened(f"sqlite:{tmp_path}/a")

    async def test_what_is_no_database_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"not a database, but long enough to be looked at" * 20)
        with pytest.raises(ArchiveError, match="not an archive"):
            await opened(f"sqlite:{tmp_path}/a")

    async def test_a_folder_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(ArchiveUnavailable, match="cannot open"):
            await opened(f"sqlite:{tmp_path}/deeper/a")

    async def test_another_process_that_writes_is_waited_for(self, tmp_path: Path) -> None:
        archive = await opened(f"sqlite:{tmp_path}/a")
        script = (
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
            "db.execute('BEGIN IMMEDIATE'); print('holds', flush=True); input(); db.execute('COMMIT')"
        )
        command = [sys.executable, "-c", script, str(tmp_path / "a")]
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        other = await asyncio.create_subprocess_exec(*command, **pipes)
        assert other.stdin is not None
        assert other.stdout is not None
        await other.stdout.readline()
        put = asyncio.ensure_future(archive.put(ended()))
        await asyncio.sleep(0)
        assert not put.done()
        await other.communicate(b"\n")
        await put
        assert await archive.get(ended().name) == ended()
        await archive.close()


class TestPostgres:
    async def test_servers_that_start_at_once_create_one_table(self) -> None:
        url = empty_database()
        archives = await asyncio.gather(*(opened(url) for _ in range(5)))
        await archives[0].put(ended())
        assert await archives[4].get(ended().name) == ended()
        await asyncio.gather(*(archive.close() for archive in archives))

    async def test_a_server_that_is_not_there_is_told(self) -> None:
        with pytest.raises(ArchiveUnavailable, match="PostgreSQL"):
            await opened("postgresql://croupier@127.0.0.1:1/postgres")

    async def test_a_url_that_is_none_is_told(self) -> None:
        with pytest.raises(ArchiveError, match="PostgreSQL"):
            await opened("postgresql://127.0.0.1/postgres?colour=red")

    async def test_it_comes_back_after_the_server_was_away(self) -> None:
        server = PostgresServer()
        try:
            archive = await PostgresArchive.open(server.url, answer_seconds=0.5)
            await archive.put(ended(1))
            server.stop()
            for call in (archive.put(ended(2)), archive.get(ended(1).name)):
                with pytest.raises(ArchiveUnavailable):
                    await call
            server.start()
            await put_at_last(archive, ended(2))
            assert [await archive.get(ended(n).name) for n in (1, 2)] == [ended(1), ended(2)]
            await archive.close()
        finally:
            server.close()


async def put_at_last(archive: Archive, table: Archived) -> None:
    """Put as soon as the store takes it; the test's own time limit ends it."""
    while True:
        try:
            return await archive.put(table)
        except ArchiveUnavailable:
            await asyncio.sleep(0.01)


class TestOpen:
    async def test_none(self) -> None:
        assert await open_archive("none") is None

    @pytest.mark.parametrize(
        "url", ["", "dir:", "dir", "sqlite:", "sqlite::memory:", "s3://x", "postgresql:"]
    )
    async def test_a_url_that_names_none_is_told_what_does(self, url: str) -> None:
        with pytest.raises(ValueError, match=r"dir:PATH .* sqlite:PATH"):
            await open_archive(url)

    async def test_without_the_driver_it_is_told_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(sys.modules, "croupier_server.archive.postgres", raising=False)
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(ValueError, match=r"croupier\[postgres\]"):
            await open_archive("postgresql://localhost/x")

    @pytest.mark.parametrize(
        ("journal", "archive"),
        [
            ("memory:", "none"),
            ("redis://localhost", "none"),
            ("sqlite:/var/lib/croupier/tables.sqlite", "sqlite:/var/lib/croupier/tables-archive.sqlite"),
            ("sqlite:~/tables", "sqlite:~/tables-archive"),
        ],
    )
    def test_the_archive_of_a_journal(self, journal: str, archive: str) -> None:
        assert default_archive(journal) == archive
