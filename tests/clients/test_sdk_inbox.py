"""The inbox: what stands, then what changes, through every break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
from google.protobuf import duration_pb2

import croupier
from clients.fake_server import World, connect, serving, status
from croupier.v1 import players_pb2, streams_pb2

CODES = grpc.StatusCode


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


@pytest.fixture
async def client(world: World) -> AsyncIterator[croupier.Client]:
    async with connect(world) as opened:
        yield opened


async def test_inbox_gives_what_stands_and_what_comes(world: World, client: croupier.Client) -> None:
    world.offer(world.table, invited=(1,))
    inbox = client.inbox()
    assert list((await anext(inbox)).invited_seats) == [1]
    world.offer(world.table, seats=(1,))
    assert list((await anext(inbox)).seats) == [1]
    await inbox.aclose()
    await world.until(lambda: not world.servers[0].inboxes)


async def test_reopened_inbox_gives_only_what_has_changed(world: World, client: croupier.Client) -> None:
    gone, kept = world.new_table("tables/gone"), world.new_table("tables/kept")
    world.offer(gone, invited=(0,))
    world.offer(kept, invited=(0,))
    inbox = client.inbox()
    await anext(inbox)
    await anext(inbox)
    del world.inbox["tables/gone"]
    world.servers[0].inboxes[0].put_nowait(status(CODES.UNAVAILABLE))
    item = await anext(inbox)
    assert (item.table.name, list(item.invited_seats), list(item.seats)) == ("tables/gone", [], [])
    world.offer(kept, seats=(0,))
    assert (await anext(inbox)).table.name == "tables/kept"
    await inbox.aclose()


async def test_inbox_is_opened_elsewhere_on_a_hint(world: World, client: croupier.Client) -> None:
    world.offer(world.table, invited=(1,))
    inbox = client.inbox()
    await anext(inbox)
    reading = asyncio.ensure_future(anext(inbox))
    hint = streams_pb2.Reconnect(within=duration_pb2.Duration(seconds=1))
    world.servers[0].inboxes[0].put_nowait(players_pb2.WatchInboxResponse(reconnect=hint))
    await world.until(lambda: len(world.calls_of(players_pb2.WatchInboxRequest)) == 2)
    world.offer(world.table)
    assert not (await reading).invited_seats
    await inbox.aclose()


async def test_silent_inbox_is_opened_again(world: World) -> None:
    world.heartbeat = 0.02
    async with connect(world) as client:
        reading = asyncio.ensure_future(anext(client.inbox()))
        await world.until(lambda: len(world.calls_of(players_pb2.WatchInboxRequest)) >= 2)
        reading.cancel()
        await asyncio.wait([reading])


async def test_my_tables_are_what_stands_now(world: World, client: croupier.Client) -> None:
    assert await client.my_tables() == []
    world.offer(world.table, seats=(2,))
    (item,) = await client.my_tables()
    assert list(item.seats) == [2]


async def test_closing_the_client_ends_the_inbox(world: World) -> None:
    client = await connect(world).open()
    reading = asyncio.ensure_future(anext(client.inbox()))
    await world.until(lambda: world.servers[0].inboxes)
    await client.close()
    with pytest.raises(croupier.ConnectionLost):
        await reading
