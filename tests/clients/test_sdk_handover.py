"""From one stream to the next: hints, silence, other addresses, giving up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

import croupier
from clients.fake_server import TABLE, World, connect, serving
from clients.streams import drain, read, stream_of
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
