"""One Play stream: commands up, updates and results down.

The law of this file: commands of one table are worked on in the order they came; reading goes
on while appends wait, but not while the client leaves its answers unread; a refusal is an answer
in-band and the stream lives on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from google.rpc import status_pb2

from croupier.v1 import tables_pb2
from croupier_server import checks
from croupier_server.caller import Caller
from croupier_server.errors import Refusal, missing_field, refuse
from croupier_server.feed import Feed
from croupier_server.follow import begin, subscription_for
from croupier_server.followers import Subscription
from croupier_server.rpc.streams import end_failed
from croupier_server.views import Audience, address, ended_chunk

if TYPE_CHECKING:
    from croupier_server.rpc.table_service import TableServicer

Work = Callable[[], Coroutine[Any, Any, None]]
"""What a command asks for; called when its turn comes."""


class PlaySession:
    """The tables, moves in flight and feed of one Play stream."""

    def __init__(self, service: TableServicer, caller: Caller, feed: Feed) -> None:
        self._service: Final = service
        self._caller: Final = caller
        self._feed: Final = feed
        self._subscriptions: dict[tuple[str, Audience], Subscription] = {}
        self._moves = 0
        self._changes = 0
        self._loop: Final = asyncio.get_running_loop()
        self._running: dict[str, asyncio.Future[None]] = {}
        """The last thing that was begun for each table."""
        self._settling: dict[asyncio.Future[None], asyncio.Task[None]] = {}
        """Begun moves whose outcome is being found out."""

    async def read(self, requests: AsyncIterator[tables_pb2.PlayRequest]) -> None:
        """Take commands until the client has no more; what is under way is finished then."""
        try:
            async for request in requests:
                for command in request.commands:
                    if self._feed.crowded or self._changes >= self._most_tables:
                        await self._catch_breath()
                    self._take(command)
        except Refusal as refusal:
            self._feed.finish(refusal)
            return
        if self._running:
            await asyncio.wait(set(self._running.values()))
        self._feed.finish()

    async def _catch_breath(self) -> None:
        """Wait for the client to read its answers, and for some of its subscriptions to begin."""
        await self._feed.read()
        if self._changes >= self._most_tables:
            await asyncio.wait(set(self._running.values()), return_when=asyncio.FIRST_COMPLETED)

    @property
    def _most_tables(self) -> int:
        return self._service.settings.max_tables_per_stream

    def close(self) -> None:
        """The stream is over: nothing more is followed. Moves under way are still made."""
        for subscription in tuple(self._subscriptions.values()):
            subscription.close()

    def _take(self, command: tables_pb2.PlayCommand) -> None:
        kind = command.WhichOneof("command")
        if kind == "move":
            self._start_move(command.move)
        elif kind == "subscribe":
            self._start_change(command.subscribe.table, partial(self._subscribe, command.subscribe))
        elif kind == "unsubscribe":
            self._start_change(command.unsubscribe.table, partial(self._unsubscribe, command.unsubscribe))
        else:
            raise missing_field("commands.command", "is required: subscribe, unsubscribe or move")

    # --- order per table ----------------------------------------------------------------------

    def _start(self, table: str, work: Work) -> None:
        """Begin work on a table once what came before it for that table is done."""
        before = self._running.get(table)
        task = asyncio.create_task(work() if before is None else _after(before, work))
        self._running[table] = task
        task.add_done_callback(lambda done: self._ended(table, done))

    def _ended(self, table: str, task: asyncio.Task[None]) -> None:
        self._done(table, task)
        end_failed(self._feed, task)

    def _done(self, table: str, work: asyncio.Future[None]) -> None:
        if self._running.get(table) is work:
            del self._running[table]

    # --- moves --------------------------------------------------------------------------------

    def _start_move(self, move: tables_pb2.MakeMoveRequest) -> None:
        limit = self._service.settings.max_moves_in_flight
        if self._moves >= limit:
            self._answer(move, refuse("TOO_MANY_MOVES", f"{limit} moves are unanswered on this stream"))
            return
        self._moves += 1
        if move.table in self._running or not self._begin(move):
            self._start(move.table, partial(self._move, move, None))

    def _begin(self, move: tables_pb2.MakeMoveRequest) -> bool:
        """Begin a move that needs no task of its own; what comes for its table meanwhile waits."""
        done: asyncio.Future[None] = self._loop.create_future()

        def landed(outcome: int | Coroutine[Any, Any, int]) -> None:
            if isinstance(outcome, int):
                self._moves -= 1
                self._answer(move, outcome)
                self._done(move.table, done)
                done.set_result(None)
            else:
                settling = asyncio.create_task(self._move(move, outcome))
                self._settling[done] = settling
                settling.add_done_callback(settled)

        def settled(settling: asyncio.Future[None]) -> None:
            del self._settling[done]
            self._done(move.table, done)
            done.set_result(None)
            end_failed(self._feed, settling)

        if not self._service.begin_move(move, self._caller, landed):
            return False
        self._running[move.table] = done
        return True

    async def _move(self, move: tables_pb2.MakeMoveRequest, outcome: Coroutine[Any, Any, int] | None) -> None:
        """Answer a move: with the outcome of one that was begun, or make it now."""
        try:
            seq = await (outcome or self._make(move))
        except Refusal as refusal:
            self._answer(move, refusal)
        else:
            self._answer(move, seq)
        finally:
            self._moves -= 1

    async def _make(self, move: tables_pb2.MakeMoveRequest) -> int:
        return (await self._service.make_move(move, self._caller)).seq

    def _answer(self, move: tables_pb2.MakeMoveRequest, outcome: int | Refusal) -> None:
        if self._feed.behind:
            self._bring_up(move.table)  # the move's own event must not be behind its result
        result = tables_pb2.MoveResult(table=_cut(move.table), request_id=_cut(move.request_id))
        if isinstance(outcome, Refusal):
            result.refused.CopyFrom(outcome.to_status(self._caller.language))
        else:
            result.seq = outcome
        self._feed.push_result(result.SerializeToString())

    # --- subscriptions ------------------------------------------------------------------------

    def _bring_up(self, table: str) -> None:
        for (name, _), subscription in tuple(self._subscriptions.items()):
            if name == table and self._feed.owes(subscription):
                self._feed.bring_up(subscription)

    def _start_change(self, table: str, change: Work) -> None:
        self._changes += 1
        self._start(table, partial(self._counted, change))

    async def _counted(self, change: Work) -> None:
        try:
            await change()
        finally:
            self._changes -= 1

    async def _subscribe(self, asked: tables_pb2.Subscription) -> None:
        try:
            await self._follow(asked)
        except Refusal as refusal:
            seat = asked.seat if asked.HasField("seat") else None
            status = refusal.to_status(self._caller.language)
            self._feed.push_note(_refused(asked.table, seat, status))

    async def _follow(self, asked: tables_pb2.Subscription) -> None:
        service = self._service
        checks.table_name("table", asked.table)
        table = await service.tables.get(asked.table)
        subscription = await subscription_for(
            table, self._feed, asked, self._caller.player, service.settings.max_legal_moves
        )
        try:
            self._hold((asked.table, subscription.audience), subscription)
            await begin(service.tables.journal, table, subscription, asked)
        except BaseException:
            subscription.close()
            raise

    def _hold(self, key: tuple[str, Audience], subscription: Subscription) -> None:
        """Keep a subscription until it closes; an earlier one of the same table and seat ends."""
        earlier = self._subscriptions.get(key)
        if earlier is None and len(self._subscriptions) >= self._most_tables:
            raise refuse("TOO_MANY_SUBSCRIPTIONS", "this stream follows as many tables as one stream may")
        self._subscriptions[key] = subscription
        subscription.when_closed = lambda: self._let_go(key, subscription)
        if earlier is not None:
            earlier.close()
        if self._feed.ended:
            subscription.close()

    def _let_go(self, key: tuple[str, Audience], subscription: Subscription) -> None:
        if self._subscriptions.get(key) is subscription:
            del self._subscriptions[key]

    async def _unsubscribe(self, asked: tables_pb2.Unsubscribe) -> None:
        for key in [k for k in self._subscriptions if k[0] == asked.table]:
            if not asked.HasField("seat") or key[1] == asked.seat:
                self._subscriptions[key].close()


async def _after(before: asyncio.Future[None], work: Work) -> None:
    await asyncio.wait((before,))
    await work()


def _cut(text: str) -> str:
    """What is echoed of a caller's own text: ids are at most 64 characters long."""
    return text[:80]


def _refused(table: str, seat: int | None, status: status_pb2.Status) -> bytes:
    return ended_chunk(address(_cut(table), seat), status)
