"""What a Redis must be to hold a journal, and what in its settings risks the journal.

The law of this file: what would break a promise of the journal outright refuses to open; what
weakens one is told and left to whoever runs the server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from croupier_server.journal.base import JournalError, JournalUnavailable, NotWritten
from croupier_server.journal.redis_url import Address
from croupier_server.journal.redis_wire import Wire

_OLDEST: Final = 7


@dataclass(frozen=True, slots=True)
class Server:
    """What kind of Redis answers: its version, or that which a Valkey is compatible with."""

    version: str

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version."""
        found = re.match(r"(\d+)\.(\d+)", self.version)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @property
    def has_waitaof(self) -> bool:
        """Whether it can wait until replicas have a write on their disks."""
        return self.release >= (7, 2)


async def info(wire: Wire) -> dict[str, str]:
    """What a server says of itself. Raises ``JournalUnavailable``."""
    text: bytes = await wire.call("INFO")
    lines = text.decode(errors="replace").splitlines()
    return {name: value for name, colon, value in (line.partition(":") for line in lines) if colon}


async def check_server(wire: Wire, *, cluster: bool) -> Server:
    """Which server this is. Raises ``JournalError``: it is too old, a replica, or (no) part of a cluster."""
    said = await info(wire)
    server = Server(said.get("redis_version", "0"))
    if server.release < (_OLDEST, 0):
        raise JournalError(
            f"Redis {server.version} is too old for a journal: it must be {_OLDEST}.0 or later"
        )
    if cluster and said.get("cluster_enabled") != "1":
        raise JournalError("this Redis is no part of a cluster: leave cluster=true out of the URL")
    if not cluster and said.get("cluster_enabled") == "1":
        raise JournalError("this Redis is part of a cluster: add cluster=true to the URL")
    if said.get("role") != "master":
        raise NotWritten("this Redis is a read-only replica")
    if said.get("loading", "0") != "0":
        raise JournalUnavailable("Redis is still loading its data")
    return server


async def warnings_of(wire: Wire, address: Address) -> list[str]:
    """How this server may lose what it has acknowledged, a line each. Raises ``JournalUnavailable``."""
    said = await info(wire)
    found: list[str] = []
    if said.get("aof_enabled") != "1":
        found.append("appendonly is off: a crash loses all since the last snapshot; set appendonly yes")
    else:
        found += await _sync_warnings(wire) + await _replay_warnings(wire)
    if said.get("aof_last_write_status", "ok") != "ok":
        found.append("the last write to the append-only file failed")
    policy = said.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(f"maxmemory-policy is {policy}: tables may be evicted; set noeviction")
    if said.get("maxmemory", "0") == "0":
        found.append("maxmemory is not set: the machine may run out of memory and kill Redis")
    return found + _replica_warnings(int(said.get("connected_slaves", "0")), address)


def _replica_warnings(replicas: int, address: Address) -> list[str]:
    wait = address.waitaof or address.wait
    if wait > replicas:
        option = "waitaof" if address.waitaof else "wait"
        return [f"{option}={wait}, but {replicas} replicas are connected: no append can be confirmed"]
    if replicas > wait:
        return [f"a failover to a replica may lose acknowledged moves; wait={replicas} waits for it"]
    return []


async def _sync_warnings(wire: Wire) -> list[str]:
    found: list[str] = []
    try:
        sync = await _setting(wire, "appendfsync")
        stops = await _setting(wire, "no-appendfsync-on-rewrite")
    except (JournalUnavailable, ValueError):
        return ["CONFIG GET appendfsync is not allowed here: make sure that it is always"]
    if sync != "always":
        loses = "the last second" if sync == "everysec" else "some seconds"
        found.append(f"appendfsync is {sync}: a power cut loses {loses} of acknowledged moves; set always")
    elif stops == "yes":
        found.append(
            "no-appendfsync-on-rewrite is yes: nothing is synced while the file is rewritten; set no"
        )
    return found


async def _replay_warnings(wire: Wire) -> list[str]:
    """Redis (issue 14541) and Valkey (3983) replay transactions with the rights of ``default``, on or off."""
    remedy = "user default off resetpass ~* &* +@all"
    try:
        may = await wire.call("ACL", "DRYRUN", "default", "RPUSH", "croupier:probe", "")
    except JournalUnavailable:
        return [f"ACL DRYRUN is not allowed here: make sure that it is not less than '{remedy}'"]
    if may == b"OK":
        return []
    return [
        f"the user default lacks rights, and a restart of Redis loses what they do not cover: set '{remedy}'"
    ]


async def _setting(wire: Wire, name: str) -> str:
    _, value = await wire.call("CONFIG", "GET", name)
    text: str = value.decode()
    return text
