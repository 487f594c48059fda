"""One Play stream: commands up, updates and results down.

The law of this file: commands of one table are worked on in the order they came; reading goes
on while appends wait; a refusal is an answer in-band and the stream lives on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import TYPE_CHECKING, Any, Final

from google.rpc import status_pb2

from croupier.v1 import tables_pb2
from croupier_server import checks
from croupier_server.caller import Caller
from croupier_server.errors import Refusal, missing_field, refuse
from croupier_server.feed import Feed
from croupier_server.follow import begin, subscription_for
from croupier_server.followers import Subscription
from croupier_server.views import Audience, address, ended_chunk

if TYPE_CHECKING:
    from croupier_server.rpc.table_service import TableServicer


class PlaySession:
    """The tables, moves in flight and feed of one Play stream."""

    def __init__(self, service: TableServicer, caller: Caller, feed: Feed) -> None:
        self._service: Final = service
        self._caller: Final = caller
        self._feed: Final = feed
        self._subscriptions: dict[tuple[str, Audience], Subscription] = {}
        self._moves = 0
        self._running: dict[str, asyncio.Task[None]] = {}

    async def read(self, requests: AsyncIterator[tables_pb2.PlayRequest]) -> None:
        """Take commands until the client has no more; what is under way is finished then."""
        try:
            async for request in requests:
                for command in request.commands:
                    self._take(command)
        except Refusal as refusal:
            self._feed.finish(refusal)
            return
        if self._running:
            await asyncio.wait(set(self._running.values()))
        self._feed.finish()

    def close(self) -> None:
        """The stream is over: nothing more is followed. Moves under way are still made."""
        for subscription in tuple(self._subscriptions.values()):
            subscription.close()
        self._subscriptions.clear()

    def _take(self, command: tables_pb2.PlayCommand) -> None:
        kind = command.WhichOneof("command")
        if kind == "move":
            self._start_move(command.move)
        elif kind == "subscribe":
            self._start(command.subscribe.table, self._subscribe(command.subscribe))
        elif kind == "unsubscribe":
            self._start(command.unsubscribe.table, self._unsubscribe(command.unsubscribe))
        else:
            raise missing_field("commands.command", "is required: subscribe, unsubscribe or move")

    # --- order per table ----------------------------------------------------------------------

    def _start(self, table: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin work on a table once what came before it for that table is done."""
        before = self._running.get(table)
        task = asyncio.create_task(work if before is None else _after(before, work))
        self._running[table] = task
        task.add_done_callback(lambda done: self._done(table, done))

    def _done(self, table: str, task: asyncio.Task[None]) -> None:
        if self._running.get(table) is task:
            del self._running[table]
        end_failed(self._feed, task)

    # --- moves --------------------------------------------------------------------------------

    def _start_move(self, move: tables_pb2.MakeMoveRequest) -> None:
        limit = self._service.settings.max_moves_in_flight
        if self._moves >= limit:
            self._answer(move, refuse("TOO_MANY_MOVES", f"{limit} moves are unanswered on this stream"))
            return
        self._moves += 1
        self._start(move.table, self._move(move))

    async def _move(self, move: tables_pb2.MakeMoveRequest) -> None:
        try:
            response = await self._service.make_move(move, self._caller)
        except Refusal as refusal:
            self._answer(move, refusal)
        else:
            self._answer(move, response.seq)
        finally:
            self._moves -= 1

    def _answer(self, move: tables_pb2.MakeMoveRequest, outcome: int | Refusal) -> None:
        result = tables_pb2.MoveResult(table=_cut(move.table), request_id=_cut(move.request_id))
        if isinstance(outcome, Refusal):
            result.refused.CopyFrom(outcome.to_status(self._caller.language))
        else:
            result.seq = outcome
        self._feed.push_result(result.SerializeToString())

    # --- subscriptions ------------------------------------------------------------------------

    async def _subscribe(self, asked: tables_pb2.Subscription) -> None:
        try:
            await self._follow(asked)
        except Refusal as refusal:
            seat = asked.seat if asked.HasField("seat") else None
            status = refusal.to_status(self._caller.language)
            self._feed.push_note(_refused(asked.table, seat, status))

    async def _follow(self, asked: tables_pb2.Subscription) -> None:
        service = self._service
        checks.resource_name("table", asked.table, "tables")
        table = await service.tables.get(asked.table)
        subscription = subscription_for(
            table, self._feed, asked, self._caller.player, service.settings.max_legal_moves
        )
        key = (asked.table, subscription.audience)
        earlier = self._subscriptions.pop(key, None)
        if earlier is not None:
            earlier.close()
        self._forget_ended()
        if len(self._subscriptions) >= service.settings.max_tables_per_stream:
            raise refuse("TOO_MANY_SUBSCRIPTIONS", "this stream follows as many tables as one stream may")
        if not self._feed.ended:
            self._subscriptions[key] = subscription
            await begin(service.tables.journal, table, subscription, asked)

    def _forget_ended(self) -> None:
        limit = self._service.settings.max_tables_per_stream
        if len(self._subscriptions) >= limit:
            kept = {k: s for k, s in self._subscriptions.items() if not s.closed}
            self._subscriptions = kept

    async def _unsubscribe(self, asked: tables_pb2.Unsubscribe) -> None:
        for key in [k for k in self._subscriptions if k[0] == asked.table]:
            if not asked.HasField("seat") or key[1] == asked.seat:
                self._subscriptions.pop(key).close()


def end_failed(feed: Feed, done: asyncio.Future[None]) -> None:
    """A stream whose work failed ends with the reason."""
    if not done.cancelled() and isinstance(error := done.exception(), Exception):
        feed.finish(error)


async def _after(before: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
    await asyncio.wait((before,))
    await work


def _cut(text: str) -> str:
    """What is echoed of a caller's own text: ids are at most 64 characters long."""
    return text[:80]


def _refused(table: str, seat: int | None, status: status_pb2.Status) -> bytes:
    return ended_chunk(address(_cut(table), seat), status)
