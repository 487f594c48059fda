"""One ``Play`` stream for all tables of a client, and what keeps it going.

The law of this file: commands of one loop turn go up in one message. A stream that ends is
followed by a new one that subscribes every table from its position and repeats every unanswered
move with its ``request_id``; after a hint to reconnect the new one is opened first and both are
read until the old one ends. Each move gets exactly one answer: its result, or the error that
ended the trying.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from croupier.connection import Connection, Route
from croupier.errors import ConnectionLost, Error, error_from_status
from croupier.line import Line
from croupier.retry import Retry
from croupier.subscription import Key, Need, Subscription
from croupier.v1 import tables_pb2

log = logging.getLogger("croupier")


@dataclass(slots=True, eq=False)
class _Move:
    """A move without its answer yet; ``line`` carries it (None: it waits for one)."""

    command: tables_pb2.PlayCommand
    answer: asyncio.Future[int]
    retry: Retry
    line: Line | None = None
    waits: asyncio.TimerHandle | None = field(default=None)


class Stream:
    """Subscriptions and moves of one client. Opened by the first of them."""

    def __init__(self, connection: Connection, *, moves_in_flight: int = 64) -> None:
        self._connection: Final = connection
        self._in_flight: Final = asyncio.Semaphore(moves_in_flight)
        self._subscriptions: dict[Key, Subscription] = {}
        self._retries: dict[Key, Retry] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._moves: dict[tuple[str, str], _Move] = {}
        self._lines: list[Line] = []
        self._keeper: asyncio.Task[None] | None = None

    # --- what a client asks for -----------------------------------------------------------------

    def seats_at(self, table: str) -> list[int | None]:
        """The seats of a table that are subscribed; None stands for a spectator's."""
        return [seat for name, seat in self._subscriptions if name == table]

    def subscribe(self, subscription: Subscription) -> None:
        """Begin; an earlier subscription of the same table and seat ends, for a seat the spectator's too.

        Two of one player would meet: what a spectator's subscription shows is the server's
        choice, and through a seat it is once there is one.
        """
        earlier = self._subscriptions.get(subscription.key)
        if earlier is not None:
            earlier.finish()
        spectator = self._subscriptions.get((subscription.table, None))
        if subscription.seat is not None and spectator is not None:
            self.unsubscribe(spectator)
        self._subscriptions[subscription.key] = subscription
        subscription.on_catching_up = lambda: self._ask(subscription)
        self._ask(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; its reader gets what is queued and stops."""
        subscription.finish()
        if self._subscriptions.get(subscription.key) is subscription:
            self._forget(subscription)
            if not subscription.behind:
                self._stop(subscription)

    async def move(self, request: tables_pb2.MakeMoveRequest) -> int:
        """Make a move; the number of its event once it is stored for good.

        Raises the ``Error`` by which it was refused, or ``ConnectionLost``. Cancelling stops the
        wait, not the move.
        """
        async with self._in_flight:
            key = request.table, request.request_id
            answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            command = tables_pb2.PlayCommand(move=request)
            move = self._moves[key] = _Move(command, answer, self._connection.retry())
            try:
                self._keep_open()
                self._carry(move)
                return await answer
            finally:
                self._moves.pop(key, None)
                if move.waits is not None:
                    move.waits.cancel()

    async def close(self) -> None:
        """End the stream; readers and moves get ``ConnectionLost``."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        await self._hang_up(self._lines)
        self._fail(ConnectionLost("the client is closed"))

    # --- commands up ----------------------------------------------------------------------------

    def _ask(self, subscription: Subscription) -> None:
        self._keep_open()
        for line in self._lines:
            line.send(subscription.command())

    def _stop(self, subscription: Subscription) -> None:
        stop = tables_pb2.Unsubscribe(table=subscription.table, seat=subscription.seat)
        for line in self._lines:
            line.send(tables_pb2.PlayCommand(unsubscribe=stop))

    def _carry(self, move: _Move) -> None:
        """Send a move over the newest stream that is known to work, or else the newest."""
        move.line = next((line for line in reversed(self._lines) if line.proven), None)
        if move.line is None and self._lines:
            move.line = self._lines[-1]
        if move.line is not None:
            move.line.send(move.command)

    def _greet(self, line: Line) -> None:
        for subscription in self._subscriptions.values():
            if not subscription.behind:
                line.send(subscription.command())
        for move in self._stranded():
            move.line = line
            line.send(move.command)

    def _stranded(self) -> Iterator[_Move]:
        """The moves that no stream carries any more."""
        return (m for m in self._moves.values() if m.line not in self._lines and m.waits is None)

    # --- answers down ---------------------------------------------------------------------------

    def _receive(self, response: tables_pb2.PlayResponse) -> None:
        for update in response.updates:
            self._update(update)
        for result in response.results:
            self._settle(result)

    def _update(self, update: tables_pb2.TableUpdate) -> None:
        seat = update.as_seat if update.HasField("as_seat") else None
        subscription = self._subscriptions.get((update.table, seat))
        if subscription is None:
            subscription = self._subscriptions.get((update.table, None))
            if subscription is None:
                return
        match subscription.take(update):
            case Need.NOTHING:
                if self._retries:
                    self._retries.pop(subscription.key, None)
            case Need.SUBSCRIBE:
                self._ask(subscription)
            case Need.UNSUBSCRIBE:
                log.debug("%s is not read; stopped until it is", subscription.table)
                self._stop(subscription)
            case Need.RETRY:
                self._ask_later(subscription, error_from_status(update.ended))
            case Need.FORGET:
                self._forget(subscription)

    def _forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(subscription.key, None)
        self._retries.pop(subscription.key, None)

    def _ask_later(self, subscription: Subscription, error: Error) -> None:
        """The server cannot serve the table now: ask again after a wait, within the bound."""
        retry = self._retries.setdefault(subscription.key, self._connection.retry())
        try:
            delay = retry.delay(error)
        except Error as final:
            subscription.fail(final)
            self._forget(subscription)
            return

        def again() -> None:
            self._timers.discard(timer)
            if self._subscriptions.get(subscription.key) is subscription:
                self._ask(subscription)

        timer = asyncio.get_running_loop().call_later(delay, again)
        self._timers.add(timer)

    def _settle(self, result: tables_pb2.MoveResult) -> None:
        move = self._moves.get((result.table, result.request_id))
        if move is None or move.answer.done():
            return
        if result.WhichOneof("result") == "seq":
            move.answer.set_result(result.seq)
            return
        error = error_from_status(result.refused)
        try:
            delay = move.retry.delay(error)
        except Error as final:
            move.answer.set_exception(final)
            return
        move.line = None
        move.waits = asyncio.get_running_loop().call_later(delay, self._carry_again, move)

    def _carry_again(self, move: _Move) -> None:
        move.waits = None
        self._carry(move)

    # --- keeping a stream open ------------------------------------------------------------------

    def _keep_open(self) -> None:
        self._connection.check_open()
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.get_running_loop().create_task(self._keep())

    async def _keep(self) -> None:
        """Open a stream whenever there is none that is here to stay. Ends when it gives up."""
        retry = self._connection.retry()
        try:
            while True:
                route, token = self._connection.route(), self._connection.token
                line = self._open(route, retry)
                parting = await line.parting()
                if isinstance(parting, Error):
                    await self._connection.mend(parting, retry, route, token)
                else:
                    await self._part(line, parting, retry)
                await self._hang_up([old for old in self._lines if old is not self._working()])
        except Error as error:
            log.debug("the stream is given up: %s", error)
            await self._hang_up(self._lines)
            self._fail(error)
        except Exception as bug:
            self._fail(Error(f"the stream failed: {type(bug).__name__}: {bug}"))
            raise

    async def _part(self, line: Line, within: float, retry: Retry) -> None:
        """The server asks to go elsewhere: not all clients at once, but before this stream ends."""
        self._connection.leave(line.route)
        error = await line.ended_within(retry.spread(within))
        if error is not None:
            await self._connection.mend(error, retry, line.route, self._connection.token)

    def _working(self) -> Line | None:
        return next((line for line in reversed(self._lines) if line.proven), None)

    def _open(self, route: Route, retry: Retry) -> Line:
        call = route.tables.Play(metadata=self._connection.metadata())
        line = Line(call, route, self._connection.silence, self._receive, retry.succeeded)
        self._lines.append(line)
        line.task.add_done_callback(lambda _: self._line_ended(line))
        self._greet(line)
        return line

    def _line_ended(self, line: Line) -> None:
        """Moves that it carried go on over another stream, if there is one."""
        if line in self._lines:
            self._lines.remove(line)
        if self._lines:
            for move in list(self._stranded()):
                self._carry(move)

    async def _hang_up(self, lines: list[Line]) -> None:
        tasks = [line.task for line in lines]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _fail(self, error: Error) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for subscription in list(self._subscriptions.values()):
            subscription.fail(error)
            self._forget(subscription)
        for move in self._moves.values():
            if not move.answer.done():
                move.answer.set_exception(error)
