"""Sitting down, standing up, inviting: what a table's seats take before the game starts.

The law of this file: each function decides one command from the table's state alone and returns
the entries it makes, or raises ``Refusal`` and changes nothing. The batch that takes the last
seat starts the game.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from itertools import chain, count

from croupier_games import dealing
from croupier_games.dealing import InvalidDealing
from croupier_server.caller import Caller
from croupier_server.drafts import SERVER, Request, draft, next_steps
from croupier_server.errors import refuse, wrong_field
from croupier_server.fold import Draft, Phase, SeatState, TableState
from croupier_server.journal.v1 import entry_pb2

_COMMITMENT_BYTES = 32
_MOST_CHANGES = 1000
"""So many entries before the start, and who sits may no longer stand up: a table must not grow for ever."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller who sits down asks for."""

    seat: int | None
    join_code: str
    nonce_commitment: bytes


def join(state: TableState, caller: Caller, request: Request, wanted: Wanted, now_ms: int) -> list[Draft]:
    """Take a seat; [] when the caller sits there already."""
    own = state.seats_of(caller.player)
    if own and not caller.is_house:
        if wanted.seat is None or wanted.seat in own:
            return []
        raise refuse("ALREADY_SEATED", f"you sit in seat {own[0]} of this table", seat=own[0])
    if state.phase is Phase.ENDED:
        raise refuse("GAME_OVER", "this table has ended")
    number = _seat_to_take(state, caller, wanted)
    seat = state.seats[number]
    _check_promise(wanted)
    taken = entry_pb2.SeatTaken(
        seat=number,
        player=caller.player,
        name=_bot_name(state, number) if caller.is_house else caller.display_name,
        level=seat.level,
        nonce_commitment=wanted.nonce_commitment,
    )
    drafts = [draft(now_ms, request, seat_taken=taken)]
    kept = [n for n, other in enumerate(state.seats) if n != number and other.invited == caller.player]
    drafts += [draft(now_ms, SERVER, seat_left=entry_pb2.SeatLeft(seat=n)) for n in kept]
    others = [s for n, s in enumerate(state.seats) if n != number]
    if all(s.player for s in others):
        drafts.append(draft(now_ms, SERVER, filled=entry_pb2.Filled()))
        if not wanted.nonce_commitment and not any(s.awaits_nonce for s in others):
            drafts += next_steps(state, None, now_ms)
    return drafts


def _seat_to_take(state: TableState, caller: Caller, wanted: Wanted) -> int:
    kept = [n for n, seat in enumerate(state.seats) if _kept_for(seat, caller)]
    if wanted.seat is not None:
        return _that_seat(state, caller, wanted, wanted.seat)
    if caller.is_house and not kept:
        raise refuse("NOT_INVITED", "no seat of this table is offered to the house")
    if kept:
        return kept[0]
    check_code(state, wanted.join_code)
    free = [n for n, seat in enumerate(state.seats) if seat.free]
    if not free:
        raise refuse("TABLE_FULL", f"no seat of {state.name} is free", table=state.name)
    return free[0]


def _that_seat(state: TableState, caller: Caller, wanted: Wanted, number: int) -> int:
    if number >= len(state.seats):
        raise wrong_field("seat", f"is 0 to {len(state.seats) - 1} at this table")
    seat = state.seats[number]
    if seat.player:
        full = all(s.player for s in state.seats)
        raise refuse(
            "TABLE_FULL" if full else "SEAT_TAKEN", f"seat {number} of {state.name} is taken", seat=number
        )
    if _kept_for(seat, caller):
        return number
    if seat.level and not caller.is_house:
        raise refuse("HOUSE_ONLY", f"seat {number} is kept for a house bot", seat=number)
    if not seat.free or caller.is_house:
        raise refuse("NOT_INVITED", f"seat {number} is kept for somebody else", seat=number)
    check_code(state, wanted.join_code)
    return number


def _kept_for(seat: SeatState, caller: Caller) -> bool:
    if seat.player:
        return False
    return bool(seat.level) if caller.is_house else bool(seat.invited) and seat.invited == caller.player


def check_code(state: TableState, given: str) -> None:
    """Raises ``Refusal`` WRONG_JOIN_CODE when the table is private and the code is another."""
    code = state.created.join_code
    if code and not hmac.compare_digest(code.encode(), given.encode()):
        raise refuse("WRONG_JOIN_CODE", "this table is private; give its join code")


def _check_promise(wanted: Wanted) -> None:
    promise = wanted.nonce_commitment
    if promise and wanted.seat is None:
        raise refuse("NONCE_INVALID", "a nonce_commitment binds a seat: name the seat")
    if promise and len(promise) != _COMMITMENT_BYTES:
        raise refuse("NONCE_INVALID", f"a nonce_commitment has 32 bytes, not {len(promise)}")


def _bot_name(state: TableState, number: int) -> str:
    """``Easy bot``, ``Easy bot 2``, …: the first that nobody at the table has yet."""
    taken = {seat.name for seat in state.seats}
    name = f"{state.seats[number].level.capitalize()} bot"
    return next(n for n in chain([name], (f"{name} {k}" for k in count(2))) if n not in taken)


def show_nonce(
    state: TableState, caller: Caller, request: Request, wanted: Wanted, nonce: bytes, now_ms: int
) -> list[Draft]:
    """Keep a promise; the deal follows when it was the last one. [] when it was shown before."""
    number = _promised_seat(state, caller, wanted)
    seat = state.seats[number]
    if seat.nonce == nonce:
        return []
    _check_time_to_show(state, seat)
    try:
        commitment = dealing.nonce_commitment(state.created.board, number, nonce)
    except InvalidDealing as error:
        raise refuse("NONCE_INVALID", str(error)) from None
    if not hmac.compare_digest(commitment, seat.nonce_commitment):
        raise refuse("NONCE_INVALID", "this is not the nonce that your seat promised")
    shown = entry_pb2.NonceShown(seat=number, nonce=nonce)
    drafts = [draft(now_ms, request, nonce_shown=shown)]
    if state.awaited_nonces() == [number]:
        drafts += next_steps(state, None, now_ms, {number: nonce})
    return drafts


def _promised_seat(state: TableState, caller: Caller, wanted: Wanted) -> int:
    own = state.seats_of(caller.player)
    if not own:
        raise refuse("NOT_SEATED", f"you have no seat at {state.name}", table=state.name)
    if wanted.seat is not None and wanted.seat not in own:
        raise refuse("NOT_YOUR_SEAT", f"seat {wanted.seat} is not yours", seat=wanted.seat)
    promised = [n for n in own if state.seats[n].nonce_commitment and wanted.seat in (None, n)]
    if not promised:
        raise refuse("NONCE_INVALID", "your seat promised no nonce when it was taken")
    return promised[0]


def _check_time_to_show(state: TableState, seat: SeatState) -> None:
    if state.phase is Phase.OPEN:
        raise refuse("GAME_NOT_STARTED", "a nonce is shown when all seats are taken")
    if state.phase is Phase.ENDED:
        raise refuse("GAME_OVER", "this table has ended")
    if state.phase is not Phase.FILLED and not seat.nonce:
        raise refuse("GAME_STARTED", "the cards were dealt without your nonce: it came too late")


def leave(state: TableState, caller: Caller, request: Request, now_ms: int) -> list[Draft]:
    """Free the caller's seat."""
    own = state.seats_of(caller.player)
    if not own:
        raise refuse("NOT_SEATED", f"you have no seat at {state.name}", table=state.name)
    if state.phase is Phase.ENDED:
        raise refuse("GAME_OVER", "this table has ended")
    if state.phase is not Phase.OPEN:
        raise refuse("GAME_STARTED", "all seats are taken: nobody may leave now")
    if state.seq >= _MOST_CHANGES:
        raise refuse("NOT_ALLOWED", "this table's seats have changed too often: stay, or let it close")
    return [draft(now_ms, request, seat_left=entry_pb2.SeatLeft(seat=own[0]))]


def invite(
    state: TableState,
    caller: Caller,
    request: Request,
    seat: int | None,
    level: str,
    player: str,
    now_ms: int,
) -> list[Draft]:
    """Keep a seat for a house bot of a level, or for a player."""
    if caller.player != state.creator and not state.seats_of(caller.player):
        raise refuse("NOT_ALLOWED", "only who sits at a table or created it may invite")
    if state.phase is Phase.ENDED:
        raise refuse("GAME_OVER", "this table has ended")
    free = [n for n, s in enumerate(state.seats) if s.free]
    if seat is not None and seat >= len(state.seats):
        raise wrong_field("seat", f"is 0 to {len(state.seats) - 1} at this table")
    if not free:
        raise refuse("TABLE_FULL", f"no seat of {state.name} is free", table=state.name)
    if seat is not None and seat not in free:
        raise refuse("SEAT_TAKEN", f"seat {seat} is taken or kept", seat=seat)
    if player and (state.seats_of(player) or any(s.invited == player for s in state.seats)):
        raise refuse("ALREADY_SEATED", "that player sits here or is invited already")
    number = free[-1] if seat is None else seat
    offered = entry_pb2.SeatOffered(seat=number, level=level, player=player)
    return [draft(now_ms, request, seat_offered=offered)]
