"""Deadlines: kept in the journal, fired once by whoever comes first, and never too early."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from structlog.testing import capture_logs

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES, records
from croupier_server.clock import GRACE_MS, JournalClock, Sweeper
from croupier_server.errors import refuse
from croupier_server.fold import Phase
from croupier_server.journal import Append, Deadline, JournalUnavailable, MemoryJournal
from croupier_server.journal.local import Clock
from croupier_server.journal.v1 import entry_pb2
from server.room import Room, guest, holder, refused

IDLE_S = 86_400


async def result_of(room: Room, name: str) -> int:
    ended = (await room.state(name)).ended
    assert ended is not None
    return ended.result


@pytest.mark.parametrize("game", GAMES)
async def test_the_default_move_is_made_when_the_time_is_over(room: Room, game: str) -> None:
    name = await room.deal(game, move_seconds=20)
    table = await room.tables.get(name)
    seat, state = table.state.to_act, table.state.game_state
    expected = table.state.rules.format_move(table.state.rules.default_move(state))
    stream = room.watch(name, after_seq=table.state.seq)
    await room.pass_time(19)
    assert table.state.game_state is state
    await room.pass_time(1)
    event = (await stream.until("event")).event
    assert (event.moved.seat, event.moved.text) == (seat, expected)
    assert event.moved.by == pb.MOVED_BY_TIMEOUT
    await stream.close()


async def test_a_game_of_timeouts_ends_and_says_so_in_its_record(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=5)
    table = await room.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    await room.move(name, who, "bid 3")
    while (await room.state(name)).phase is not Phase.ENDED:
        await room.pass_time(5)
    line = (await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))).record_json
    assert records.verify(records.parse_record(line)).result == "finished"
    moves = json.loads(line)["moves"]
    assert {move.get("by") for move in moves[1:]} == {"timeout"}
    assert "by" not in moves[0]
    assert [move["t"] for move in moves[:3]] == [0, 5000, 10_000]


async def test_events_and_turns_tell_the_deadline(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    table = await room.tables.get(name)
    stream = room.watch(name, holder(table, table.state.to_act or 0), after_seq=5)
    turn = (await stream.until("turn")).turn
    event = stream.of("event")[0]
    assert turn.deadline == event.deadline
    assert turn.deadline.seconds == event.time.seconds + 20
    await stream.close()


async def test_without_a_clock_no_deadline_is_told(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.watch(name, after_seq=0)
    event = (await stream.until("event", 6)).event
    assert not event.HasField("deadline")
    await stream.close()


async def test_a_move_before_the_timeout_counts_and_starts_the_clock_anew(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    await room.pass_time(19)
    seq = await room.some_move(name)
    await room.pass_time(19)
    assert (await room.state(name)).seq == seq
    await room.pass_time(1)
    assert (await room.state(name)).seq == seq + 1


async def test_a_move_that_comes_while_the_timeout_is_on_its_way_counts(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    table = await room.tables.get(name)
    deadline, who = table.state.deadline_seq, holder(table, table.state.to_act or 0)
    await asyncio.gather(room.move(name, who, "bid 2"), table.expire(deadline))
    assert table.state.seq == 7
    assert table.tail[-1].step.entry.moved.move == "bid 2"


async def test_two_processes_that_fire_at_once_make_one_move(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    other = await room.replica()
    tables = [await room.tables.get(name), await other.tables.get(name)]
    room.now_s += 20
    await asyncio.gather(*(r.tables.sweeper.fire_due() for r in (room, other)))
    await asyncio.gather(*(table.expire(tables[0].state.deadline_seq - 1) for table in tables))
    assert [table.state.seq for table in tables] == [7, 7]
    await other.tables.stop()


async def test_a_table_that_never_fills_is_closed(room: Room) -> None:
    name = await room.create("doudizhu")
    await room.join(name, guest(1))
    await room.pass_time(3599)
    await room.join(name, guest(2))
    await room.pass_time(3599)
    assert (await room.state(name)).phase is Phase.OPEN
    stream = room.watch(name, after_seq=3)
    await room.pass_time(1)
    await stream.rest()
    ended = stream.of("event")[-1].ended
    assert (ended.result, list(ended.scores)) == (pb.TABLE_RESULT_ABANDONED, [])
    assert len(ended.server_seed) == 32
    line = (await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))).record_json
    assert records.verify(records.parse_record(line)).result == "abandoned"


async def test_a_game_that_nobody_goes_on_with_is_abandoned(room: Room) -> None:
    name = await room.deal("basic_rummy")
    await room.play_out(name, random.Random(1), moves=10)
    for _ in range(4):
        await room.pass_time(IDLE_S - 1)
        assert (await room.state(name)).phase is Phase.PLAYING
        await room.some_move(name)
    await room.pass_time(IDLE_S + IDLE_S // 2)
    assert await result_of(room, name) == entry_pb2.RESULT_ABANDONED
    line = (await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))).record_json
    assert records.verify(records.parse_record(line)).result == "abandoned"
    with refused("GAME_OVER"):
        await room.move(name, guest(0), "draw stock")


async def test_an_idle_game_writes_few_deadlines(room: Room) -> None:
    name = await room.deal("basic_rummy")
    written = 0
    for _ in range(100):
        await room.pass_time(600)
        await room.some_move(name, random.Random(room.now_s))
        tail = (await room.tables.get(name)).tail
        written += sum(bool(event.step.entry.deadline_ms) for event in list(tail)[-1:])
    assert 0 < written < 10


async def test_deadlines_of_tables_that_are_not_in_memory_fire(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    other = await room.replica()
    assert len(other.tables) == 0
    room.now_s += 20
    assert await other.tables.sweeper.fire_due() == 1
    assert (await room.state(name)).seq == 7
    await other.tables.stop()


async def test_after_an_outage_each_running_turn_has_its_grace(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    room.now_s += 3600
    other = await room.replica()
    other.clock.back_at_ms = other.clock.now_ms()
    for _ in range(2):
        assert await other.tables.sweeper.fire_due() in (0, 1)
        assert len(await room.stored(name)) == 6
        room.now_s += 5 - 1
    assert len(other.tables) == 0
    room.now_s += 2
    await other.tables.sweeper.fire_due()
    assert len(await room.stored(name)) == 7
    await other.tables.stop()


async def test_a_turn_that_began_after_the_outage_has_no_grace(room: Room) -> None:
    room.now_s += 100
    room.clock.back_at_ms = room.clock.now_ms()
    room.now_s += 1
    name = await room.deal("doudizhu", move_seconds=5)
    await room.pass_time(5)
    assert (await room.state(name)).seq == 7


async def test_who_could_not_move_because_of_the_store_has_the_grace_too(room: Room) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    room.now_s += 19
    room.journal.fails = True
    with refused("JOURNAL_UNAVAILABLE"):
        await room.some_move(name)
    room.journal.fails = False
    await room.pass_time(5)
    assert (await room.state(name)).seq == 6
    await room.pass_time(5)
    assert (await room.state(name)).seq == 7


async def test_the_outage_itself_is_noticed_and_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweeper goes on after a failure of the store, with the grace counted from its return."""
    journal = MemoryJournal()
    clock = JournalClock(journal)
    failing, back = [True], asyncio.Event()

    async def due(now_ms: int, limit: int = 100) -> list[Deadline]:
        if failing[0]:
            failing[0] = False
            raise JournalUnavailable("gone")
        back.set()
        return []

    async def none_to_fire(_: Deadline) -> int:
        raise AssertionError

    monkeypatch.setattr(journal, "due", due)
    monkeypatch.setattr("croupier_server.clock._SWEEP_SECONDS", 0)
    monkeypatch.setattr("croupier_server.clock._RETRY_SECONDS", 0)
    sweeper = Sweeper(journal, clock, none_to_fire)
    await sweeper.start()
    clock.back_at_ms = 0
    await back.wait()
    assert clock.back_at_ms > 0
    await sweeper.stop()


async def test_what_cannot_be_fired_keeps_nobody_waiting() -> None:
    """Deadlines of tables that can't be read stay due for ever; the others must get their turn."""
    seconds = [0]
    wall = Clock(lambda: seconds[0] * 10**9, lambda: seconds[0] * 10**9)
    journal = MemoryJournal(wall)
    for number in range(250):
        await journal.append(Append(f"tables/{number}", 0, (b"x",), deadline_ms=number))
    fired: list[str] = []

    async def expire(deadline: Deadline) -> int:
        fired.append(deadline.stream)
        if int(deadline.stream.removeprefix("tables/")) < 120:
            raise refuse("TABLE_UNREADABLE", "no")
        if deadline.stream == "tables/200":
            raise ZeroDivisionError("with all cards")
        await journal.append(Append(deadline.stream, deadline.seq, (b"y",), deadline_ms=None))
        return 0

    sweeper = Sweeper(journal, JournalClock(journal, lambda: seconds[0]), expire)
    seconds[0] = 1
    with capture_logs() as logs:
        while await sweeper.fire_due():
            pass
    assert sorted(fired) == sorted(f"tables/{number}" for number in range(250))
    assert "cards" not in str(logs)
    fired.clear()
    seconds[0] += 59
    assert await sweeper.fire_due() == 0
    seconds[0] += 1
    while await sweeper.fire_due():
        pass
    assert len(fired) == 121


async def test_the_clock_goes_with_the_journals_and_never_back() -> None:
    seconds = [100.0]
    wall = [1_700_000_000]
    journal = MemoryJournal(Clock(lambda: wall[0] * 10**9, lambda: 0))
    clock = JournalClock(journal, lambda: seconds[0])
    await clock.refresh()
    assert clock.now_ms() == 1_700_000_000_000
    seconds[0] += 2
    assert clock.now_ms() == 1_700_000_002_000
    await clock.refresh()
    assert clock.now_ms() == 1_700_000_002_000
    wall[0] += 60
    await clock.refresh()
    assert clock.now_ms() == 1_700_000_060_000


def test_the_grace_is_for_turns_from_before_the_outage() -> None:
    clock = JournalClock(MemoryJournal(), lambda: 1000)
    clock.back_at_ms = 995_000
    assert clock.wait_ms(set_ms=990_000, at_ms=996_000) == 995_000 + GRACE_MS - 1_000_000
    assert clock.wait_ms(set_ms=990_000, at_ms=1_020_000) == 20_000
    assert clock.wait_ms(set_ms=995_000, at_ms=999_000) == 0
    assert clock.wait_ms(set_ms=995_000, at_ms=999_000, failed_ms=996_000) == 6_000


async def test_entries_of_a_table_never_go_back_in_time(room: Room) -> None:
    """A process whose clock is a little behind must not write a record with negative times."""
    name = await room.deal("doudizhu")
    other = await room.replica()
    other.clock._offset -= 5000
    await other.tables.get(name)
    await room.some_move(name, through=other)
    entries = [entry_pb2.Entry.FromString(stored.data).time_ms for stored in await room.stored(name)]
    assert entries == sorted(entries)
    await other.tables.stop()
