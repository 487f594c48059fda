"""The tables and streams of a fake server; see ``fake_server``.

The law of this file: a ``FakeTable`` sends what is added to it to all who follow it; a
``FakeStream`` sends whatever else a test wants, and ends when a test wants it to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from croupier.v1 import doudizhu_pb2, games_pb2, streams_pb2, tables_pb2

if TYPE_CHECKING:
    from clients.fake_server import FakeServer, World

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
        return games_pb2.GameView(doudizhu=doudizhu_pb2.DouDizhuView(deal=len(self.events), to_act=0))

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
