"""What is due to a stream: coalesced, bounded, and never silently lost."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_server.errors import Refusal
from croupier_server.feed import Feed, Feeds
from croupier_server.journal.redis import RedisJournal
from croupier_server.settings import Settings
from croupier_server.views import EventView, snapshot_chunk, turn_chunk
from server.redis_server import shared_server
from server.room import PlayStream, Replica, Room, Stream, a_legal_move, guest, holder, refused, turns

MOST = 256 * 1024
"""The largest message that a client has to take."""
LONG = {"basic_rummy": {"points": 500, "turn_limit": 2000}}


@pytest.fixture
async def narrow() -> AsyncIterator[Room]:
    """A room whose feeds hold 4,000 bytes."""
    room = Room(subscriber_queue_bytes=4000)
    await room.open()
    yield room
    await room.close()


def check_story(stream: Stream[pb.WatchTableResponse] | PlayStream, seq: int = 0) -> int:
    """Every event follows the last one or a snapshot that stands for it; the last number."""
    for update in stream.updates:
        if update.HasField("event"):
            assert update.event.seq == seq + 1
        if update.HasField("snapshot"):
            assert update.snapshot.seq >= seq
        seq = max(seq, update.event.seq, update.snapshot.seq)
    return seq


def the_feed(room: Room) -> Feed:
    (feed,) = room.feeds._feeds
    return feed


async def test_what_is_due_goes_out_as_one_response(room: Room) -> None:
    names = [await room.deal("doudizhu") for _ in range(10)]
    stream = room.play(guest(9))
    for name in names:
        stream.subscribe(name)
    while len(stream.of("snapshot")) < 10:
        await stream.next()
    stream.clear()
    for name in names:
        await room.some_move(name)
    response = await stream.next()
    assert {update.table for update in response.updates} == set(names)
    await stream.close()


async def test_a_move_its_turn_and_its_result_are_one_response(room: Room) -> None:
    name = await room.deal("basic_rummy", players=2)
    table = await room.tables.get(name)
    who = holder(table, table.state.to_act or 0)
    stream = room.play(who)
    stream.subscribe(name, after_seq=5)
    await stream.next()
    stream.move(name, "draw stock", "m")
    response = await stream.next()
    assert [u.WhichOneof("update") for u in response.updates] == ["event", "turn"]
    assert [r.seq for r in response.results] == [6]
    await stream.close()


async def test_so_they_are_on_redis_which_tells_of_the_event_as_well() -> None:
    journal = await RedisJournal.open(shared_server().url)
    replica = Replica(journal, Settings(), time.monotonic)
    await replica.clock.refresh()
    name = await replica.deal("basic_rummy", players=2)
    table = await replica.tables.get(name)
    streams = {guest(n).player: replica.play(guest(n)) for n in range(2)}
    for stream in streams.values():
        stream.subscribe(name)
        await stream.until("snapshot")
    for number in range(50):
        seat, text = a_legal_move(table.state)
        stream = streams[holder(table, seat).player]
        await stream.until("turn", table.state.seq)
        stream.clear()
        stream.move(name, text, f"m{number}")
        while not (response := await stream.next()).results:
            assert not any(update.HasField("event") for update in response.updates)
        assert response.updates[0].event.seq == response.results[0].seq
    for stream in streams.values():
        await stream.close()
    await replica.tables.stop()
    await journal.close()


async def test_an_event_is_made_once_for_a_thousand_spectators(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = await room.deal("basic_rummy", players=2)
    streams = [room.watch(name) for _ in range(1000)]
    streams += [room.watch(name, guest(n)) for n in (0, 1)]
    for stream in streams:
        await stream.until("snapshot")
    made: list[int | None] = []
    make = EventView._event

    def count(view: EventView, seat: int | None) -> pb.TableEvent:
        made.append(seat)
        return make(view, seat)

    monkeypatch.setattr(EventView, "_event", count)
    seq = await room.move(name, guest((await room.state(name)).to_act or 0), "draw stock")
    assert sorted(made, key=str) == [0, 1, None]
    for stream in streams:
        await stream.until("event", seq)
        await stream.close()
    assert len({stream.raw[-1] for stream in streams[:1000]}) == 1


async def test_a_reader_that_does_not_read_is_resynced_by_one_snapshot(narrow: Room) -> None:
    name = await narrow.deal("basic_rummy", players=2)
    stream = narrow.watch(name, guest(0))
    await stream.until("snapshot")
    await narrow.play_out(name, random.Random(1), moves=300)
    assert the_feed(narrow)._bytes <= 4000
    last = (await narrow.state(name)).seq
    await stream.until("snapshot", last)
    assert len(stream.of("snapshot")) == 2
    assert (the_feed(narrow).behind, check_story(stream)) == (False, last)
    await narrow.play_out(name, random.Random(1), moves=3)
    last = (await narrow.state(name)).seq
    await stream.until("event", last)
    assert check_story(stream) == last
    await stream.close()


async def test_a_resync_ends_with_the_turn(narrow: Room) -> None:
    name = await narrow.deal("basic_rummy", players=2)
    stream = narrow.watch(name, guest(0))
    await stream.until("snapshot")
    await narrow.play_out(name, random.Random(1), moves=100)
    while (await narrow.state(name)).to_act != 0:
        await narrow.some_move(name)
    last = (await narrow.state(name)).seq
    turn = (await stream.until("turn", last)).turn
    kinds = [update.WhichOneof("update") for update in stream.updates[-2:]]
    assert (turn.seat, kinds) == (0, ["snapshot", "turn"])
    await stream.close()


async def test_the_end_reaches_a_reader_that_was_behind(narrow: Room) -> None:
    name = await narrow.deal("basic_rummy", players=2)
    watch, play = narrow.watch(name, guest(0)), narrow.play(guest(0))
    play.subscribe(name)
    for stream in (watch, play):
        await stream.until("snapshot")
    await narrow.play_out(name, random.Random(1))
    last = (await narrow.state(name)).seq
    await watch.rest()
    await play.until("ended")
    for stream in (watch, play):
        assert [u.WhichOneof("update") for u in stream.updates[-2:]] == ["snapshot", "ended"]
        assert stream.updates[-1].ended.code == 0
        assert check_story(stream) == last
    assert len((await narrow.tables.get(name)).followers) == 0
    await play.close()


async def test_an_ended_table_reaches_a_reader_whose_queue_is_full(narrow: Room) -> None:
    ended, busy = await narrow.deal("doudizhu"), await narrow.deal("basic_rummy", players=2)
    await narrow.play_out(ended, random.Random(1))
    stream = narrow.play(guest(0))
    stream.subscribe(busy)
    await stream.until("snapshot")
    await narrow.play_out(busy, random.Random(1), moves=100)
    stream.subscribe(ended)
    await turns()
    update = await stream.until("ended")
    snapshots = {u.table for u in stream.updates if u.HasField("snapshot")}
    assert (update.table, snapshots) == (ended, {ended, busy})
    await stream.close()


async def test_who_was_behind_and_lost_the_seat_is_shown_nothing_more(narrow: Room) -> None:
    name, busy = await narrow.create("doudizhu"), await narrow.deal("basic_rummy", players=2)
    await narrow.join(name, guest(0))
    stream = narrow.play(guest(0))
    stream.subscribe(name)
    stream.subscribe(busy)
    while len(stream.of("snapshot")) < 2:
        await stream.next()
    await narrow.play_out(busy, random.Random(1), moves=100)
    await narrow.service.leave_table(pb.LeaveTableRequest(name=name), guest(0))
    for number in range(1, 4):
        await narrow.join(name, guest(number))
    stream.clear()
    assert (await stream.until("ended")).ended.code == 7
    assert not [u for u in stream.updates if u.table == name and u.HasField("snapshot")]
    await stream.close()


async def test_a_reset_is_still_one_when_it_had_to_wait(narrow: Room) -> None:
    name, busy = await narrow.deal("doudizhu"), await narrow.deal("basic_rummy", players=2)
    stream = narrow.play(guest(0))
    stream.subscribe(busy)
    await stream.until("snapshot")
    await narrow.play_out(busy, random.Random(1), moves=100)
    stream.subscribe(name, after_seq=99)
    await turns()
    stream.clear()
    while not [u for u in stream.updates if u.table == name]:
        await stream.next()
    (snapshot,) = [u.snapshot for u in stream.updates if u.table == name and u.HasField("snapshot")]
    assert snapshot.reset
    await stream.close()


async def test_results_are_never_dropped_nor_ahead_of_their_events(narrow: Room) -> None:
    name = await narrow.deal("basic_rummy", players=2, options=LONG)
    table = await narrow.tables.get(name)
    stream = narrow.play(guest(0))
    stream.subscribe(name)
    await stream.until("snapshot")
    made: list[int] = []
    while not the_feed(narrow).crowded:
        await narrow.play_out(name, random.Random(1), moves=len(made))
        while table.state.to_act != 0:
            await narrow.some_move(name)
        made.append(table.state.seq + 1)
        stream.move(name, a_legal_move(table.state)[1], f"m{len(made)}")
        await turns()
    for number, seq in enumerate(made, 1):
        assert (await stream.result(f"m{number}")).seq == seq
        assert check_story(stream) >= seq
    assert len(made) > 5
    assert len(stream.of("snapshot")) > 1
    await stream.close()


async def test_so_many_moves_may_be_unanswered(room: Room) -> None:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    stream = room.play(holder(table, table.state.to_act or 0))
    room.journal.gate.clear()
    for number in range(70):
        stream.move(name, "bid 1", f"m{number}")
    for number in range(64, 70):
        refusal = (await stream.result(f"m{number}")).refused
        assert (refusal.code, refusal.details[0].value.count(b"TOO_MANY_MOVES")) == (8, 1)
    assert len(stream.results) == 6
    room.journal.gate.set()
    assert (await stream.result("m0")).seq == 7
    assert (await stream.result("m63")).HasField("refused")
    stream.move(name, "bid 1", "more")
    await stream.result("more")
    await stream.close()


async def test_reading_goes_on_while_appends_wait(room: Room) -> None:
    slow, quick = await room.deal("doudizhu"), await room.deal("doudizhu")
    table = await room.tables.get(slow)
    stream = room.play(holder(table, table.state.to_act or 0))
    room.journal.gate.clear()
    stream.move(slow, "bid 1", "slow")
    stream.subscribe(quick)
    assert (await stream.until("snapshot")).table == quick
    assert not stream.results
    room.journal.gate.set()
    await stream.result("slow")
    await stream.close()


async def test_who_does_not_read_answers_is_not_heard_either(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.play(guest(0))
    stream.subscribe(name)
    await stream.until("snapshot")
    for _ in range(50):
        commands = [{"move": {"table": name, "request_id": "m"}} for _ in range(100)]
        stream.send(*commands)
    await turns(3000)
    assert 60_000 < the_feed(room)._extra_bytes < 200_000
    assert stream._sent.qsize() > 30
    while len(stream.results) < 5000:
        await stream.next()
    assert max(map(len, stream.raw)) <= MOST
    await stream.close()


async def test_so_many_subscriptions_are_begun_at_once() -> None:
    room = Room(max_tables_per_stream=3)
    await room.open()
    names = [await room.deal("doudizhu") for _ in range(3)]
    stream = room.play(guest(0))
    for number in range(300):
        stream.subscribe(names[number % 3])
    stream.half_close()
    await stream.rest()
    assert len(stream.of("snapshot")) == 300
    await room.close()


async def test_a_long_past_is_given_whole_whatever_the_queue_holds(narrow: Room) -> None:
    names = [await narrow.deal("basic_rummy", players=2) for _ in range(3)]
    for name in names:
        await narrow.play_out(name, random.Random(1), moves=150)
    stream = narrow.play(guest(0))
    for name in names:
        stream.subscribe(name, after_seq=0)
    last = {name: (await narrow.state(name)).seq for name in names}
    while len([u for u in stream.updates if u.HasField("event")]) < sum(last.values()):
        await stream.next()
    for name in names:
        mine = [u.event.seq for u in stream.updates if u.table == name and u.HasField("event")]
        assert mine == list(range(1, last[name] + 1))
    assert not stream.of("snapshot")
    await stream.close()


async def test_who_goes_away_during_a_long_past_leaves_nothing(narrow: Room) -> None:
    names = [await narrow.deal("basic_rummy", players=2) for _ in range(2)]
    tasks = len(asyncio.all_tasks())
    for name in names:
        await narrow.play_out(name, random.Random(1), moves=150)
    stream = narrow.play(guest(0))
    for name in names:
        stream.subscribe(name, after_seq=0)
    await stream.until("event", 20)
    await stream.close()
    await turns()
    assert [len((await narrow.tables.get(name)).followers) for name in names] == [0, 0]
    assert len(asyncio.all_tasks()) == tasks


async def test_a_past_catches_up_with_a_table_that_goes_on(narrow: Room) -> None:
    name = await narrow.deal("basic_rummy", players=2, options=LONG)
    await narrow.play_out(name, random.Random(1), moves=200)
    stream = narrow.watch(name, guest(0), after_seq=0)
    playing = asyncio.create_task(narrow.play_out(name, random.Random(2), moves=300))
    await stream.until("turn")
    await playing
    last = (await narrow.state(name)).seq
    while check_story(stream) < last:
        await stream.next()
    await stream.close()


async def test_no_response_is_too_large(room: Room) -> None:
    names = [await room.deal("basic_rummy", players=2, options=LONG) for _ in range(4)]
    for name in names:
        await room.play_out(name, random.Random(1), moves=600)
    stream = room.play(guest(0))
    for name in names:
        stream.subscribe(name, after_seq=0, legal_moves=True, views=True)
    await stream.next()
    await turns(2000)
    assert the_feed(room)._bytes > 2 * MOST // 3
    last = {name: (await room.state(name)).seq for name in names}
    while len([u for u in stream.updates if u.HasField("event")]) < sum(last.values()):
        await stream.next()
    assert MOST // 2 < max(map(len, stream.raw)) <= MOST
    await stream.close()


@pytest.mark.parametrize(
    ("game", "players", "options"),
    [
        ("hidden_unders", 5, {"hidden_unders": {"decks": 2}}),
        ("basic_rummy", 2, LONG),
        ("doudizhu", 3, {"doudizhu": {"deals": 5}}),
    ],
)
async def test_the_largest_update_leaves_room_in_a_response(
    room: Room, game: str, players: int, options: dict[str, object]
) -> None:
    name, chance = await room.deal(game, players, options=options), random.Random(game)
    state, largest = await room.state(name), 0
    for _ in range(400):
        if state.to_act is None:
            break
        turn = turn_chunk(state, legal=500, views=True, form=2)
        largest = max(largest, len(turn + snapshot_chunk(state, state.to_act, epoch="e")))
        await room.some_move(name, chance)
    assert 500 < largest < MOST // 4


@pytest.fixture
def feeds() -> Iterator[Feeds]:
    feeds = Feeds(limit_bytes=1000, heartbeat_seconds=0.02, now_ms=lambda: 1_700_000_000_250)
    yield feeds
    feeds.stop()


async def test_a_silent_stream_shows_signs_of_life(feeds: Feeds) -> None:
    stream = Stream(feeds.open(), pb.WatchTableResponse)
    beats = [(await stream.next()).heartbeat.server_time for _ in range(2)]
    assert [(beat.seconds, beat.nanos) for beat in beats] == [(1_700_000_000, 250_000_000)] * 2


async def test_signs_of_life_do_not_pile_up() -> None:
    feeds = Feeds(limit_bytes=1000, heartbeat_seconds=0, now_ms=lambda: 0)
    feed = feeds.open()
    for _ in range(100):
        feeds.stop()
        feeds._tick()
    assert len(feed._extras) == 1
    feeds.stop()


async def test_a_drain_asks_to_reconnect_and_ends_the_streams(room: Room) -> None:
    name = await room.deal("doudizhu")
    watch, play = room.watch(name), room.play(guest(0))
    play.subscribe(name)
    for stream in (watch, play):
        await stream.until("snapshot")
    room.feeds.drain(3)
    await room.some_move(name)
    for stream in (watch, play):
        assert (await stream.next()).reconnect.within.seconds == 3
        assert not stream.seqs
        with refused("SERVER_DRAINING"):
            await stream.next()
    with refused("SERVER_DRAINING"):
        await room.watch(name).next()
    table = await room.tables.get(name)
    assert (len(room.feeds), len(table.followers)) == (0, 0)


async def test_a_feed_ends_when_all_is_out() -> None:
    feed = Feed(1000)
    feed.push_note(b"\x20\x01")
    feed.finish()
    feed.finish(ValueError("too late"))
    assert [response async for response in feed] == [b"\x20\x01"]


async def test_a_feed_ends_with_its_error() -> None:
    feed = Feed(1000)
    feed.finish(ValueError("so"))
    with pytest.raises(ValueError, match="so"):
        await anext(feed)


async def test_a_client_that_half_closes_gets_its_answers(room: Room) -> None:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    stream = room.play(holder(table, table.state.to_act or 0))
    stream.move(name, "bid 1", "m")
    stream.half_close()
    await stream.rest()
    assert [result.seq for result in stream.results] == [7]


async def test_a_stream_of_a_fault_ends_with_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    name = await room.deal("doudizhu")

    async def fault(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(room.service, "make_move", fault)
    stream = room.play(guest(0))
    stream.move(name, "pass", "m")
    with pytest.raises(ZeroDivisionError):
        await stream.next()
    with pytest.raises(Refusal):
        await room.watch("tables/x").next()
