"""What a client without the SDK has: generated stubs, unary calls and one server stream a table."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections.abc import AsyncIterator

import grpc
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from croupier.v1 import games_pb2, players_pb2, players_pb2_grpc, tables_pb2, tables_pb2_grpc
from croupier_games import GAMES, records
from system.processes import ServerProcess, server_process

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVICES = {
    "croupier.v1.GameService",
    "croupier.v1.PlayerService",
    "croupier.v1.TableService",
    "grpc.health.v1.Health",
}
REFLECTIONS = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"]
SHORT = {
    "hidden_unders": games_pb2.GameOptions(hidden_unders={"turn_limit": 100}),
    "doudizhu": games_pb2.GameOptions(doudizhu={"deals": 2}),
    "basic_rummy": games_pb2.GameOptions(basic_rummy={"turn_limit": 100}),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ServerProcess]:
    async with server_process() as started:
        yield started


class PlainPlayer:
    """A player with stubs and nothing else."""

    def __init__(self, channel: grpc.aio.Channel, token: str, form: games_pb2.MoveForm.ValueType) -> None:
        self.tables = tables_pb2_grpc.TableServiceStub(channel)
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.seqs: list[int] = []
        self._form = form

    async def play(self, table: str) -> None:
        """Sit down, and make a random move at each turn, until the table ends the stream."""
        join = tables_pb2.JoinTableRequest(name=table, request_id=uuid.uuid4().hex)
        seat = (await self.tables.JoinTable(join, metadata=self.metadata)).seat
        wish = tables_pb2.Subscription(table=table, after_seq=0, legal_moves=True, move_form=self._form)
        watch = self.tables.WatchTable(
            tables_pb2.WatchTableRequest(subscription=wish), metadata=self.metadata
        )
        async for response in watch:
            for update in response.updates:
                if update.HasField("event"):
                    self.seqs.append(update.event.seq)
                elif update.HasField("turn"):
                    await self._move(table, update.turn, random.Random(f"{seat} {update.turn.seq}"))

    async def _move(self, table: str, turn: tables_pb2.Turn, rng: random.Random) -> None:
        move = tables_pb2.MakeMoveRequest(
            table=table,
            move=rng.choice(turn.legal_moves),
            expected_seq=turn.seq,
            request_id=uuid.uuid4().hex,
        )
        made = await self.tables.MakeMove(move, metadata=self.metadata)
        assert made.seq > turn.seq


async def plain_player(channel: grpc.aio.Channel, form: games_pb2.MoveForm.ValueType) -> PlainPlayer:
    stub = players_pb2_grpc.PlayerServiceStub(channel)
    answer = await stub.SignIn(players_pb2.SignInRequest(display_name="Plain"))
    return PlainPlayer(channel, answer.token, form)


@pytest.mark.parametrize("form", [games_pb2.MOVE_FORM_TEXT, games_pb2.MOVE_FORM_TYPED])
@pytest.mark.parametrize("game", list(GAMES))
async def test_unary_calls_and_a_server_stream_are_enough_to_play(
    server: ServerProcess, game: str, form: games_pb2.MoveForm.ValueType
) -> None:
    async with grpc.aio.insecure_channel(server.address) as channel:
        players = [await plain_player(channel, form) for _ in range(3)]
        first = players[0]
        create = tables_pb2.CreateTableRequest(game=game, players=3, options=SHORT[game])
        table = (await first.tables.CreateTable(create, metadata=first.metadata)).table.name
        await asyncio.gather(*(player.play(table) for player in players))
        last = (await first.tables.GetTable(tables_pb2.GetTableRequest(name=table))).table.seq
        assert [player.seqs for player in players] == [list(range(1, last + 1))] * 3
        answer = await first.tables.GetRecord(tables_pb2.GetRecordRequest(table=table))
        assert records.verify(json.loads(answer.record_json)).result in ("finished", "void")


@pytest.mark.parametrize("name", REFLECTIONS)
async def test_reflection_lists_every_service(server: ServerProcess, name: str) -> None:
    async with grpc.aio.insecure_channel(server.address) as channel:
        call = channel.stream_stream(
            f"/{name}/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        [answer] = [answer async for answer in call]
    listed = {service.name for service in answer.list_services_response.service}
    assert {*SERVICES, *REFLECTIONS} <= listed


async def test_health_is_told_of_each_service(server: ServerProcess) -> None:
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ("", *(name for name in SERVICES if name.startswith("croupier."))):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING, service
