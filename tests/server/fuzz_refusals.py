"""Requests that must be refused, method by method, each with the code and the reason.

The law of this file: a request is plain data (see ``fuzz_stage`` for its labels) or the bytes
themselves; nothing in it depends on the cards that were dealt. ``@doudizhu`` is in its bidding,
where ``play 3C`` is no legal move whoever holds that card (DDZ-2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from grpc import StatusCode

from croupier_server.rpc.reflection import V1_NAME
from server.fuzz_stage import NONCE

INVALID = StatusCode.INVALID_ARGUMENT
UNKNOWN_CALLER = StatusCode.UNAUTHENTICATED
DENIED = StatusCode.PERMISSION_DENIED
ABSENT = StatusCode.NOT_FOUND
NOT_NOW = StatusCode.FAILED_PRECONDITION
STALE = StatusCode.ABORTED
TOO_MUCH = StatusCode.RESOURCE_EXHAUSTED
NO_METHOD = StatusCode.UNIMPLEMENTED

TO_ACT = "to act"
"""Stands for the guest whose turn it is at ``@doudizhu``."""
WAITING = "waiting"
"""Stands for a guest who sits at ``@doudizhu`` and is not to act."""

NOWHERE = "tables/" + "x" * 22
NOT_UTF8 = b"\x0a\x02\xff\xfe"
CUT_OFF = b"\x0a\x7fabc"
NO_MESSAGE = b"\xff\xff\xff\xff"
LONG = "x" * 65
HUGE = "x" * 300_000
COMBINING = "a" + "\u0315\u0300" * 60_000
"""A text that takes a quadratic time to normalize."""
LIKE_TOKENS = "eyJ-" * 60_000
"""A text that looks, at each of its letters, as if a token began there."""


class Bad(NamedTuple):
    """One request, who sends it, and how it is refused."""

    method: str
    who: str
    request: dict[str, Any] | bytes
    code: StatusCode
    reason: str


GAMES = [
    Bad("GetRules", "nobody", {}, INVALID, "MISSING_FIELD"),
    Bad("GetRules", "nobody", {"game": "snap"}, INVALID, "UNKNOWN_GAME"),
    Bad("GetRules", "nobody", {"game": LIKE_TOKENS}, INVALID, "UNKNOWN_GAME"),
    Bad("GetRules", "nobody", {"game": "doudizhu", "players": 4}, INVALID, "INVALID_OPTIONS"),
    Bad("GetRules", "nobody", {"game": "doudizhu", "players": 2**32 - 1}, INVALID, "INVALID_OPTIONS"),
    Bad("GetRules", "nobody", {"game": "doudizhu", "options": {"basic_rummy": {}}}, INVALID, "WRONG_GAME"),
    Bad("GetRules", "nobody", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("ListGames", "nobody", NO_MESSAGE, INVALID, "MALFORMED_REQUEST"),
    Bad("GetServerInfo", "nobody", CUT_OFF, INVALID, "MALFORMED_REQUEST"),
]

PLAYERS = [
    Bad("SignIn", "nobody", {}, INVALID, "MISSING_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "  \u200d "}, INVALID, "MISSING_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "x" * 41}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", {"display_name": COMBINING}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "a\nb"}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "a\0b"}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "\u202ennA"}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "Ann", "request_id": "1"}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", {"display_name": "Ann", "request_id": HUGE[:9999]}, INVALID, "INVALID_FIELD"),
    Bad("SignIn", "nobody", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("SignIn", "forged", {}, UNKNOWN_CALLER, "TOKEN_INVALID"),
    Bad("SignIn", "garbled", {"display_name": "Ann"}, UNKNOWN_CALLER, "TOKEN_INVALID"),
    Bad("SignIn", "expired", {"display_name": "Ann"}, UNKNOWN_CALLER, "TOKEN_EXPIRED"),
    Bad("WatchInbox", "nobody", {}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("WatchInbox", "expired", {}, UNKNOWN_CALLER, "TOKEN_EXPIRED"),
    Bad("WatchInbox", "zoe", CUT_OFF, INVALID, "MALFORMED_REQUEST"),
]


def _create(reason: str, **fields: Any) -> Bad:
    return Bad("CreateTable", "zoe", {"game": "doudizhu", **fields}, INVALID, reason)


CREATING = [
    Bad("CreateTable", "nobody", {"game": "doudizhu"}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("CreateTable", "forged", {"game": "doudizhu"}, UNKNOWN_CALLER, "TOKEN_INVALID"),
    Bad("CreateTable", "zoe", {}, INVALID, "MISSING_FIELD"),
    _create("UNKNOWN_GAME", game="DouDizhu"),
    _create("INVALID_OPTIONS", players=1),
    _create("INVALID_OPTIONS", players=2**32 - 1),
    _create("WRONG_GAME", options={"hidden_unders": {"decks": 1}}),
    _create("INVALID_OPTIONS", options={"doudizhu": {"deals": 0}}),
    _create("INVALID_OPTIONS", options={"doudizhu": {"deals": 101}}),
    _create("INVALID_OPTIONS", options={"doudizhu": {"max_redeals": 2**32 - 1}}),
    _create("INVALID_OPTIONS", game="basic_rummy", options={"basic_rummy": {"points": 200}}),
    _create("INVALID_OPTIONS", game="hidden_unders", options={"hidden_unders": {"turn_limit": 19}}),
    _create("INVALID_OPTIONS", game="hidden_unders", players=5, options={"hidden_unders": {"decks": 1}}),
    _create("INVALID_FIELD", move_seconds=4),
    _create("INVALID_FIELD", move_seconds=86_401),
    _create("INVALID_FIELD", title="x" * 81),
    _create("INVALID_FIELD", title=COMBINING),
    _create("INVALID_FIELD", title="a\x1b[31m"),
    _create("INVALID_FIELD", request_id=LONG),
    _create("INVALID_FIELD", request_id="a\nb"),
    Bad("CreateTable", "ann", {"game": "basic_rummy", "request_id": "open"}, INVALID, "REQUEST_ID_REUSED"),
    Bad("CreateTable", "zoe", {"game": HUGE}, TOO_MUCH, "MESSAGE_TOO_LARGE"),
    Bad("CreateTable", "zoe", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
]

LOOKING = [
    Bad("GetTable", "nobody", {}, INVALID, "MISSING_FIELD"),
    Bad("GetTable", "nobody", {"name": "tables/1"}, ABSENT, "TABLE_NOT_FOUND"),
    Bad("GetTable", "nobody", {"name": "tables/a b"}, INVALID, "INVALID_FIELD"),
    Bad("GetTable", "nobody", {"name": "tables/" + "x" * 65}, INVALID, "INVALID_FIELD"),
    Bad("GetTable", "nobody", {"name": LIKE_TOKENS}, INVALID, "INVALID_FIELD"),
    Bad("GetTable", "nobody", {"name": "&ann"}, INVALID, "INVALID_FIELD"),
    Bad("GetTable", "nobody", {"name": NOWHERE}, ABSENT, "TABLE_NOT_FOUND"),
    Bad("GetTable", "expired", {"name": "@open"}, UNKNOWN_CALLER, "TOKEN_EXPIRED"),
    Bad("GetTable", "nobody", NO_MESSAGE, INVALID, "MALFORMED_REQUEST"),
    Bad("GetTable", "nobody", {"name": HUGE}, TOO_MUCH, "MESSAGE_TOO_LARGE"),
    Bad("ListTables", "nobody", {"page_size": -1}, INVALID, "INVALID_FIELD"),
    Bad("ListTables", "nobody", {"page_size": -(2**31)}, INVALID, "INVALID_FIELD"),
    Bad("ListTables", "nobody", {"game": "snap"}, INVALID, "UNKNOWN_GAME"),
    Bad("ListTables", "nobody", {"states": [0]}, INVALID, "INVALID_FIELD"),
    Bad("ListTables", "nobody", {"states": [99]}, INVALID, "INVALID_FIELD"),
    Bad("ListTables", "nobody", {"page_token": "nonsense"}, INVALID, "INVALID_PAGE_TOKEN"),
    Bad("ListTables", "nobody", {"page_token": "é" * 999}, INVALID, "INVALID_PAGE_TOKEN"),
    Bad("ListTables", "forged", {}, UNKNOWN_CALLER, "TOKEN_INVALID"),
    Bad("GetRecord", "nobody", {}, INVALID, "MISSING_FIELD"),
    Bad("GetRecord", "nobody", {"table": NOWHERE}, ABSENT, "TABLE_NOT_FOUND"),
    Bad("GetRecord", "ann", {"table": "@doudizhu"}, NOT_NOW, "TABLE_NOT_ENDED"),
    Bad("GetRecord", "nobody", {"table": "@open"}, NOT_NOW, "TABLE_NOT_ENDED"),
]


def _join(who: str, table: str, code: StatusCode, reason: str, **fields: Any) -> Bad:
    return Bad("JoinTable", who, {"name": f"@{table}", **fields}, code, reason)


SEATS = [
    Bad("JoinTable", "nobody", {"name": "@open"}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("JoinTable", "zoe", {}, INVALID, "MISSING_FIELD"),
    Bad("JoinTable", "zoe", {"name": NOWHERE}, ABSENT, "TABLE_NOT_FOUND"),
    _join("zoe", "open", INVALID, "INVALID_FIELD", seat=3),
    _join("zoe", "open", INVALID, "INVALID_FIELD", seat=2**32 - 1),
    _join("zoe", "open", INVALID, "INVALID_FIELD", request_id=LONG),
    _join("zoe", "open", NOT_NOW, "SEAT_TAKEN", seat=0),
    _join("zoe", "open", DENIED, "HOUSE_ONLY", seat=2),
    _join("ann", "open", NOT_NOW, "ALREADY_SEATED", seat=1),
    _join("zoe", "kept", DENIED, "NOT_INVITED", seat=1),
    _join("zoe", "doudizhu", NOT_NOW, "TABLE_FULL"),
    _join("zoe", "doudizhu", NOT_NOW, "TABLE_FULL", seat=1),
    _join("zoe", "ended", NOT_NOW, "GAME_OVER"),
    _join("zoe", "private", DENIED, "WRONG_JOIN_CODE"),
    _join("zoe", "private", DENIED, "WRONG_JOIN_CODE", join_code="#open"),
    _join("zoe", "private", DENIED, "WRONG_JOIN_CODE", join_code=LIKE_TOKENS),
    _join("zoe", "open", INVALID, "NONCE_INVALID", nonce_commitment=b"x" * 32),
    _join("zoe", "open", INVALID, "NONCE_INVALID", seat=1, nonce_commitment=b"x" * 31),
    _join("zoe", "open", INVALID, "NONCE_INVALID", seat=1, nonce_commitment=b"x" * 9999),
    _join("zoe", "open", DENIED, "NOT_SEATED", nonce=NONCE),
    _join("zoe", "awaiting", DENIED, "NOT_SEATED", nonce=NONCE),
    _join("ann", "open", INVALID, "NONCE_INVALID", nonce=NONCE),
    _join("bob", "awaiting", INVALID, "NONCE_INVALID", nonce=NONCE),
    _join("bob", "awaiting", DENIED, "NOT_YOUR_SEAT", nonce=NONCE, seat=0),
    _join("ann", "awaiting", INVALID, "NONCE_INVALID", nonce=b"x" * 16),
    _join("ann", "awaiting", INVALID, "NONCE_INVALID", nonce=NONCE[:-1]),
    _join("ann", "awaiting", INVALID, "NONCE_INVALID", nonce=NONCE * 3),
    Bad("JoinTable", "zoe", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("LeaveTable", "nobody", {"name": "@open"}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("LeaveTable", "zoe", {}, INVALID, "MISSING_FIELD"),
    Bad("LeaveTable", "zoe", {"name": "@open"}, DENIED, "NOT_SEATED"),
    Bad("LeaveTable", "ann", {"name": "@doudizhu"}, NOT_NOW, "GAME_STARTED"),
    Bad("LeaveTable", "ann", {"name": "@awaiting"}, NOT_NOW, "GAME_STARTED"),
    Bad("LeaveTable", "ann", {"name": "@ended"}, NOT_NOW, "GAME_OVER"),
    Bad("LeaveTable", "ann", {"name": "@open", "request_id": "\u2028"}, INVALID, "INVALID_FIELD"),
    Bad("InviteBot", "nobody", {"name": "@open"}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("InviteBot", "zoe", {"name": "@open"}, DENIED, "NOT_ALLOWED"),
    Bad("InviteBot", "ann", {"name": "@open", "level": "godlike"}, INVALID, "INVALID_FIELD"),
    Bad("InviteBot", "ann", {"name": "@open", "player": "players/1"}, INVALID, "INVALID_FIELD"),
    Bad("InviteBot", "ann", {"name": "@open", "player": "@open"}, INVALID, "INVALID_FIELD"),
    Bad("InviteBot", "ann", {"name": "@open", "player": ""}, INVALID, "MISSING_FIELD"),
    Bad("InviteBot", "ann", {"name": "@open", "player": "&ann"}, NOT_NOW, "ALREADY_SEATED"),
    Bad("InviteBot", "ann", {"name": "@kept", "player": "&bob"}, NOT_NOW, "ALREADY_SEATED"),
    Bad("InviteBot", "ann", {"name": "@open", "seat": 2}, NOT_NOW, "SEAT_TAKEN"),
    Bad("InviteBot", "ann", {"name": "@open", "seat": 9}, INVALID, "INVALID_FIELD"),
    Bad("InviteBot", "ann", {"name": "@doudizhu"}, NOT_NOW, "TABLE_FULL"),
    Bad("InviteBot", "ann", {"name": "@ended"}, NOT_NOW, "GAME_OVER"),
    Bad("LeaveTable", "zoe", CUT_OFF, INVALID, "MALFORMED_REQUEST"),
    Bad("InviteBot", "zoe", CUT_OFF, INVALID, "MALFORMED_REQUEST"),
]


def move(who: str, code: StatusCode, reason: str, text: Any = "pass", **fields: Any) -> Bad:
    """A bad move at ``@doudizhu``; a text, or a typed move as plain data."""
    written = {"text": text} if isinstance(text, str) else text
    return Bad("MakeMove", who, {"table": "@doudizhu", "move": written, **fields}, code, reason)


def _typed(game: str, **kind: Any) -> dict[str, Any]:
    return {game: kind}


MOVES = [
    move("nobody", UNKNOWN_CALLER, "TOKEN_MISSING"),
    move("forged", UNKNOWN_CALLER, "TOKEN_INVALID"),
    move("expired", UNKNOWN_CALLER, "TOKEN_EXPIRED"),
    move("zoe", DENIED, "NOT_SEATED"),
    move("house", DENIED, "NOT_SEATED"),
    move("ann", DENIED, "NOT_YOUR_SEAT", seat=1),
    move("ann", DENIED, "NOT_YOUR_SEAT", seat=2**32 - 1),
    move(WAITING, NOT_NOW, "NOT_YOUR_TURN"),
    move(WAITING, INVALID, "MALFORMED_MOVE", "play ZZ"),
    move(TO_ACT, STALE, "STALE_SEQ", expected_seq=0),
    move(TO_ACT, STALE, "STALE_SEQ", expected_seq=2**32 - 1),
    move(TO_ACT, INVALID, "MISSING_FIELD", {}),
    move(TO_ACT, INVALID, "INVALID_FIELD", request_id=LONG),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", ""),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "play"),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "play ??"),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "play 3C 3C"),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "bid ²"),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "bid " + "9" * 5000),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "play " + "3C " * 80_000),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", LIKE_TOKENS),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", "discard KC"),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", _typed("doudizhu", bid={"amount": 4})),
    move(TO_ACT, INVALID, "MALFORMED_MOVE", _typed("doudizhu", play={"cards": []})),
    move(TO_ACT, INVALID, "INVALID_FIELD", _typed("doudizhu")),
    move(TO_ACT, INVALID, "INVALID_FIELD", _typed("doudizhu", play={"cards": [0]})),
    move(TO_ACT, INVALID, "INVALID_FIELD", _typed("doudizhu", play={"cards": [2, 55]})),
    move(TO_ACT, INVALID, "INVALID_FIELD", _typed("doudizhu", play={"cards": [-1]})),
    move(TO_ACT, INVALID, "WRONG_GAME", _typed("hidden_unders", done={})),
    move(TO_ACT, INVALID, "WRONG_GAME", _typed("basic_rummy", draw={"source": 1})),
    move(TO_ACT, INVALID, "INVALID_FIELD", _typed("basic_rummy", draw={})),
    move(TO_ACT, NOT_NOW, "ILLEGAL_MOVE", "play 3C"),
    move(TO_ACT, NOT_NOW, "ILLEGAL_MOVE", _typed("doudizhu", play={"cards": list(range(1, 55))})),
    Bad("MakeMove", "ann", {}, INVALID, "MISSING_FIELD"),
    Bad("MakeMove", "ann", {"table": NOWHERE, "move": {"text": "pass"}}, ABSENT, "TABLE_NOT_FOUND"),
    Bad("MakeMove", "ann", {"table": "@doudizhu"}, INVALID, "MISSING_FIELD"),
    Bad("MakeMove", "ann", {"table": "@open", "move": {"text": "pass"}}, NOT_NOW, "GAME_NOT_STARTED"),
    Bad("MakeMove", "ann", {"table": "@awaiting", "move": {"text": "pass"}}, NOT_NOW, "GAME_NOT_STARTED"),
    Bad("MakeMove", "ann", {"table": "@ended", "move": {"text": "pass"}}, NOT_NOW, "GAME_OVER"),
    Bad("MakeMove", "ann", {"table": HUGE}, TOO_MUCH, "MESSAGE_TOO_LARGE"),
    Bad("MakeMove", "ann", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("ListLegalMoves", "nobody", {"table": "@doudizhu"}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("ListLegalMoves", "ann", {}, INVALID, "MISSING_FIELD"),
    Bad("ListLegalMoves", "zoe", {"table": "@doudizhu"}, DENIED, "NOT_SEATED"),
    Bad("ListLegalMoves", "ann", {"table": "@doudizhu", "seat": 1}, DENIED, "NOT_YOUR_SEAT"),
    Bad("ListLegalMoves", "ann", {"table": "@doudizhu", "page_size": -1}, INVALID, "INVALID_FIELD"),
    Bad("ListLegalMoves", TO_ACT, {"table": "@doudizhu", "page_token": "A"}, INVALID, "INVALID_PAGE_TOKEN"),
    Bad("ListLegalMoves", "ann", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
]


def _watch(who: str, code: StatusCode, reason: str, **fields: Any) -> Bad:
    return Bad("WatchTable", who, {"subscription": fields}, code, reason)


WATCHING = [
    Bad("WatchTable", "nobody", {}, INVALID, "MISSING_FIELD"),
    _watch("nobody", INVALID, "INVALID_FIELD", table="tables/"),
    _watch("nobody", ABSENT, "TABLE_NOT_FOUND", table=NOWHERE),
    _watch("nobody", DENIED, "NOT_YOUR_SEAT", table="@doudizhu", seat=0),
    _watch("ann", DENIED, "NOT_YOUR_SEAT", table="@doudizhu", seat=1),
    _watch("bob", DENIED, "NOT_YOUR_SEAT", table="@basic_rummy", seat=2**32 - 1),
    _watch("nobody", DENIED, "WRONG_JOIN_CODE", table="@private"),
    _watch("zoe", DENIED, "WRONG_JOIN_CODE", table="@private", join_code="é"),
    _watch("forged", UNKNOWN_CALLER, "TOKEN_INVALID", table="@doudizhu"),
    Bad("WatchTable", "nobody", b"\x0a" + NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("Play", "nobody", {}, UNKNOWN_CALLER, "TOKEN_MISSING"),
    Bad("Play", "expired", {}, UNKNOWN_CALLER, "TOKEN_EXPIRED"),
    Bad("Play", "zoe", {"commands": [{}]}, INVALID, "MISSING_FIELD"),
    Bad("Play", "zoe", b"\x0a\x02\x0a\x7f", INVALID, "MALFORMED_REQUEST"),
    Bad("Play", "zoe", b"\0" * 300_000, TOO_MUCH, "MESSAGE_TOO_LARGE"),
]

OTHERS = [
    Bad("Check", "nobody", {"service": "snap"}, ABSENT, "SERVICE_NOT_FOUND"),
    Bad("Check", "nobody", {"service": LIKE_TOKENS}, ABSENT, "SERVICE_NOT_FOUND"),
    Bad("Check", "nobody", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("List", "nobody", NO_MESSAGE, INVALID, "MALFORMED_REQUEST"),
    Bad("Watch", "nobody", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad("ServerReflectionInfo", "nobody", NOT_UTF8, INVALID, "MALFORMED_REQUEST"),
    Bad(f"/{V1_NAME}/ServerReflectionInfo", "nobody", NO_MESSAGE, INVALID, "MALFORMED_REQUEST"),
    Bad("/croupier.v1.TableService/StealCards", "ann", {}, NO_METHOD, "METHOD_NOT_FOUND"),
    Bad("/croupier.v1.TableService/" + "eyJ-" * 1500, "nobody", {}, NO_METHOD, "METHOD_NOT_FOUND"),
    Bad("/croupier.v9.TableService/MakeMove", "ann", b"\xff", NO_METHOD, "METHOD_NOT_FOUND"),
]

BAD_REQUESTS = [*GAMES, *PLAYERS, *CREATING, *LOOKING, *SEATS, *MOVES, *WATCHING, *OTHERS]
