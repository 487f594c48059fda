# ruff: noqa: ASYNC240 (a test may wait for the disk)
"""What the journal on disk promises beyond the contract: it lasts, keeps to itself, and endures."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from croupier_server.journal import (
    Finished,
    JournalError,
    JournalLocked,
    JournalUnavailable,
    PageKey,
    QueueFull,
    RowFilter,
    SequenceConflict,
    SqliteJournal,
    Stored,
    sqlite,
)
from croupier_server.journal.local import Clock
from croupier_server.journal.sqlite_file import OpenFile, open_file
from croupier_server.journal.sqlite_store import page_query
from server.journal_contract import Heard, batch, lobby_row, put_rows

PROCESS = Path(__file__).with_name("journal_process.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(path)
    yield journal
    await journal.close()


@contextmanager
def process(what: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the journal open; killed in the end."""
    command = [sys.executable, str(PROCESS), what, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


@contextmanager
def writers_held_up(path: Path) -> Iterator[None]:
    """Nothing can be written to the database meanwhile: who tries waits."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def queue_up(journal: SqliteJournal, streams: int) -> list[asyncio.Future[None]]:
    """A first append to each of that many streams."""
    return [asyncio.ensure_future(journal.append(batch(f"t{number}", 0))) for number in range(streams)]


def commits(path: Path) -> int:
    """Transactions in the write-ahead log: frames that end one (SQLite's file format, 4.1)."""
    log = Path(f"{path}-wal").read_bytes()
    if not log:
        return 0
    (page_size,) = struct.unpack_from(">I", log, 8)
    salts = log[16:24]
    frames = range(32, len(log), 24 + page_size)
    return sum(log[at + 4 : at + 8] != bytes(4) for at in frames if log[at + 8 : at + 16] == salts)


class TestKilled:
    def test_what_was_acknowledged_is_there(self, path: Path) -> None:
        acknowledged: dict[str, int] = {}
        with process("append", path) as running:
            assert running.stdout
            for count, line in enumerate(running.stdout):
                if not line.endswith("\n"):
                    break  # it died while it wrote this
                stream, seq = line.split()
                acknowledged[stream] = int(seq)
                if count == 400:
                    running.kill()
        assert len(acknowledged) == 8
        asyncio.run(self.check(path, acknowledged))

    async def check(self, path: Path, acknowledged: dict[str, int]) -> None:
        journal = await SqliteJournal.open(path)
        for stream, seq in acknowledged.items():
            entries = await journal.read(stream)
            assert len(entries) >= seq
            assert len(entries) % 2 == 0, "half a batch"
            assert entries == [Stored(n, f"{stream}#{n}".encode()) for n in range(1, len(entries) + 1)]
            await journal.append(batch(stream, len(entries)))
        await journal.close()

    async def test_its_file_is_free_again(self, path: Path) -> None:
        with process("hold", path) as holder:
            assert holder.stdout
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(JournalLocked):
                await SqliteJournal.open(path)
            holder.kill()
            holder.wait()
            journal = await SqliteJournal.open(path)
            assert await journal.read("t") == [Stored(1, b"held")]
            await journal.close()

    def test_ending_without_closing_loses_nothing_and_does_not_hang(self, path: Path) -> None:
        with process("forget", path) as running:
            assert running.wait(timeout=60) == 0
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT data FROM entries").fetchall() == [(b"kept",)]


class TestFile:
    async def test_only_its_owner_can_read_it(self, path: Path) -> None:
        former = os.umask(0)
        try:
            journal = await SqliteJournal.open(path)
            await journal.append(batch("t", 0))
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
            await journal.close()
        finally:
            os.umask(former)
        assert modes == dict.fromkeys(
            ("journal.db", "journal.db-wal", "journal.db-shm", "journal.db.lock"), 0o600
        )

    async def test_a_file_that_others_could_read_is_closed_to_them(self, path: Path) -> None:
        await (await SqliteJournal.open(path)).close()
        path.chmod(0o644)
        await (await SqliteJournal.open(path)).close()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    async def test_it_opens_once_whatever_its_name(self, path: Path, journal: SqliteJournal) -> None:
        link = path.with_name("link.db")
        link.symlink_to(path)
        with pytest.raises(JournalLocked):
            await SqliteJournal.open(link)
        await journal.append(batch("t", 0))

    async def test_an_opening_that_is_cancelled_lets_go_of_the_file(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, go_on = threading.Event(), threading.Event()

        def slowly(path: Path) -> OpenFile:
            begun.set()
            go_on.wait()
            return open_file(path)

        with monkeypatch.context() as slow:
            slow.setattr(sqlite, "open_file", slowly)
            opening = asyncio.create_task(SqliteJournal.open(path))
            await asyncio.to_thread(begun.wait)
            opening.cancel()
            asyncio.get_running_loop().call_soon(go_on.set)
            with pytest.raises(asyncio.CancelledError):
                await opening
        await (await SqliteJournal.open(path)).close()

    async def test_closed_it_opens_again_with_all_in_it(self, path: Path, journal: SqliteJournal) -> None:
        row = lobby_row("t", subjects=["house"])
        await journal.append(batch("t", 0, b"a", deadline_ms=5, row=row))
        await journal.key("tokens", b"key")
        await journal.close()
        again = await SqliteJournal.open(path)
        assert await again.read("t") == [Stored(1, b"a")]
        assert [deadline.stream for deadline in await again.due(5)] == ["t"]
        assert await again.rows_of("house") == [row]
        assert await again.key("tokens", b"other") == b"key"
        with pytest.raises(SequenceConflict):
            await again.append(batch("t", 0))
        await again.close()

    async def test_commits_are_synced(self, journal: SqliteJournal) -> None:
        db = journal._file.writer
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)

    @pytest.mark.parametrize("sql", ["PRAGMA user_version = 3", "PRAGMA application_id = 7"])
    async def test_another_form_or_owner_is_refused(self, path: Path, sql: str) -> None:
        await (await SqliteJournal.open(path)).close()
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(sql)
        before = path.read_bytes()
        with pytest.raises(JournalError, match=r"form 3|not a journal"):
            await SqliteJournal.open(path)
        assert path.read_bytes() == before

    async def test_a_file_of_the_first_form_is_brought_up_and_its_ended_tables_may_go(
        self, path: Path
    ) -> None:
        first = await SqliteJournal.open(path)
        await put_rows(first, lobby_row("t", state="ENDED", listed=False), lobby_row("u", state="PLAYING"))
        await first.close()
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.executescript("DROP TABLE finished; PRAGMA user_version = 1")
        for _ in range(2):
            journal = await SqliteJournal.open(path)
            assert await journal.finished(0) == [Finished("t", 0)]
            assert await journal.last_seq("u") == 1
            await journal.close()

    async def test_what_is_no_database_is_refused_and_left(self, path: Path) -> None:
        path.write_bytes(b"not a database, but long enough to be looked at" * 20)
        before = path.read_bytes()
        with pytest.raises(JournalError, match="not a journal"):
            await SqliteJournal.open(path)
        assert path.read_bytes() == before

    async def test_a_folder_that_is_not_there_is_told(self, path: Path) -> None:
        with pytest.raises(JournalUnavailable, match="No such file"):
            await SqliteJournal.open(path / "deeper.db")

    async def test_refused_it_can_be_opened_later(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(JournalUnavailable):
            await SqliteJournal.open(path)
        path.rmdir()
        await (await SqliteJournal.open(path)).close()


class TestQueue:
    async def test_what_queues_up_is_one_transaction(self, path: Path, journal: SqliteJournal) -> None:
        before = commits(path)
        with writers_held_up(path):
            appends = queue_up(journal, 200)
            await asyncio.sleep(0)  # lets each of them queue up
        await asyncio.gather(*appends)
        # One for those that were taken before all had come, and one for the rest.
        assert 1 <= commits(path) - before <= 2

    async def test_in_a_group_only_the_conflicts_are_left_out(
        self, path: Path, journal: SqliteJournal
    ) -> None:
        changes = [batch("t", 0, b"a"), batch("t", 0, b"x"), batch("t", 1, b"b"), batch("u", 5, b"x")]
        with writers_held_up(path):
            appends = [asyncio.ensure_future(journal.append(change)) for change in changes]
            await asyncio.sleep(0)
        outcomes = await asyncio.gather(*appends, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [
            type(None), SequenceConflict, type(None), SequenceConflict,
        ]  # fmt: skip
        assert await journal.read("t") == [Stored(1, b"a"), Stored(2, b"b")]

    async def test_what_cannot_be_stored_fails_alone(self, path: Path, journal: SqliteJournal) -> None:
        changes = [batch("t", 0, b"a"), batch("u", 0, deadline_ms=1 << 63), batch("t", 1, b"b")]
        with writers_held_up(path):
            appends = [asyncio.ensure_future(journal.append(change)) for change in changes]
            await asyncio.sleep(0)
        outcomes = await asyncio.gather(*appends, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [type(None), OverflowError, type(None)]
        assert (await journal.last_seq("t"), await journal.last_seq("u")) == (2, 0)

    async def test_a_full_queue_refuses_and_recovers(self, path: Path) -> None:
        journal = await SqliteJournal.open(path, max_waiting=4)
        with writers_held_up(path):
            appends = queue_up(journal, 4)
            await asyncio.sleep(0)
            assert journal.waiting == 4
            with pytest.raises(QueueFull):
                await journal.append(batch("late", 0))
            with pytest.raises(QueueFull):
                await journal.key("late", b"")
        await asyncio.gather(*appends)
        assert journal.waiting == 0
        await journal.append(batch("late", 0))
        assert await journal.last_seq("late") == 1
        await journal.close()

    async def test_reads_wait_for_no_append(self, path: Path, journal: SqliteJournal) -> None:
        await journal.append(batch("t", 0, b"a"))
        with writers_held_up(path):
            append = asyncio.ensure_future(journal.append(batch("t", 1, b"b")))
            heard = Heard()
            await journal.listen("t", 0, heard)
            assert await journal.read("t") == [Stored(1, b"a")]
            assert not append.done()
        await append
        assert heard.entries == [Stored(1, b"a"), Stored(2, b"b")]

    async def test_an_append_given_up_may_go_in_and_harms_none(
        self, path: Path, journal: SqliteJournal
    ) -> None:
        with writers_held_up(path):
            append = asyncio.ensure_future(journal.append(batch("t", 0, b"a")))
            await asyncio.sleep(0)
            append.cancel()
        await journal.append(batch("t", 1, b"b"))
        assert append.cancelled()
        assert await journal.read("t") == [Stored(1, b"a"), Stored(2, b"b")]


class TestDiskFull:
    async def test_nothing_is_half_written_and_it_goes_on_later(self, journal: SqliteJournal) -> None:
        await journal.append(batch("t", 0, b"a", deadline_ms=1, row=lobby_row("t")))
        db = journal._file.writer
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        for _ in range(2):
            big = batch("t", 1, b"b", bytes(100_000), deadline_ms=9, row=lobby_row("t", state="ended"))
            with pytest.raises(JournalUnavailable, match="full"):
                await journal.append(big)
        assert await journal.read("t") == [Stored(1, b"a")]
        assert [deadline.at_ms for deadline in await journal.due(9)] == [1]
        assert await journal.row("t") == lobby_row("t")
        db.execute("PRAGMA max_page_count = 1000000")
        await journal.append(big)
        assert await journal.last_seq("t") == 3

    async def test_an_outage_is_logged_once_and_so_is_its_end(self, journal: SqliteJournal) -> None:
        db = journal._file.writer
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        with capture_logs() as logs:
            db.execute(f"PRAGMA max_page_count = {pages}")
            for _ in range(3):
                with pytest.raises(JournalUnavailable):
                    await journal.append(batch("t", 0, b"secret" * 20_000))
            db.execute("PRAGMA max_page_count = 1000000")
            await journal.append(batch("t", 0))
            await journal.append(batch("t", 1))
        assert [log["event"] for log in logs] == ["journal.write_failed", "journal.write_recovered"]
        assert "secret" not in str(logs)

    def test_a_file_that_may_not_grow(self, path: Path) -> None:
        with process("full", path) as running:
            running.communicate(timeout=60)
            assert running.returncode == 0
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            entries = db.execute("SELECT stream, seq, length(data) FROM entries").fetchall()
            assert entries == [("t", 1, 6), ("t", 2, 100_000), ("t", 3, 5)]
            assert db.execute("SELECT * FROM deadlines").fetchall() == [("t", 1, 1)]


class TestClock:
    async def test_it_is_stored_once_a_second(self, path: Path) -> None:
        wall_ms = [10**12]
        clock = Clock(lambda: wall_ms[0] * 10**6, lambda: 0)
        journal = await SqliteJournal.open(path, clock=clock)
        stored = set()
        for after in range(20):
            wall_ms[0] += 100
            await journal.clock_ms()
            await journal.append(batch("t", after))
            stored |= set(journal._file.reader.execute("SELECT not_before_ms FROM clock").fetchall())
        assert len(stored) == 2
        await journal.close()

    async def test_no_stored_time_is_ahead_of_it_after_a_restart(self, path: Path) -> None:
        journal = await SqliteJournal.open(path, clock=Clock(lambda: 10**18, lambda: 0))
        told = await journal.clock_ms()
        await journal.append(batch("t", 0))
        await journal.close()
        back = await SqliteJournal.open(path, clock=Clock(lambda: 10**17, lambda: 0))
        assert told <= await back.clock_ms() <= told + 1000
        await back.close()


class TestPage:
    @pytest.mark.parametrize("where", [RowFilter(), RowFilter("doudizhu", ("waiting", "playing"), True)])
    @pytest.mark.parametrize("after", [None, PageKey(5, "t5")])
    async def test_it_walks_the_index_and_sorts_nothing(
        self, journal: SqliteJournal, where: RowFilter, after: PageKey | None
    ) -> None:
        await put_rows(journal, *(lobby_row(f"t{number}", number) for number in range(8)))
        query, values = page_query(where, after)
        plan = journal._file.reader.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {query}", values).fetchall()
        assert len(plan) == 1
        assert "USING INDEX lobby_by_age" in plan[0][3]
