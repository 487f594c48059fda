"""What a ``redis:`` URL says.

The law of this file: a URL that is not understood whole is refused, and no message repeats it,
for it may hold a password.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

REDIS_FORM: Final = "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?wait=N]"
_CLUSTER_FORM: Final = "redis://HOST:PORT,HOST:PORT,…?cluster=true"
_SCHEMES: Final = ("redis", "rediss", "redis+unix")
_PORT: Final = 6379
_SWITCH: Final = {"true": 1, "false": 0}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a Redis is, who we are there, and how many replicas must have an append.

    ``socket`` is the path of a Unix socket, which goes before ``host`` and ``port``. In a cluster
    these are one node of it, and ``others`` are more to ask for where the rest is. ``wait``
    replicas have an append in memory before it is acknowledged, ``waitaof`` on disk.
    """

    host: str = "localhost"
    port: int = _PORT
    socket: str = ""
    tls: bool = False
    user: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    wait: int = 0
    waitaof: int = 0
    cluster: bool = False
    others: tuple[tuple[str, int], ...] = ()

    @property
    def seeds(self) -> tuple[Address, ...]:
        """The same journal by each of the nodes that were named."""
        return (self, *(self.at(host, port) for host, port in self.others))

    def at(self, host: str, port: int) -> Address:
        """Another node of the same cluster."""
        return replace(self, host=host, port=port)

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
    """``redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?wait=N]``, or ``waitaof=N``.

    ``rediss://`` is the same over TLS; ``redis+unix://[USER:PASSWORD@]/PATH?db=N`` a Unix socket;
    ``redis://HOST:PORT,HOST:PORT,…?cluster=true`` a cluster, by some of its nodes. Raises
    ``ValueError`` for anything else.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.replace("valkey", "redis")
    if scheme == "redis+cluster":
        raise ValueError(f"a journal in a Redis cluster is {_CLUSTER_FORM}")
    if scheme not in _SCHEMES or not url.startswith(f"{parts.scheme}://") or parts.fragment:
        raise ValueError(f"a journal in Redis is {REDIS_FORM}; rediss:// for TLS; redis+unix:///PATH")
    options = _options(parts.query)
    who, _, hosts = parts.netloc.rpartition("@")
    user, _, password = who.partition(":")
    (host, port), *others = map(_place, hosts.split(","))
    path = unquote(parts.path)
    if scheme == "redis+unix" and (len(path) < 2 or hosts):
        raise ValueError("a Unix socket is redis+unix:///PATH")
    database = options.get("db", 0)
    if scheme != "redis+unix" and path.strip("/"):
        database = _number("the database in the journal's URL", path.strip("/"))
    cluster = bool(options.get("cluster", 0))
    if others and not cluster:
        raise ValueError(f"the journal's URL names several hosts; a Redis cluster is {_CLUSTER_FORM}")
    if cluster and (database or scheme == "redis+unix"):
        raise ValueError(f"a Redis cluster has one database and no Unix socket: {_CLUSTER_FORM}")
    return Address(
        host=host,
        port=port,
        socket=path if scheme == "redis+unix" else "",
        tls=scheme == "rediss",
        user=unquote(user),
        password=unquote(password),
        database=database,
        wait=options.get("wait", 0),
        waitaof=options.get("waitaof", 0),
        cluster=cluster,
        others=tuple(others),
    )


def _place(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    try:
        return parts.hostname or "localhost", parts.port or _PORT
    except ValueError:
        raise ValueError("the port of the journal's URL is no port") from None


def _options(query: str) -> dict[str, int]:
    options: dict[str, int] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "cluster":
            if value not in _SWITCH:
                raise ValueError("cluster in the journal's URL is true or false")
            options[name] = _SWITCH[value]
        elif name in {"wait", "waitaof", "db"}:
            options[name] = _number(f"{name} in the journal's URL", value)
        else:
            known = "wait=N, waitaof=N, db=N and cluster=true"
            raise ValueError(f"a journal in Redis has no option {name[:20]!r}; there are {known}")
    if options.get("wait") and options.get("waitaof"):
        raise ValueError("the journal's URL has wait=N or waitaof=N, not both: waitaof waits for more")
    return options


def _number(what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{what} is a whole number from 0")
    return int(text)
