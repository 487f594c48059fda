"""What an iteration over a seat or a watched table gives.

The law of this file: every numbered step of the table's life is one ``Step``, also those that
you may not see or that this version does not know (``Unseen``), so numbers never skip. Events
are values: made once, never changed. ``message`` is what came from the server; plain data is
made of it only when asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.message import Message

from croupier.codec import Plain, plain_effect, plain_view
from croupier.moves import move_text
from croupier.v1 import tables_pb2

_MOVED_BY: Final = {n: name.removeprefix("MOVED_BY_").lower() for name, n in tables_pb2.MovedBy.items()}
_RESULTS: Final[dict[int, str]] = {
    n: name.removeprefix("TABLE_RESULT_").lower() for name, n in tables_pb2.TableResult.items()
}


def moment(message: Message, name: str) -> datetime | None:
    """A message's time field in UTC; None when it is unset."""
    if not message.HasField(name):
        return None
    when: datetime = getattr(message, name).ToDatetime(tzinfo=UTC)
    return when


def result_text(result: int) -> str:
    """How a table ended: ``finished``, ``void``, ``forfeit``, ``abandoned``; empty while it has not."""
    return _RESULTS.get(result, "") if result else ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something about ``table`` (its name), seen through ``as_seat`` (None: as a spectator)."""

    table: str
    as_seat: int | None


@dataclass(frozen=True, slots=True)
class Step(Event):
    """A numbered event; ``seq`` counts from 1 without a gap."""

    seq: int
    message: tables_pb2.TableEvent = field(repr=False)

    @property
    def time(self) -> datetime | None:
        """When it was stored."""
        return moment(self.message, "time")

    @property
    def effects(self) -> list[Plain]:
        """What followed from it in the game, as you may know it: one key each, its kind."""
        return [plain_effect(effect) for effect in self.message.effects]

    @property
    def to_act(self) -> int | None:
        """The seat to move now; None: nobody."""
        return self.message.to_act if self.message.HasField("to_act") else None

    @property
    def deadline(self) -> datetime | None:
        """When the default move is made for that seat; None: no clock runs."""
        return moment(self.message, "deadline")


@dataclass(frozen=True, slots=True)
class Created(Step):
    """The table was opened."""

    @property
    def now(self) -> tables_pb2.Table:
        """The table as it was then."""
        return self.message.created.table


@dataclass(frozen=True, slots=True)
class SeatChanged(Step):
    """Somebody sat down on ``seat``, stood up, or the seat was kept or shown a nonce."""

    seat: int

    @property
    def now(self) -> tables_pb2.Seat:
        """The seat as it is now."""
        return self.message.seat_changed.seat


@dataclass(frozen=True, slots=True)
class Filled(Step):
    """All seats are taken; the nonces of ``awaited_nonces`` (seats) are waited for."""

    awaited_nonces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dealt(Step):
    """Cards were dealt; ``number`` counts the table's deals from 0. The effects say which you may see."""

    number: int


@dataclass(frozen=True, slots=True)
class Moved(Step):
    """``seat`` moved: ``text`` is canonical; ``by`` is ``player``, ``timeout`` or ``takeover``."""

    seat: int
    text: str
    by: str


@dataclass(frozen=True, slots=True)
class Ended(Step):
    """The table closed: ``result`` as in ``result_text``, ``scores`` one a seat, the ``server_seed``."""

    result: str
    scores: tuple[int, ...]
    server_seed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unseen(Step):
    """A step that you may not see, or of a kind that this version does not know."""


@dataclass(frozen=True, slots=True)
class Snapshot(Event):
    """The table and your view at one moment: it replaces all you know, up to ``seq``.

    ``reset`` is true when what you knew does not belong to this table's history; ``missed``
    when steps before it were not given, because they were not read in time.
    """

    seq: int
    reset: bool
    missed: bool
    message: tables_pb2.TableSnapshot = field(repr=False)

    @property
    def now(self) -> tables_pb2.Table:
        """The table."""
        return self.message.table

    @property
    def view(self) -> Plain | None:
        """The game as you may see it, as plain data; None: no cards were dealt yet."""
        return plain_view(self.message.view)

    @property
    def to_act(self) -> int | None:
        """The seat to move; None: nobody."""
        return self.message.to_act if self.message.HasField("to_act") else None

    @property
    def deadline(self) -> datetime | None:
        """When the default move is made for that seat; None: no clock runs."""
        return moment(self.message, "deadline")


@dataclass(frozen=True, slots=True)
class Turn(Event):
    """Your ``seat`` is to move; ``seq`` is the last step before the turn.

    ``truncated`` is true when there are more legal moves than came; ``Seat.legal_moves`` has
    them all.
    """

    seat: int
    seq: int
    truncated: bool
    message: tables_pb2.Turn = field(repr=False)

    @property
    def deadline(self) -> datetime | None:
        """When the default move is made; None: no clock runs."""
        return moment(self.message, "deadline")

    @property
    def legal_moves(self) -> list[str]:
        """The legal moves' canonical texts, one for each where suits do not matter.

        Empty unless the seat was taken with ``legal_moves``, as is the default.
        """
        return [move_text(move)[1] for move in self.message.legal_moves]

    @property
    def view(self) -> Plain | None:
        """The game as the seat may see it; None unless the seat was taken with ``views``."""
        return plain_view(self.message.view)


@dataclass(frozen=True, slots=True)
class Presence(Event):
    """The player of ``seat`` came or went."""

    seat: int
    connected: bool


def _moved(table: str, as_seat: int | None, event: tables_pb2.TableEvent) -> Moved:
    moved = event.moved
    return Moved(table, as_seat, event.seq, event, moved.seat, moved.text, _MOVED_BY.get(moved.by, ""))


def _ended(table: str, as_seat: int | None, event: tables_pb2.TableEvent) -> Ended:
    ended = event.ended
    result, scores = result_text(ended.result), tuple(ended.scores)
    return Ended(table, as_seat, event.seq, event, result, scores, ended.server_seed)


_STEPS: Final[dict[str | None, Callable[[str, int | None, tables_pb2.TableEvent], Step]]] = {
    "created": lambda t, s, e: Created(t, s, e.seq, e),
    "seat_changed": lambda t, s, e: SeatChanged(t, s, e.seq, e, e.seat_changed.seat.seat),
    "filled": lambda t, s, e: Filled(t, s, e.seq, e, tuple(e.filled.awaited_nonces)),
    "dealt": lambda t, s, e: Dealt(t, s, e.seq, e, e.dealt.number),
    "moved": _moved,
    "ended": _ended,
    None: lambda t, s, e: Unseen(t, s, e.seq, e),
}


def event_of(update: tables_pb2.TableUpdate, kind: str, *, missed: bool = False) -> Event:
    """The event of an update whose ``kind`` is ``event``, ``snapshot``, ``turn`` or ``presence``."""
    table = update.table
    as_seat = update.as_seat if update.HasField("as_seat") else None
    inner: Any = getattr(update, kind)
    if kind == "event":
        return _STEPS[inner.WhichOneof("kind")](table, as_seat, inner)
    if kind == "turn":
        return Turn(table, as_seat, inner.seat, inner.seq, inner.truncated, inner)
    if kind == "presence":
        return Presence(table, as_seat, inner.seat, inner.connected)
    return Snapshot(table, as_seat, inner.seq, inner.reset, missed, inner)
