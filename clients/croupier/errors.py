"""What can go wrong, as typed errors.

The law of this file: every failure that the SDK shows is an ``Error`` with the server's code,
reason, message, facts and fields, whether it came as a failed call or in-band on a stream. Which
class it is follows from the reason, and without a known reason from the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, ClassVar, Final

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode

_DETAILS_KEY: Final = "grpc-status-details-bin"
_CODES: Final = {code.value[0]: code for code in StatusCode}
_PASSING_CODES: Final = frozenset({StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED})
_PASSING_REASONS: Final = frozenset({"TOO_MANY_STREAMS", "TOO_MANY_CALLS", "TOO_MANY_MOVES"})
# What a connection that broke on its way comes as, when no server gave a reason.
_CUT_CODES: Final = frozenset({StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.CANCELLED})


class Error(Exception):
    """A call or move that failed, or a subscription that ended.

    ``code`` is the gRPC status code; ``reason`` the server's UPPER_SNAKE word (empty: it gave
    none); ``message`` is for people, in the client's language where the server has it;
    ``detail`` the same in English; ``facts`` what the server added, by name; ``fields`` what is
    wrong with which field of the request, by the field's path.
    """

    default_code: ClassVar[StatusCode] = StatusCode.UNKNOWN

    def __init__(
        self,
        message: str,
        *,
        code: StatusCode | None = None,
        reason: str = "",
        detail: str = "",
        facts: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message: Final = message
        self.code: Final = self.default_code if code is None else code
        self.reason: Final = reason
        self.detail: Final = detail or message
        self.facts: Final[Mapping[str, str]] = MappingProxyType(dict(facts or {}))
        self.fields: Final[Mapping[str, str]] = MappingProxyType(dict(fields or {}))

    def __str__(self) -> str:
        return f"{self.message} ({self.reason or self.code.name})"

    @property
    def transient(self) -> bool:
        """True when the same request, repeated after a while, may well succeed."""
        if self.reason:
            return self.code in _PASSING_CODES or self.reason in _PASSING_REASONS
        return self.code in _PASSING_CODES or self.code in _CUT_CODES


class NotFound(Error):
    """There is no such table, player or game."""

    default_code = StatusCode.NOT_FOUND


class InvalidRequest(Error):
    """A mistake of the caller; ``fields`` names what is wrong. Do not repeat it."""

    default_code = StatusCode.INVALID_ARGUMENT


class MalformedMove(InvalidRequest):
    """A text or message that is no move of this game at all; it is still the seat's turn."""


class WrongState(Error):
    """The table does not allow this now: ``reason`` says why."""

    default_code = StatusCode.FAILED_PRECONDITION


class IllegalMove(WrongState):
    """The rules do not allow this move now; ``facts["rule_reason"]`` says why. Choose another."""


class NotYourTurn(WrongState):
    """Another seat is to move."""


class GameOver(WrongState):
    """The table has ended."""


class TableFull(WrongState):
    """No seat is free."""


class SeatTaken(WrongState):
    """Somebody else sits on that seat."""


class AlreadySeated(WrongState):
    """You sit at this table already; ``Client.resume`` gives the seat back."""


class StaleMove(Error):
    """The game has moved on since the turn that the move answers; wait for the next turn."""

    default_code = StatusCode.ABORTED


class PermissionDenied(Error):
    """Not your seat, not your table, or a wrong join code."""

    default_code = StatusCode.PERMISSION_DENIED


class Unauthenticated(Error):
    """The token is missing, unknown or too old, and could not be renewed."""

    default_code = StatusCode.UNAUTHENTICATED


class LimitReached(Error):
    """A bound of the server: too many tables, subscriptions or bytes."""

    default_code = StatusCode.RESOURCE_EXHAUSTED


class Unavailable(Error):
    """The server cannot be reached or cannot serve this now."""

    default_code = StatusCode.UNAVAILABLE


class ConnectionLost(Unavailable):
    """Given up: nothing worked within the ``retry_for`` of the client, or the client was closed."""


class ServerFault(Unavailable):
    """A mistake in the server; ``facts["incident"]`` finds it in the server's log."""


class BrokenPromise(Error):
    """A record, deal or seed that is not what the server had promised, or not what was seen."""

    default_code = StatusCode.DATA_LOSS


_BY_REASON: Final[Mapping[str, type[Error]]] = {
    "MALFORMED_MOVE": MalformedMove,
    "ILLEGAL_MOVE": IllegalMove,
    "NOT_YOUR_TURN": NotYourTurn,
    "GAME_OVER": GameOver,
    "TABLE_FULL": TableFull,
    "SEAT_TAKEN": SeatTaken,
    "ALREADY_SEATED": AlreadySeated,
    "STALE_SEQ": StaleMove,
    "SERVER_FAULT": ServerFault,
}

_BY_CODE: Final[Mapping[StatusCode, type[Error]]] = {
    StatusCode.NOT_FOUND: NotFound,
    StatusCode.UNIMPLEMENTED: NotFound,
    StatusCode.INVALID_ARGUMENT: InvalidRequest,
    StatusCode.OUT_OF_RANGE: InvalidRequest,
    StatusCode.FAILED_PRECONDITION: WrongState,
    StatusCode.ALREADY_EXISTS: WrongState,
    StatusCode.ABORTED: StaleMove,
    StatusCode.PERMISSION_DENIED: PermissionDenied,
    StatusCode.UNAUTHENTICATED: Unauthenticated,
    StatusCode.RESOURCE_EXHAUSTED: LimitReached,
    StatusCode.UNAVAILABLE: Unavailable,
    StatusCode.DEADLINE_EXCEEDED: Unavailable,
    StatusCode.CANCELLED: Unavailable,
    StatusCode.INTERNAL: ServerFault,
    StatusCode.UNKNOWN: ServerFault,
    StatusCode.DATA_LOSS: ServerFault,
}


def error_from_status(status: status_pb2.Status) -> Error:
    """The error of a ``google.rpc.Status``, as it comes in-band. Unknown details are passed over."""
    code = _CODES.get(status.code, StatusCode.UNKNOWN)
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    localized = error_details_pb2.LocalizedMessage()
    for detail in status.details:
        for known in (info, bad, localized):
            with suppress(DecodeError):
                detail.Unpack(known)  # does nothing to a detail of another type
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(code, Error)
    return kind(
        localized.message or status.message or code.name,
        code=code,
        reason=info.reason,
        detail=status.message,
        facts=info.metadata,
        fields={violation.field: violation.description for violation in bad.field_violations},
    )


def error_from_rpc(error: grpc.aio.AioRpcError) -> Error:
    """The error of a failed call: its status details, or its bare code where it has none."""
    status = _details(error)
    if status is None:
        message = error.details() or error.code().name
        return error_from_status(status_pb2.Status(code=error.code().value[0], message=message))
    return error_from_status(status)


def _details(error: grpc.aio.AioRpcError) -> status_pb2.Status | None:
    metadata: Any = error.trailing_metadata() or ()
    for key, value in metadata:
        if key == _DETAILS_KEY:
            status = status_pb2.Status()
            try:
                status.ParseFromString(value)
            except DecodeError:
                return None
            # Details of another outcome than the call's are a proxy's or a bug's: not believed.
            return status if status.code == error.code().value[0] else None
    return None
