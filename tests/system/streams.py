"""Streams as a plain client opens them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import grpc
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.v1 import players_pb2, players_pb2_grpc, tables_pb2, tables_pb2_grpc


async def idle_streams(channel: grpc.aio.Channel, table: str, token: str) -> list[Any]:
    """One open stream of each kind, on which nothing happens and nobody reads any more."""
    metadata = (("authorization", f"Bearer {token}"),)
    tables, wish = tables_pb2_grpc.TableServiceStub(channel), tables_pb2.Subscription(table=table)
    players, health = players_pb2_grpc.PlayerServiceStub(channel), health_pb2_grpc.HealthStub(channel)
    play_stream = tables.Play(metadata=metadata)
    await play_stream.write(tables_pb2.PlayRequest(commands=[tables_pb2.PlayCommand(subscribe=wish)]))
    streams = [
        play_stream,
        tables.WatchTable(tables_pb2.WatchTableRequest(subscription=wish), metadata=metadata),
        players.WatchInbox(players_pb2.WatchInboxRequest(), metadata=metadata),
        health.Watch(health_pb2.HealthCheckRequest()),
    ]
    for stream in streams:
        assert await stream.read() is not grpc.aio.EOF
    return streams


async def ending(stream: Any) -> StatusCode:
    """Read what is left of a stream; what it ended with."""
    with suppress(grpc.aio.AioRpcError):
        while await stream.read() is not grpc.aio.EOF:
            pass
    code: StatusCode = await stream.code()
    return code
