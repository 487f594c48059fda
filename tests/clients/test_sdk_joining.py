"""Sitting down, promising nonces, coming back, standing up."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import grpc
import pytest

import croupier
from clients.fake_server import TABLE, World, connect, serving, status
from croupier.v1 import tables_pb2

CODES = grpc.StatusCode


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


@pytest.fixture
async def client(world: World) -> AsyncIterator[croupier.Client]:
    async with connect(world) as opened:
        yield opened


def promise(seat: int, nonce: bytes, board: str = TABLE) -> bytes:
    """As the contract of dealing has it."""
    return hashlib.sha256(b"croupier/nonce/v1\0" + board.encode() + b"\0" + bytes([seat]) + nonce).digest()


async def test_nonce_is_promised_for_the_seat_and_shown_when_the_table_is_full(
    world: World, client: croupier.Client
) -> None:
    seat = await client.join(TABLE)
    world.table.fill()
    await world.until(lambda: len(world.calls_of(tables_pb2.JoinTableRequest)) == 2)
    joined, shown = world.calls_of(tables_pb2.JoinTableRequest)
    assert (joined.seat, shown.seat, shown.nonce) == (0, 0, seat.nonce)
    assert joined.nonce_commitment == promise(0, shown.nonce)
    assert joined.nonce == b""
    assert len(shown.nonce) == 32


async def test_last_to_sit_down_shows_the_nonce_at_once(world: World, client: croupier.Client) -> None:
    world.table.info.state = tables_pb2.TABLE_STATE_FILLED
    seat = await client.join(TABLE)
    await world.until(lambda: world.table.info.seats[0].nonce)
    assert world.table.info.seats[0].nonce == seat.nonce


async def test_nonce_that_came_too_late_harms_nothing(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    world.refuse_calls["JoinTable"].append(status(CODES.FAILED_PRECONDITION, "GAME_STARTED"))
    world.table.fill()
    await world.until(lambda: not world.refuse_calls["JoinTable"])
    world.table.end(1, 1, 1)
    assert [type(event) for event in [e async for e in seat]][-1] in (croupier.Ended, croupier.Snapshot)


async def test_no_nonce_when_not_wanted_or_on_a_tournament_board(
    world: World, client: croupier.Client
) -> None:
    await client.join(TABLE, nonce=False)
    world.new_table("tables/board").info.board = "tournaments/t/boards/1"
    assert (await client.join("tables/board")).nonce == b""
    joins = world.calls_of(tables_pb2.JoinTableRequest)
    assert [(join.HasField("seat"), join.nonce_commitment) for join in joins] == [(False, b"")] * 2


async def test_seat_kept_for_one_comes_before_free_ones(world: World, client: croupier.Client) -> None:
    world.table.info.seats[2].invited_player = "players/me"
    assert (await client.join(TABLE)).number == 2


async def test_other_seats_are_tried_when_one_was_just_taken(world: World, client: croupier.Client) -> None:
    world.refuse_calls["JoinTable"].append(status(CODES.FAILED_PRECONDITION, "SEAT_TAKEN"))
    world.refuse_calls["JoinTable"].append(status(CODES.PERMISSION_DENIED, "NOT_INVITED"))
    seat = await client.join(TABLE)
    joins = world.calls_of(tables_pb2.JoinTableRequest)
    assert [join.seat for join in joins] == [0, 1, 2]
    assert len({join.request_id for join in joins}) == 3
    assert joins[-1].nonce_commitment == promise(2, seat.nonce)


async def test_seat_asked_for_is_not_exchanged_for_another(world: World, client: croupier.Client) -> None:
    world.table.info.seats[1].player = "players/other"
    with pytest.raises(croupier.SeatTaken):
        await client.join(TABLE, seat=1)


@pytest.mark.parametrize("nonce", [True, False])
async def test_who_sits_already_is_told_so(world: World, client: croupier.Client, nonce: bool) -> None:
    world.table.info.seats[1].player = "players/me"
    with pytest.raises(croupier.AlreadySeated):
        await client.join(TABLE, nonce=nonce)


async def test_promise_that_was_not_taken_is_not_kept(world: World, client: croupier.Client) -> None:
    world.take_promises = False
    assert (await client.join(TABLE)).nonce == b""


async def test_leaving_ends_the_iteration(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    await anext(seat)
    unseated = status(CODES.PERMISSION_DENIED, "NOT_SEATED")
    world.before_leaving = lambda: world.servers[0].streams[0].update(0, ended=unseated)
    await seat.leave()
    with pytest.raises(StopAsyncIteration):
        await anext(seat)


async def test_seat_that_may_not_be_left_is_kept(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    await anext(seat)
    world.refuse_calls["LeaveTable"].append(status(CODES.FAILED_PRECONDITION, "GAME_STARTED"))
    with pytest.raises(croupier.WrongState):
        await seat.leave()
    world.servers[0].streams[0].update(0, ended=status(CODES.PERMISSION_DENIED, "NOT_SEATED"))
    with pytest.raises(croupier.PermissionDenied):
        await anext(seat)


async def test_full_table(world: World, client: croupier.Client) -> None:
    for seat in world.table.info.seats:
        seat.player = "players/other"
    with pytest.raises(croupier.TableFull):
        await client.join(TABLE)


async def test_commitment_may_not_change_while_sitting_down(world: World, client: croupier.Client) -> None:
    world.before_joining = lambda: setattr(world.table.info, "commitment", b"another")
    with pytest.raises(croupier.BrokenPromise):
        await client.join(TABLE)


async def test_seat_is_taken_up_again(world: World, client: croupier.Client) -> None:
    world.table.info.seats[1].player = "players/me"
    world.table.add()
    world.table.add()
    seat = await client.resume(TABLE, after_seq=1, epoch="first life")
    assert seat.number == 1
    assert (await anext(seat)).seq == 2


async def test_no_seat_to_take_up_again(client: croupier.Client) -> None:
    with pytest.raises(croupier.PermissionDenied):
        await client.resume(TABLE)


async def test_table_is_kept_up_to_date(world: World, client: croupier.Client) -> None:
    watch = await client.watch(TABLE)
    await anext(watch)
    sat = tables_pb2.Seat(seat=1, player="players/bob", display_name="Bob")
    world.table.add(seat_changed=tables_pb2.SeatChanged(seat=sat))
    world.table.fill()
    await anext(watch)
    await anext(watch)
    assert watch.info.seats[1].display_name == "Bob"
    assert (watch.info.state, watch.info.seq) == (tables_pb2.TABLE_STATE_FILLED, 2)


async def test_inviting(world: World, client: croupier.Client) -> None:
    await client.invite_bot(TABLE, level="hard", seat=1)
    await client.invite(TABLE, "players/bob")
    bot, friend = world.calls_of(tables_pb2.InviteBotRequest)
    assert (bot.level, bot.seat) == ("hard", 1)
    assert (friend.player, friend.HasField("seat")) == ("players/bob", False)
