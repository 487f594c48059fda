"""Two processes on one journal: what one accepted binds the other, and both show the same."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES
from croupier_server.errors import Refusal
from croupier_server.journal import Append, Cancel, Deliver, Journal, JournalUnavailable, SetBack, Stored
from server.room import Replica, Room, guest, holder, refused


class LateJournal:
    """Access to another journal, through which what others append is heard when let through."""

    shared = True

    def __init__(self, inner: Journal) -> None:
        self._inner = inner
        self._late: list[tuple[Deliver, Sequence[Stored]]] = []
        self._holds = True
        self.fails = False
        self.forgets_to_answer = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def append(self, batch: Append) -> None:
        if self.fails:
            raise JournalUnavailable("nothing was stored")
        self._holds = self.forgets_to_answer
        try:
            await self._inner.append(batch)
        finally:
            self._holds = True
        if self.forgets_to_answer:
            raise JournalUnavailable("the answer was lost")

    async def listen(
        self, stream: str, after: int, deliver: Deliver, set_back: SetBack | None = None
    ) -> Cancel:
        def hear(entries: Sequence[Stored]) -> None:
            if self._holds:
                self._late.append((deliver, entries))
            else:
                deliver(entries)

        return await self._inner.listen(stream, after, hear, set_back)

    def let_through(self) -> None:
        for deliver, entries in self._late:
            deliver(entries)
        self._late.clear()


@pytest.fixture
async def other(room: Room) -> AsyncIterator[Replica]:
    """The second process; it hears at once of what the first appends."""
    replica = await room.replica()
    yield replica
    await replica.tables.stop()


@pytest.fixture
async def late(room: Room) -> AsyncIterator[Replica]:
    """The second process; it hears late of what the first appends."""
    replica = await room.replica(cast("Journal", LateJournal(room.journal)))
    yield replica
    await replica.tables.stop()


async def test_of_two_moves_for_one_turn_one_is_made(room: Room, other: Replica) -> None:
    name = await room.deal("doudizhu")
    tables = [await room.tables.get(name), await other.tables.get(name)]
    who, seq = holder(tables[0], tables[0].state.to_act or 0), tables[0].state.seq
    moves = [
        room.move(name, who, "bid 1", request_id="a", expected_seq=seq),
        other.move(name, who, "bid 2", request_id="b", expected_seq=seq),
    ]
    outcomes = await asyncio.gather(*moves, return_exceptions=True)
    reasons = [o.reason if isinstance(o, Refusal) else o for o in outcomes]
    assert reasons == [seq + 1, "STALE_SEQ"]
    assert tables[0].state.seq == tables[1].state.seq == seq + 1


async def test_without_a_number_the_second_move_meets_the_rules(room: Room, other: Replica) -> None:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    await other.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    moves = [room.move(name, who, "bid 1"), other.move(name, who, "bid 2")]
    outcomes = await asyncio.gather(*moves, return_exceptions=True)
    assert [o.reason for o in outcomes if isinstance(o, Refusal)] == ["NOT_YOUR_TURN"]


async def test_who_is_late_for_the_last_turn_is_told_so(room: Room, other: Replica) -> None:
    name, chance = await room.deal_short("doudizhu"), random.Random(1)
    table = await room.tables.get(name)
    await other.tables.get(name)
    while table.state.to_act is not None:
        who, turn = holder(table, table.state.to_act), table.state.game_seq
        await room.some_move(name, chance)
    with refused("STALE_SEQ"):
        await other.move(name, who, "pass", expected_seq=turn)
    with refused("GAME_OVER"):
        await other.move(name, who, "pass")


async def test_one_request_sent_to_both_is_carried_out_once(room: Room, other: Replica) -> None:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    await other.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    calls = [replica.move(name, who, "bid 1", request_id="m") for replica in (room, other, room)]
    assert len(set(await asyncio.gather(*calls))) == 1
    assert table.state.seq == len(await room.stored(name)) == 7


@pytest.mark.parametrize("game", GAMES)
async def test_followers_of_both_are_shown_the_same(room: Room, other: Replica, game: str) -> None:
    name, chance = await room.deal(game), random.Random(game)
    streams = [r.watch(name, guest(1), after_seq=0, legal_moves=True) for r in (room, other)]
    for stream in streams:
        await stream.until("event", (await room.state(name)).seq)
    reading = [asyncio.create_task(stream.rest()) for stream in streams]
    table = await room.tables.get(name)
    while table.state.to_act is not None:
        await (room, other)[chance.randrange(2)].some_move(name, chance)
    await asyncio.gather(*reading)
    assert streams[0].seqs == list(range(1, table.state.seq + 1))
    assert streams[0].updates == streams[1].updates


async def test_a_late_process_finds_the_answer_of_a_repeated_request(room: Room, late: Replica) -> None:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    await late.tables.get(name)
    await room.some_move(name)
    who = holder(table, table.state.to_act or 0)
    seq = await room.move(name, who, "bid 3", request_id="m")
    assert (await late.state(name)).seq < seq
    assert await late.move(name, who, "bid 3", request_id="m") == seq


async def test_a_late_process_looks_again_before_it_refuses(room: Room, late: Replica) -> None:
    name = await room.deal("doudizhu")
    await late.tables.get(name)
    seq = await room.some_move(name)
    table = await room.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    assert await late.move(name, who, "bid 3", expected_seq=seq) == seq + 1
    with refused("NOT_YOUR_TURN"):
        await late.move(name, holder(table, ((table.state.to_act or 0) + 1) % 3), "pass")


async def test_an_entry_whose_answer_was_lost_is_taken_from_the_journal(room: Room, late: Replica) -> None:
    name = await room.deal("doudizhu")
    await late.tables.get(name)
    cast("LateJournal", late.tables.journal).forgets_to_answer = True
    seq = await room.some_move(name, through=late)
    assert (await late.state(name)).seq == seq == 7


async def test_an_entry_of_another_is_not_taken_for_ones_own(room: Room, late: Replica) -> None:
    name = await room.deal("doudizhu")
    table = await late.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    await room.move(name, who, "bid 1", request_id="a")
    cast("LateJournal", late.tables.journal).fails = True
    with refused("JOURNAL_UNAVAILABLE"):
        await late.move(name, who, "bid 2", request_id="b")
    assert table.state.seq == 7


async def test_what_is_heard_late_is_shown_once(room: Room, late: Replica) -> None:
    name = await room.deal(players=3)
    journal = cast("LateJournal", late.tables.journal)
    stream = late.watch(name, guest(0), after_seq=0)
    await stream.until("event", 6)
    for replica in (room, late, room, late):
        await room.some_move(name, through=replica)
    journal.let_through()
    await room.some_move(name)
    journal.let_through()
    await stream.until("event", 11)
    assert stream.seqs == list(range(1, 12))
    await stream.close()


async def test_what_is_read_early_is_shown_once(room: Room, late: Replica) -> None:
    """A stored stream may hold an entry that the table has not heard of: it must not come twice."""
    name = await room.deal("basic_rummy")
    await late.tables.get(name)
    await room.play_out(name, random.Random(1), moves=20)
    await room.some_move(name, through=late)
    seq = (await late.state(name)).seq
    await room.play_out(name, random.Random(1), moves=3)
    stream = late.watch(name, guest(0), after_seq=0)
    await stream.until("event", seq)
    cast("LateJournal", late.tables.journal).let_through()
    await room.play_out(name, random.Random(1), moves=1)
    cast("LateJournal", late.tables.journal).let_through()
    await stream.until("event", seq + 4)
    assert stream.seqs == list(range(1, seq + 5))
    await stream.close()


async def test_a_number_ahead_of_a_late_process_is_no_reset(room: Room, late: Replica) -> None:
    name = await room.deal(players=3)
    await late.tables.get(name)
    seq = await room.some_move(name)
    stream = late.watch(name, guest(0), after_seq=seq)
    await room.some_move(name)
    await room.some_move(name, through=late)
    await stream.until("event", seq + 2)
    assert (stream.seqs, stream.of("snapshot")) == ([seq + 1, seq + 2], [])
    await stream.close()


async def test_a_late_process_fires_a_deadline_that_it_has_not_heard_of(room: Room, late: Replica) -> None:
    name = await room.deal("doudizhu", move_seconds=20)
    await late.tables.get(name)
    await room.some_move(name)
    room.now_s += 20
    await late.tables.sweeper.fire_due()
    assert len(await room.stored(name)) == 8


async def test_a_late_process_knows_who_has_sat_down(room: Room, late: Replica) -> None:
    name = await room.create("doudizhu", private=True)
    await late.tables.get(name)
    code = (await room.state(name)).created.join_code
    seat = (await room.join(name, guest(1), join_code=code)).seat
    for wish in ({"seat": seat}, {}):
        stream = late.watch(name, guest(1), **wish)
        await stream.until("snapshot", 2)
        assert {update.as_seat for update in stream.updates} == {seat}
        await stream.close()
    with refused("WRONG_JOIN_CODE"):
        await late.watch(name, guest(2)).rest()


async def test_on_a_play_stream_too(room: Room, late: Replica) -> None:
    name = await room.create("doudizhu")
    await late.tables.get(name)
    seat = (await room.join(name, guest(1))).seat
    stream = late.play(guest(1))
    stream.subscribe(name, seat=seat)
    await stream.until("snapshot", 2)
    await stream.close()


async def test_what_is_asked_of_a_late_process_is_as_others_left_it(room: Room, late: Replica) -> None:
    name = await room.deal_short("doudizhu")
    await late.tables.get(name)
    seq = await room.some_move(name)
    table = await room.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    request = pb.ListLegalMovesRequest(table=name)
    assert (await late.service.list_legal_moves(request, who)).total_size > 0
    await room.some_move(name)
    shown = await late.service.get_table(pb.GetTableRequest(name=name), who)
    assert shown.table.seq == seq + 1
    await room.play_out(name, random.Random(1))
    record = await late.service.get_record(pb.GetRecordRequest(table=name), who)
    assert record.record_json


async def test_who_stood_up_elsewhere_may_sit_down_again_at_a_late_process(room: Room, late: Replica) -> None:
    name = await room.create("doudizhu")
    await room.join(name, guest(1))
    await late.tables.get(name)
    await room.service.leave_table(pb.LeaveTableRequest(name=name), guest(1))
    await late.join(name, guest(1))
    assert (await late.state(name)).seats_of(guest(1).player)
    assert len(await room.stored(name)) == 4
