"""A small service of every kind of method, served by the real mount on a free loopback port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, wrappers_pb2
from google.protobuf.descriptor import ServiceDescriptor

from croupier_server.caller import Caller
from croupier_server.errors import refuse
from croupier_server.journal.base import JournalUnavailable
from croupier_server.journal.memory import MemoryJournal
from croupier_server.metrics import Metrics
from croupier_server.rpc.admission import Access, Admission
from croupier_server.rpc.mount import Mount
from croupier_server.settings import Settings
from croupier_server.tokens import Tokens

Text = wrappers_pb2.StringValue

METHODS = {"Echo": (False, False), "Mine": (False, False), "Count": (False, True), "Talk": (True, True)}
"""Each method: does the client stream, does the server stream."""


def _described() -> ServiceDescriptor:
    kind = ".google.protobuf.StringValue"
    file = descriptor_pb2.FileDescriptorProto(
        name="croupier/test/echo.proto",
        package="croupier.test",
        syntax="proto3",
        dependency=["google/protobuf/wrappers.proto"],
    )
    service = file.service.add(name="EchoService")
    for name, (client, server) in METHODS.items():
        service.method.add(
            name=name, input_type=kind, output_type=kind, client_streaming=client, server_streaming=server
        )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return pool.FindServiceByName("croupier.test.EchoService")


SERVICE = _described()
ACCESS = {f"{SERVICE.full_name}.{name}": Access.OPTIONAL for name in METHODS} | {
    f"{SERVICE.full_name}.Mine": Access.PLAYER
}


class Echo:
    """Does what the request's text says, else says it again."""

    def __init__(self) -> None:
        self.ended: asyncio.Queue[str] = asyncio.Queue()
        """What ended each stream, in order."""
        self.forever = asyncio.Event()

    async def echo(self, request: Text, caller: Caller) -> Text | bytes:
        return await self._said(request.value, caller)

    async def mine(self, request: Text, caller: Caller) -> Text:
        return Text(value=f"{caller.player} {caller.display_name} {caller.role} {caller.languages}")

    async def _said(self, what: str, caller: Caller) -> Text | bytes:
        match what:
            case "refuse":
                raise refuse("SEAT_TAKEN", "seat 2 is taken", seat=2)
            case "fault":
                raise RuntimeError("a secret of the server")
            case "timeout":
                raise TimeoutError("of somebody else")
            case "journal":
                raise JournalUnavailable("the disk is full")
            case "wait":
                await self.forever.wait()
            case "huge":
                return Text(value="x" * 300_000)
            case "bytes":
                return Text(value="as bytes").SerializeToString()
            case "trace":
                return Text(value=caller.trace_id)
        return Text(value=what)

    async def count(self, request: Text, caller: Caller) -> AsyncIterator[Text | bytes]:
        try:
            yield Text(value="first")
            yield await self._said(request.value, caller)
        except BaseException as error:
            self.ended.put_nowait(type(error).__name__)
            raise
        self.ended.put_nowait("end")

    async def talk(self, requests: AsyncIterator[Text], caller: Caller) -> AsyncIterator[Text | bytes]:
        try:
            async for request in requests:
                yield await self._said(request.value, caller)
        except BaseException as error:
            self.ended.put_nowait(type(error).__name__)
            raise
        self.ended.put_nowait("end")


class Client:
    """Calls of the service with raw bytes or texts."""

    def __init__(self, channel: grpc.aio.Channel, echo: Echo, tokens: Tokens, admission: Admission) -> None:
        self.channel, self.echo, self.tokens, self.admission = channel, echo, tokens, admission

    async def say(self, what: str, method: str = "Echo", **metadata: str) -> str:
        answer = await self.call(method)(Text(value=what).SerializeToString(), metadata=_pairs(metadata))
        return Text.FromString(answer).value

    def call(self, method: str) -> Any:
        client, server = METHODS[method]
        kinds = {(False, False): "unary_unary", (False, True): "unary_stream", (True, True): "stream_stream"}
        return getattr(self.channel, kinds[client, server])(f"/{SERVICE.full_name}/{method}")

    def count(self, what: str, **metadata: str) -> Any:
        return self.call("Count")(Text(value=what).SerializeToString(), metadata=_pairs(metadata))

    def talk(self, **metadata: str) -> Any:
        return self.call("Talk")(metadata=_pairs(metadata))

    def authorization(self, player: str = "players/a") -> str:
        return f"Bearer {self.tokens.issue(player, 'Ann').token}"


def _pairs(metadata: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((key.replace("_", "-"), value) for key, value in metadata.items())


@asynccontextmanager
async def echoing(settings: Settings | None = None) -> AsyncIterator[Client]:
    """A client of a served ``Echo``."""
    settings = settings or Settings()
    tokens = await Tokens.load(MemoryJournal())
    admission = Admission(settings, tokens)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    echo = Echo()
    mount = Mount(server, settings, admission, Metrics(), ACCESS)
    mount.add(SERVICE, echo)
    mount.refuse_the_rest()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Client(channel, echo, tokens, admission)
    finally:
        await server.stop(0)
