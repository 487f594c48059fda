"""The house's process: its shard, its bots, its token, its end."""

from __future__ import annotations

import asyncio
import os
import sys
import urllib.request
from collections.abc import AsyncIterator

import pytest

from clients.fake_server import TABLE, World, connect, serving
from croupier import house
from croupier.thinkers import Pool, Seats
from croupier.v1 import tables_pb2
from system.processes import free_port


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


def test_each_table_belongs_to_one_shard() -> None:
    names = [f"tables/{number}" for number in range(200)]
    owners = [[index for index in range(3) if house.takes(name, index, 3)] for name in names]
    assert all(len(owner) == 1 for owner in owners)
    assert {owner[0] for owner in owners} == {0, 1, 2}


@pytest.mark.parametrize("text", ["", "1", "1/1", "-1/2", "2/2", "0/0", "a/b", "1/2/3"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - argparse shows its own message
        house.shard(text)


def test_shard() -> None:
    assert house.shard("1/4") == (1, 4)


async def test_house_takes_the_offered_seats_of_its_shard_without_nonces(world: World) -> None:
    mine = [name for name in (f"tables/{n}" for n in range(20)) if house.takes(name, 1, 2)][:2]
    others = [name for name in (f"tables/{n}" for n in range(20)) if house.takes(name, 0, 2)][:2]
    async with connect(world, token="house", sign_in=False) as client:
        playing = asyncio.create_task(house.serve(client, 1, 2, 10, Seats(Pool(1))))
        for name in others + mine:
            table = world.new_table(name)
            table.info.seats[2].bot_level = "easy"
            world.offer(table, invited=(2,))
        await world.until(lambda: len(world.calls_of(tables_pb2.JoinTableRequest)) == len(mine))
        playing.cancel()
        await asyncio.wait([playing])
    joins = world.calls_of(tables_pb2.JoinTableRequest)
    assert sorted(join.name for join in joins) == sorted(mine)
    assert {(join.seat, join.nonce_commitment) for join in joins} == {(2, b"")}


def house_process(
    world: World, *arguments: str, **environment: str
) -> asyncio.Future[asyncio.subprocess.Process]:
    return asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "croupier.house", "--server", world.servers[0].address, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **environment},
        )
    )


async def test_process_takes_its_token_from_a_line_and_ends_with_its_input(world: World) -> None:
    process = await house_process(world)
    assert process.stdin is not None
    process.stdin.write(b"secret\n")
    await world.until(lambda: world.servers[0].inboxes)
    assert world.metadata[-1]["authorization"] == "Bearer secret"
    process.stdin.close()
    assert await process.wait() == 0


async def test_process_plays_on_after_its_server_was_gone_and_ends_when_told(world: World) -> None:
    process = await house_process(world, CROUPIER_HOUSE_TOKEN="secret")
    await world.until(lambda: world.servers[0].inboxes)
    world.servers[0].cut_inboxes()
    await world.until(lambda: len(world.servers[0].inboxes) == 1)
    table = world.table
    table.info.seats[1].bot_level = "random"
    world.offer(table, invited=(1,))
    await world.until(lambda: table.info.seats[1].player)
    process.terminate()
    assert await process.wait() == 0
    assert table.info.name == TABLE


async def test_process_without_a_token_is_a_mistake_of_usage(world: World) -> None:
    process = await house_process(world, CROUPIER_HOUSE_TOKEN="")
    _, told = await process.communicate(b"\n")
    assert process.returncode == 2
    assert b"CROUPIER_HOUSE_TOKEN" in told


async def test_process_tells_its_load(world: World) -> None:
    port, index = free_port(), int(house.takes(TABLE, 1, 2))
    process = await house_process(
        world,
        *("--shard", f"{index}/2", "--log-level", "INFO"),
        CROUPIER_HOUSE_TOKEN="secret",
        CROUPIER_HOUSE_METRICS=f"127.0.0.1:{port - index}",
    )
    await world.until(lambda: world.servers[0].inboxes)
    table = world.table
    table.info.seats[1].bot_level = "random"
    world.offer(table, invited=(1,))
    await world.until(lambda: table.info.seats[1].player)
    table.moves_left = 1
    table.give_turn(1, "pass")
    await world.until(lambda: table.ended)
    told = await asyncio.to_thread(fetched, f"http://127.0.0.1:{port}/metrics")
    process.terminate()
    _, said = await process.communicate()
    assert 'croupier_house_thoughts_total{end="answered",level="random"} 1.0' in told.splitlines()
    assert b'load {"waiting": 0, "levels": {"random": {"seats": 0, "thoughts": 1' in said


def fetched(url: str) -> str:
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()
