"""The log of a table: what went out to the server and came back, a line each, as it happened.

The law of this file: the writer keeps what came as it came, before anybody acts on it; what it
means is made out when all is over. A line is a JSON list: Unix time in seconds, its kind, and the
parts; messages are in base64. One process writes all the logs of a run, so the order of lines is
the order of things.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from grpc import StatusCode

from chaos import history
from croupier import Error
from croupier.v1 import tables_pb2 as pb
from server.eyes import cards_in

_FINAL = frozenset(
    {
        StatusCode.ABORTED,
        StatusCode.FAILED_PRECONDITION,
        StatusCode.INVALID_ARGUMENT,
        StatusCode.PERMISSION_DENIED,
    }
)
"""Codes that say that a move was not made and will not be."""


class Log:
    """Writes a file a table into a folder. Files are reopened for what comes late."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, TextIO] = {}

    def sent(self, player: str, move: pb.MakeMoveRequest) -> None:
        """A move goes out."""
        turn = move.expected_seq if move.HasField("expected_seq") else None
        self._write(move.table, "sent", move.request_id, player, move.seat, move.move.text, turn)

    def answered(self, table: str, request: str, seq: int) -> None:
        """A move was said to be stored."""
        self._write(table, "answered", request, seq)

    def refused(self, table: str, request: str, error: Error) -> None:
        """A move was refused."""
        self._write(table, "refused", request, error.code in _FINAL, error.reason)

    def asked(self, stream: str, wish: pb.Subscription) -> None:
        """A subscription goes out."""
        after = wish.after_seq if wish.HasField("after_seq") else None
        self._write(wish.table, "asked", stream, wish.seat if wish.HasField("seat") else None, after)

    def told(self, stream: str, update: pb.TableUpdate) -> None:
        """An update came."""
        self._write(update.table, "told", stream, b64encode(update.SerializeToString()).decode())

    def given(self, table: str, reader: str, seq: int | None) -> None:
        """The library gave a step; None: a snapshot."""
        self._write(table, "given", reader, seq)

    def over(self, table: str, reader: str, error: str = "") -> None:
        """An iteration ended."""
        self._write(table, "over", reader, error)

    def _write(self, table: str, *parts: Any) -> None:
        file = self._files.get(table)
        if file is None:
            file = self._files[table] = path_of(self._folder, table).open("a", buffering=1 << 16)
        file.write(json.dumps((time.time(), *parts), separators=(",", ":")) + "\n")

    def put_away(self, table: str) -> None:
        """Not much more is to come of a table."""
        if file := self._files.pop(table, None):
            file.close()

    def close(self) -> None:
        """Write out all that there is."""
        for table in list(self._files):
            self.put_away(table)


def path_of(folder: Path, table: str) -> Path:
    """Where the log of a table is."""
    return folder / f"{table.removeprefix('tables/')}.log"


def tables_in(folder: Path) -> list[str]:
    """The tables of which there are logs."""
    return sorted(f"tables/{path.stem}" for path in folder.glob("*.log"))


class Noted(NamedTuple):
    """A fact and when it was noted, in Unix seconds."""

    at: float
    fact: history.Fact


def read(path: Path) -> Iterator[Noted]:
    """The facts of a log, in order. A line that was cut off at the end is passed over."""
    with path.open() as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            at, kind, *parts = json.loads(line)
            if kind == "told":
                fact = _told(parts[0], pb.TableUpdate.FromString(b64decode(parts[1])))
            else:
                fact = _FACTS[kind](*parts)
            if fact is not None:
                yield Noted(at, fact)


_FACTS: dict[str, Callable[..., history.Fact]] = {
    "sent": history.Sent,
    "answered": history.Answered,
    "refused": lambda request, final, _reason: history.Refused(request, final),
    "asked": history.Asked,
    "given": history.Given,
    "over": history.Over,
}


def _told(stream: str, update: pb.TableUpdate) -> history.Fact | None:
    seat = update.as_seat if update.HasField("as_seat") else None
    match update.WhichOneof("update"):
        case "event":
            whole = update.event.SerializeToString(deterministic=True)
            return history.Told(stream, seat, update.event.seq, *_understood(whole))
        case "snapshot":
            snapshot = update.snapshot
            return history.Snapshot(stream, seat, snapshot.seq, snapshot.reset, frozenset(cards_in(snapshot)))
        case "turn":
            return history.Shown(stream, seat, update.turn.seq, frozenset(cards_in(update.turn)))
    return None


@lru_cache(4096)
def _understood(whole: bytes) -> tuple[Hashable, bytes, history.Cards]:
    """Many are told the same."""
    event = pb.TableEvent.FromString(whole)
    return public(event), whole, frozenset(cards_in(event))


_BY = {pb.MOVED_BY_PLAYER: "", pb.MOVED_BY_TIMEOUT: "timeout", pb.MOVED_BY_TAKEOVER: "takeover"}

_PUBLIC: dict[str | None, Callable[[Any], tuple[Hashable, ...]]] = {
    "created": lambda e: (e.created.table.game, len(e.created.table.seats)),
    "seat_changed": lambda e: (e.seat_changed.seat.seat, e.seat_changed.seat.player),
    "filled": lambda _: (),
    "dealt": lambda e: (e.dealt.number,),
    "moved": lambda e: (e.moved.seat, e.moved.text, _BY[e.moved.by]),
    "ended": lambda e: (e.ended.result, *e.ended.scores),
}


def public(event: pb.TableEvent) -> Hashable:
    """What everybody is told by an event, in the words of ``journal.entries_of``."""
    kind = event.WhichOneof("kind")
    return kind, event.time.ToMilliseconds(), *_PUBLIC[kind](event)
