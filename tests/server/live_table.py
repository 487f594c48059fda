"""A table on a server in a process of its own, played and watched over a real channel."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress

import grpc

from croupier.v1 import players_pb2, players_pb2_grpc, tables_pb2, tables_pb2_grpc
from server.refusals import seen

Metadata = tuple[tuple[str, str], ...]


class LiveTable:
    """A Dou Dizhu table of three guests, each of whom watches. Made by ``deal``."""

    def __init__(self, channel: grpc.aio.Channel, name: str, players: list[Metadata]) -> None:
        self.name = name
        self.players = players
        self.stub = tables_pb2_grpc.TableServiceStub(channel)
        self.heard: list[list[int]] = [[] for _ in players]
        """For each seat the numbers of the events that its stream has shown."""
        self.beats = [0 for _ in players]
        self.snapshots: list[list[tables_pb2.TableSnapshot]] = [[] for _ in players]
        self._news = asyncio.Event()
        self._requests = itertools.count()
        self.reading = [asyncio.create_task(self._read(seat)) for seat in range(len(players))]

    @classmethod
    async def deal(cls, channel: grpc.aio.Channel, **options: int) -> LiveTable:
        """A table that has begun, with all its streams open."""
        sign_in = players_pb2_grpc.PlayerServiceStub(channel).SignIn
        players: list[Metadata] = []
        for name in ("Ann", "Bob", "Cid"):
            answer = await sign_in(players_pb2.SignInRequest(display_name=name))
            players.append((("authorization", f"Bearer {answer.token}"),))
        stub = tables_pb2_grpc.TableServiceStub(channel)
        request = tables_pb2.CreateTableRequest(game="doudizhu", **options)
        table = (await stub.CreateTable(request, metadata=players[0])).table
        for player in players:
            join = tables_pb2.JoinTableRequest(name=table.name, join_code=table.join_code)
            await stub.JoinTable(join, metadata=player)
        live = cls(channel, table.name, players)
        await live.until(lambda: all(live.snapshots))
        return live

    async def _read(self, seat: int) -> None:
        subscription = tables_pb2.Subscription(table=self.name)
        request = tables_pb2.WatchTableRequest(subscription=subscription)
        async for response in self.stub.WatchTable(request, metadata=self.players[seat]):
            self.beats[seat] += response.HasField("heartbeat")
            for update in response.updates:
                if update.HasField("event"):
                    self.heard[seat].append(update.event.seq)
                elif update.HasField("snapshot"):
                    self.snapshots[seat].append(update.snapshot)
            self._news.set()

    async def until(self, holds: object) -> None:
        """Until the streams have shown what makes it so; a stream that ends is an error."""
        assert callable(holds)
        while not holds():
            self._news.clear()
            news = asyncio.create_task(self._news.wait())
            await asyncio.wait([news, *self.reading], return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            for reading in self.reading:
                if reading.done():
                    reading.result()
                    raise AssertionError("a stream has ended")

    @property
    def open_streams(self) -> int:
        """How many streams still are."""
        return sum(not reading.done() for reading in self.reading)

    async def table(self) -> tables_pb2.Table:
        """The table as the server shows it now."""
        request = tables_pb2.GetTableRequest(name=self.name)
        return (await self.stub.GetTable(request, metadata=self.players[0], timeout=9)).table

    async def a_move(self) -> tuple[Metadata, tables_pb2.MakeMoveRequest]:
        """A legal move of whoever is to act, not yet made."""
        for player in self.players:
            request = tables_pb2.ListLegalMovesRequest(table=self.name)
            with suppress(grpc.aio.AioRpcError):
                listed = await self.stub.ListLegalMoves(request, metadata=player, timeout=9)
                if listed.moves:
                    move = tables_pb2.MakeMoveRequest(
                        table=self.name,
                        move=listed.moves[-1],
                        request_id=f"request-{next(self._requests):08}",
                    )
                    return player, move
        raise AssertionError("nobody is to act")

    async def make(
        self, player: Metadata, move: tables_pb2.MakeMoveRequest
    ) -> int | tuple[grpc.StatusCode, str]:
        """Make it: its number, or why not."""
        try:
            return (await self.stub.MakeMove(move, metadata=player, timeout=9)).seq
        except grpc.aio.AioRpcError as error:
            told = "grpc-status-details-bin" in dict(error.trailing_metadata() or ())
            return error.code(), seen(error).reason if told else ""

    async def make_at_last(self, player: Metadata, move: tables_pb2.MakeMoveRequest) -> int:
        """Repeat it for as long as the store is away."""
        while not isinstance(made := await self.make(player, move), int):
            assert made[0] is grpc.StatusCode.UNAVAILABLE, made
            await asyncio.sleep(0.05)
        return made

    async def close(self) -> None:
        """Stop watching."""
        for reading in self.reading:
            reading.cancel()
        await asyncio.gather(*self.reading, return_exceptions=True)
