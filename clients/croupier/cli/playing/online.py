"""A table on a server, as plain events.

The law of this file: nothing is left out of an event that the SDK tells; times are ISO 8601,
bytes hex.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any, Final

import croupier
from croupier import codec
from croupier.cli.playing.sitting import Plain, Refused
from croupier.events import result_text
from croupier.v1 import tables_pb2

_REFUSED: Final = (croupier.WrongState, croupier.InvalidRequest, croupier.StaleMove)
_STATES: Final = {
    number: name.removeprefix("TABLE_STATE_").lower() for name, number in tables_pb2.TableState.items()
}


class OnlineSitting:
    """A ``Sitting`` at a seat of a server's table."""

    proof = "The deals follow from the seed that was promised before the first card."

    def __init__(self, seat: croupier.Seat) -> None:
        self._seat: Final = seat

    async def events(self) -> AsyncIterator[Plain]:
        """See ``Sitting``; turns have all their legal moves, however many. Raises ``croupier.Error``."""
        async for event in self._seat:
            if isinstance(event, croupier.Turn):
                legal = await self._seat.legal_moves() if event.truncated else event.legal_moves
                if not legal:
                    continue  # the turn was over before they came
                yield {**plain_event(event), "legal": legal}
            else:
                yield plain_event(event)

    async def play(self, move: str, seq: int) -> None:
        """See ``Sitting``. Raises ``Refused``, and ``croupier.Error`` when the server is lost."""
        try:
            await self._seat.play(move, expected_seq=seq)
        except _REFUSED as error:
            over = isinstance(error, croupier.StaleMove | croupier.NotYourTurn | croupier.GameOver)
            raise Refused(error.reason or error.code.name, error.message, still=not over) from None

    async def record(self) -> Plain:
        """See ``Sitting``. Raises ``croupier.BrokenPromise`` for a record that is not true."""
        await self._seat.check_deals()
        return await self._seat.client.record(self._seat.table)


def plain_event(event: croupier.Event) -> Plain:
    """An event of the SDK as plain data, see ``sitting``."""
    plain: Plain = {"event": _NAMES.get(type(event), "unseen")}
    if isinstance(event, croupier.Step):
        plain["seq"] = event.seq
        plain["time"] = _iso(event.time)
    tell = _TOLD.get(type(event))
    if tell is not None:
        plain |= tell(event)
    return plain


def plain_table(table: croupier.Table) -> Plain:
    """A table as plain data. ``join_code`` is there only where it was told."""
    _, options = codec.plain_options(table.options)
    plain = {
        "name": table.name,
        "title": table.title,
        "game": table.game,
        "options": options,
        "state": _STATES.get(table.state, ""),
        "seats": [plain_seat(seat) for seat in table.seats],
        "private": table.private,
        "move_seconds": table.move_seconds,
        "seq": table.seq,
        "board": table.board,
        "commitment": table.commitment.hex(),
        "result": result_text(table.result) or None,
        "scores": list(table.scores) or None,
    }
    return {**plain, "join_code": table.join_code} if table.join_code else plain


def plain_seat(seat: tables_pb2.Seat) -> Plain:
    """One seat: ``player`` is empty while it is free or kept; ``level`` is that of a house bot."""
    return {
        "seat": seat.seat,
        "player": seat.player,
        "name": seat.display_name,
        "level": seat.bot_level,
        "invited": seat.invited_player,
    }


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat()


def _followed(event: croupier.Dealt | croupier.Moved) -> Plain:
    return {"effects": event.effects, "to_act": event.to_act, "deadline": _iso(event.deadline)}


def _snapshot(event: croupier.Snapshot) -> Plain:
    return {
        "table": plain_table(event.now),
        "seat": event.as_seat,
        "seq": event.seq,
        "view": event.view,
        "to_act": event.to_act,
        "deadline": _iso(event.deadline),
        "missed": event.missed,
        "reset": event.reset,
    }


_NAMES: Final[dict[type[croupier.Event], str]] = {
    croupier.Created: "created",
    croupier.SeatChanged: "seat_changed",
    croupier.Filled: "filled",
    croupier.Dealt: "dealt",
    croupier.Moved: "moved",
    croupier.Ended: "ended",
    croupier.Snapshot: "snapshot",
    croupier.Turn: "turn",
    croupier.Presence: "presence",
}

_TOLD: Final[dict[type[croupier.Event], Callable[[Any], Plain]]] = {
    croupier.Created: lambda e: {"table": plain_table(e.now)},
    croupier.SeatChanged: lambda e: {"seat": e.seat, "now": plain_seat(e.now)},
    croupier.Filled: lambda e: {"awaited_nonces": list(e.awaited_nonces)},
    croupier.Dealt: lambda e: {"number": e.number, **_followed(e)},
    croupier.Moved: lambda e: {"seat": e.seat, "move": e.text, "by": e.by, **_followed(e)},
    croupier.Ended: lambda e: {
        "result": e.result,
        "scores": list(e.scores),
        "server_seed": e.server_seed.hex(),
    },
    croupier.Snapshot: _snapshot,
    croupier.Turn: lambda e: {
        "seq": e.seq,
        "seat": e.seat,
        "legal": e.legal_moves,
        "view": e.view,
        "deadline": _iso(e.deadline),
    },
    croupier.Presence: lambda e: {"seat": e.seat, "connected": e.connected},
}
