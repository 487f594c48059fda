"""New journal entries, before they are appended.

The law of this file: a draft is decided from the state before it and carries all that a fold
needs, so that replay asks for no clock and no randomness. What a batch begins, it finishes: a
move that ends a hand brings the next deal along, the last move brings the end.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from croupier_games import dealing
from croupier_games.game import Game
from croupier_server.fold import ENTRY_VERSION, Draft, Phase, TableState, state_digest
from croupier_server.journal.v1 import entry_pb2

if TYPE_CHECKING:
    from croupier_server.settings import Settings


class Request(NamedTuple):
    """Who asks for a change, and under which id; all empty for the server itself."""

    actor: str = ""
    request_id: str = ""
    digest: bytes = b""


SERVER: Final = Request()


def request_digest(*parts: bytes) -> bytes:
    """16 bytes that tell one payload from another under the same request id."""
    written = repr(parts).encode()  # where one part ends and the next begins shows in it
    return hashlib.blake2b(written, digest_size=16).digest()


def draft(now_ms: int, request: Request, game_state: Any = None, **kind: Any) -> Draft:
    """An entry of one kind: ``draft(now, request, moved=entry_pb2.Moved(...))``."""
    (name,) = kind
    entry = entry_pb2.Entry(
        version=ENTRY_VERSION,
        entry_id=os.urandom(16),
        time_ms=now_ms,
        actor=request.actor,
        request_id=request.request_id,
        request_digest=request.digest,
        **kind,
    )
    return Draft(entry, name, game_state)


def next_steps(
    state: TableState, game_state: Any, now_ms: int, shown: Mapping[int, bytes] | None = None
) -> list[Draft]:
    """The steps that are nobody's to decide: deals that are due, and the end.

    ``game_state`` is the game after the drafts before these, None before the first deal;
    ``shown`` are the nonces that those drafts show.
    """
    rules, drafts, number = state.rules, [], state.deals
    nonces = [(shown or {}).get(n, seat.nonce) or None for n, seat in enumerate(state.seats)]
    while game_state is None or rules.needs_deal(game_state):
        deal = _deal(state, rules, game_state, number, nonces)
        if game_state is None:
            game_state = rules.load_deal(deal, len(state.seats), state.options)
        else:
            game_state = rules.next_deal(game_state, deal)
        dealt = entry_pb2.Dealt(number=number, deal_json=json.dumps(deal, separators=(",", ":")))
        drafts.append(draft(now_ms, SERVER, game_state, dealt=dealt))
        drafts[-1].entry.state_digest = state_digest(rules, game_state)
        number += 1
    scores = rules.scores(game_state)
    if scores is not None:
        void = rules.void(game_state)
        result = entry_pb2.RESULT_VOID if void else entry_pb2.RESULT_FINISHED
        ended = entry_pb2.Ended(result=result, scores=scores)
        drafts.append(draft(now_ms, SERVER, game_state, ended=ended))
        drafts[-1].entry.state_digest = state_digest(rules, game_state)
    return drafts


def _deal(
    state: TableState,
    rules: Game[Any, Any],
    game_state: Any,
    number: int,
    nonces: Sequence[bytes | None],
) -> dict[str, Any]:
    return dealing.deal(
        rules,
        state.options,
        len(state.seats),
        state.created.board,
        state.created.server_seed,
        number,
        nonces,
        first=None if game_state is None else rules.next_first(game_state),
    )


def set_deadline(state: TableState, drafts: Sequence[Draft], settings: Settings) -> int | None:
    """Write the deadline after a batch into its last entry: its time, None (never), 0 (as it was)."""
    last = drafts[-1].entry
    kinds = {d.kind for d in drafts}
    now = last.time_ms
    if "ended" in kinds:
        return None
    if kinds & {"dealt", "moved"}:
        idle = int(settings.idle_game_ttl_s * 1000)
        if state.created.move_seconds:
            last.deadline_ms = now + state.created.move_seconds * 1000
        elif state.phase is not Phase.PLAYING or state.deadline_ms < now + idle:
            last.deadline_ms = now + idle + idle // 2  # so that few moves have to put it off
    elif "filled" in kinds:
        last.deadline_ms = now + int(settings.nonce_wait_s * 1000)
    elif state.phase is Phase.OPEN:
        last.deadline_ms = now + int(settings.open_table_ttl_s * 1000)
    return last.deadline_ms
