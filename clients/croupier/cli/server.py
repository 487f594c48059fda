"""Which server a command talks to, and how.

The law of this file: a token comes from the environment or a file that is its owner's alone, never
from the command line, where every user of the machine could read it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import grpc
import typer

import croupier
from croupier.cli.groups import Group
from croupier.cli.output import Failed

DEFAULT_SERVER: Final = "127.0.0.1:50051"
TOKEN_VARIABLE: Final = "CROUPIER_TOKEN"  # noqa: S105 - its name, not a token

PATIENCE: Final = 5.0
"""Seconds to keep trying to reach a server that does not answer at first."""
LONG_PATIENCE: Final = 300.0
"""The same once it has answered and a game is on."""

JsonFlag = Annotated[bool, typer.Option("--json", help="Write JSON lines, for programs.")]
NameOption = Annotated[str, typer.Option(help="The name that others see.", show_default=False)]


@dataclass(frozen=True)
class ServerAddress(Group):
    """Where the server is, and whether it is reached by TLS."""

    server: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="The server.", envvar="CROUPIER_SERVER")
    ] = DEFAULT_SERVER
    tls: Annotated[bool, typer.Option("--tls", help="Reach the server by TLS.")] = False
    tls_ca: Annotated[Path | None, typer.Option(help="Root certificates (PEM); implies --tls.")] = None

    def connect(
        self, *, name: str = "Guest", token: str = "", sign_in: bool = True, patience: float | None = PATIENCE
    ) -> croupier.Client:
        """A client of this server; ``patience`` is how many seconds failures are retried."""
        roots = self._roots()
        return croupier.connect(
            self.server,
            name=name,
            token=token,
            sign_in=sign_in,
            tls=roots or self.tls,
            language=_language(),
            retry_for=patience,
        )

    def sync_channel(self) -> grpc.Channel:
        """A plain channel, for a single call."""
        roots = self._roots()
        if roots or self.tls:
            return grpc.secure_channel(self.server, grpc.ssl_channel_credentials(roots))
        return grpc.insecure_channel(self.server)

    def flags(self) -> str:
        """The command line that means this server."""
        ca = f" --tls-ca {self.tls_ca}" if self.tls_ca else ""
        return f"--server {self.server}{' --tls' * self.tls}{ca}"

    def _roots(self) -> bytes | None:
        try:
            return None if self.tls_ca is None else self.tls_ca.read_bytes()
        except OSError as error:
            raise Failed(f"{self.tls_ca} cannot be read: {error.strerror}") from None


def table_name(text: str) -> str:
    """``tables/ID`` of it or of the bare ID."""
    return text if not text or text.startswith("tables/") else f"tables/{text}"


def token_given() -> str:
    """The token of the environment; empty: none."""
    return os.environ.get(TOKEN_VARIABLE, "").strip()


def _language() -> str:
    """The user's language as a BCP 47 tag, from the environment; empty when it does not say."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable, "").partition(".")[0].replace("_", "-")
        if value:
            return "" if value in ("C", "POSIX") else value
    return ""
