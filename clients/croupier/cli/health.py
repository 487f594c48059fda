"""``croupier healthcheck``: is a server healthy?

The law of this file: it needs gRPC alone, so it runs wherever the server does. The two messages of
``grpc.health.v1`` that it speaks have one field each and are written by hand.
"""

from __future__ import annotations

from typing import Annotated, Final

import grpc
import typer

from croupier.cli.output import Failed, emit, say
from croupier.cli.server import JsonFlag, ServerAddress

_METHOD: Final = "/grpc.health.v1.Health/Check"
_STATUSES: Final = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")


def healthcheck(
    at: ServerAddress,
    service: Annotated[str, typer.Option(help="A service's full name; empty: the whole server.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer.")] = 3.0,
    json: JsonFlag = False,
) -> int:
    """Ask a server whether it serves: exit code 0 when it does, 1 when not."""
    status = check(at, service, timeout)
    if json:
        emit({"event": "health", "server": at.server, "service": service, "status": status})
    else:
        say(status)
    return 0 if status == "SERVING" else 1


def check(at: ServerAddress, service: str, timeout: float) -> str:
    """The status as ``grpc.health.v1`` names it. Raises ``Failed`` when there is no answer."""
    with at.sync_channel() as channel:
        ask = channel.unary_unary(_METHOD, request_serializer=_request, response_deserializer=_status)
        try:
            return str(ask(service, timeout=timeout))
        except grpc.RpcError as error:
            code = error.code()
            if code is grpc.StatusCode.NOT_FOUND:
                return "SERVICE_UNKNOWN"
            raise Failed(f"{at.server} gives no answer ({code.name})") from None


def _request(service: str) -> bytes:
    """HealthCheckRequest: field 1, the service's name."""
    name = service.encode()
    if not name:
        return b""
    if len(name) > 127:
        raise Failed("the name of a service has at most 127 characters")
    return b"\x0a" + bytes([len(name)]) + name


def _status(message: bytes) -> str:
    """HealthCheckResponse: field 1, the status, which is left out when it is 0."""
    number = message[1] if len(message) == 2 and message[0] == 0x08 else 0
    return _STATUSES[number] if number < len(_STATUSES) else "UNKNOWN"
