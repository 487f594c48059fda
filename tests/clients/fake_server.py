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
from google.protobuf import any_pb2, duration_pb2, timestamp_pb2
from google.rpc import error_details_pb2, status_pb2

import croupier
from croupier.v1 import games_pb2, players_pb2, streams_pb2, tables_pb2
from croupier.v1.games_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server
from croupier.v1.players_pb2_grpc import PlayerServiceServicer, add_PlayerServiceServicer_to_server
from croupier.v1.tables_pb2_grpc import TableServiceServicer, add_TableServiceServicer_to_server

TABLE = "tables/t1"
EPOCH = "first life"


def status(code: grpc.StatusCode, reason: str = "", message: str = "no", **facts: str) -> status_pb2.Status:
    """A refusal as the server writes it; without a reason it has no details."""
    made = status_pb2.Status(code=code.value[0], message=message)
    if reason:
        info = any_pb2.Any()
        info.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="croupier", metadata=facts))
        made.details.append(info)
    return made


async def refuse(context: Any, refusal: status_pb2.Status) -> None:
    """Fail a call with a status and its details, if it has any."""
    codes = {code.value[0]: code for code in grpc.StatusCode}
    details = (("grpc-status-details-bin", refusal.SerializeToString()),) if refusal.details else ()
    await context.abort(codes[refusal.code], refusal.message, details)


class FakeTable:
    """A table whose events are what a test adds; ``turn`` stands until the next event."""

    def __init__(self, world: World, name: str = TABLE, seats: int = 3) -> None:
        self.world = world
        self.info = tables_pb2.Table(
            name=name, game="doudizhu", board=name, commitment=b"c" * 32, state=tables_pb2.TABLE_STATE_OPEN
        )
        self.info.seats.extend(tables_pb2.Seat(seat=n) for n in range(seats))
        self.events: list[tables_pb2.TableEvent] = []
        self.turn: tables_pb2.Turn | None = None
        self.moves_left: int | None = None
        self.ended = False

    def add(self, *, lost: bool = False, **kind: Any) -> int:
        """Append an event (``moved=TableMoved(…)``; nothing: one that may not be seen).

        It is sent to all who follow, unless it is ``lost``.
        """
        event = tables_pb2.TableEvent(seq=len(self.events) + 1, **kind)
        self.events.append(event)
        self.info.seq = event.seq
        self.turn = None
        if not lost:
            self._tell(event=event)
        return event.seq

    def give_turn(self, seat: int, *moves: str, truncated: bool = False) -> None:
        """It is the turn of ``seat``."""
        legal = [games_pb2.Move(text=move) for move in moves]
        self.turn = tables_pb2.Turn(
            seat=seat, seq=len(self.events), legal_moves=legal, truncated=truncated, view=self.view()
        )
        self._tell(seat, turn=self.turn)

    def end(self, *scores: int) -> None:
        """The table ends."""
        self.info.state = tables_pb2.TABLE_STATE_ENDED
        self.info.result = tables_pb2.TABLE_RESULT_FINISHED
        self.info.scores.extend(scores)
        self.ended = True
        self.add(ended=tables_pb2.TableEnded(result=tables_pb2.TABLE_RESULT_FINISHED, scores=scores))
        self._tell(ended=status_pb2.Status())

    def fill(self) -> None:
        """Every seat is taken."""
        self.info.state = tables_pb2.TABLE_STATE_FILLED
        self.add(filled=tables_pb2.TableFilled(awaited_nonces=range(len(self.info.seats))))

    def view(self) -> games_pb2.GameView:
        """A view that shows how many events there were, as the deal's number."""
        return games_pb2.GameView(doudizhu={"deal": len(self.events), "to_act": 0})

    def move(self, seat: int, text: str) -> int:
        """``seat`` moves; with ``moves_left`` it is its turn again until the table ends."""
        moved = tables_pb2.TableMoved(seat=seat, text=text, by=tables_pb2.MOVED_BY_PLAYER)
        seq = self.add(moved=moved)
        if self.moves_left is not None:
            self.moves_left -= 1
            self.give_turn(seat, "pass", "bid 1") if self.moves_left else self.end(2, -1, -1)
        return seq

    def snapshot(self, **more: Any) -> tables_pb2.TableSnapshot:
        """The table as it stands."""
        return tables_pb2.TableSnapshot(
            seq=len(self.events), table=self.info, view=self.view(), epoch=EPOCH, **more
        )

    def _tell(self, only: int | None = None, **update: Any) -> None:
        for server in self.world.servers:
            for stream in server.streams:
                stream.tell(self, only, update)
        self.world.wake()


class FakeStream:
    """One Play call: what came up (``requests``), what is subscribed, what goes down."""

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.requests: list[tables_pb2.PlayRequest] = []
        self.subscribed: dict[tuple[str, int | None], tables_pb2.Subscription] = {}
        self.open = True
        self._down: asyncio.Queue[tables_pb2.PlayResponse | status_pb2.Status] = asyncio.Queue()

    def commands(self, kind: str) -> list[Any]:
        """All commands of a kind that came up, in order."""
        every = [c for request in self.requests for c in request.commands]
        return [getattr(c, kind) for c in every if c.WhichOneof("command") == kind]

    def tell(self, table: FakeTable, only: int | None, update: dict[str, Any]) -> None:
        """Send an update to the subscriptions of a table (``only``: of that seat)."""
        for name, seat in list(self.subscribed):
            if name == table.info.name and (only is None or seat == only):
                self.update(seat, name, **update)
                if "ended" in update:
                    del self.subscribed[name, seat]

    def update(self, seat: int | None, name: str = TABLE, **update: Any) -> None:
        """Send any update."""
        self.send(updates=[tables_pb2.TableUpdate(table=name, as_seat=seat, **update)])

    def event(self, seq: int, seat: int | None = 0) -> None:
        """Send the stored event of that number, whatever was sent before."""
        self.update(seat, event=self.server.world.table.events[seq - 1])

    def send(self, **response: Any) -> None:
        """Send any response, unless the server is silent."""
        if not self.server.silent:
            self._down.put_nowait(tables_pb2.PlayResponse(**response))

    def hint(self, seconds: int = 0) -> None:
        """Ask the client to reconnect."""
        self.send(reconnect=streams_pb2.Reconnect(within=duration_pb2.Duration(seconds=seconds)))

    def cut(self, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE, reason: str = "") -> None:
        """End the call with an error (or OK) once what was sent before has gone out."""
        self.subscribed.clear()
        self._down.put_nowait(status(code, reason, "cut"))

    async def run(self, requests: Any, context: Any) -> AsyncIterator[tables_pb2.PlayResponse]:
        reading = asyncio.create_task(self._read(requests))
        try:
            while True:
                down = await self._down.get()
                if isinstance(down, tables_pb2.PlayResponse):
                    yield down
                    continue
                if down.code:
                    await refuse(context, down)
                return
        finally:
            self.open = False
            self.subscribed.clear()
            reading.cancel()
            self.server.world.wake()

    async def _read(self, requests: Any) -> None:
        async for request in requests:
            self.requests.append(request)
            for command in request.commands:
                inner = getattr(self, f"_{command.WhichOneof('command')}")
                inner(getattr(command, command.WhichOneof("command")))
            self.server.world.wake()

    def _subscribe(self, asked: tables_pb2.Subscription) -> None:
        seat = asked.seat if asked.HasField("seat") else None
        refusals = self.server.world.refuse_subscriptions
        if refusals:
            self.update(seat, asked.table, ended=refusals.popleft())
            return
        table = self.server.world.tables[asked.table]
        self.subscribed[asked.table, seat] = asked
        after = asked.after_seq if asked.HasField("after_seq") else None
        if after is None:
            self.update(seat, asked.table, snapshot=table.snapshot())
        elif after > len(table.events) or (asked.epoch and asked.epoch != EPOCH):
            self.update(seat, asked.table, snapshot=table.snapshot(reset=True))
        else:
            for event in table.events[after:]:
                self.update(seat, asked.table, event=event)
        if table.turn is not None and table.turn.seat == seat:
            self.update(seat, asked.table, turn=table.turn)
        if table.ended:
            del self.subscribed[asked.table, seat]
            self.update(seat, asked.table, ended=status_pb2.Status())

    def _unsubscribe(self, asked: tables_pb2.Unsubscribe) -> None:
        self.subscribed.pop((asked.table, asked.seat if asked.HasField("seat") else None), None)

    def _move(self, asked: tables_pb2.MakeMoveRequest) -> None:
        world = self.server.world
        result = tables_pb2.MoveResult(table=asked.table, request_id=asked.request_id)
        if world.refuse_moves:
            result.refused.CopyFrom(world.refuse_moves.popleft())
        else:
            if asked.request_id not in world.accepted:
                seq = world.tables[asked.table].move(asked.seat, asked.move.text)
                world.accepted[asked.request_id] = seq
            result.seq = world.accepted[asked.request_id]
        if not world.hold_results:
            self.send(results=[result])


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
        table.info.seats[seat].nonce_commitment = request.nonce_commitment
        table.add(seat_changed=tables_pb2.SeatChanged(seat=table.info.seats[seat]))
        return tables_pb2.JoinTableResponse(seat=seat, table=table.info)

    async def LeaveTable(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._note(request, context)
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
