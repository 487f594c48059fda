"""Reading refusals as a client does: from a status, or from a failed call."""

from __future__ import annotations

from typing import Any, NamedTuple

from google.rpc import error_details_pb2, status_pb2


class Seen(NamedTuple):
    """What a client sees of a refusal."""

    reason: str
    facts: dict[str, str]
    fields: list[tuple[str, str]]
    locale: str
    text: str


def seen_in(status: status_pb2.Status) -> Seen:
    """The details of a status; fails when they are not exactly those that every refusal has."""
    info, bad, localized = (
        error_details_pb2.ErrorInfo(),
        error_details_pb2.BadRequest(),
        error_details_pb2.LocalizedMessage(),
    )
    unpacked = [
        kind.DESCRIPTOR.name for kind in (info, bad, localized) for d in status.details if d.Unpack(kind)
    ]
    assert len(unpacked) == len(status.details)
    assert unpacked in (["ErrorInfo", "LocalizedMessage"], ["ErrorInfo", "BadRequest", "LocalizedMessage"])
    assert info.domain == "croupier"
    fields = [(v.field, v.description) for v in bad.field_violations]
    return Seen(info.reason, dict(info.metadata), fields, localized.locale, localized.message)


def status_of(error: Any) -> status_pb2.Status:
    """The status with its details of a failed call, whose code and message agree with it."""
    trailing = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    return status


def seen(error: Any) -> Seen:
    """The details of a failed call."""
    return seen_in(status_of(error))
