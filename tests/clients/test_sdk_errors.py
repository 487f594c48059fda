"""Every refusal becomes the typed error that its reason, or else its code, says."""

from __future__ import annotations

import grpc
import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2

import croupier
from clients.fake_server import status
from croupier.errors import error_from_rpc, error_from_status

CODES = grpc.StatusCode
BY_CODE = {
    CODES.NOT_FOUND: croupier.NotFound,
    CODES.INVALID_ARGUMENT: croupier.InvalidRequest,
    CODES.FAILED_PRECONDITION: croupier.WrongState,
    CODES.ABORTED: croupier.StaleMove,
    CODES.PERMISSION_DENIED: croupier.PermissionDenied,
    CODES.UNAUTHENTICATED: croupier.Unauthenticated,
    CODES.RESOURCE_EXHAUSTED: croupier.LimitReached,
    CODES.UNAVAILABLE: croupier.Unavailable,
    CODES.DEADLINE_EXCEEDED: croupier.Unavailable,
    CODES.CANCELLED: croupier.Unavailable,
    CODES.INTERNAL: croupier.ServerFault,
    CODES.UNKNOWN: croupier.ServerFault,
}
BY_REASON = {
    "MALFORMED_MOVE": (CODES.INVALID_ARGUMENT, croupier.MalformedMove),
    "ILLEGAL_MOVE": (CODES.FAILED_PRECONDITION, croupier.IllegalMove),
    "NOT_YOUR_TURN": (CODES.FAILED_PRECONDITION, croupier.NotYourTurn),
    "GAME_OVER": (CODES.FAILED_PRECONDITION, croupier.GameOver),
    "TABLE_FULL": (CODES.FAILED_PRECONDITION, croupier.TableFull),
    "SEAT_TAKEN": (CODES.FAILED_PRECONDITION, croupier.SeatTaken),
    "ALREADY_SEATED": (CODES.FAILED_PRECONDITION, croupier.AlreadySeated),
    "STALE_SEQ": (CODES.ABORTED, croupier.StaleMove),
    "SERVER_FAULT": (CODES.UNAVAILABLE, croupier.ServerFault),
    "SOMETHING_NEW": (CODES.NOT_FOUND, croupier.NotFound),
}


@pytest.mark.parametrize(("code", "kind"), BY_CODE.items(), ids=lambda v: getattr(v, "name", ""))
def test_code(code: grpc.StatusCode, kind: type[croupier.Error]) -> None:
    error = error_from_status(status(code))
    assert type(error) is kind
    assert error.code is code


@pytest.mark.parametrize(
    ("reason", "expected"), BY_REASON.items(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_reason(reason: str, expected: tuple[grpc.StatusCode, type[croupier.Error]]) -> None:
    code, kind = expected
    error = error_from_status(status(code, reason, seq="7"))
    assert type(error) is kind
    assert (error.reason, dict(error.facts)) == (reason, {"seq": "7"})


def test_fields_and_the_callers_language() -> None:
    refusal = status(CODES.INVALID_ARGUMENT, "INVALID_FIELD", "in English")
    bad = error_details_pb2.BadRequest()
    bad.field_violations.add(field="move.text", description="is empty")
    for detail in (bad, error_details_pb2.LocalizedMessage(locale="de", message="auf Deutsch")):
        packed = any_pb2.Any()
        packed.Pack(detail)
        refusal.details.append(packed)
    error = error_from_status(refusal)
    assert (error.message, error.detail) == ("auf Deutsch", "in English")
    assert dict(error.fields) == {"move.text": "is empty"}
    assert str(error) == "auf Deutsch (INVALID_FIELD)"


def test_unknown_code_and_unknown_details_are_survived() -> None:
    refusal = status(CODES.NOT_FOUND, "TABLE_NOT_FOUND")
    refusal.code = 99
    for kind in ("some.Thing", "google.rpc.BadRequest"):
        refusal.details.add(type_url=f"type.googleapis.com/{kind}", value=b"\xff")
    assert error_from_status(refusal).code is CODES.UNKNOWN


def rpc_error(code: grpc.StatusCode, details: bytes | None) -> grpc.aio.AioRpcError:
    trailing = grpc.aio.Metadata(*([("grpc-status-details-bin", details)] if details is not None else []))
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, "bare")


def test_failed_call_carries_the_same_details_as_an_in_band_refusal() -> None:
    refusal = status(CODES.FAILED_PRECONDITION, "TABLE_FULL", "no seat is free", table="tables/t1")
    error = error_from_rpc(rpc_error(CODES.FAILED_PRECONDITION, refusal.SerializeToString()))
    assert type(error) is croupier.TableFull
    assert (error.message, error.facts["table"]) == ("no seat is free", "tables/t1")


@pytest.mark.parametrize("details", [None, b"\xff\xff", status(CODES.NOT_FOUND, "OTHER").SerializeToString()])
def test_failed_call_without_credible_details(details: bytes | None) -> None:
    error = error_from_rpc(rpc_error(CODES.UNAVAILABLE, details))
    assert (type(error), error.message, error.reason) == (croupier.Unavailable, "bare", "")


@pytest.mark.parametrize(
    ("code", "reason", "transient"),
    [
        (CODES.UNAVAILABLE, "", True),
        (CODES.INTERNAL, "", True),
        (CODES.UNKNOWN, "", True),
        (CODES.CANCELLED, "", True),
        (CODES.UNAVAILABLE, "JOURNAL_UNAVAILABLE", True),
        (CODES.RESOURCE_EXHAUSTED, "TOO_MANY_MOVES", True),
        (CODES.RESOURCE_EXHAUSTED, "TOO_MANY_TABLES", False),
        (CODES.FAILED_PRECONDITION, "ILLEGAL_MOVE", False),
        (CODES.INTERNAL, "ANY_REASON", False),
        (CODES.UNAUTHENTICATED, "", False),
    ],
)
def test_what_is_worth_repeating(code: grpc.StatusCode, reason: str, transient: bool) -> None:
    assert error_from_status(status(code, reason)).transient is transient
