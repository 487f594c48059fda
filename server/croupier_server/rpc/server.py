"""The grpc.aio server: its options, its ports, all that is mounted on it.

The law of this file: only what is asked for listens, and never on an address that is taken.
Our own limits answer before gRPC's, which queue in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from croupier_server.metrics import Metrics
from croupier_server.rpc.admission import Admission
from croupier_server.rpc.health import NOT_SERVING, SERVING, Health
from croupier_server.rpc.health import SERVICE as HEALTH
from croupier_server.rpc.mount import Mount
from croupier_server.rpc.reflection import SERVICE as REFLECTION
from croupier_server.rpc.reflection import V1_NAME, Reflection
from croupier_server.settings import Settings
from croupier_server.tokens import Tokens

_LOOPBACK: Final = "127.0.0.1"
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "[::]"})  # noqa: S104 - recognised, not bound
_PING_MS, _PING_TIMEOUT_MS, _LEAST_CLIENT_PING_MS = 30_000, 10_000, 5_000


class CannotListen(Exception):
    """An address that is none or is taken; ``str()`` says which, for people."""


class Tls(NamedTuple):
    """Where the certificate chain and its key are, as PEM files."""

    certificate: Path
    key: Path


class RpcServer:
    """Everything that a client can reach of this process."""

    def __init__(
        self,
        services: Sequence[tuple[ServiceDescriptor, object]],
        tokens: Tokens,
        settings: Settings,
        metrics: Metrics,
    ) -> None:
        self._server: Final = grpc.aio.server(options=_options(settings))
        self._settings: Final = settings
        names = [service.full_name for service, _ in services]
        self._health: Final = Health(names)
        mount = Mount(self._server, settings, Admission(settings, tokens), metrics)
        for service, servicer in services:
            mount.add(service, servicer)
        mount.add(HEALTH, self._health)
        reflection = Reflection((*names, HEALTH.full_name))
        mount.add(REFLECTION, reflection)
        mount.add(REFLECTION, reflection, name=V1_NAME)
        mount.refuse_the_rest()

    def listen(self, address: str, tls: Tls | None = None) -> str:
        """Listen on ``HOST:PORT`` (port 0: a free one) and give the address with its port.

        Raises ``CannotListen``.
        """
        host, port = split_address(address)
        try:
            if tls is None:
                bound = self._server.add_insecure_port(f"{host}:{port}")
            else:
                bound = self._server.add_secure_port(f"{host}:{port}", _credentials(tls))
        except RuntimeError as error:
            raise CannotListen(
                f"cannot listen on {address}: it is taken, or no address of this machine"
            ) from error
        return f"{host}:{bound}"

    def listen_on_loopback(self) -> str:
        """Listen, without TLS, where only this machine can reach it. Raises ``CannotListen``."""
        return self.listen(f"{_LOOPBACK}:0")

    async def start(self) -> None:
        """Serve, and say so."""
        await self._server.start()
        self._health.set_all(SERVING)

    def turn_unhealthy(self) -> None:
        """Go on serving, but tell balancers to look elsewhere."""
        self._health.set_all(NOT_SERVING)

    async def stop(self) -> None:
        """Take no new calls; wait for those at work, at most ``drain_grace_s``; then cut them off."""
        self.turn_unhealthy()
        self._health.close()
        await self._server.stop(self._settings.drain_grace_s)


def split_address(address: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``, ``[::1]:PORT`` or ``:PORT``. Raises ``CannotListen``."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65_535:
        raise CannotListen(f"an address is HOST:PORT with a port from 0 to 65535, not {address!r}")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise CannotListen(f"write the IPv6 address in brackets: [{host}]:{port}")
    return host or "[::]", int(port)


def reachable_from_here(address: str) -> str:
    """Where this machine reaches what listens on ``address``: loopback for every address."""
    host, port = split_address(address)
    return f"{_LOOPBACK}:{port}" if host in _EVERYWHERE else address


def _credentials(tls: Tls) -> grpc.ServerCredentials:
    try:
        pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
    except OSError as error:
        raise CannotListen(f"the certificate or its key cannot be read: {error}") from error
    return grpc.ssl_server_credentials([pair])


def _options(settings: Settings) -> list[tuple[str, Any]]:
    return [
        ("grpc.so_reuseport", 0),
        # Beyond these gRPC itself refuses, without our details; up to them we do, with details.
        ("grpc.max_receive_message_length", 4 * settings.max_message_bytes),
        ("grpc.max_send_message_length", 2 * settings.max_record_bytes),
        ("grpc.max_concurrent_streams", settings.max_open_streams + settings.max_calls),
        ("grpc.keepalive_time_ms", _PING_MS),
        ("grpc.keepalive_timeout_ms", _PING_TIMEOUT_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", _LEAST_CLIENT_PING_MS),
    ]
