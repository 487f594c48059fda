"""A table as the archive keeps it, and what of its state can be told from that.

The law of this file: what an archived table shows is what it showed when it had ended. Its events
and the ids of its requests are gone; its record tells the game.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from croupier.v1 import tables_pb2
from croupier_games import GAMES, records
from croupier_server.archive.base import Archived
from croupier_server.fold import Phase, SeatState, TableState
from croupier_server.journal.base import Stored
from croupier_server.journal.v1 import entry_pb2
from croupier_server.record import ended_table
from croupier_server.views import table_message


def archived_from(name: str, entries: Sequence[Stored]) -> Archived:
    """What the archive keeps of a whole stream.

    Raises ``UnreadableTable``; ``ValueError`` when the table has not ended.
    """
    state, record = ended_table(name, entries)
    digest = hashlib.sha256()
    for stored in entries:
        digest.update(len(stored.data).to_bytes(8) + stored.data)
    return Archived(
        name=name,
        ended_ms=state.time_ms,
        digest=digest.digest(),
        request_digest=entry_pb2.Entry.FromString(entries[0].data).request_digest,
        table=table_message(state, with_code=True).SerializeToString(),
        record=record,
    )


def state_of(archived: Archived) -> TableState:
    """The state of an archived table, without its game (``last_game`` has that) and its requests."""
    table = tables_pb2.Table.FromString(archived.table)
    record = json.loads(archived.record)
    state = TableState(archived.name)
    state.game = GAMES.get(table.game)
    state.created = entry_pb2.Created(
        game=table.game,
        players=len(table.seats),
        options_json=json.dumps(record["options"]),
        rules_version=table.rules_version,
        server_seed=table.server_seed,
        private=table.private,
        join_code=table.join_code,
        move_seconds=table.move_seconds,
        title=table.title,
        board=table.board,
    )
    state.options = record["options"]
    state.creator = table.creator
    state.created_ms = table.create_time.ToMilliseconds()
    state.seats = tuple(map(_seat, table.seats))
    state.phase = Phase.ENDED
    state.seq = state.game_seq = table.seq
    state.time_ms = archived.ended_ms
    state.ended = entry_pb2.Ended(result=entry_pb2.Result.ValueType(table.result), scores=table.scores)
    return state


def _seat(seat: tables_pb2.Seat) -> SeatState:
    return SeatState(
        player=seat.player,
        name=seat.display_name,
        level=seat.bot_level,
        invited=seat.invited_player,
        nonce_commitment=seat.nonce_commitment,
        nonce=seat.nonce,
    )


def last_game(archived: Archived) -> Any:
    """The game as it was at the end; None when no cards were dealt. Raises ``records.RecordError``."""
    return records.last_state(records.parse_record(archived.record))
