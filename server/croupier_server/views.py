"""What each audience of a table is shown: events, snapshots, turns, as encoded bytes.

The law of this file: a view is built up from nothing for one audience (a seat, or None for
spectators); no message is made for all and filtered down. Seeds, deals, other hands and join
codes never enter a message of an audience that may not have them. An event that is the same for
everybody is encoded once for everybody.

Streams carry ``TableUpdate``s as field 1 of both WatchTableResponse and PlayResponse: a *chunk*
is such a field, tag and length included, so chunks are joined into a response without parsing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from google.protobuf import timestamp_pb2
from google.rpc import status_pb2

from croupier.codec import effect_message, options_message, view_message
from croupier.moves import typed_move
from croupier.v1 import games_pb2, tables_pb2
from croupier_games import dealing
from croupier_server.fold import SeatState, Step, TableState
from croupier_server.journal.base import Stored
from croupier_server.journal.v1 import entry_pb2

Audience = int | None
"""A seat, or None for spectators."""

Chunk = bytes
"""One encoded ``TableUpdate``, as field 1 of a stream's response."""

_MOVED_BY: Final = {
    entry_pb2.MOVED_BY_UNSPECIFIED: tables_pb2.MOVED_BY_PLAYER,
    entry_pb2.MOVED_BY_TIMEOUT: tables_pb2.MOVED_BY_TIMEOUT,
    entry_pb2.MOVED_BY_TAKEOVER: tables_pb2.MOVED_BY_TAKEOVER,
}


def timestamp(ms: int) -> timestamp_pb2.Timestamp:
    """Unix milliseconds as a message."""
    return timestamp_pb2.Timestamp(seconds=ms // 1000, nanos=ms % 1000 * 1_000_000)


def _made_varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_VARINTS: Final = [_made_varint(number) for number in range(2048)]


def _varint(number: int) -> bytes:
    return _VARINTS[number] if number < 2048 else _made_varint(number)


_FIELD_HEADS: Final = [bytes((field << 3 | 2,)) for field in range(16)]


def delimited(field: int, data: bytes) -> bytes:
    """``data`` as a length-delimited protobuf field; ``field`` is 1 to 15."""
    return _FIELD_HEADS[field] + _varint(len(data)) + data


def address(table: str, audience: Audience) -> bytes:
    """The first two fields of every ``TableUpdate`` for an audience."""
    head = delimited(1, table.encode())
    return head if audience is None else head + b"\x10" + _varint(audience)


_EVENT, _SNAPSHOT, _TURN, _PRESENCE, _ENDED = 3, 4, 5, 6, 7
_UPDATES: Final = _FIELD_HEADS[1]


def _chunk(head: bytes, field: int, body: bytes) -> Chunk:
    return delimited(1, head + delimited(field, body))


def _result(ended: entry_pb2.Ended) -> tables_pb2.TableResult.ValueType:
    return tables_pb2.TableResult.ValueType(ended.result)


def seat_message(number: int, seat: SeatState) -> tables_pb2.Seat:
    """A seat as everybody may see it."""
    return tables_pb2.Seat(
        seat=number,
        player=seat.player,
        display_name=seat.name,
        bot_level=seat.level,
        invited_player=seat.invited,
        nonce_commitment=seat.nonce_commitment,
        nonce=seat.nonce,
    )


def table_message(state: TableState, *, with_code: bool = False) -> tables_pb2.Table:
    """A table as everybody may see it; ``with_code`` adds the join code for those inside."""
    created, ended = state.created, state.ended
    return tables_pb2.Table(
        name=state.name,
        title=created.title,
        game=created.game,
        options=options_message(created.game, state.options),
        state=tables_pb2.TableState.ValueType(int(state.phase)),
        seats=[seat_message(n, seat) for n, seat in enumerate(state.seats)],
        private=created.private,
        move_seconds=created.move_seconds,
        create_time=timestamp(state.created_ms),
        seq=state.seq,
        creator=state.creator,
        board=created.board,
        commitment=dealing.commitment(created.board, created.server_seed),
        server_seed=created.server_seed if ended is not None else b"",
        rules_version=created.rules_version,
        result=_result(ended) if ended is not None else tables_pb2.TABLE_RESULT_UNSPECIFIED,
        scores=ended.scores if ended is not None else (),
        join_code=created.join_code if with_code else "",
    )


_typed: Final = lru_cache(maxsize=4096)(typed_move)
"""Most moves have been made before: a pass, a draw, a single. To be copied from, never changed."""

_PLAYS: Final = frozenset({"dealt", "moved"})
"""The kinds of entries that have effects in the game."""


class EventView:
    """One folded entry, encoded for each audience that asks, at most once each."""

    __slots__ = ("_chunks", "_public", "_state", "_tails", "step")

    def __init__(self, state: TableState, step: Step) -> None:
        self.step: Final = step
        self._state = state
        self._tails: dict[Audience, bytes] = {}
        self._chunks: dict[Audience, Chunk] = {}
        self._public = step.kind not in _PLAYS or state.rules.happened_in_public(step.game_state)

    @property
    def seq(self) -> int:
        """The event's number."""
        return self.step.seq

    def chunk(self, audience: Audience, head: bytes) -> Chunk:
        """The event as a chunk for an audience, whose ``address`` is ``head``."""
        chunk = self._chunks.get(audience)
        if chunk is None:
            tail = self._tail(audience)
            size = _varint(len(head) + len(tail))
            chunk = self._chunks[audience] = b"".join((_UPDATES, size, head, tail))
        return chunk

    def _tail(self, audience: Audience) -> bytes:
        """The event as the update's field: the same bytes for all where it is the same for all."""
        key = None if self._public else audience
        tail = self._tails.get(key)
        if tail is None:
            tail = self._tails[key] = delimited(_EVENT, self._event(audience).SerializeToString())
        return tail

    def _event(self, audience: Audience) -> tables_pb2.TableEvent:
        step, game = self.step, self._state.rules
        entry = step.entry
        event = tables_pb2.TableEvent(seq=step.seq, to_act=step.to_act)
        time = event.time
        time.seconds, time.nanos = entry.time_ms // 1000, entry.time_ms % 1000 * 1_000_000
        if entry.deadline_ms and step.to_act is not None and self._state.created.move_seconds:
            event.deadline.CopyFrom(timestamp(entry.deadline_ms))
        if step.kind in _PLAYS:
            for effect in game.happened(step.game_state, audience):
                event.effects.append(effect_message(game.name, effect))
        _KINDS[step.kind](event, self._state, step)
        return event


def _created(event: tables_pb2.TableEvent, state: TableState, step: Step) -> None:
    first = TableState(state.name)
    first.fold(Stored(step.seq, step.entry.SerializeToString()))
    event.created.table.CopyFrom(table_message(first))


def _filled(event: tables_pb2.TableEvent, _state: TableState, step: Step) -> None:
    awaited = [n for n, seat in enumerate(step.seats) if seat.awaits_nonce]
    event.filled.awaited_nonces.extend(awaited)
    if step.entry.deadline_ms:
        event.deadline.CopyFrom(timestamp(step.entry.deadline_ms))


def _dealt(event: tables_pb2.TableEvent, _state: TableState, step: Step) -> None:
    event.dealt.number = step.entry.dealt.number


def _moved(event: tables_pb2.TableEvent, state: TableState, step: Step) -> None:
    moved = step.entry.moved
    made = event.moved
    made.seat, made.text, made.by = moved.seat, moved.move, _MOVED_BY[moved.by]
    made.move.CopyFrom(_typed(state.rules.name, moved.move))


def _ended(event: tables_pb2.TableEvent, state: TableState, step: Step) -> None:
    ended = step.entry.ended
    event.ended.CopyFrom(
        tables_pb2.TableEnded(
            result=_result(ended),
            scores=ended.scores,
            server_seed=state.created.server_seed,
        )
    )


def _seat_changed(event: tables_pb2.TableEvent, _state: TableState, step: Step) -> None:
    number = getattr(step.entry, step.kind).seat
    event.seat_changed.seat.CopyFrom(seat_message(number, step.seats[number]))


_KINDS: Final = {
    "created": _created,
    "seat_taken": _seat_changed,
    "seat_left": _seat_changed,
    "seat_offered": _seat_changed,
    "nonce_shown": _seat_changed,
    "filled": _filled,
    "dealt": _dealt,
    "moved": _moved,
    "ended": _ended,
}


def _turn_deadline(state: TableState) -> timestamp_pb2.Timestamp | None:
    clocked = state.created.move_seconds and state.deadline_ms and state.to_act is not None
    return timestamp(state.deadline_ms) if clocked else None


def snapshot_chunk(state: TableState, audience: Audience, *, epoch: str, reset: bool = False) -> Chunk:
    """A table and its game as an audience may see them now."""
    snapshot = tables_pb2.TableSnapshot(
        seq=state.seq,
        table=table_message(state, with_code=audience is not None),
        to_act=state.to_act,
        deadline=_turn_deadline(state),
        epoch=epoch,
        reset=reset,
    )
    if state.game_state is not None:
        game = state.rules
        snapshot.view.CopyFrom(view_message(game.name, game.view(state.game_state, audience)))
    return _chunk(address(state.name, audience), _SNAPSHOT, snapshot.SerializeToString())


def written_move(state: TableState, move: Any, form: games_pb2.MoveForm.ValueType) -> games_pb2.Move:
    """A move of the table's game as a message, as text unless typed is asked for."""
    text = state.rules.format_move(move)
    if form == games_pb2.MOVE_FORM_TYPED:
        return typed_move(state.rules.name, text)
    return games_pb2.Move(text=text)


def turn_chunk(state: TableState, *, legal: int, views: bool, form: games_pb2.MoveForm.ValueType) -> Chunk:
    """The turn of the seat to act; ``legal`` is the largest number of legal moves, 0 for none."""
    seat = state.to_act
    assert seat is not None
    turn = tables_pb2.Turn(seat=seat, seq=state.seq, deadline=_turn_deadline(state))
    game = state.rules
    if legal:
        moves = game.legal_moves(state.game_state)
        shown = min(len(moves), legal)
        turn.legal_moves.extend(written_move(state, moves[i], form) for i in range(shown))
        turn.truncated = shown < len(moves)
    if views:
        turn.view.CopyFrom(view_message(game.name, game.view(state.game_state, seat)))
    return _chunk(address(state.name, seat), _TURN, turn.SerializeToString())


def presence_chunk(head: bytes, seat: int, connected: bool) -> Chunk:
    """A player came or went."""
    return _chunk(head, _PRESENCE, tables_pb2.Presence(seat=seat, connected=connected).SerializeToString())


def ended_chunk(head: bytes, status: status_pb2.Status) -> Chunk:
    """A subscription ended or was refused."""
    return _chunk(head, _ENDED, status.SerializeToString())


def row_data(state: TableState) -> bytes:
    """What a lobby row holds: the table as everybody may see it."""
    return table_message(state).SerializeToString()
