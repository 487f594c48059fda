"""The record of an ended table, made from its journal stream.

The law of this file: a record says what the entries say, in the form that ``croupier verify``
checks; it is made only once the table has ended, since it tells the seed and every hand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from croupier_games import dealing, records
from croupier_server.fold import TableState
from croupier_server.journal.base import Stored
from croupier_server.journal.v1 import entry_pb2

_RESULTS: Final = {
    entry_pb2.RESULT_FINISHED: "finished",
    entry_pb2.RESULT_VOID: "void",
    entry_pb2.RESULT_FORFEIT: "forfeit",
    entry_pb2.RESULT_ABANDONED: "abandoned",
}
_BY: Final = {entry_pb2.MOVED_BY_TIMEOUT: "timeout", entry_pb2.MOVED_BY_TAKEOVER: "takeover"}


def record_line(name: str, entries: Sequence[Stored]) -> str:
    """The record of a whole stream as one line of JSON. Raises as ``ended_table`` does."""
    return ended_table(name, entries)[1]


def ended_table(name: str, entries: Sequence[Stored]) -> tuple[TableState, str]:
    """The last state of a whole stream, and its record as one line of JSON.

    Raises ``UnreadableTable``; ``ValueError`` when the table has not ended.
    """
    state = TableState(name)
    deals: list[Any] = []
    moves: list[Any] = []
    started_ms = 0
    for stored in entries:
        step = state.fold(stored)
        entry, kind = step.entry, step.kind
        if kind == "dealt":
            started_ms = started_ms or entry.time_ms
            deals.append(json.loads(entry.dealt.deal_json))
        elif kind == "moved":
            moved = entry.moved
            t, by = entry.time_ms - started_ms, _BY.get(moved.by)
            moves.append(records.move_entry(len(deals) - 1, moved.seat, moved.move, t=t, by=by))
    if state.ended is None:
        raise ValueError(f"{name} has not ended")
    return state, records.format_record(_record(state, deals, moves, state.ended))


def _record(state: TableState, deals: list[Any], moves: list[Any], ended: entry_pb2.Ended) -> dict[str, Any]:
    created = state.created
    return records.build_record(
        game=created.game,
        players=len(state.seats),
        options=state.options,
        deals=deals,
        moves=moves,
        scores=list(ended.scores) or None,
        facts=None if state.game_state is None else state.rules.facts(state.game_state),
        result=_RESULTS[ended.result],
        rules_version=created.rules_version,
        names=[seat.name for seat in state.seats],
        table=state.name,
        table_options={"move_seconds": created.move_seconds, "private": created.private},
        board=created.board,
        commitment=dealing.commitment(created.board, created.server_seed),
        server_seed=created.server_seed,
        nonce_commitments=[seat.nonce_commitment or None for seat in state.seats],
        nonces=[seat.nonce or None for seat in state.seats],
    )
