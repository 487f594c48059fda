"""The standard health service, so that balancers and clusters know when to look elsewhere.

The law of this file: a service is SERVING from when it is told so until it is told otherwise;
watchers hear of each change and end with the server. Asking costs nothing and needs no token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from grpc_health.v1 import health_pb2

from croupier_server.caller import Caller
from croupier_server.errors import refuse

_Response = health_pb2.HealthCheckResponse
SERVING: Final = _Response.SERVING
NOT_SERVING: Final = _Response.NOT_SERVING

SERVICE: Final = health_pb2.DESCRIPTOR.services_by_name["Health"]


class Health:
    """The health of the whole (the service ``""``) and of each service by its full name."""

    def __init__(self, services: Iterable[str]) -> None:
        self._statuses: Final[dict[str, int]] = dict.fromkeys(("", *services), NOT_SERVING)
        self._changed = asyncio.Event()
        self._closed = False

    def set_all(self, status: int) -> None:
        """Everything is ``SERVING`` or ``NOT_SERVING`` from now on."""
        for service in self._statuses:
            self._statuses[service] = status
        self._tell()

    def close(self) -> None:
        """End all watches."""
        self._closed = True
        self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def check(self, request: Any, caller: Caller) -> Any:
        """The status of one service. Raises ``Refusal`` SERVICE_NOT_FOUND."""
        del caller
        status = self._statuses.get(request.service)
        if status is None:
            raise refuse("SERVICE_NOT_FOUND", "there is no service of that name here")
        return _Response(status=status)

    async def list(self, request: Any, caller: Caller) -> Any:
        """The status of every service."""
        del request, caller
        return health_pb2.HealthListResponse(
            statuses={name: _Response(status=status) for name, status in self._statuses.items()}
        )

    async def watch(self, request: Any, caller: Caller) -> AsyncIterator[Any]:
        """The status of one service, now and whenever it changes; SERVICE_UNKNOWN for no service."""
        del caller
        told = None
        while not self._closed:
            changed = self._changed
            status = self._statuses.get(request.service, _Response.SERVICE_UNKNOWN)
            if status != told:
                told = status
                yield _Response(status=status)
            if changed is self._changed:
                await changed.wait()
