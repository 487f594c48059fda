"""Sitting down at a table.

The law of this file: whoever does not ask for a seat gets one that is kept for him, else the
first that is free; a seat that somebody else was quicker to take is no failure while there are
others. A nonce is promised for the very seat that is asked for, before it is taken.
"""

from __future__ import annotations

import uuid
from typing import Final, NamedTuple

from croupier.connection import Connection
from croupier.errors import AlreadySeated, BrokenPromise, PermissionDenied, SeatTaken
from croupier.nonce import fresh_nonce, nonce_commitment
from croupier.v1 import tables_pb2

_TAKEN: Final = frozenset({"SEAT_TAKEN", "HOUSE_ONLY", "NOT_INVITED"})


class Seated(NamedTuple):
    """Where one sits: the table after it, the seat's number, the promised nonce (empty: none)."""

    table: tables_pb2.Table
    seat: int
    nonce: bytes


async def sit_down(
    connection: Connection, player: str, name: str, *, seat: int | None, code: str, nonce: bool
) -> Seated:
    """Take a seat at table ``name`` for ``player`` (its resource name). Raises ``Error``."""
    ask = tables_pb2.GetTableRequest(name=name)
    table = (await connection.call(lambda r: r.tables.GetTable, ask, table=name)).table
    if seat is None and any(s.player and s.player == player for s in table.seats):
        raise AlreadySeated(f"you sit at {name} already", reason="ALREADY_SEATED")
    # Boards of tournaments take no nonces: all their tables get the same cards.
    promise = nonce and table.board == table.name
    if seat is None and not promise:
        return await _join(connection, table, None, code, b"")
    for number in [seat] if seat is not None else _open_to(table, player):
        secret = fresh_nonce() if promise else b""
        try:
            return await _join(connection, table, number, code, secret)
        except (SeatTaken, PermissionDenied) as error:
            if seat is not None or error.reason not in _TAKEN:
                raise
    return await _join(connection, table, None, code, b"")


def _open_to(table: tables_pb2.Table, player: str) -> list[int]:
    kept = [s.seat for s in table.seats if player and not s.player and s.invited_player == player]
    return kept + [s.seat for s in table.seats if not (s.player or s.invited_player or s.bot_level)]


async def _join(
    connection: Connection, table: tables_pb2.Table, seat: int | None, code: str, nonce: bytes
) -> Seated:
    request = tables_pb2.JoinTableRequest(
        name=table.name,
        seat=seat,
        join_code=code,
        nonce_commitment=nonce_commitment(table.board, seat, nonce) if nonce and seat is not None else b"",
        request_id=uuid.uuid4().hex,
    )
    joined = await connection.call(lambda r: r.tables.JoinTable, request, table=table.name)
    if joined.table.commitment != table.commitment:
        raise BrokenPromise("the table's commitment changed while sitting down", reason="COMMITMENT_CHANGED")
    promised = joined.table.seats[joined.seat].nonce_commitment == request.nonce_commitment
    return Seated(joined.table, joined.seat, nonce if promised else b"")


async def show_nonce(connection: Connection, name: str, seat: int, nonce: bytes) -> None:
    """Show the nonce that was promised for a seat, now that the table is full. Raises ``Error``."""
    request = tables_pb2.JoinTableRequest(name=name, seat=seat, nonce=nonce, request_id=uuid.uuid4().hex)
    await connection.call(lambda r: r.tables.JoinTable, request, table=name)
