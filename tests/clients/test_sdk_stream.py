"""One stream for all tables, kept going through whatever ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import grpc
import pytest
from clients.fake_server import TABLE, FakeStream, World, connect, serving, status

import croupier
from croupier.v1 import players_pb2, streams_pb2, tables_pb2

CODES = grpc.StatusCode


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


@pytest.fixture
async def pair() -> AsyncIterator[World]:
    async with serving(servers=2) as running:
        yield running


async def stream_of(world: World, number: int = 0, server: int = 0) -> FakeStream:
    """A server's Play call of that number, as soon as it is open and subscribed."""
    streams = world.servers[server].streams
    await world.until(lambda: len(streams) > number and streams[number].subscribed)
    return streams[number]


async def read(watch: croupier.Watch, *seqs: int) -> None:
    """The next events are steps of these numbers."""
    got = [await anext(watch) for _ in seqs]
    assert [getattr(event, "seq", None) for event in got] == list(seqs)


async def drain(watch: croupier.Watch) -> None:
    """Read to the end."""
    async for _ in watch:
        pass


async def test_snapshot_then_steps_then_turn(world: World) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        world.table.add()
        world.table.give_turn(0, "pass", "bid 1")
        await read(seat, 2)
        turn = await anext(seat)
    assert isinstance(turn, croupier.Turn)
    assert turn.legal_moves == ["pass", "bid 1"]
    assert turn.view is not None
    assert turn.view["deal"] == 2


async def test_all_steps_from_the_first_on(world: World) -> None:
    world.table.add()
    async with connect(world) as client:
        await read(await client.watch(TABLE, after_seq=0), 1)


@pytest.mark.parametrize(
    "code", [CODES.UNAVAILABLE, CODES.INTERNAL, CODES.UNKNOWN, CODES.CANCELLED, CODES.OK]
)
async def test_cut_stream_is_resumed_from_the_last_step(world: World, code: grpc.StatusCode) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        (await stream_of(world)).cut(code)
        world.table.add()
        await read(seat, 2)
        (asked,) = (await stream_of(world, 1)).commands("subscribe")
    assert (asked.after_seq, asked.epoch, asked.seat) == (1, "first life", 0)


async def test_steps_during_an_outage_come_after_it(world: World) -> None:
    async with connect(world) as client:
        watch = await client.watch(TABLE, after_seq=0)
        world.table.add()
        await read(watch, 1)
        (await stream_of(world)).cut()
        for _ in range(3):
            world.table.add(lost=True)
        await read(watch, 2, 3, 4)


async def test_move_answers_the_turn(world: World) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        world.table.give_turn(0, "pass")
        await read(seat, 1, 1)
        assert await seat.play("pass") == 2
        (move,) = (await stream_of(world)).commands("move")
    assert (move.move.text, move.expected_seq, move.seat, len(move.request_id)) == ("pass", 1, 0, 32)


async def test_move_without_an_answer_is_repeated_once_with_its_id(world: World) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        world.hold_results = True
        playing = asyncio.create_task(seat.play("pass"))
        await world.until(lambda: world.accepted)
        world.hold_results = False
        (await stream_of(world)).cut()
        assert await playing == 2
        sent = [stream.commands("move") for stream in world.servers[0].streams]
    assert [len(moves) for moves in sent] == [1, 1]
    assert sent[0] == sent[1]
    assert len(world.accepted) == 1


async def test_moves_and_subscriptions_of_one_loop_turn_go_up_together(world: World) -> None:
    names = [world.new_table(f"tables/{n}").info.name for n in range(20)]
    async with connect(world) as client:
        seats = [await client.join(name, nonce=False) for name in names]
        await asyncio.gather(*(anext(seat) for seat in seats))
        stream = await stream_of(world)
        before = len(stream.requests)
        await asyncio.gather(*(seat.play("pass") for seat in seats))
        assert len(stream.requests) == before + 1
        stream.cut()
        again = await stream_of(world, 1)
        await world.until(lambda: len(again.subscribed) == 20)
        assert len(again.requests) == 1


async def test_refused_move_is_typed_and_the_stream_lives(world: World) -> None:
    world.refuse_moves.append(status(CODES.FAILED_PRECONDITION, "ILLEGAL_MOVE", rule_reason="BID_TOO_LOW"))
    async with connect(world) as client:
        seat = await client.join(TABLE)
        with pytest.raises(croupier.IllegalMove) as caught:
            await seat.play("bid 1")
        assert caught.value.facts["rule_reason"] == "BID_TOO_LOW"
        assert await seat.play("pass") == 2
    assert len(world.servers[0].streams) == 1


@pytest.mark.parametrize("reason", ["JOURNAL_UNAVAILABLE", "OUTCOME_UNKNOWN", "SERVER_BUSY"])
async def test_move_that_could_not_be_stored_is_repeated_with_its_id(world: World, reason: str) -> None:
    world.refuse_moves.append(status(CODES.UNAVAILABLE, reason))
    async with connect(world) as client:
        seat = await client.join(TABLE)
        assert await seat.play("pass") == 2
        moves = (await stream_of(world)).commands("move")
    assert moves[0] == moves[1]


async def test_move_is_given_up_with_the_reason_when_the_bound_is_reached(world: World) -> None:
    world.refuse_moves.append(status(CODES.UNAVAILABLE, "JOURNAL_UNAVAILABLE"))
    async with connect(world, retry_for=0) as client:
        seat = await client.join(TABLE)
        with pytest.raises(croupier.ConnectionLost) as caught:
            await seat.play("pass")
    assert caught.value.reason == "JOURNAL_UNAVAILABLE"


async def test_no_more_moves_are_in_flight_than_the_server_takes(world: World) -> None:
    world.limits.max_moves_in_flight = 2
    world.hold_results = True
    async with connect(world) as client:
        seat = await client.join(TABLE)
        playing = [asyncio.create_task(seat.play(text)) for text in ("pass", "bid 1", "bid 2")]
        await world.until(lambda: len(world.accepted) == 2)
        stream = await stream_of(world)
        first = stream.commands("move")[0]
        stream.send(results=[tables_pb2.MoveResult(table=TABLE, request_id=first.request_id, seq=2)])
        await world.until(lambda: len(world.accepted) == 3)
        for task in playing:
            task.cancel()


async def test_move_that_is_not_waited_for_any_more_is_not_repeated(world: World) -> None:
    world.hold_results = True
    async with connect(world) as client:
        seat = await client.join(TABLE)
        playing = asyncio.create_task(seat.play("pass"))
        await world.until(lambda: world.accepted)
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing
        (await stream_of(world)).cut()
        assert (await stream_of(world, 1)).commands("move") == []


async def test_hint_opens_the_new_stream_before_the_old_one_ends(pair: World) -> None:
    async with connect(pair) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        old = await stream_of(pair)
        old.hint()
        new = await stream_of(pair, server=1)
        assert old.open
        pair.table.add()  # goes down both
        await read(seat, 2)
        old.cut()
        pair.table.add()
        await read(seat, 3)
    assert len(new.commands("subscribe")) == 1


async def test_until_the_new_stream_is_heard_moves_go_over_the_old_one(pair: World) -> None:
    async with connect(pair) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        old = await stream_of(pair)
        old.hint()
        new = await stream_of(pair, server=1)
        await seat.play("pass")
        new.update(0, presence=tables_pb2.Presence(seat=1, connected=True))
        while not isinstance(await anext(seat), croupier.Presence):
            pass
        await seat.play("bid 1")
    assert [m.move.text for m in old.commands("move")] == ["pass"]
    assert [m.move.text for m in new.commands("move")] == ["bid 1"]


async def test_move_on_a_stream_that_ends_after_its_hint_goes_over_to_the_new_one(pair: World) -> None:
    async with connect(pair) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        old = await stream_of(pair)
        pair.hold_results = True
        playing = asyncio.create_task(seat.play("pass"))
        await pair.until(lambda: pair.accepted)
        old.hint()
        new = await stream_of(pair, server=1)
        pair.hold_results = False
        old.cut()
        assert await playing == 2
    assert new.commands("move") == old.commands("move")


async def test_silence_means_a_new_stream(world: World) -> None:
    world.heartbeat = 0.02
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        world.servers[0].silent = True
        await stream_of(world, 1)
        world.servers[0].silent = False
        world.table.add()
        await read(seat, 2)


async def test_heartbeats_keep_a_stream(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, now = asyncio.get_running_loop(), [0.0]
    monkeypatch.setattr(loop, "time", lambda: now[0])
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        stream = await stream_of(world)
        for beat in range(4):
            stream.send(heartbeat=streams_pb2.Heartbeat())
            stream.update(0, presence=tables_pb2.Presence(seat=1, connected=beat % 2 == 0))
            await anext(seat)
            now[0] += 44  # of the 45 seconds that three heartbeats take
            await client.get_table(TABLE)
        assert len(world.servers[0].streams) == 1
        now[0] += 2
        await stream_of(world, 1)


async def test_next_address_when_a_server_dies(pair: World) -> None:
    async with connect(pair) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        await stream_of(pair)
        await pair.servers[0].stop()
        pair.table.add()
        await read(seat, 2)
        assert (await client.get_table(TABLE)).name == TABLE


async def test_gives_up_when_told(world: World) -> None:
    async with connect(world, retry_for=0) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        world.hold_results = True
        playing = asyncio.create_task(seat.play("pass"))
        await world.until(lambda: world.accepted)
        await world.servers[0].stop()
        with pytest.raises(croupier.ConnectionLost):
            await playing
        with pytest.raises(croupier.ConnectionLost):
            await drain(seat)


async def test_final_error_of_the_stream_reaches_every_reader(world: World) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        (await stream_of(world)).cut(CODES.PERMISSION_DENIED, "NOT_ALLOWED")
        with pytest.raises(croupier.PermissionDenied):
            await anext(seat)


async def test_token_that_ended_meanwhile_is_replaced(world: World) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        world.bad_tokens.add("token-1")
        (await stream_of(world)).cut(CODES.UNAUTHENTICATED, "TOKEN_EXPIRED")
        world.table.add()
        await read(seat, 2)
        assert client.token == "token-2"
    first, again = world.calls_of(players_pb2.SignInRequest)
    assert first == again


async def test_reader_who_falls_behind_gets_a_snapshot_and_goes_on(world: World) -> None:
    async with connect(world, event_limit=3) as client:
        watch = await client.watch(TABLE)
        stream = await stream_of(world)
        for _ in range(5):
            world.table.add()
        await world.until(lambda: stream.commands("unsubscribe"))
        event = await anext(watch)
        assert isinstance(event, croupier.Snapshot)
        assert (event.seq, event.missed) == (5, True)
        world.table.add()
        await read(watch, 6)


async def test_reader_who_is_behind_stays_so_through_a_new_stream(world: World) -> None:
    other = world.new_table("tables/other")
    async with connect(world, event_limit=1) as client:
        slow, quick = await client.watch(TABLE), await client.watch("tables/other")
        await anext(quick)
        stream = await stream_of(world)
        world.table.add()
        await world.until(lambda: stream.commands("unsubscribe"))
        stream.cut()
        other.add()
        await read(quick, 1)
        assert [s.table for s in (await stream_of(world, 1)).commands("subscribe")] == ["tables/other"]
        await read(slow, 1)


async def test_table_that_cannot_be_served_now_is_asked_for_again(world: World) -> None:
    world.refuse_subscriptions.append(status(CODES.UNAVAILABLE, "TABLE_UNREADABLE"))
    async with connect(world) as client:
        await read(await client.join(TABLE), 1)


async def test_refused_subscription_is_raised_to_its_reader_alone(world: World) -> None:
    world.new_table("tables/private")
    world.refuse_subscriptions.append(status(CODES.PERMISSION_DENIED, "WRONG_JOIN_CODE"))
    async with connect(world) as client:
        refused = await client.watch("tables/private")
        with pytest.raises(croupier.PermissionDenied):
            await anext(refused)
        await read(await client.watch(TABLE), 0)


async def test_iteration_ends_with_the_table(world: World) -> None:
    async with connect(world) as client:
        seat = await client.join(TABLE)
        await read(seat, 1)
        world.table.end(2, -1, -1)
        events = [event async for event in seat]
        assert isinstance(events[-1], croupier.Ended)
        assert events[-1].scores == (2, -1, -1)
        assert list(seat.info.scores) == [2, -1, -1]
        assert seat.info.state == tables_pb2.TABLE_STATE_ENDED


async def test_closed_seat_is_unsubscribed(world: World) -> None:
    async with connect(world) as client:
        async with await client.join(TABLE) as seat:
            await read(seat, 1)
            stream = await stream_of(world)
        await world.until(lambda: not stream.subscribed)
        with pytest.raises(StopAsyncIteration):
            await anext(seat)


async def test_closing_the_client_ends_everything(world: World) -> None:
    client = connect(world)
    await client.open()
    seat = await client.join(TABLE)
    await read(seat, 1)
    world.hold_results = True
    playing = asyncio.create_task(seat.play("pass"))
    await world.until(lambda: world.accepted)
    await client.close()
    with pytest.raises(croupier.ConnectionLost):
        await playing
    with pytest.raises(croupier.ConnectionLost):
        await seat.play("pass")
    with pytest.raises(croupier.ConnectionLost):
        await drain(seat)
    await world.until(lambda: not world.servers[0].streams[0].open)


async def test_sitting_down_ends_watching(world: World) -> None:
    async with connect(world) as client:
        watch = await client.watch(TABLE)
        seat = await client.join(TABLE)
        await read(watch, 0)
        await drain(watch)
        await read(seat, 1)
        with pytest.raises(croupier.InvalidRequest):
            await client.watch(TABLE)


async def test_two_seats_of_one_player_at_one_table(world: World) -> None:
    async with connect(world) as client:
        first, second = await client.join(TABLE, seat=0), await client.join(TABLE, seat=2)
        world.table.give_turn(2, "pass")
        kinds = [type(await anext(second)) for _ in range(2)]
        assert kinds == [croupier.Snapshot, croupier.Turn]
        await second.play("pass")
        await read(first, 1, 2, 3)
        (move,) = (await stream_of(world)).commands("move")
    assert move.seat == 2
