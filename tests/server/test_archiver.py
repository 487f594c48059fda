"""Ended tables go to the archive, each once and none too early, and are served from there as before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from prometheus_client import generate_latest
from structlog.testing import capture_logs

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES, records
from croupier_server import tables
from croupier_server.archive import AnotherIsKept, Archived, ArchiveUnavailable, SqliteArchive
from croupier_server.archived import archived_from, state_of
from croupier_server.archiver import REFUSED_MS
from croupier_server.fold import Phase
from croupier_server.inbox import Inbox
from croupier_server.journal import Journal, JournalUnavailable
from croupier_server.views import table_message
from server.room import NOBODY, Replica, Room, guest, refused, turns
from server.test_two_replicas import LateJournal

GRACE_S, LEASE_S = 600, 60
VOID = {"doudizhu": {"max_redeals": 0}}


class RoughArchive(SqliteArchive):
    """An archive that can fail, and counts what was put into it."""

    fails = False
    puts = 0

    async def put(self, archived: Archived) -> None:
        if self.fails:
            raise ArchiveUnavailable("the archive is away")
        await super().put(archived)
        self.puts += 1

    async def get(self, name: str) -> Archived | None:
        if self.fails:
            raise ArchiveUnavailable("the archive is away")
        return await super().get(name)


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[RoughArchive]:
    archive = await RoughArchive.open(tmp_path / "archive.sqlite")
    yield archive
    await archive.close()


@pytest.fixture
async def room(archive: RoughArchive) -> AsyncIterator[Room]:
    room = Room(archive, archive_after_s=GRACE_S, archive_lease_s=LEASE_S)
    await room.open()
    yield room
    await room.close()


async def ended_game(room: Room, game: str = "doudizhu", **fields: Any) -> str:
    """A game played to its end by random moves."""
    name = await room.deal(game, **fields)
    await room.play_out(name, random.Random(name))
    return name


async def short_game(room: Room) -> str:
    """A game that is over after three passes (DDZ-4)."""
    return await ended_game(room, options=VOID)


async def sweep_all(replica: Replica) -> None:
    while await replica.archiver.sweep():
        pass


async def archive_all(room: Room) -> None:
    """Let the grace pass, then have all archived."""
    room.now_s += GRACE_S
    await sweep_all(room)


async def record_of(replica: Replica, name: str, **fields: Any) -> str:
    request = pb.GetRecordRequest(table=name, **fields)
    who = fields.pop("who", guest(0))
    return (await replica.service.get_record(request, who)).record_json


async def seen(replica: Replica, name: str, who: Any = NOBODY, **fields: Any) -> list[pb.TableUpdate]:
    """All updates of a stream that ends with its table."""
    stream = replica.watch(name, who, **fields)
    await stream.rest()
    return stream.updates


def counted(replica: Replica, metric: str) -> float:
    lines = generate_latest(replica.metrics.registry).decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(metric))


class TestServedFromTheArchive:
    @pytest.mark.parametrize("game", GAMES)
    async def test_it_shows_what_it_showed_at_its_end(self, room: Room, game: str) -> None:
        name = await ended_game(room, game, title="Tea 茶", move_seconds=30)

        async def shown() -> list[object]:
            tables = [
                (await room.service.get_table(pb.GetTableRequest(name=name), who)).table
                for who in (NOBODY, guest(0), guest(1))
            ]
            streams = [await seen(room, name, who) for who in (NOBODY, guest(0), guest(1))]
            return [tables, streams, await record_of(room, name)]

        before = await shown()
        await archive_all(room)
        assert await room.stored(name) == []
        assert await shown() == before
        verified = records.verify(records.parse_record(await record_of(room, name)))
        assert (verified.result, verified.recomputed, verified.committed) == ("finished", True, True)

    async def test_a_table_that_was_never_dealt_shows_no_game(self, room: Room) -> None:
        name = await room.create("doudizhu")
        await room.join(name, guest(1))
        await room.pass_time(3600)
        before = await seen(room, name)
        await archive_all(room)
        assert await seen(room, name) == before
        assert before[0].snapshot.table.result == pb.TABLE_RESULT_ABANDONED
        assert records.verify(records.parse_record(await record_of(room, name))).result == "abandoned"

    async def test_an_abandoned_game_shows_how_far_it_came(self, room: Room) -> None:
        name = await room.deal("basic_rummy")
        await room.play_out(name, random.Random(1), moves=7)
        await room.pass_time(2 * 86_400)
        before = await seen(room, name, guest(0))
        assert before[0].snapshot.HasField("view")
        await archive_all(room)
        assert await seen(room, name, guest(0)) == before

    async def test_who_resumes_gets_a_snapshot_for_what_was_missed_and_the_end(self, room: Room) -> None:
        name = await ended_game(room)
        last = (await room.state(name)).seq
        snapshot = (await seen(room, name, guest(1)))[0].snapshot
        await archive_all(room)
        for after in (0, 1, last - 1):
            updates = await seen(room, name, guest(1), after_seq=after)
            assert [update.WhichOneof("update") for update in updates] == ["snapshot", "ended"]
            assert (updates[0].snapshot, updates[1].ended.code) == (snapshot, 0)
        (only,) = await seen(room, name, guest(1), after_seq=last)
        assert (only.WhichOneof("update"), only.ended.code) == ("ended", 0)
        for fields in ({"after_seq": last + 1}, {"after_seq": 1, "epoch": "another"}):
            assert (await seen(room, name, guest(1), **fields))[0].snapshot.reset

    async def test_on_a_play_stream_as_well(self, room: Room) -> None:
        name = await ended_game(room)
        await archive_all(room)
        stream = room.play(guest(0))
        stream.subscribe(name, after_seq=3)
        assert (await stream.until("ended")).ended.code == 0
        assert len(stream.of("snapshot")) == 1
        stream.move(name, "pass", "m1")
        assert (await stream.result("m1")).refused.message.startswith("this game is over")
        await stream.close()

    async def test_a_private_table_stays_private(self, room: Room) -> None:
        name = await ended_game(room, private=True)
        code = (await room.state(name)).created.join_code
        await archive_all(room)
        for wrong in ("", code[:-1]):
            with refused("WRONG_JOIN_CODE"):
                await room.service.get_record(pb.GetRecordRequest(table=name, join_code=wrong), NOBODY)
            with refused("WRONG_JOIN_CODE"):
                await seen(room, name, guest(7), join_code=wrong)
        by_code = pb.GetRecordRequest(table=name, join_code=code)
        assert (await room.service.get_record(by_code, NOBODY)).record_json == await record_of(room, name)
        assert (await seen(room, name, guest(7), join_code=code))[0].snapshot.table.join_code == ""
        assert (await seen(room, name, guest(1)))[0].snapshot.table.join_code == code
        with refused("NOT_YOUR_SEAT"):
            await seen(room, name, guest(1), seat=0)

    async def test_nothing_more_can_be_done_at_it(self, room: Room) -> None:
        name = await ended_game(room)
        await archive_all(room)
        service = room.service
        with refused("GAME_OVER"):
            await room.move(name, guest(0), "pass")
        with refused("NOT_SEATED"):
            await room.move(name, guest(9), "pass")
        with refused("GAME_OVER"):
            await room.join(name, guest(9))
        with refused("GAME_OVER"):
            await room.join(name, guest(0))
        with refused("GAME_OVER"):
            await service.leave_table(pb.LeaveTableRequest(name=name), guest(0))
        with refused("GAME_OVER"):
            await service.invite_bot(pb.InviteBotRequest(name=name), guest(0))
        asked = pb.ListLegalMovesRequest(table=name)
        assert (await service.list_legal_moves(asked, guest(0))).total_size == 0

    async def test_the_lobby_and_the_inbox_forget_it(self, room: Room) -> None:
        name = await ended_game(room)
        ended = pb.ListTablesRequest(states=[pb.TABLE_STATE_ENDED])
        assert [t.name for t in (await room.service.list_tables(ended, NOBODY)).tables] == [name]
        await archive_all(room)
        assert (await room.service.list_tables(ended, NOBODY)).tables == []
        feed = room.feeds.open()
        inbox = Inbox(feed, guest(0).player, house=False)
        await inbox.open(room.journal)
        assert await anext(feed) == b"\x20\x01"  # all that stood was sent, and it was nothing
        inbox.close()
        room.feeds.close(feed)

    async def test_what_is_nowhere_is_not_found(self, room: Room) -> None:
        with refused("TABLE_NOT_FOUND"):
            await room.tables.get("tables/" + "x" * 22)

    @pytest.mark.parametrize("game", GAMES)
    async def test_the_state_of_an_archived_table_is_that_of_its_end(self, room: Room, game: str) -> None:
        name = await ended_game(room, game, private=True)
        state, again = await room.state(name), state_of(archived_from(name, await room.stored(name)))
        for with_code in (True, False):
            assert table_message(again, with_code=with_code) == table_message(state, with_code=with_code)
        for field in ("creator", "options", "phase", "seats", "seq", "game_seq", "time_ms", "created_ms"):
            assert getattr(again, field) == getattr(state, field)


class TestRepeats:
    async def test_in_the_grace_a_repeat_gets_its_first_answer(self, room: Room) -> None:
        name = await room.deal("doudizhu", options=VOID, request_id="c")
        table = await room.tables.get(name)
        asked = []
        for number in range(3):
            who = table.state.seats[table.state.to_act or 0].player
            asked.append((next(g for g in map(guest, range(3)) if g.player == who), f"m{number}"))
            await room.move(name, asked[-1][0], "pass", request_id=asked[-1][1])
        await room.pass_time(GRACE_S - 1)
        await sweep_all(room)
        seqs = [await room.move(name, who, "pass", request_id=request_id) for who, request_id in asked]
        assert seqs == sorted(seqs)
        assert (await room.join(name, guest(1))).seat == 1
        await archive_all(room)
        with refused("GAME_OVER"):
            await room.move(name, asked[0][0], "pass", request_id="m0")

    async def test_a_creation_repeated_after_its_game_opens_no_other(
        self, room: Room, archive: RoughArchive
    ) -> None:
        name = await ended_game(room, options=VOID, request_id="c")
        await archive_all(room)
        assert await room.create("doudizhu", options=VOID, players=0, request_id="c") == name
        assert await room.stored(name) == []
        with refused("REQUEST_ID_REUSED"):
            await room.create("doudizhu", title="Tea", request_id="c")
        assert await room.create("doudizhu", request_id="c", who=guest(1)) != name

    async def test_without_the_archive_tables_are_opened_all_the_same(
        self, room: Room, archive: RoughArchive
    ) -> None:
        archive.fails = True
        name = await room.create("doudizhu", request_id="c")
        assert await room.create("doudizhu", request_id="c") == name


class TestWhen:
    async def test_not_before_the_grace_is_over(self, room: Room, archive: RoughArchive) -> None:
        name = await short_game(room)
        room.now_s += GRACE_S - 1
        assert await room.archiver.sweep() == 0
        assert (archive.puts, len(await room.stored(name))) == (0, (await room.state(name)).seq)
        room.now_s += 1
        assert await room.archiver.sweep() == 1
        assert (archive.puts, await room.stored(name)) == (1, [])

    async def test_running_games_stay(self, room: Room, archive: RoughArchive) -> None:
        names = [await room.deal("doudizhu", move_seconds=60), await room.create("doudizhu")]
        room.now_s += 10 * GRACE_S
        await sweep_all(room)
        assert (archive.puts, [bool(await room.stored(name)) for name in names]) == (0, [True, True])

    async def test_a_sweep_takes_so_many_and_tells_what_waits(
        self, room: Room, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("croupier_server.archiver._AT_ONCE", 10)
        for _ in range(25):
            await short_game(room)
        room.now_s += GRACE_S
        taken = [(await room.archiver.sweep(), room.archiver.backlog) for _ in range(4)]
        assert taken == [(10, 15), (10, 5), (5, 0), (0, 0)]
        assert counted(room, "croupier_archived_total") == 25

    async def test_it_runs_by_itself(
        self, room: Room, archive: RoughArchive, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("croupier_server.archiver._SWEEP_SECONDS", 0)
        name = await short_game(room)
        room.now_s += GRACE_S
        await room.archiver.start()
        while await room.stored(name):
            await turns(1)
        await room.archiver.stop()
        assert archive.puts == 1


class TestOnce:
    async def test_of_two_servers_that_sweep_at_once_each_table_has_one(
        self, room: Room, archive: RoughArchive
    ) -> None:
        names = [await short_game(room) for _ in range(30)]
        other = await room.replica()
        room.now_s += GRACE_S
        await asyncio.gather(sweep_all(room), sweep_all(other))
        assert archive.puts == len(names)
        moved = [counted(replica, "croupier_archived_total") for replica in (room, other)]
        assert sum(moved) == len(names)
        for name in names:
            assert await room.stored(name) == []
            assert await record_of(other, name) == await record_of(room, name)
        await other.tables.stop()

    async def test_a_death_between_the_two_writes_is_made_good(
        self, room: Room, archive: RoughArchive, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = await short_game(room)
        record = await record_of(room, name)
        room.now_s += GRACE_S

        async def dies(*_: object) -> None:
            raise JournalUnavailable("the process is gone")

        with monkeypatch.context() as patch:
            patch.setattr(room.journal, "retire", dies)
            with pytest.raises(JournalUnavailable):
                await room.archiver.sweep()
        assert (archive.puts, bool(await room.stored(name))) == (1, True)
        assert await record_of(room, name) == record
        other = await room.replica()
        assert await other.archiver.sweep() == 0
        room.now_s += LEASE_S
        assert await other.archiver.sweep() == 1
        assert (archive.puts, await room.stored(name)) == (2, [])
        assert await record_of(room, name) == record
        await other.tables.stop()

    async def test_it_is_not_retired_before_the_archive_has_it(
        self, room: Room, archive: RoughArchive
    ) -> None:
        name = await short_game(room)
        room.now_s += GRACE_S
        archive.fails = True
        with pytest.raises(ArchiveUnavailable):
            await room.archiver.sweep()
        assert len(await room.stored(name)) == (await room.state(name)).seq

    async def test_another_table_of_the_same_name_is_never_lost(
        self, room: Room, archive: RoughArchive
    ) -> None:
        name = await short_game(room)
        kept = Archived(name, 0, b"another", b"", b"", "{}")
        await archive.put(kept)
        room.now_s += GRACE_S
        with capture_logs() as logs:
            await room.archiver.sweep()
        assert [line["error"] for line in logs if line["event"] == "archive.refused"] == ["AnotherIsKept"]
        assert await archive.get(name) == kept
        assert len(await room.stored(name)) > 1
        with pytest.raises(AnotherIsKept):
            await archive.put(archived_from(name, await room.stored(name)))


class TestAway:
    async def test_an_archive_that_is_away_loses_nothing_and_is_told_once(
        self, room: Room, archive: RoughArchive, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("croupier_server.archiver._SWEEP_SECONDS", 0)
        names = [await short_game(room) for _ in range(20)]
        room.now_s += GRACE_S
        archive.fails = True
        with capture_logs() as logs:
            await room.archiver.start()
            while counted(room, "croupier_failed_archivings_total") < 2:
                await turns(1)
                room.now_s += LEASE_S
            await short_game(room)  # play goes on
            archive.fails = False
            while archive.puts < len(names):
                await turns(1)
                room.now_s += LEASE_S
            while not any(line["event"] == "archive.available_again" for line in logs):
                await turns(1)
            await room.archiver.stop()
        told = [line["event"] for line in logs if line["event"].startswith("archive.")]
        assert told == ["archive.unavailable", "archive.available_again"]
        for name in names:
            assert await room.stored(name) == []
            assert records.parse_record(await record_of(room, name))

    async def test_what_is_in_it_is_unavailable_meanwhile(self, room: Room, archive: RoughArchive) -> None:
        name, running = await short_game(room), await room.deal("doudizhu")
        await archive_all(room)
        archive.fails = True
        with refused("JOURNAL_UNAVAILABLE"):
            await record_of(room, name)
        await room.some_move(running)
        archive.fails = False
        assert await record_of(room, name)

    async def test_a_table_that_cannot_be_read_stays_and_is_tried_seldom(
        self, room: Room, archive: RoughArchive
    ) -> None:
        damaged, sound = await short_game(room), await short_game(room)
        entries = len(await room.stored(damaged))
        room.journal.damage(damaged, 3, b"\xff")
        room.now_s += GRACE_S
        await sweep_all(room)
        assert (archive.puts, len(await room.stored(damaged)), await room.stored(sound)) == (1, entries, [])
        room.now_s += REFUSED_MS // 1000 - 1
        assert await room.archiver.sweep() == 0
        room.now_s += 1
        assert await room.archiver.sweep() == 1


class TestMemory:
    async def test_what_another_server_archived_is_dropped_here(self, room: Room) -> None:
        name, watched = await short_game(room), await short_game(room)
        other = await room.replica()
        for each in (name, watched):
            await other.tables.get(each)
        await archive_all(room)
        assert len(room.tables) == 0
        assert len(other.tables) == 2
        record = await record_of(other, name)
        assert record == await record_of(room, name)
        updates = await seen(other, watched, after_seq=0)
        assert [update.WhichOneof("update") for update in updates] == ["snapshot", "ended"]
        assert len(other.tables) == 0
        await other.tables.stop()

    async def test_a_table_that_is_archived_in_the_midst_of_a_call(
        self, room: Room, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The table is in memory still, and its stream is gone when the call wants to read it."""
        name = await room.create("doudizhu")
        for number in range(3):
            await room.join(name, guest(number), request_id="sit")
        await room.play_out(name, random.Random(1))
        table = await room.tables.get(name)
        record = await record_of(room, name)
        monkeypatch.setattr(room.archiver, "_retired", lambda _: None)
        await archive_all(room)
        room.now_s -= GRACE_S
        room.clock._last = 0
        assert room.tables.loaded(name) is table
        updates = await seen(room, name, guest(0), after_seq=0)
        assert [update.WhichOneof("update") for update in updates] == ["snapshot", "ended"]
        with refused("GAME_OVER"):
            await room.join(name, guest(0), request_id="sit")
        assert await record_of(room, name) == record
        assert not room.tables.loaded(name)

    async def test_who_never_heard_of_the_end_is_sent_to_ask_again(self, room: Room) -> None:
        """A server that heard nothing for longer than the grace: its table is gone under it."""
        late = await room.replica(cast("Journal", LateJournal(room.journal)))
        name = await room.deal("doudizhu", options=VOID)
        table = await late.tables.get(name)
        stream = late.watch(name, guest(0))
        await stream.until("snapshot")
        who = table.state.seats[table.state.to_act or 0].player
        mover = next(g for g in map(guest, range(3)) if g.player == who)
        await room.play_out(name, random.Random(1))
        await archive_all(room)
        assert table.state.phase is Phase.PLAYING
        with refused("JOURNAL_UNAVAILABLE"):
            await late.move(name, mover, "pass")
        assert (await stream.until("ended")).ended.code == 14
        with refused("GAME_OVER"):
            await late.move(name, mover, "pass")
        assert (await seen(late, name, guest(0)))[-1].ended.code == 0
        await stream.close()
        await late.tables.stop()

    async def test_who_hears_that_the_stream_is_gone_does_not_take_it_for_lost(
        self, room: Room, archive: RoughArchive, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where news can be missed, the stream is compared with the store: it has none any more."""
        monkeypatch.setattr(tables, "_RELOAD_SECONDS", 0)
        late = await room.replica(cast("Journal", LateJournal(room.journal)))
        name = await room.deal("doudizhu", options=VOID)
        stream = late.watch(name, guest(0))
        await stream.until("snapshot")
        await room.play_out(name, random.Random(1))
        await archive_all(room)
        archive.fails = True
        room.journal._listeners.set_back(name)
        await turns()
        with refused("JOURNAL_UNAVAILABLE"):
            await late.state(name)
        archive.fails = False
        assert (await stream.until("ended")).ended.code == 14
        assert (await late.state(name)).phase is Phase.ENDED
        assert (late.epoch.now, await room.journal.last_seq("epochs")) == ("epoch-1", 0)
        assert counted(late, "croupier_tables_set_back_total") == 0
        await stream.close()
        await late.tables.stop()

    async def test_finished_games_leave_nothing_in_the_journal_or_the_server(self, room: Room) -> None:
        journal = room.journal
        for number in range(40):
            await ended_game(room, who=guest(number), options=VOID)
            if number % 10 == 9:
                await archive_all(room)
        kept = (journal._streams, journal._deadlines, journal._finished, journal._rows)
        assert [len(each) for each in kept] == [0] * 4
        assert (len(room.tables), len(room.tables._counting)) == (0, 0)
        assert counted(room, "croupier_archived_total") == 40
