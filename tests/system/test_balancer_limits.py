"""What balancers do to streams and calls by their own rules: time limits, stream limits, retries, routes."""

from __future__ import annotations

import asyncio
import signal
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from grpc import StatusCode

from croupier.v1 import tables_pb2, tables_pb2_grpc
from system.balancers import BALANCERS, Balancer, Envoy, HAProxy, Nginx, balancer
from system.players import clients, first_turn
from system.processes import ServerProcess
from system.replicas import Replicas, replicas
from system.streams import ending, idle_streams

pytestmark = pytest.mark.asyncio(loop_scope="module")

every_balancer = pytest.mark.parametrize("kind", BALANCERS)

IDLE_S = 1.0
MANY = 300
"""Streams on one connection: more than the hundred or so that a proxy takes by default."""

BY_TABLE: dict[type[Balancer], dict[str, str]] = {
    HAProxy: {"by_table": "1"},
    Envoy: {"lb_policy": "RING_HASH"},
    Nginx: {"balance": "hash $croupier_table consistent"},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def group() -> AsyncIterator[Replicas]:
    async with replicas(heartbeat_s="0.2") as started:
        yield started


@every_balancer
async def test_heartbeats_keep_a_stream_open_and_nothing_else_does(
    group: Replicas, kind: type[Balancer]
) -> None:
    """Streams on which nothing happens outlive the time limit; one without heartbeats does not."""
    async with (
        balancer(kind, group.addresses, idle_timeout=f"{IDLE_S:g}s") as front,
        clients(front.address, 1, tls=front.roots) as [client],
        front.channel() as channel,
    ):
        table = (await client.create_table("doudizhu")).name
        *streams, health = await idle_streams(channel, table, client.token)
        await asyncio.gather(*(heartbeats(stream, 3 * IDLE_S) for stream in streams))
        assert await ending(health) is not StatusCode.OK
        for stream in streams:
            stream.cancel()


async def heartbeats(stream: Any, seconds: float) -> None:
    """Read heartbeats, and nothing but them once the first has come, for so long by the server's clock."""
    first = last = 0.0
    while last - first < seconds:
        response = await stream.read()
        assert response is not grpc.aio.EOF, await stream.code()
        if response.HasField("heartbeat"):
            last = response.heartbeat.server_time.ToNanoseconds() / 1e9
            first = first or last


@every_balancer
async def test_one_connection_carries_hundreds_of_streams(group: Replicas, kind: type[Balancer]) -> None:
    async with (
        balancer(kind, group.addresses) as front,
        clients(front.address, 1, tls=front.roots) as [client],
        front.channel() as channel,
    ):
        wish = tables_pb2.Subscription(table=(await client.create_table("doudizhu")).name)
        stub = tables_pb2_grpc.TableServiceStub(channel)
        streams = [
            stub.WatchTable(tables_pb2.WatchTableRequest(subscription=wish), timeout=60) for _ in range(MANY)
        ]
        for stream in streams:
            assert (await stream.read()).updates[0].HasField("snapshot")
        for stream in streams:
            stream.cancel()


@every_balancer
async def test_calls_of_a_table_may_all_go_to_one_replica(group: Replicas, kind: type[Balancer]) -> None:
    async with (
        balancer(kind, group.addresses, **BY_TABLE[kind]) as front,
        clients(front.address, 1, tls=front.roots) as [client],
    ):
        served_by = []
        for _ in range(12):
            table = await client.create_table("doudizhu")
            before = calls_by_replica(group, "TableService/GetTable")
            for _ in range(5):
                await client.get_table(table.name)
            after = calls_by_replica(group, "TableService/GetTable")
            [replica] = [n for n, (b, a) in enumerate(zip(before, after, strict=True)) if a > b]
            served_by.append(replica)
        assert len(set(served_by)) > 1


def calls_by_replica(group: Replicas, method: str) -> list[float]:
    """How many calls of a method each replica has answered."""
    name = f'croupier_calls_total{{code="OK",method="{method}"}}'
    return [
        sum(float(line.rpartition(" ")[2]) for line in metrics(server) if line.startswith(name))
        for server in group.servers
    ]


async def test_a_move_that_the_proxy_sends_twice_is_made_once(group: Replicas) -> None:
    """The store is late, so Envoy gives a move to a second replica: it is stored once."""
    async with (
        balancer(Envoy, group.addresses, try_timeout="0.2s") as front,
        clients(front.address, 3, tls=front.roots) as seated,
        front.channel() as channel,
    ):
        store = group.store.process
        assert store is not None
        table = await seated[0].create_table("doudizhu")
        seats = [await client.join(table.name) for client in seated]
        turn = await first_turn(seats)
        stub = tables_pb2_grpc.TableServiceStub(channel)
        move = tables_pb2.MakeMoveRequest(
            table=table.name, move={"text": turn.legal_moves[0]}, expected_seq=turn.seq, request_id="twice"
        )
        metadata = (("authorization", f"Bearer {seats[turn.seat].client.token}"),)
        store.send_signal(signal.SIGSTOP)
        call = stub.MakeMove(move, metadata=metadata)
        try:
            await front.retried()
        finally:
            store.send_signal(signal.SIGCONT)
        seq = (await call).seq
        again = await stub.MakeMove(move, metadata=metadata)
        assert (again.seq, (await seated[0].get_table(table.name)).seq) == (seq, seq) == (turn.seq + 1,) * 2


async def test_a_call_whose_replica_hangs_is_answered_by_another(group: Replicas) -> None:
    """HAProxy sets no time limit for one attempt: it gives up a replica whose health is not answered."""
    async with (
        balancer(HAProxy, group.addresses, by_table="1") as front,
        clients(front.address, 1, tls=front.roots) as [client],
        front.channel() as channel,
    ):
        table = (await client.create_table("doudizhu")).name
        before = calls_by_replica(group, "TableService/GetTable")
        await client.get_table(table)
        after = calls_by_replica(group, "TableService/GetTable")
        [holder] = [s for s, b, a in zip(group.servers, before, after, strict=True) if a > b]
        stub = tables_pb2_grpc.TableServiceStub(channel)
        request = tables_pb2.GetTableRequest(name=table)
        holder.freeze()
        try:
            answer = await stub.GetTable(request, metadata=(("croupier-table", table),), timeout=30)
        finally:
            holder.thaw()
        assert answer.table.name == table


@every_balancer
async def test_a_replica_that_drains_hands_its_idle_streams_over(
    group: Replicas, kind: type[Balancer]
) -> None:
    """Its streams get the hint and a status that says to come again, through the balancer; no other does."""
    server = group.servers[0]
    async with (
        balancer(kind, group.addresses) as front,
        clients(front.address, 1, tls=front.roots) as [client],
        front.channel() as channel,
    ):
        table = (await client.create_table("doudizhu")).name
        streams = [s for _ in range(4) for s in (await idle_streams(channel, table, client.token))[:3]]
        handed_over = [asyncio.create_task(hinted(stream)) for stream in streams]
        try:
            async with asyncio.timeout(10):
                assert await server.stop() == 0
        finally:
            await server.start()
        left = sum(open_streams(other) for other in group.servers[1:])
        assert 0 < left < len(streams)
        for task in asyncio.as_completed(handed_over):
            assert await task is StatusCode.UNAVAILABLE
            if sum(t.done() for t in handed_over) == len(streams) - left:
                break
        for task in handed_over:
            task.cancel()


async def hinted(stream: Any) -> StatusCode:
    """Read until the hint to reconnect; what the stream ended with after it."""
    while True:
        response = await stream.read()
        assert response is not grpc.aio.EOF, await stream.code()
        if response.HasField("reconnect"):
            return await ending(stream)


def open_streams(server: ServerProcess) -> int:
    """The streams with a feed that a replica has open."""
    [line] = [line for line in metrics(server) if line.startswith("croupier_subscribers ")]
    return int(float(line.rpartition(" ")[2]))


def metrics(server: ServerProcess) -> list[str]:
    with urllib.request.urlopen(f"http://{server.ready['metrics']}/metrics") as answer:
        lines: list[str] = answer.read().decode().splitlines()
    return lines
