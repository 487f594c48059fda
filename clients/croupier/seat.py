"""A table that you watch, and a seat that you play.

The law of this file: iterating gives events in order, each once, whatever the connection does
(see ``subscription``); the iteration ends when the table has. A move answers the last turn that
the iteration gave, so a decision is never taken for another position than the one it was made for.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self

from croupier.errors import Error, InvalidRequest, PermissionDenied
from croupier.events import Created, Dealt, Ended, Event, Filled, Moved, SeatChanged, Snapshot, Step, Turn
from croupier.joining import show_nonce
from croupier.nonce import Witness
from croupier.subscription import Subscription
from croupier.v1 import games_pb2, tables_pb2

if TYPE_CHECKING:
    from croupier.client import Client
    from croupier_games.records import Verified

log = logging.getLogger("croupier")

MoveLike = str | games_pb2.Move | Any
"""A canonical text, a ``Move``, or a game's own move message (``DouDizhuMove`` …)."""


class Watch:
    """A table seen by a spectator: iterate it for events. Also the base of ``Seat``.

    ``info`` is the table as far as the events given have told it.
    """

    def __init__(self, client: Client, info: tables_pb2.Table, wish: tables_pb2.Subscription) -> None:
        self.client: Final = client
        self.info = tables_pb2.Table()
        self.info.CopyFrom(info)
        self.table: Final = wish.table
        self._subscription: Final = Subscription(wish, limit=client.event_limit, seen=self._seen)
        client.stream.subscribe(self._subscription)

    @property
    def position(self) -> int | None:
        """The last step that was received: with ``epoch`` what resuming elsewhere takes. None: none yet."""
        return self._subscription.position

    @property
    def epoch(self) -> str:
        """The life of the journal that ``position`` belongs to."""
        return self._subscription.epoch

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises the ``Error`` that ended the subscription, or ``ConnectionLost``."""
        event = await self._subscription.next()
        if isinstance(event, Step):
            self.info.seq = event.seq
        fold = _FOLDS.get(type(event))
        if fold is not None:
            fold(self.info, event)
        self._given(event)
        return event

    def _given(self, event: Event) -> None:
        """A hook for what happens when an event is given."""

    def _seen(self, update: tables_pb2.TableUpdate) -> None:
        """A hook for what happens when an update has come, read or not."""

    async def close(self) -> None:
        """Stop the stream of this table; iterating ends after what has come already."""
        self.client.stream.unsubscribe(self._subscription)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Seat(Watch):
    """Your seat ``number`` at a table: iterate it for events, and ``play`` when a ``Turn`` comes.

    ``turn`` is the last turn that the iteration gave, None when it is over. A promised nonce is
    shown by itself once the table is full.
    """

    def __init__(
        self, client: Client, info: tables_pb2.Table, wish: tables_pb2.Subscription, nonce: bytes = b""
    ) -> None:
        self.number: Final = wish.seat
        self.game: Final = info.game
        self.turn: Turn | None = None
        self._witness: Final = Witness(info.board, info.commitment, wish.seat, nonce)
        self._showing: asyncio.Task[None] | None = None
        self._left = False
        super().__init__(client, info, wish)
        if info.state == tables_pb2.TABLE_STATE_FILLED:
            self._show_nonce()

    @property
    def nonce(self) -> bytes:
        """The nonce that was promised for this seat; empty: none."""
        return self._witness.nonce

    async def play(self, move: MoveLike, *, expected_seq: int | None = None) -> int:
        """Make a move; the number of its step once it is stored for good.

        It answers the last turn given, or the one at ``expected_seq``. Through broken
        connections it is repeated with the same ``request_id``: it is made once or not at all.

        Raises ``IllegalMove`` or ``MalformedMove`` (the turn is still yours), ``StaleMove``,
        ``NotYourTurn`` or ``GameOver`` (it is not any more), ``InvalidRequest`` for what is no
        move, ``ConnectionLost`` when it is not known whether it was made.
        """
        if expected_seq is None and self.turn is not None:
            expected_seq = self.turn.seq
        return await self.client.stream.move(
            tables_pb2.MakeMoveRequest(
                table=self.table,
                move=move_message(move),
                expected_seq=expected_seq,
                request_id=uuid.uuid4().hex,
                seat=self.number,
            )
        )

    async def legal_moves(self) -> list[str]:
        """All legal moves' texts, however many; empty when it is not this seat's turn. Raises ``Error``."""
        return await self.client.legal_moves(self.table, seat=self.number)

    async def leave(self) -> None:
        """Free the seat; only before the table is full. Raises ``WrongState`` later."""
        self._left = True
        try:
            await self.client.leave(self.table)
        except Error:
            self._left = False
            raise
        await self.close()

    async def check_deals(self) -> Verified:
        """Once the table has ended: fetch its record and hold it to all that this seat saw.

        That is the commitment from before the first card, the own nonce, hands and moves; and
        every deal and move is recomputed. Raises ``BrokenPromise``, or ``WrongState`` before
        the end.
        """
        return self._witness.check(await self.client.record(self.table))

    async def close(self) -> None:
        """Stop the stream of this seat. The seat stays yours; ``Client.resume`` takes it up again."""
        await super().close()
        if self._showing is not None and not self._showing.done():
            self._showing.cancel()
            await asyncio.wait([self._showing])

    async def __anext__(self) -> Event:
        """The next event. Raises the ``Error`` that ended the seat, or ``ConnectionLost``."""
        try:
            return await super().__anext__()
        except PermissionDenied:
            if self._left:
                raise StopAsyncIteration from None
            raise

    # --- what the seat does by itself ------------------------------------------------------------

    def _given(self, event: Event) -> None:
        match event:
            case Turn():
                self.turn = event
            case Moved() if event.seat == self.number:
                self.turn = None
                if self._witness.moves is not None:
                    self._witness.moves.append(event.text)
            case Snapshot():
                self.turn = None
                self._witness.moves = None if event.missed or event.view is not None else []
            case Created():
                self._witness.moves = []
            case Dealt():
                self._witness_hand(event)
            case Ended():
                self.turn = None
                self._witness.saw_end = True

    def _witness_hand(self, event: Dealt) -> None:
        for effect in event.effects:
            hand = effect.get("dealt", {}).get("hand")
            if hand:
                self._witness.hands[event.number] = sorted(hand)

    def _seen(self, update: tables_pb2.TableUpdate) -> None:
        filled = update.event.WhichOneof("kind") == "filled"
        if filled or update.snapshot.table.state == tables_pb2.TABLE_STATE_FILLED:
            self._show_nonce()

    def _show_nonce(self) -> None:
        if self._witness.nonce and self._showing is None:
            self._showing = asyncio.get_running_loop().create_task(self._show())

    async def _show(self) -> None:
        try:
            await show_nonce(self.client.connection, self.table, self.number, self._witness.nonce)
        except Error as error:  # the deal goes on without it; the seat is none the worse
            log.warning("%s seat %d: the nonce was not taken: %s", self.table, self.number, error)
        else:
            self._witness.shown = True


_MOVE_MESSAGES: Final = {
    field.message_type.full_name: field.name
    for field in games_pb2.Move.DESCRIPTOR.fields
    if field.message_type is not None
}


def move_message(move: MoveLike) -> games_pb2.Move:
    """A move as a message. Raises ``InvalidRequest`` for what is none."""
    if isinstance(move, str):
        return games_pb2.Move(text=move)
    if isinstance(move, games_pb2.Move):
        return move
    game = _MOVE_MESSAGES.get(getattr(getattr(move, "DESCRIPTOR", None), "full_name", ""))
    if game is None:
        raise InvalidRequest(f"{move!r} is no move; give its text or its message", reason="MALFORMED_MOVE")
    return games_pb2.Move(**{game: move})


def _fold_seat(info: tables_pb2.Table, event: SeatChanged) -> None:
    if event.seat < len(info.seats):
        info.seats[event.seat].CopyFrom(event.now)


def _fold_ended(info: tables_pb2.Table, event: Ended) -> None:
    info.state = tables_pb2.TABLE_STATE_ENDED
    info.result = event.message.ended.result
    info.server_seed = event.server_seed
    info.scores[:] = event.scores


def _fold_state(state: tables_pb2.TableState.ValueType) -> Callable[[tables_pb2.Table, Any], None]:
    def fold(info: tables_pb2.Table, _: Any) -> None:
        info.state = state

    return fold


_FOLDS: Final[dict[type[Event], Callable[[tables_pb2.Table, Any], None]]] = {
    Created: lambda info, event: info.CopyFrom(event.now),
    Snapshot: lambda info, event: info.CopyFrom(event.now),
    SeatChanged: _fold_seat,
    Filled: _fold_state(tables_pb2.TABLE_STATE_FILLED),
    Dealt: _fold_state(tables_pb2.TABLE_STATE_PLAYING),
    Ended: _fold_ended,
}
