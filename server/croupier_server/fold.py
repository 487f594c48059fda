"""A table's state as the fold of its journal entries.

The law of this file: ``TableState.fold`` is the only place where a table's state changes, and it
changes by journaled entries alone. It needs no clock and no randomness: chance, time and
decisions are in the entries. An entry that cannot be understood raises ``UnreadableTable`` and
leaves the table unserved; nothing is guessed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from croupier_games import GAMES
from croupier_games.game import Game, GameError
from croupier_server.journal.base import Stored
from croupier_server.journal.v1 import entry_pb2

ENTRY_VERSION: Final = 1
"""The newest form of entries that this code reads, and the one it writes."""

HOUSE: Final = "players/house"
"""The player that holds the seats of all house bots."""


class UnreadableTable(Exception):
    """The journal holds an entry that this version does not know, or that does not fold."""


class Phase(IntEnum):
    """Where a table is in its life; the numbers are those of ``TableState`` in the protos."""

    OPEN = 1
    FILLED = 2
    PLAYING = 3
    ENDED = 4


@dataclass(slots=True)
class SeatState:
    """One seat: free, kept for somebody, or taken."""

    player: str = ""
    name: str = ""
    level: str = ""
    invited: str = ""
    nonce_commitment: bytes = b""
    nonce: bytes = b""

    @property
    def free(self) -> bool:
        """True when anybody may sit down here."""
        return not (self.player or self.level or self.invited)

    @property
    def awaits_nonce(self) -> bool:
        """True when a nonce was promised and not shown yet."""
        return bool(self.nonce_commitment) and not self.nonce


class Accepted(NamedTuple):
    """An accepted request, to answer its repeat: the entry it made and its payload's digest."""

    seq: int
    digest: bytes


class Draft(NamedTuple):
    """An entry to append, its kind, and the game state after it where it changes the game."""

    entry: entry_pb2.Entry
    kind: str
    game_state: Any = None


class Step(NamedTuple):
    """One folded entry and what projecting it needs: the game as it was just after."""

    seq: int
    entry: entry_pb2.Entry
    kind: str
    game_state: Any
    to_act: int | None
    seats: tuple[SeatState, ...]


def state_digest(game: Game[Any, Any], game_state: Any) -> bytes:
    """SHA-256 over the game's fingerprint: shows folds that diverge."""
    return hashlib.sha256(game.fingerprint(game_state)).digest()


class TableState:
    """All that the entries so far say about one table. ``to_act`` is the seat to move, or None."""

    __slots__ = (
        "created",
        "created_ms",
        "creator",
        "deadline_ms",
        "deadline_seq",
        "deadline_set_ms",
        "deals",
        "ended",
        "game",
        "game_seq",
        "game_state",
        "name",
        "options",
        "phase",
        "requests",
        "seats",
        "seq",
        "time_ms",
        "to_act",
    )

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.seq = 0
        self.time_ms = 0
        self.game: Game[Any, Any] | None = None
        self.created = entry_pb2.Created()
        self.created_ms = 0
        self.creator = ""
        self.options: dict[str, Any] = {}
        self.phase = Phase.OPEN
        self.seats: tuple[SeatState, ...] = ()
        self.deals = 0
        self.game_state: Any = None
        self.game_seq = 0
        self.to_act: int | None = None
        self.deadline_ms = 0
        self.deadline_seq = 0
        self.deadline_set_ms = 0
        self.ended: entry_pb2.Ended | None = None
        self.requests: dict[tuple[str, str], Accepted] = {}

    @property
    def rules(self) -> Game[Any, Any]:
        """The table's game. Only after the first entry."""
        assert self.game is not None
        return self.game

    def seats_of(self, player: str) -> list[int]:
        """The seats that a player holds, in turn order."""
        return [n for n, seat in enumerate(self.seats) if seat.player == player] if player else []

    def is_inside(self, player: str) -> bool:
        """True for the creator and for who sits here: they need no join code and may know it."""
        return bool(player) and (player == self.creator or bool(self.seats_of(player)))

    def awaited_nonces(self) -> list[int]:
        """The seats whose promised nonce has not been shown."""
        return [n for n, seat in enumerate(self.seats) if seat.awaits_nonce]

    def fold(self, stored: Stored, own: Draft | None = None) -> Step:
        """Take in the next entry; ``own`` is the draft that it was stored from, when it is ours.

        Raises ``UnreadableTable``; the state is then no longer to be used.
        """
        if stored.seq != self.seq + 1:
            raise UnreadableTable(f"{self.name}: entry {stored.seq} does not follow {self.seq}")
        try:
            entry, kind, foreseen = own or self._read(stored)
            _FOLDS[kind](self, entry, foreseen)
            self._count(stored.seq, entry, kind)
        except UnreadableTable:
            raise
        except Exception as error:  # whatever damaged bytes lead to, nothing is guessed
            # Not the error's own text: it may name cards.
            why = error.reason if isinstance(error, GameError) else type(error).__name__
            raise UnreadableTable(f"{self.name}: entry {stored.seq} does not fold: {why}") from error
        return Step(stored.seq, entry, kind, self.game_state, self.to_act, self.seats)

    def _read(self, stored: Stored) -> Draft:
        entry = entry_pb2.Entry.FromString(stored.data)
        if entry.version > ENTRY_VERSION:
            raise UnreadableTable(f"{self.name}: entry {stored.seq} has form {entry.version}")
        kind = entry.WhichOneof("kind")
        if kind is None:
            raise UnreadableTable(f"{self.name}: entry {stored.seq} is of an unknown kind")
        if (kind == "created") != (self.seq == 0) or self.phase is Phase.ENDED:
            raise UnreadableTable(f"{self.name}: entry {stored.seq} is {kind}, which can't be there")
        return Draft(entry, kind)

    def _count(self, seq: int, entry: entry_pb2.Entry, kind: str) -> None:
        self.seq = seq
        self.time_ms = entry.time_ms
        if kind in _GAME_KINDS:
            self.game_seq = seq
            playing = self.phase is Phase.PLAYING
            self.to_act = self.rules.to_act(self.game_state) if playing else None
        if entry.deadline_ms or kind == "ended":
            self.deadline_ms = entry.deadline_ms
            self.deadline_seq = seq
            self.deadline_set_ms = entry.time_ms
        if entry.request_id:
            key = (entry.actor, entry.request_id)
            self.requests.setdefault(key, Accepted(seq, entry.request_digest))
        if entry.state_digest and entry.state_digest != state_digest(self.rules, self.game_state):
            raise UnreadableTable(f"{self.name}: the game after entry {seq} is not what was written")


def _created(state: TableState, entry: entry_pb2.Entry, _foreseen: Any) -> None:
    created = entry.created
    game = GAMES.get(created.game)
    if game is None:
        raise UnreadableTable(f"{state.name}: the game {created.game!r} is not known")
    if created.rules_version != game.rules_version:
        raise UnreadableTable(
            f"{state.name}: rules version {created.rules_version} of {created.game}; "
            f"this server knows {game.rules_version}"
        )
    state.game = game
    state.created = created
    state.created_ms = entry.time_ms
    state.creator = entry.actor
    state.options = game.options(created.players, **json.loads(created.options_json))
    state.seats = tuple(SeatState() for _ in range(created.players))


def _put_seat(state: TableState, number: int, seat: SeatState) -> None:
    if number >= len(state.seats):
        raise IndexError(number)
    state.seats = (*state.seats[:number], seat, *state.seats[number + 1 :])


def _seat_taken(state: TableState, entry: entry_pb2.Entry, _foreseen: Any) -> None:
    taken = entry.seat_taken
    _put_seat(
        state,
        taken.seat,
        SeatState(
            player=taken.player,
            name=taken.name,
            level=taken.level,
            nonce_commitment=taken.nonce_commitment,
        ),
    )


def _seat_left(state: TableState, entry: entry_pb2.Entry, _foreseen: Any) -> None:
    _put_seat(state, entry.seat_left.seat, SeatState())


def _seat_offered(state: TableState, entry: entry_pb2.Entry, _foreseen: Any) -> None:
    offered = entry.seat_offered
    _put_seat(state, offered.seat, SeatState(level=offered.level, invited=offered.player))


def _filled(state: TableState, _entry: entry_pb2.Entry, _foreseen: Any) -> None:
    state.phase = Phase.FILLED


def _nonce_shown(state: TableState, entry: entry_pb2.Entry, _foreseen: Any) -> None:
    shown = entry.nonce_shown
    old = state.seats[shown.seat]
    _put_seat(
        state,
        shown.seat,
        SeatState(
            player=old.player,
            name=old.name,
            level=old.level,
            nonce_commitment=old.nonce_commitment,
            nonce=shown.nonce,
        ),
    )


def _dealt(state: TableState, entry: entry_pb2.Entry, foreseen: Any) -> None:
    if entry.dealt.number != state.deals:
        raise UnreadableTable(f"{state.name}: deal {entry.dealt.number} where {state.deals} was due")
    if foreseen is None:
        deal = json.loads(entry.dealt.deal_json)
        if state.game_state is None:
            foreseen = state.rules.load_deal(deal, len(state.seats), state.options)
        else:
            foreseen = state.rules.next_deal(state.game_state, deal)
    state.game_state = foreseen
    state.deals += 1
    state.phase = Phase.PLAYING


def _moved(state: TableState, entry: entry_pb2.Entry, foreseen: Any) -> None:
    if foreseen is None:
        moved = entry.moved
        if moved.by not in entry_pb2.MovedBy.values():
            raise ValueError("made by whom?")
        foreseen = state.rules.apply(state.game_state, moved.seat, state.rules.parse_move(moved.move))
    state.game_state = foreseen


def _ended(state: TableState, entry: entry_pb2.Entry, _foreseen: Any) -> None:
    if entry.ended.result not in entry_pb2.Result.values()[1:]:
        raise ValueError("ended how?")
    state.ended = entry.ended
    state.phase = Phase.ENDED


_FOLDS: Final = {
    "created": _created,
    "seat_taken": _seat_taken,
    "seat_left": _seat_left,
    "seat_offered": _seat_offered,
    "filled": _filled,
    "nonce_shown": _nonce_shown,
    "dealt": _dealt,
    "moved": _moved,
    "ended": _ended,
}

_GAME_KINDS: Final = frozenset({"dealt", "moved", "ended"})
"""Entries that change the game: a move that expected an earlier one is stale."""
