"""What a table's journal has, in the words of ``history``.

The law of this file: it reads entries as they are stored, and asks none of the code that serves
them what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from chaos.history import Entry
from croupier_server.journal import Stored
from croupier_server.journal.v1 import entry_pb2

_BY = {
    entry_pb2.MOVED_BY_UNSPECIFIED: "",
    entry_pb2.MOVED_BY_TIMEOUT: "timeout",
    entry_pb2.MOVED_BY_TAKEOVER: "takeover",
}

Told = tuple[Hashable, ...]
Players = dict[int, str]
"""Who sits where."""


def entries_of(stored: Sequence[Stored]) -> list[Entry]:
    """The entries of one table, from the first."""
    players: Players = {}
    return [_entry(entry_pb2.Entry.FromString(each.data), players) for each in stored]


def _entry(entry: entry_pb2.Entry, players: Players) -> Entry:
    kind = str(entry.WhichOneof("kind"))
    name, told = _TOLD[kind](getattr(entry, kind), players)
    by_player = kind == "moved" and entry.moved.by == entry_pb2.MOVED_BY_UNSPECIFIED
    return Entry(
        told=(name, entry.time_ms, *told),
        actor=entry.actor,
        request=entry.request_id if by_player else "",
        move=(entry.moved.seat, entry.moved.move) if by_player else None,
        changes_game=kind in ("dealt", "moved", "ended"),
        ends=kind == "ended",
    )


def _sits(seat: int, player: str, players: Players) -> tuple[str, Told]:
    players[seat] = player
    return "seat_changed", (seat, player)


_TOLD: dict[str, Callable[[Any, Players], tuple[str, Told]]] = {
    "created": lambda e, _: ("created", (e.game, e.players)),
    "seat_taken": lambda e, players: _sits(e.seat, e.player, players),
    "seat_left": lambda e, players: _sits(e.seat, "", players),
    "seat_offered": lambda e, players: _sits(e.seat, "", players),
    "nonce_shown": lambda e, players: ("seat_changed", (e.seat, players.get(e.seat, ""))),
    "filled": lambda _, __: ("filled", ()),
    "dealt": lambda e, _: ("dealt", (e.number,)),
    "moved": lambda e, _: ("moved", (e.seat, e.move, _BY[e.by])),
    "ended": lambda e, _: ("ended", (e.result, *e.scores)),
}
