"""What a Redis must be to hold a journal, and what in its settings risks the journal.

The law of this file: what would break a promise of the journal outright refuses to open; what
weakens one is told and left to whoever runs the server.
"""

from __future__ import annotations

from typing import Final

from croupier_server.journal.base import JournalError, JournalUnavailable
from croupier_server.journal.redis_wire import NotWritten, Wire

_OLDEST: Final = 7


async def info(wire: Wire) -> dict[str, str]:
    """What a server says of itself. Raises ``JournalUnavailable``."""
    text: bytes = await wire.call("INFO")
    lines = text.decode(errors="replace").splitlines()
    return {name: value for name, colon, value in (line.partition(":") for line in lines) if colon}


async def check_server(wire: Wire) -> None:
    """Raises ``JournalError`` for a server that is too old, part of a cluster, or a replica."""
    said = await info(wire)
    version = said.get("redis_version", "0")
    if int(version.partition(".")[0]) < _OLDEST:
        raise JournalError(f"Redis {version} is too old for a journal: it must be {_OLDEST}.0 or later")
    if said.get("cluster_enabled") == "1":
        raise JournalError("a Redis cluster is not supported: give a Redis with cluster-enabled no")
    if said.get("role") != "master":
        raise NotWritten("this Redis is a read-only replica")
    if said.get("loading", "0") != "0":
        raise JournalUnavailable("Redis is still loading its data")


async def warnings_of(wire: Wire, wait: int) -> list[str]:
    """How this server may lose what it has acknowledged, a line each. Raises ``JournalUnavailable``."""
    said = await info(wire)
    found: list[str] = []
    if said.get("aof_enabled") != "1":
        found.append("appendonly is off: a crash loses all since the last snapshot; set appendonly yes")
    else:
        found += await _sync_warnings(wire)
    if said.get("aof_last_write_status", "ok") != "ok":
        found.append("the last write to the append-only file failed")
    policy = said.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(f"maxmemory-policy is {policy}: tables may be evicted; set noeviction")
    if said.get("maxmemory", "0") == "0":
        found.append("maxmemory is not set: the machine may run out of memory and kill Redis")
    replicas = int(said.get("connected_slaves", "0"))
    if wait > replicas:
        found.append(f"wait={wait}, but {replicas} replicas are connected: no append can be confirmed")
    elif replicas > wait:
        found.append(f"a failover to a replica may lose acknowledged moves; wait={replicas} waits for it")
    return found


async def _sync_warnings(wire: Wire) -> list[str]:
    try:
        _, value = await wire.call("CONFIG", "GET", "appendfsync")
    except (JournalUnavailable, ValueError):
        return ["CONFIG GET appendfsync is not allowed here: make sure that it is always"]
    sync = value.decode()
    if sync == "always":
        return []
    loses = "the last second" if sync == "everysec" else "some seconds"
    return [f"appendfsync is {sync}: a power cut loses {loses} of acknowledged moves; set always"]
