"""What a move that is asked for, a passed deadline or a step that is nobody's puts into the journal.

The law of this file: all is decided from a table's state and a time alone, and nothing is changed
by it; ``table`` appends what comes of it, and decides again when others were first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from croupier_games.game import IllegalMove, MalformedMove
from croupier_server.drafts import Request, draft, next_steps
from croupier_server.errors import refuse, refused_by_rules
from croupier_server.fold import Draft, Phase, TableState
from croupier_server.journal.v1 import entry_pb2


class AskedMove(NamedTuple):
    """A player's move as MakeMove asks for it; ``seat`` and ``expected_seq`` may be None."""

    request: Request
    seat: int | None
    text: str
    expected_seq: int | None


def decide_move(state: TableState, asked: AskedMove, now_ms: int) -> list[Draft]:
    """The entries of a player's move and of all that follows from it. Raises ``Refusal``; see MakeMove."""
    acting = seat_for(state, asked.request.actor, asked.seat)
    _check_fresh(state, asked.expected_seq)  # first: who lost the race for the last turn is told so
    _check_playing(state)
    try:
        move = state.rules.parse_move(asked.text)
    except MalformedMove as error:
        raise refused_by_rules(error, "move") from None
    return _moved(state, now_ms, asked.request, acting, move, entry_pb2.MOVED_BY_UNSPECIFIED)


def seat_for(state: TableState, player: str, seat: int | None) -> int:
    """The seat that a player acts for. Raises ``Refusal`` NOT_YOUR_SEAT or NOT_SEATED."""
    own = state.seats_of(player)
    if not own:
        raise refuse("NOT_SEATED", f"you have no seat at {state.name}", table=state.name)
    if seat is not None:
        if seat not in own:
            raise refuse("NOT_YOUR_SEAT", f"seat {seat} is not yours", seat=seat)
        return seat
    to_act = state.to_act
    return to_act if to_act in own else own[0]


def _check_playing(state: TableState) -> None:
    if state.phase is Phase.ENDED:
        raise refuse("GAME_OVER", "this game is over")
    if state.phase is not Phase.PLAYING:
        raise refuse("GAME_NOT_STARTED", "the game begins when all seats are taken")


def _check_fresh(state: TableState, expected_seq: int | None) -> None:
    if expected_seq is None or state.game_seq <= expected_seq <= state.seq:
        return
    raise refuse(
        "STALE_SEQ",
        f"expected_seq is {expected_seq}, but the game is at {state.game_seq}; look again",
        seq=state.seq,
        expected_seq=expected_seq,
    )


def _moved(
    state: TableState, now_ms: int, request: Request, seat: int, move: Any, by: entry_pb2.MovedBy.ValueType
) -> list[Draft]:
    try:
        after = state.rules.apply(state.game_state, seat, move)
    except IllegalMove as error:
        raise refused_by_rules(error, "move") from None
    moved = entry_pb2.Moved(seat=seat, move=state.rules.format_move(move), by=by)
    return [draft(now_ms, request, after, moved=moved), *next_steps(state, after, now_ms)]


def steps_due(state: TableState) -> bool:
    """True when a step is due that is nobody's: a deal, or the end."""
    if state.phase is Phase.FILLED:
        return not state.awaited_nonces()
    if state.phase is not Phase.PLAYING:
        return False
    rules = state.rules
    return rules.needs_deal(state.game_state) or rules.scores(state.game_state) is not None


def due_steps(state: TableState, now_ms: int) -> list[Draft]:
    """The entries of those steps; [] when none are due."""
    return next_steps(state, state.game_state, now_ms) if steps_due(state) else []


def overdue(state: TableState, now_ms: int) -> list[Draft]:
    """What happens to a table whose deadline has passed: a deal, a move, or the end."""
    if state.phase is Phase.FILLED:
        return next_steps(state, None, now_ms)
    if state.phase is Phase.PLAYING and state.created.move_seconds and state.to_act is not None:
        move = state.rules.default_move(state.game_state)
        return _moved(state, now_ms, Request(), state.to_act, move, entry_pb2.MOVED_BY_TIMEOUT)
    scores = [] if state.game_state is None else state.rules.running_scores(state.game_state)
    ended = entry_pb2.Ended(result=entry_pb2.RESULT_ABANDONED, scores=scores)
    return [draft(now_ms, Request(), state.game_state, ended=ended)]


def is_plain_move(drafts: list[Draft]) -> bool:
    """True when the batch changes nothing that the lobby shows."""
    return drafts[0].kind == "moved" and drafts[-1].kind != "ended"
