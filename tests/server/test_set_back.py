"""A journal that loses what it had acknowledged: nobody goes on with what is no longer so."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from croupier_server import tables
from croupier_server.archive import Archive, SqliteArchive
from croupier_server.epoch import Epoch
from croupier_server.fold import Phase
from croupier_server.journal import JournalUnavailable, SequenceConflict, Stored
from croupier_server.journal.base import NotWritten
from croupier_server.journal.redis import RedisJournal
from croupier_server.journal.redis_names import Names
from croupier_server.settings import Settings
from server.journal_contract import Heard, batch, lobby_row
from server.redis_server import RedisServer, append_at_last, opened, until
from server.room import Replica, Room, guest, refused, turns


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
async def other(room: Room) -> AsyncIterator[Replica]:
    """The second process; it hears of new epochs."""
    replica = await room.replica()
    await room.epoch.follow()
    await replica.epoch.follow()
    yield replica
    await replica.tables.stop()


@pytest.fixture
async def replicas(server: RedisServer) -> AsyncIterator[list[Replica]]:
    """Two processes on one Redis."""
    async with processes(server) as replicas:
        yield replicas


@asynccontextmanager
async def processes(
    server: RedisServer, archive: Archive | None = None, settings: Settings | None = None
) -> AsyncIterator[list[Replica]]:
    """Two of them; they hear of new epochs."""
    journals = [await RedisJournal.open(server.url) for _ in range(2)]
    replicas = [Replica(journal, settings or Settings(), time.monotonic, archive) for journal in journals]
    for replica in replicas:
        await replica.clock.refresh()
        await replica.epoch.follow()
    yield replicas
    for replica in replicas:
        await replica.tables.stop()
        replica.epoch.close()
        replica.feeds.stop()
        await replica.tables.journal.close()


def set_back(server: RedisServer, to: object) -> None:
    """What a crash without a sync of the disk does, or a failover to a replica that lagged."""
    server.kill()
    server.restore(to)  # type: ignore[arg-type]
    server.start()


class TestTable:
    async def test_who_watched_is_reset_and_play_goes_on_from_what_is_left(
        self, server: RedisServer, replicas: list[Replica]
    ) -> None:
        here, there = replicas
        name = await here.deal("doudizhu")
        streams = [replica.watch(name, guest(0)) for replica in replicas]
        first = [(await stream.until("snapshot")).snapshot for stream in streams]
        kept = server.copy()
        lost = await here.some_move(name)
        for stream in streams:
            await stream.until("event", lost)
            stream.clear()
        set_back(server, kept)
        for stream, before in zip(streams, first, strict=True):
            snapshot = (await stream.until("snapshot")).snapshot
            assert (snapshot.reset, snapshot.seq, before.seq) == (True, lost - 1, lost - 1)
            assert snapshot.epoch != before.epoch
            stream.clear()
        await until(lambda: here.tables.loaded(name) is not None and there.tables.loaded(name) is not None)
        assert await there.some_move(name) == lost
        for stream in streams:
            await stream.until("event", lost)
            assert stream.seqs == [lost]
            await stream.close()
        assert (await here.state(name)).seq == (await there.state(name)).seq == lost
        assert here.epoch.now == there.epoch.now

    async def test_one_that_was_archived_is_not_one_that_was_lost(
        self, server: RedisServer, tmp_path: Path
    ) -> None:
        """What was retired under a process that has it in memory is missing as well after an outage."""
        archive = await SqliteArchive.open(tmp_path / "archive.sqlite")
        async with processes(server, archive, Settings(archive_after_s=0)) as (here, there):
            name = await here.deal_short("doudizhu")
            await there.state(name)
            await here.play_out(name, random.Random(1))
            await until(lambda: there.tables._live[name].state.phase is Phase.ENDED)
            await here.clock.refresh()
            assert await here.archiver.sweep() == 1
            with capture_logs() as logs:
                server.kill()
                server.start()
                await until(lambda: len(there.tables) == 0)
            assert "journal.went_back" not in [log["event"] for log in logs]
            assert await there.tables.journal.last_seq("epochs") == 0
            assert (await there.state(name)).phase is Phase.ENDED
        await archive.close()

    async def test_a_loss_that_nobody_told_of_is_found_by_catching_up(self, room: Room) -> None:
        name = await room.deal("doudizhu")
        stream = room.watch(name, guest(0))
        await stream.until("snapshot")
        seq = await room.some_move(name)
        del room.journal._streams[name][seq - 1 :]
        table = await room.tables.get(name)
        with refused("JOURNAL_UNAVAILABLE"):
            await table.catch_up()
        stream.clear()
        snapshot = (await stream.until("snapshot")).snapshot
        assert (snapshot.reset, snapshot.seq) == (True, seq - 1)
        assert await room.some_move(name) == seq
        await stream.close()

    async def test_who_comes_back_with_a_number_of_before_is_reset(self, room: Room, other: Replica) -> None:
        name = await room.deal("doudizhu")
        await other.tables.get(name)
        epoch, seq = room.epoch.now, await room.some_move(name)
        room.journal.lose(name, seq - 1)
        await turns()
        assert await room.some_move(name) == seq
        for replica in (room, other):
            stream = replica.watch(name, guest(0), after_seq=seq, epoch=epoch)
            snapshot = (await stream.until("snapshot")).snapshot
            assert (snapshot.reset, snapshot.epoch) == (True, room.epoch.now)
            await stream.close()
        assert room.epoch.now == other.epoch.now != epoch

    async def test_a_move_meanwhile_is_refused_as_unavailable(self, room: Room) -> None:
        name = await room.deal("doudizhu")
        seq = await room.some_move(name)
        room.journal.gate.clear()
        move = asyncio.ensure_future(room.some_move(name))
        await turns()
        room.journal.lose(name, seq - 1)
        with refused("JOURNAL_UNAVAILABLE"):
            await room.some_move(name)
        room.journal.fails = True
        room.journal.gate.set()
        with refused("JOURNAL_UNAVAILABLE"):
            await move
        room.journal.fails = False
        await turns()

    async def test_a_seat_that_was_lost_shows_nothing_more(self, room: Room) -> None:
        name = await room.create("doudizhu", who=guest(0))
        await room.join(name, guest(0))
        seq = (await room.state(name)).seq
        await room.join(name, guest(1))
        streams = [room.watch(name, guest(n)) for n in range(2)]
        for stream in streams:
            await stream.until("snapshot")
        room.journal.lose(name, seq)
        ended = (await streams[1].until("ended")).ended
        assert b"NOT_SEATED" in ended.details[0].value
        streams[0].clear()
        assert (await streams[0].until("snapshot")).snapshot.reset
        await streams[0].close()

    async def test_one_that_is_gone_ends(self, room: Room) -> None:
        name = await room.deal("doudizhu")
        stream = room.watch(name, guest(0))
        await stream.until("snapshot")
        room.journal.lose(name, 0)
        ended = (await stream.until("ended")).ended
        assert b"TABLE_NOT_FOUND" in ended.details[0].value
        with refused("TABLE_NOT_FOUND"):
            await room.state(name)

    async def test_it_is_read_again_until_that_succeeds(
        self, room: Room, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tables, "_RELOAD_SECONDS", 0)
        name = await room.deal("doudizhu")
        seq = await room.some_move(name)
        room.journal.unreadable = True
        room.journal.lose(name, seq - 1)
        await turns()
        assert room.tables.loaded(name) is None
        room.tables.evict()
        room.journal.unreadable = False
        await turns()
        assert (await room.state(name)).seq == seq - 1


class TestEpoch:
    async def test_all_who_begin_one_at_once_begin_one(self, room: Room, other: Replica) -> None:
        await asyncio.gather(*(replica.epoch.renew() for replica in (room, other, room, other)))
        assert room.epoch.now == other.epoch.now != "epoch-1"
        assert await room.journal.last_seq("epochs") == 1

    async def test_one_that_was_lost_itself_is_begun_anew(self, room: Room, other: Replica) -> None:
        await room.epoch.renew()
        before = room.epoch.now
        room.journal.lose("epochs", 0)
        await turns()
        assert room.epoch.now == other.epoch.now not in {before, "epoch-1"}

    async def test_it_is_the_same_after_a_restart(self, room: Room) -> None:
        await room.epoch.follow()
        await room.epoch.renew()
        again = Epoch(room.journal, "epoch-1")
        await again.follow()
        assert again.now == room.epoch.now
        again.close()


class TestRedisJournal:
    async def test_another_entry_in_the_place_of_one_is_no_news_but_a_loss(self, server: RedisServer) -> None:
        told: list[str] = []
        heard = Heard()
        async with opened(server) as journal:
            await journal.append(batch("t", 0, b"a"))
            kept = server.copy()
            await journal.append(batch("t", 1, b"b"))
            await journal.listen("t", 0, heard, lambda: told.append("lost"))
            with capture_logs() as logs:
                set_back(server, kept)
                server.command("RPUSH", Names(0).entries("t"), b"c", b"d")
                for _ in range(2):
                    with pytest.raises((JournalUnavailable, SequenceConflict)):
                        await journal.append(batch("t", 2, b"after b"))
                await until(lambda: told == ["lost"])
            assert [log["event"] for log in logs].count("journal.went_back") == 1
            assert heard.entries == [Stored(1, b"a"), Stored(2, b"b")]
            assert await journal.read("t") == [Stored(1, b"a"), Stored(2, b"c"), Stored(3, b"d")]

    async def test_an_append_waits_until_it_is_known_that_nothing_was_lost(self, server: RedisServer) -> None:
        async with opened(server) as journal:
            await journal.listen("t", 0, Heard())
            await journal.append(batch("t", 0))
            followed = journal._news.followed(Names(0).entries("t"))
            server.kill()
            server.start()
            await append_at_last(journal, "t")
            assert followed
            assert followed._dispelled == followed._doubts > 0
            assert await journal.last_seq("t") == 2

    async def test_a_stream_that_shrank_under_an_open_connection_is_found_by_the_next_append(
        self, server: RedisServer
    ) -> None:
        told: list[str] = []
        async with opened(server) as journal:
            await journal.append(batch("t", 0, b"a", b"b"))
            await journal.listen("t", 0, Heard(), lambda: told.append("lost"))
            await journal.listen("u", 0, Heard(), lambda: told.append("u"))
            server.command("RPOP", Names(0).entries("t"))
            with pytest.raises(NotWritten, match="lost entries"):
                await journal.append(batch("t", 2))
            assert told == ["lost"]
            with pytest.raises(SequenceConflict):
                await journal.append(batch("t", 0))

    async def test_rows_that_were_lost_are_told_as_they_are_now(self, server: RedisServer) -> None:
        heard: list[str] = []
        async with opened(server) as journal:
            await journal.listen_rows("house", lambda row: heard.append(row.state))
            await journal.append(batch("t", 0, row=lobby_row("t", state="a", subjects=["house"])))
            kept = server.copy()
            await journal.append(batch("t", 1, row=lobby_row("t", state="b", subjects=["house"])))
            set_back(server, kept)
            await until(lambda: heard == ["a", "b", "a"])
            await append_at_last(journal, "t")
            row = lobby_row("t", state="c", subjects=["house"])
            await journal.append(batch("t", 2, row=row))
            assert heard == ["a", "b", "a", "c"]
