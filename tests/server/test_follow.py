"""Following a table: every event once and in order, and nothing that a seat may not see."""

from __future__ import annotations

import asyncio
import random

import pytest

from croupier.v1 import games_pb2
from croupier_games import GAMES
from croupier_server.caller import Caller
from croupier_server.journal import Append
from server.room import NOBODY, Room, guest, holder, refused, turns


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("who", [guest(0), guest(1), NOBODY], ids=["seat 0", "seat 1", "spectator"])
async def test_a_watcher_resumes_from_every_number(room: Room, game: str, who: Caller) -> None:
    name = await room.deal_short(game)
    await room.play_out(name, random.Random(game), moves=25)
    middle = (await room.state(name)).seq
    streams = {after: room.watch(name, who, after_seq=after) for after in range(middle + 1)}
    reading = [asyncio.create_task(stream.rest()) for stream in streams.values()]
    await room.play_out(name, random.Random(game))
    await asyncio.gather(*reading)
    last = (await room.state(name)).seq
    for after, stream in streams.items():
        assert stream.seqs == list(range(after + 1, last + 1))
        assert not stream.of("snapshot")
        assert stream.of("event") == streams[0].of("event")[after:]


async def test_play_resumes_from_every_number(room: Room) -> None:
    name = await room.deal_short("basic_rummy")
    await room.play_out(name, random.Random(1), moves=25)
    middle = (await room.state(name)).seq
    streams = {after: room.play(guest(1)) for after in range(middle + 1)}
    for after, stream in streams.items():
        stream.subscribe(name, after_seq=after)
    reading = [asyncio.create_task(stream.until("ended")) for stream in streams.values()]
    await room.play_out(name, random.Random(2))
    await asyncio.gather(*reading)
    last = (await room.state(name)).seq
    assert [stream.seqs for stream in streams.values()] == [
        list(range(after + 1, last + 1)) for after in streams
    ]
    for stream in streams.values():
        await stream.close()


async def test_without_a_number_a_snapshot_comes_first(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.watch(name, guest(1))
    snapshot = (await stream.until("snapshot")).snapshot
    assert (snapshot.seq, snapshot.reset, snapshot.epoch) == (6, False, "epoch-1")
    assert snapshot.view.doudizhu.hand
    assert (snapshot.HasField("deadline"), snapshot.HasField("to_act")) == (False, True)
    seq = await room.some_move(name)
    await stream.until("event", seq)
    assert stream.seqs == list(range(7, seq + 1))
    await stream.close()


@pytest.mark.parametrize("given", [{"after_seq": 99}, {"after_seq": 3, "epoch": "another life"}])
async def test_a_number_of_another_history_is_reset(room: Room, given: dict[str, object]) -> None:
    name = await room.deal("doudizhu")
    stream = room.watch(name, guest(0), **given)
    assert (await stream.until("snapshot")).snapshot.reset
    assert stream.seqs == []
    await stream.close()


async def test_a_number_of_this_epoch_resumes(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.watch(name, guest(0), after_seq=3, epoch="epoch-1")
    await stream.until("event", 6)
    assert stream.seqs == [4, 5, 6]
    await stream.close()


@pytest.mark.parametrize("after", [None, 0, 5])
async def test_an_ended_table_is_shown_to_its_end(room: Room, after: int | None) -> None:
    name = await room.deal_short("doudizhu")
    await room.play_out(name, random.Random(1))
    last = (await room.state(name)).seq
    stream = room.watch(name) if after is None else room.watch(name, after_seq=after)
    await stream.rest()
    assert stream.seqs == ([] if after is None else list(range(after + 1, last + 1)))
    assert stream.of("ended")[0].code == 0
    assert stream.updates[-1].HasField("ended")


async def test_the_movers_own_event_is_not_behind_its_result(room: Room) -> None:
    name = await room.deal("basic_rummy")
    table = await room.tables.get(name)
    stream = room.play(guest(0))
    stream.subscribe(name, after_seq=6)
    for number in range(30):
        while table.state.to_act != 0:
            await room.some_move(name)
        state = table.state
        text = state.rules.format_move(state.rules.legal_moves(state.game_state)[0])
        stream.move(name, text, f"m{number}", expected_seq=state.seq)
        result = await stream.result(f"m{number}")
        assert result.seq in stream.seqs
    await stream.close()


async def test_commands_of_a_table_are_worked_on_in_order(room: Room) -> None:
    name = await room.create("doudizhu")
    for number in range(3):
        await room.join(name, guest(number))
    table = await room.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    stream = room.play(who)
    stream.send(
        {"subscribe": {"table": name, "after_seq": 0}},
        {"move": {"table": name, "move": {"text": "bid 1"}, "request_id": "m"}},
        {"unsubscribe": {"table": name}},
        {"move": {"table": name, "move": {"text": "bid 1"}, "request_id": "n"}},
    )
    await stream.result("n")
    await room.some_move(name)
    stream.half_close()
    await stream.rest()
    assert stream.seqs == [1, 2, 3, 4, 5, 6, 7]


async def test_turns_bring_what_was_asked_for(room: Room) -> None:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    asked = [
        {},
        {"legal_moves": True},
        {"views": True},
        {"legal_moves": True, "move_form": "MOVE_FORM_TYPED"},
    ]
    streams = [room.watch(name, who, **fields) for fields in asked]
    turns_seen = [(await stream.until("turn")).turn for stream in streams]
    assert [turn.seq for turn in turns_seen] == [6] * 4
    assert [len(turn.legal_moves) for turn in turns_seen] == [0, 4, 0, 4]
    assert [turn.HasField("view") for turn in turns_seen] == [False, False, True, False]
    assert turns_seen[1].legal_moves[3].text == "bid 3"
    assert turns_seen[3].legal_moves[3] == games_pb2.Move(doudizhu={"bid": {"amount": 3}})
    waiting = room.watch(name, guest((table.state.to_act or 0) + 1 if table.state.to_act != 2 else 0))
    await waiting.until("snapshot")
    assert not waiting.of("turn")
    for stream in (*streams, waiting):
        await stream.close()


async def test_legal_moves_are_cut_and_say_so() -> None:
    room = Room(max_legal_moves=2)
    await room.open()
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    stream = room.watch(name, holder(table, table.state.to_act or 0), legal_moves=True)
    turn = (await stream.until("turn")).turn
    assert (len(turn.legal_moves), turn.truncated) == (2, True)
    await stream.close()
    await room.close()


async def test_a_turn_comes_once_for_each_turn(room: Room) -> None:
    """A number that was never there, or a request of another, brings no second turn."""
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    seat = table.state.to_act or 0
    stream = room.watch(name, holder(table, seat))
    await stream.until("turn")
    with refused("STALE_SEQ"):
        await room.move(name, holder(table, seat), "bid 1", expected_seq=99)
    await table.catch_up()
    await room.some_move(name)
    await stream.until("event")
    assert len(stream.of("turn")) == 1
    await stream.close()


async def test_players_are_told_who_comes_and_goes(room: Room) -> None:
    name = await room.deal("doudizhu")
    first = room.watch(name, guest(0))
    await first.until("snapshot")
    second = room.play(guest(1))
    second.subscribe(name)
    await second.until("snapshot")
    again = room.play(guest(1))
    again.subscribe(name)
    await again.until("snapshot")
    second.subscribe(name, after_seq=6)
    second.move(name, "x", "m")
    await second.result("m")
    await second.close()
    spectator = room.watch(name)
    await spectator.until("snapshot")
    await spectator.close()
    await again.close()
    await first.until("presence")
    await room.some_move(name)
    await first.until("event")
    assert [(p.seat, p.connected) for p in first.of("presence")] == [(1, True), (1, False)]
    await first.close()


async def test_a_second_subscription_of_a_seat_replaces_the_first(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.play(guest(0))
    stream.subscribe(name, after_seq=0)
    stream.subscribe(name, after_seq=4)
    stream.move(name, "x", "m")
    await stream.result("m")
    assert stream.seqs == [1, 2, 3, 4, 5, 6, 5, 6]
    stream.clear()
    seq = await room.some_move(name)
    await stream.until("event", seq)
    assert stream.seqs == [7]
    await stream.close()


async def test_nothing_comes_after_unsubscribing(room: Room) -> None:
    names = [await room.deal("doudizhu") for _ in range(2)]
    stream = room.play(guest(0))
    for name in names:
        stream.subscribe(name, after_seq=6)
    stream.unsubscribe(names[0])
    stream.move(names[0], "x", "m")
    await stream.result("m")
    for name in names:
        await room.some_move(name)
    await stream.until("event", 7)
    assert {u.table for u in stream.updates if u.HasField("event")} == {names[1]}
    await stream.close()


async def test_a_refused_subscription_says_so_and_the_stream_lives(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.play(guest(9))
    for table, fields in (("tables/x/y", {}), ("tables/" + "x" * 22, {}), (name, {"seat": 1})):
        stream.subscribe(table, **fields)
    while len(stream.of("ended")) < 3:
        await stream.next()
    codes = {update.table: update.ended.code for update in stream.updates}
    assert codes == {"tables/x/y": 3, "tables/" + "x" * 22: 5, name: 7}
    stream.subscribe(name)
    await stream.until("snapshot")
    await stream.close()


async def test_an_unset_command_ends_the_stream(room: Room) -> None:
    stream = room.play(guest(0))
    stream.send({})
    with refused("MISSING_FIELD"):
        await stream.rest()


async def test_a_stream_follows_so_many_tables(room: Room) -> None:
    small = Room(max_tables_per_stream=2)
    await small.open()
    names = [await small.deal("doudizhu") for _ in range(3)]
    stream = small.play(guest(0))
    for name in names:
        stream.subscribe(name)
    assert (await stream.until("ended")).ended.code == 8
    stream.subscribe(names[1])
    stream.unsubscribe(names[0])
    stream.move(names[0], "x", "m")
    await stream.result("m")
    stream.clear()
    stream.subscribe(names[2])
    await stream.until("snapshot")
    tables = [await small.tables.get(name) for name in names]
    assert [len(table.followers) for table in tables] == [0, 1, 1]
    await stream.close()
    assert [len(table.followers) for table in tables] == [0, 0, 0]
    await small.close()


async def test_who_goes_away_while_a_table_loads_follows_nothing(room: Room) -> None:
    name = await room.deal("doudizhu")
    other = await room.replica()
    stream = other.play(guest(0))
    stream.subscribe(name, after_seq=0)
    reading = asyncio.create_task(stream.next())
    await turns(3)
    reading.cancel()
    await asyncio.wait((reading,))
    await stream.close()
    await turns()
    assert len((await other.tables.get(name)).followers) == len(other.feeds) == 0
    await other.tables.stop()


async def test_a_stream_that_cannot_read_the_past_ends_with_the_reason(room: Room) -> None:
    name = await room.deal("basic_rummy")
    await room.play_out(name, random.Random(1), moves=20)
    room.journal.unreadable = True
    with refused("JOURNAL_UNAVAILABLE"):
        await room.watch(name, guest(0), after_seq=0).rest()
    stream = room.play(guest(0))
    stream.subscribe(name, after_seq=0)
    assert (await stream.until("ended")).ended.code == 14
    assert len((await room.tables.get(name)).followers) == 0
    await stream.close()


async def test_followers_of_a_table_that_becomes_unreadable_are_told(room: Room) -> None:
    name = await room.deal("doudizhu")
    live = room.watch(name, guest(0), after_seq=0)
    await live.until("event", 6)
    await room.journal.append(Append(name, 6, (b"from the future",)))
    await live.rest()
    assert live.of("ended")[0].code == 14
    with refused("TABLE_UNREADABLE"):
        await room.watch(name).next()


async def test_who_begins_to_follow_a_table_that_becomes_unreadable_is_told(room: Room) -> None:
    name = await room.deal("basic_rummy")
    await room.play_out(name, random.Random(1), moves=20)
    stream = room.watch(name, guest(0), after_seq=0)
    opening = asyncio.create_task(stream.rest())
    seq = (await room.state(name)).seq
    await room.journal.append(Append(name, seq, (b"from the future",)))
    with refused("TABLE_UNREADABLE"):
        await opening
