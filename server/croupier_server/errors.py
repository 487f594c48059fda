"""Every refusal this server can give, in one table.

The law of this file: a call ends with OK or with a reason of ``REASONS``; each reason has one
gRPC status code and says what the client must do. What goes on the wire stays small, whatever
a caller sent, and never holds a secret: values are cut, and facts named like secrets are masked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import grpc
import structlog
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from croupier_games.game import GameError, InvalidOptions, MalformedMove
from croupier_server.journal.base import JournalError, JournalUnavailable, QueueFull
from croupier_server.refusal_texts import translated
from croupier_server.secrecy import MASK, is_secret, masked

log: Final = structlog.get_logger()

DOMAIN: Final = "croupier"
"""The domain of every ErrorInfo."""

MAX_STATUS_BYTES: Final = 2800
"""The largest encoded status: with base64 and the message in a header, still under 8 KiB."""

_MAX_MESSAGE, _MAX_FACT, _MAX_FIELD, _MAX_DESCRIPTION = 400, 200, 100, 200
"""The longest texts, in bytes of UTF-8."""
_MAX_FACTS, _MAX_VIOLATIONS = 12, 8


class Reason(NamedTuple):
    """What a reason means: its status code, when it comes, what the client must do."""

    code: grpc.StatusCode
    comes: str
    do: str


_BAD, _AUTH = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAUTHENTICATED
_DENIED, _ABSENT = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.NOT_FOUND
_STATE, _STALE = grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED
_FULL, _AWAY = grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE
_LATE, _NO_METHOD = grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNIMPLEMENTED

_MEND: Final = "A mistake in the client: mend the request. Do not repeat it."

REASONS: Final[Mapping[str, Reason]] = {
    # the request itself
    "MALFORMED_REQUEST": Reason(
        _BAD, "The bytes are no message of this method, or a text is not UTF-8.", _MEND
    ),
    "MISSING_FIELD": Reason(_BAD, "A required field is unset; BadRequest names it.", _MEND),
    "INVALID_FIELD": Reason(_BAD, "A field has a value that it can never have; BadRequest names it.", _MEND),
    "UNKNOWN_GAME": Reason(_BAD, "There is no game of that key.", "Take a key from ListGames."),
    "WRONG_GAME": Reason(_BAD, "Options or a move of another game than the table's.", _MEND),
    "INVALID_OPTIONS": Reason(
        _BAD,
        "The rules refuse the options or the number of players; `rule_reason` says why.",
        "Keep to the values that ListGames gives.",
    ),
    "MALFORMED_MOVE": Reason(
        _BAD,
        "The move is none of this game at all; `rule_reason` says why.",
        "Mend the move; ListLegalMoves gives right ones. It is still the seat's turn.",
    ),
    "NONCE_INVALID": Reason(
        _BAD,
        "A nonce that is not 16 to 32 bytes or not the promised one, or a promise that is not 32 bytes.",
        "Show the very nonce that was promised for this board and seat.",
    ),
    "REQUEST_ID_REUSED": Reason(
        _BAD,
        "This request_id was used for another request.",
        "Take a fresh request_id for each new request; the old one only to repeat the same request.",
    ),
    "INVALID_PAGE_TOKEN": Reason(
        _BAD,
        "The page token is not from this list with this filter, or too old.",
        "Begin with the first page.",
    ),
    # who is asking
    "TOKEN_MISSING": Reason(
        _AUTH, "The call acts for a player and came without a bearer token.", "SignIn, then send the token."
    ),
    "TOKEN_INVALID": Reason(
        _AUTH, "The token is not one of this server's, or was changed.", "SignIn without a token."
    ),
    "TOKEN_EXPIRED": Reason(
        _AUTH,
        "The token's time is over.",
        "SignIn without a token; the request_id and name of the first time give the same player.",
    ),
    "NOT_YOUR_SEAT": Reason(_DENIED, "Somebody else sits there.", "Name a seat that you hold, or none."),
    "NOT_SEATED": Reason(
        _DENIED, "The caller holds no seat at this table.", "JoinTable first; to look on, WatchTable."
    ),
    "WRONG_JOIN_CODE": Reason(
        _DENIED,
        "The table is private and the join code is missing or wrong.",
        "Ask its creator for the code.",
    ),
    "HOUSE_ONLY": Reason(
        _DENIED, "The seat is kept for a house bot.", "Take another seat; house bots sit down by themselves."
    ),
    "NOT_INVITED": Reason(_DENIED, "The seat is kept for another player.", "Take another seat."),
    "NOT_ALLOWED": Reason(
        _DENIED, "Only those who sit at the table or created it may do this.", "Do not repeat it."
    ),
    # what there is
    "TABLE_NOT_FOUND": Reason(_ABSENT, "There is no table of that name.", "Forget the table."),
    "SERVICE_NOT_FOUND": Reason(
        _ABSENT, "A health check asks for a service that is not here.", "Check the service's full name."
    ),
    "METHOD_NOT_FOUND": Reason(
        _NO_METHOD, "This server has no such method.", "Compare GetServerInfo's version with your protos'."
    ),
    # what the table allows now
    "TABLE_FULL": Reason(_STATE, "No seat is free.", "Take another table."),
    "SEAT_TAKEN": Reason(_STATE, "The seat is taken.", "Take another seat, or none in particular."),
    "ALREADY_SEATED": Reason(
        _STATE,
        "The caller sits at this table already.",
        "Go on in the seat you hold; LeaveTable to change it.",
    ),
    "GAME_STARTED": Reason(
        _STATE, "All seats are taken, so nobody may sit down or leave.", "Play on, or watch."
    ),
    "GAME_NOT_STARTED": Reason(
        _STATE, "Seats are still free, nonces are awaited, or a deal is due.", "Wait for the next turn."
    ),
    "GAME_OVER": Reason(_STATE, "The table has ended.", "Stop; GetRecord has the whole game."),
    "NOT_YOUR_TURN": Reason(_STATE, "Another seat is to move.", "Wait for your seat's turn."),
    "ILLEGAL_MOVE": Reason(
        _STATE,
        "The rules do not allow this move now; `rule_reason` says why.",
        "Choose another move; ListLegalMoves has all of them. It is still the seat's turn.",
    ),
    "STALE_SEQ": Reason(
        _STALE,
        "The game has changed since `expected_seq`.",
        "Catch up with the table's events, decide anew, and move with a fresh request_id.",
    ),
    "TABLE_NOT_ENDED": Reason(
        _STATE, "The record is asked for before the end.", "Wait for the `ended` event."
    ),
    # limits
    "TOO_MANY_TABLES": Reason(
        _FULL, "The caller has as many unfinished tables as one player may.", "Finish or leave one first."
    ),
    "TOO_MANY_STREAMS": Reason(
        _FULL,
        "The caller, or the server (`scope`), has as many streams open as may be.",
        "Close one, or put several tables on one Play stream; with `scope` server try again later.",
    ),
    "TOO_MANY_CALLS": Reason(
        _FULL, "The server works on as many calls as it takes at once.", "Repeat it after a growing wait."
    ),
    "TOO_MANY_MOVES": Reason(
        _FULL,
        "The Play stream has as many unanswered moves as it may.",
        "Wait for results, then repeat the move with the same request_id.",
    ),
    "TOO_MANY_SUBSCRIPTIONS": Reason(
        _FULL,
        "The Play stream holds as many subscriptions as it may.",
        "Unsubscribe, or open another stream.",
    ),
    "MESSAGE_TOO_LARGE": Reason(
        _FULL, "A message is larger than GetServerInfo's `max_message_bytes`.", "Send less at once."
    ),
    # the server is not well
    "DEADLINE_EXCEEDED": Reason(
        _LATE,
        "The call took longer than the server allows; it may have been carried out all the same.",
        "Repeat it with the same request_id.",
    ),
    "SERVER_BUSY": Reason(
        _AWAY, "Too many writes are waiting; nothing was done.", "Repeat it after a growing wait."
    ),
    "JOURNAL_UNAVAILABLE": Reason(
        _AWAY,
        "The store cannot be reached now.",
        "Repeat it, with the same request_id, after a growing wait.",
    ),
    "OUTCOME_UNKNOWN": Reason(
        _AWAY,
        "The store did not answer in time: the call may or may not have been carried out.",
        "Repeat it with the same request_id: if it was carried out, you get its answer.",
    ),
    "SERVER_DRAINING": Reason(
        _AWAY, "This server process is going away.", "Connect again at once and resume from the last `seq`."
    ),
    "TABLE_UNREADABLE": Reason(
        _AWAY,
        "The table was written by a newer release than this process, or its history is damaged.",
        "Try again later: another process may know it.",
    ),
    "SERVER_FAULT": Reason(
        _AWAY,
        "A mistake in the server; `incident` finds it in the server's log.",
        "Repeat it a few times with the same request_id, then report the incident.",
    ),
}


class Violation(NamedTuple):
    """One field that is wrong: its path in the request, and what is wrong with it."""

    field: str
    description: str


class Refusal(Exception):
    """A call that is refused: a reason of ``REASONS``, a message for people, and facts.

    ``message`` is English. ``facts`` go into ErrorInfo's metadata, ``fields`` into BadRequest.
    Raises ``KeyError`` for a reason that is not in the table.
    """

    def __init__(
        self, reason: str, message: str, facts: Mapping[str, str], fields: Sequence[Violation] = ()
    ) -> None:
        self.reason: Final = reason
        self.code: Final = REASONS[reason].code
        self.message: Final = _cut(masked(message), _MAX_MESSAGE)
        self.facts: Final = {k: _fact(k, v) for k, v in list(facts.items())[:_MAX_FACTS]}
        self.fields: Final = tuple(
            Violation(_cut(f, _MAX_FIELD), _cut(masked(d), _MAX_DESCRIPTION))
            for f, d in fields[:_MAX_VIOLATIONS]
        )
        super().__init__(f"{reason}: {self.message}")

    def to_status(self, language: str = "en") -> status_pb2.Status:
        """The refusal as it goes on the wire, at most ``MAX_STATUS_BYTES`` long.

        One ErrorInfo, a BadRequest where fields are wrong, and one LocalizedMessage in
        ``language`` (a BCP 47 tag), or in English where there is no translation.
        """
        facts, fields = list(self.facts.items()), list(self.fields)
        status = self._status(language, facts, fields)
        while status.ByteSize() > MAX_STATUS_BYTES and (facts or fields):
            (facts if len(facts) >= len(fields) else fields).pop()
            status = self._status(language, facts, fields)
        return status

    def _status(
        self, language: str, facts: list[tuple[str, str]], fields: list[Violation]
    ) -> status_pb2.Status:
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=dict(facts))
        details: list[Message] = [info]
        if fields:
            bad = [error_details_pb2.BadRequest.FieldViolation(field=f, description=d) for f, d in fields]
            details.append(error_details_pb2.BadRequest(field_violations=bad))
        locale, text = translated(self.reason, language) or ("en", self.message)
        details.append(error_details_pb2.LocalizedMessage(locale=locale, message=text))
        return status_pb2.Status(code=self.code.value[0], message=self.message, details=map(_any, details))


def refuse(reason: str, message: str, *, fields: Sequence[tuple[str, str]] = (), **facts: object) -> Refusal:
    """A refusal to raise: ``raise refuse("SEAT_TAKEN", "seat 2 is taken", seat=2)``.

    ``fields`` are pairs of a field's path and what is wrong with it; other keywords are facts,
    written as text. A fact that is None is left out.
    """
    written = {key: str(value) for key, value in facts.items() if value is not None}
    return Refusal(reason, message, written, [Violation(*field) for field in fields])


def wrong_field(field: str, description: str) -> Refusal:
    """INVALID_FIELD for one field."""
    return refuse("INVALID_FIELD", f"{field}: {description}", fields=[(field, description)])


def missing_field(field: str, description: str = "is required") -> Refusal:
    """MISSING_FIELD for one field."""
    return refuse("MISSING_FIELD", f"{field}: {description}", fields=[(field, description)])


_SAME_IN_THE_RULES: Final = {
    "GAME_OVER": "GAME_OVER",
    "NOT_YOUR_TURN": "NOT_YOUR_TURN",
    "DEAL_DUE": "GAME_NOT_STARTED",
}


def refused_by_rules(error: GameError, field: str) -> Refusal:
    """What a game refused, as a refusal; ``field`` is where the request holds it (``move``)."""
    if isinstance(error, (InvalidOptions, MalformedMove)):
        reason = "INVALID_OPTIONS" if isinstance(error, InvalidOptions) else "MALFORMED_MOVE"
        return refuse(reason, str(error), fields=[(field, str(error))], rule_reason=error.reason)
    reason = _SAME_IN_THE_RULES.get(error.reason, "ILLEGAL_MOVE")
    return refuse(reason, str(error), rule_reason=error.reason)


def refused_by_journal(error: JournalError) -> Refusal | None:
    """What a store's failure tells the client; None for what should never have come this far."""
    if isinstance(error, QueueFull):
        return refuse("SERVER_BUSY", "too many writes are waiting; nothing was done")
    if isinstance(error, JournalUnavailable):
        return refuse("JOURNAL_UNAVAILABLE", "the store cannot be reached now")
    return None


def unavailable(error: JournalError) -> Refusal:
    """What a client is told when the journal will not take or give entries now.

    The journal itself has logged that it fails, once; see ``Journal.failing``.
    """
    log.debug("journal.unavailable", problem=str(error))
    return refused_by_journal(error) or refuse("JOURNAL_UNAVAILABLE", "the store cannot take this now")


def _any(message: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed


def _fact(key: str, value: str) -> str:
    return MASK if is_secret(key) else _cut(masked(value), _MAX_FACT)


def _cut(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8, with an ellipsis where it was cut."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - 3].decode("utf-8", "ignore") + "…"
