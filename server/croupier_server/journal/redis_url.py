"""What a ``redis:`` URL says.

The law of this file: a URL that is not understood whole is refused, and no message repeats it,
for it may hold a password.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

REDIS_FORM: Final = "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?wait=N]"
_SCHEMES: Final = ("redis", "rediss", "redis+unix")
_PORT: Final = 6379


@dataclass(frozen=True, slots=True)
class Address:
    """Where a Redis is, who we are there, and how many replicas must have an append.

    ``socket`` is the path of a Unix socket, which goes before ``host`` and ``port``.
    """

    host: str = "localhost"
    port: int = _PORT
    socket: str = ""
    tls: bool = False
    user: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    wait: int = 0

    @property
    def shown(self) -> str:
        """Where it is, without secrets."""
        return self.socket or f"{self.host}:{self.port}"

    def tls_context(self) -> ssl.SSLContext | None:
        """The system's authorities (or those of SSL_CERT_FILE) must vouch for the server's name."""
        return ssl.create_default_context() if self.tls else None

    def greeting(self, client_name: str) -> list[tuple[str | int, ...]]:
        """The first commands of a connection."""
        commands: list[tuple[str | int, ...]] = []
        if self.password:
            commands.append(("AUTH", *([self.user] if self.user else []), self.password))
        if self.database:
            commands.append(("SELECT", self.database))
        return [*commands, ("CLIENT", "SETNAME", client_name)]


def parse_url(url: str) -> Address:
    """``redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?wait=N]``.

    ``rediss://`` is the same over TLS; ``redis+unix://[USER:PASSWORD@]/PATH?db=N`` a Unix socket.
    Raises ``ValueError`` for anything else.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.replace("valkey", "redis")
    if scheme == "redis+cluster":
        raise ValueError("a Redis cluster is not supported: give one primary, redis://HOST:PORT")
    if scheme not in _SCHEMES or not url.startswith(f"{parts.scheme}://") or parts.fragment:
        raise ValueError(f"a journal in Redis is {REDIS_FORM}; rediss:// for TLS; redis+unix:///PATH")
    options = _options(parts.query)
    try:
        port = parts.port or _PORT
    except ValueError:
        raise ValueError("the port of the journal's URL is no port") from None
    path = unquote(parts.path)
    if scheme == "redis+unix" and (len(path) < 2 or parts.hostname):
        raise ValueError("a Unix socket is redis+unix:///PATH")
    database = options.get("db", 0)
    if scheme != "redis+unix" and path.strip("/"):
        database = _number("the database in the journal's URL", path.strip("/"))
    return Address(
        host=parts.hostname or "localhost",
        port=port,
        socket=path if scheme == "redis+unix" else "",
        tls=scheme == "rediss",
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=database,
        wait=options.get("wait", 0),
    )


def _options(query: str) -> dict[str, int]:
    options: dict[str, int] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in {"wait", "db"}:
            raise ValueError(f"a journal in Redis has no option {name[:20]!r}; there are wait=N and db=N")
        options[name] = _number(f"{name} in the journal's URL", value)
    return options


def _number(what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{what} is a whole number from 0")
    return int(text)
