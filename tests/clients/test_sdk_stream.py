"""One stream for all tables, kept going through whatever ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import grpc
import pytest

import croupier
from clients.fake_server import TABLE, World, connect, serving, status
from clients.streams import drain, read, stream_of
from croupier.v1 import tables_pb2

CODES = grpc.StatusCode


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


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
    async with connect(world, event_limit=3) as client:
        slow, quick = await client.watch(TABLE), await client.watch("tables/other")
        await anext(quick)
        stream = await stream_of(world)
        for _ in range(4):
            world.table.add()
        await world.until(lambda: stream.commands("unsubscribe"))
        stream.cut()
        other.add()
        await read(quick, 1)
        assert [s.table for s in (await stream_of(world, 1)).commands("subscribe")] == ["tables/other"]
        await read(slow, 4)


@pytest.mark.parametrize("limit", [-1, 0, 2])
def test_too_small_a_queue_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="event_limit is at least 3"):
        croupier.connect("127.0.0.1:1", event_limit=limit)


async def test_table_that_cannot_be_served_now_is_asked_for_again(world: World) -> None:
    world.refuse_subscriptions.append(status(CODES.UNAVAILABLE, "TABLE_UNREADABLE"))
    async with connect(world) as client:
        await read(await client.join(TABLE), 1)


async def test_table_that_cannot_be_served_is_given_up_within_the_bound(world: World) -> None:
    world.refuse_subscriptions.append(status(CODES.UNAVAILABLE, "TABLE_UNREADABLE"))
    async with connect(world, retry_for=0) as client:
        seat = await client.join(TABLE)
        with pytest.raises(croupier.ConnectionLost) as caught:
            await anext(seat)
    assert caught.value.reason == "TABLE_UNREADABLE"


async def test_mistake_of_the_sdk_leaves_nobody_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.subscription.Subscription.take", None)
    async with connect(world) as client:
        seat = await client.join(TABLE)
        with pytest.raises(croupier.Error, match="TypeError"):
            await anext(seat)


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
        first = await client.join(TABLE, seat=0)
        await read(first, 1)
        second = await client.join(TABLE, seat=2)
        world.table.give_turn(2, "pass")
        kinds = [type(await anext(second)) for _ in range(2)]
        assert kinds == [croupier.Snapshot, croupier.Turn]
        await second.play("pass")
        await read(first, 2, 3)
        (move,) = (await stream_of(world)).commands("move")
    assert move.seat == 2
