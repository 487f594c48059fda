"""A server without rules, journal or time: it does what a test tells it to.

The law of this file: a ``World`` is what is stored (tables, events, accepted moves, tokens); a
``FakeServer`` is one process that serves it over a real gRPC port. Streams are in ``streams`` and
``inboxes`` in the order of their opening, and a test may push anything down them or cut them.
Everything that happens wakes ``World.until``, so that tests wait for events and never for time.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import duration_pb2, timestamp_pb2
from google.rpc import status_pb2

import croupier
from clients.fake_table import EPOCH, TABLE, FakeStream, FakeTable, refuse, status
from croupier.v1 import games_pb2, players_pb2, tables_pb2
from croupier.v1.games_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server
from croupier.v1.players_pb2_grpc import PlayerServiceServicer, add_PlayerServiceServicer_to_server
from croupier.v1.tables_pb2_grpc import TableServiceServicer, add_TableServiceServicer_to_server

__all__ = ["TABLE", "FakeServer", "FakeStream", "FakeTable", "World", "connect", "serving", "status"]


class World:
    """All that is stored, and what the next calls are refused with."""

    def __init__(self) -> None:
        self.servers: list[FakeServer] = []
        self.tables: dict[str, FakeTable] = {}
        self.table = self.new_table(TABLE)
        self.accepted: dict[str, int] = {}
        self.hold_results = False
        self.refuse_moves: deque[status_pb2.Status] = deque()
        self.refuse_subscriptions: deque[status_pb2.Status] = deque()
        self.refuse_calls: defaultdict[str, deque[status_pb2.Status]] = defaultdict(deque)
        self.calls: list[Any] = []
        self.metadata: list[dict[str, str]] = []
        self.heartbeat = 15.0
        self.limits = games_pb2.Limits(max_moves_in_flight=64)
        self.token_life = 0.0
        self.tokens = 0
        self.bad_tokens: set[str] = set()
        self.legal_pages: list[list[str]] = [[]]
        self.inbox: dict[str, players_pb2.InboxItem] = {}
        self.record = "{}"
        self.before_joining: Callable[[], None] = lambda: None
        self.before_leaving: Callable[[], None] = lambda: None
        self.take_promises = True
        self._changed = asyncio.Event()

    def new_table(self, name: str, seats: int = 3) -> FakeTable:
        """Another table."""
        self.tables[name] = FakeTable(self, name, seats)
        return self.tables[name]

    def wake(self) -> None:
        """Something happened."""
        self._changed.set()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for what happens to make a condition true."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def calls_of(self, kind: type[Any]) -> list[Any]:
        """The unary requests of a type, in order."""
        return [call for call in self.calls if isinstance(call, kind)]

    def offer(self, table: FakeTable, *, invited: tuple[int, ...] = (), seats: tuple[int, ...] = ()) -> None:
        """Put a table into the inbox, or take it out, and tell who watches."""
        item = players_pb2.InboxItem(table=table.info, invited_seats=invited, seats=seats)
        if invited or seats:
            self.inbox[table.info.name] = item
        else:
            self.inbox.pop(table.info.name, None)
        for server in self.servers:
            for inbox in server.inboxes:
                inbox.put_nowait(players_pb2.WatchInboxResponse(items=[item]))


class FakeServer(GameServiceServicer, PlayerServiceServicer, TableServiceServicer):
    """One process on one port."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.streams: list[FakeStream] = []
        self.inboxes: list[asyncio.Queue[players_pb2.WatchInboxResponse | status_pb2.Status]] = []
        self.silent = False
        self.address = ""
        self._server = grpc.aio.server()

    async def start(self) -> None:
        """Serve on a free port."""
        add_GameServiceServicer_to_server(self, self._server)
        add_PlayerServiceServicer_to_server(self, self._server)
        add_TableServiceServicer_to_server(self, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        await self._server.start()
        self.world.servers.append(self)

    async def stop(self) -> None:
        """Die: calls under way are cut, the port is closed."""
        if self in self.world.servers:
            self.world.servers.remove(self)
            await self._server.stop(0)

    def cut_inboxes(self) -> None:
        """End every open inbox as a broken connection does."""
        for inbox in self.inboxes:
            inbox.put_nowait(status(grpc.StatusCode.UNAVAILABLE))

    async def _note(self, request: Any, context: Any) -> None:
        self.world.calls.append(request)
        metadata = {str(key): str(value) for key, value in context.invocation_metadata()}
        self.world.metadata.append(metadata)
        self.world.wake()
        refusals = self.world.refuse_calls[type(request).__name__.removesuffix("Request")]
        if refusals:
            await refuse(context, refusals.popleft())
        if metadata.get("authorization", "").removeprefix("Bearer ") in self.world.bad_tokens:
            await refuse(context, status(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED"))

    async def GetServerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        now = timestamp_pb2.Timestamp()
        now.GetCurrentTime()
        return games_pb2.GetServerInfoResponse(
            version="0",
            server_time=now,
            epoch=EPOCH,
            heartbeat=_seconds(self.world.heartbeat),
            limits=self.world.limits,
        )

    async def ListGames(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        return games_pb2.ListGamesResponse(games=[games_pb2.Game(game="doudizhu")])

    async def GetRules(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        return games_pb2.GetRulesResponse(language=request.language, markdown="# Rules")

    async def SignIn(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        self.world.tokens += 1
        response = players_pb2.SignInResponse(token=f"token-{self.world.tokens}")
        response.player.name = "players/me"
        response.player.display_name = request.display_name
        if self.world.token_life:
            response.expire_time.GetCurrentTime()
            response.expire_time.FromNanoseconds(
                response.expire_time.ToNanoseconds() + int(self.world.token_life * 1e9)
            )
        return response

    async def WatchInbox(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        down: asyncio.Queue[players_pb2.WatchInboxResponse | status_pb2.Status] = asyncio.Queue()
        self.inboxes.append(down)
        self.world.wake()
        try:
            yield players_pb2.WatchInboxResponse(items=self.world.inbox.values(), replayed=True)
            while True:
                response = await down.get()
                if isinstance(response, status_pb2.Status):
                    await refuse(context, response)
                yield response
        finally:
            self.inboxes.remove(down)
            self.world.wake()

    async def CreateTable(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        table = self.world.new_table(f"tables/{len(self.world.tables) + 1}")
        return tables_pb2.CreateTableResponse(table=table.info)

    async def GetTable(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        if request.name not in self.world.tables:
            await refuse(context, status(grpc.StatusCode.NOT_FOUND, "TABLE_NOT_FOUND"))
        return tables_pb2.GetTableResponse(table=self.world.tables[request.name].info)

    async def ListTables(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        names = list(self.world.tables)
        place = int(request.page_token or 0)
        more = str(place + 1) if place + 1 < len(names) else ""
        return tables_pb2.ListTablesResponse(
            tables=[self.world.tables[names[place]].info], next_page_token=more
        )

    async def JoinTable(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        table = self.world.tables[request.name]
        self.world.before_joining()
        free = [s.seat for s in table.info.seats if not s.player]
        if request.nonce:
            table.info.seats[request.seat].nonce = request.nonce
            return tables_pb2.JoinTableResponse(seat=request.seat, table=table.info)
        if not free:
            await refuse(context, status(grpc.StatusCode.FAILED_PRECONDITION, "TABLE_FULL"))
        seat = request.seat if request.HasField("seat") else free[0]
        if seat not in free:
            await refuse(context, status(grpc.StatusCode.FAILED_PRECONDITION, "SEAT_TAKEN"))
        table.info.seats[seat].player = "players/me"
        if self.world.take_promises:
            table.info.seats[seat].nonce_commitment = request.nonce_commitment
        table.add(seat_changed=tables_pb2.SeatChanged(seat=table.info.seats[seat]))
        return tables_pb2.JoinTableResponse(seat=seat, table=table.info)

    async def LeaveTable(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        self.world.before_leaving()
        return tables_pb2.LeaveTableResponse(table=self.world.tables[request.name].info)

    async def InviteBot(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        return tables_pb2.InviteBotResponse(seat=2, table=self.world.tables[request.name].info)

    async def ListLegalMoves(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        pages = self.world.legal_pages
        place = int(request.page_token or 0)
        return tables_pb2.ListLegalMovesResponse(
            moves=[games_pb2.Move(text=text) for text in pages[place]],
            next_page_token=str(place + 1) if place + 1 < len(pages) else "",
        )

    async def GetRecord(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
        return tables_pb2.GetRecordResponse(record_json=self.world.record)

    async def MakeMove(self, request: Any, context: Any) -> Any:  # noqa: N802
        raise NotImplementedError("clients move on their stream")

    def WatchTable(self, request: Any, context: Any) -> Any:  # noqa: N802
        raise NotImplementedError("clients watch on their stream")

    async def Play(self, request_iterator: Any, context: Any) -> Any:  # noqa: N802
        await self._note(None, context)
        stream = FakeStream(self)
        self.streams.append(stream)
        self.world.wake()
        async for response in stream.run(request_iterator, context):
            yield response


def _seconds(seconds: float) -> duration_pb2.Duration:
    return duration_pb2.Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9))


@asynccontextmanager
async def serving(world: World | None = None, servers: int = 1) -> AsyncIterator[World]:
    """A world with running servers."""
    world = world or World()
    running = [FakeServer(world) for _ in range(servers)]
    try:
        for server in running:
            await server.start()
        yield world
    finally:
        for server in running:
            await server.stop()


def connect(world: World, **more: Any) -> croupier.Client:
    """A client of a world's servers that does not wait between attempts."""
    addresses = [server.address for server in world.servers]
    return croupier.connect(addresses, **{"name": "Ada", "backoff": croupier.Backoff(0, 0), **more})
