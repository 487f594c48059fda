"""Redis clusters for tests: real ones, of three primaries and, where asked for, a replica of each.

The law of this file: whoever gets a cluster gets one in which every node sees all slots served.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Self

from croupier_server.journal.redis import RedisJournal
from croupier_server.journal.redis_cluster import SLOTS
from server.redis_server import RedisServer
from system.processes import free_port

PRIMARIES = 3


class RedisCluster:
    """Three primaries with a third of the slots each; ``replicas`` True gives each a replica.

    A node counts as failed after ``node_timeout`` ms of silence, and then its replica takes over.
    """

    def __init__(
        self,
        users: str = "",
        *,
        replicas: bool = False,
        node_timeout: int = 5000,
        certificate: tuple[str, str] | None = None,
    ) -> None:
        self._tls = certificate is not None
        self.nodes = [
            RedisServer(
                users,
                cluster_enabled="yes",
                cluster_port=free_port(),
                cluster_node_timeout=node_timeout,
                **({} if certificate is None else tls(*certificate)),
            )
            for _ in range(2 * PRIMARIES if replicas else PRIMARIES)
        ]
        first, *others = self.nodes
        for number, node in enumerate(self.primaries):
            begin, end = (SLOTS * n // PRIMARIES for n in (number, number + 1))
            node.command("CLUSTER", "ADDSLOTSRANGE", begin, end - 1)
            node.command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for node in others:
            first.command("CLUSTER", "MEET", "127.0.0.1", node.port, node.settings["cluster-port"])
        self._until(
            lambda node: self._said(node, "CLUSTER", "INFO")["cluster_known_nodes"] == str(len(self.nodes))
        )
        for primary, replica in zip(self.primaries, self.nodes[PRIMARIES:], strict=False):
            replica.command("CLUSTER", "REPLICATE", self.name(primary))
        self._until(lambda node: self._said(node, "CLUSTER", "INFO")["cluster_state"] == "ok")
        for replica in self.nodes[PRIMARIES:]:
            while self._said(replica, "INFO")["master_link_status"] != "up":
                time.sleep(0.01)

    @property
    def primaries(self) -> list[RedisServer]:
        """Those that had slots at first."""
        return self.nodes[:PRIMARIES]

    @property
    def url(self) -> str:
        """What to open a journal with; it names one node that is not there."""
        return f"redis://{self.places}?cluster=true"

    @property
    def places(self) -> str:
        """Where its nodes are, and one that is not there."""
        ports = (node.settings["tls-port" if self._tls else "port"] for node in self.nodes)
        return ",".join(f"127.0.0.1:{port}" for port in (free_port(), *ports))

    def name(self, node: RedisServer) -> str:
        """What a node is called in the cluster."""
        called: bytes = node.command("CLUSTER", "MYID")
        return called.decode()

    def owner(self, slot: int) -> RedisServer:
        """Who has a slot, as the first node that answers sees it."""
        for node in self._alive():
            for begin, end, (_, port, *_), *_ in node.command("CLUSTER", "SLOTS"):
                if begin <= slot <= end:
                    return next(node for node in self.nodes if node.port == port)
        raise AssertionError(f"nobody has slot {slot}")

    def begin_to_move(self, slot: int) -> tuple[RedisServer, RedisServer]:
        """Open the way of a slot to the next primary: from where, and where to."""
        source = self.owner(slot)
        target = self.primaries[(self.primaries.index(source) + 1) % PRIMARIES]
        target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", self.name(source))
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", self.name(target))
        return source, target

    def move_keys(self, slot: int, *names: str) -> None:
        """Send the keys of a slot that is on its way: those, or all."""
        source = self.owner(slot)
        target = self.primaries[(self.primaries.index(source) + 1) % PRIMARIES]
        for key in names or source.command("CLUSTER", "GETKEYSINSLOT", slot, 1 << 20):
            moved = source.command("MIGRATE", "127.0.0.1", target.port, key, 0, 5000)
            assert moved in {b"OK", b"NOKEY"}, moved

    def end_move(self, slot: int, target: RedisServer) -> None:
        """Give the slot to where all its keys are now."""
        for node in (target, *self.primaries):
            node.command("CLUSTER", "SETSLOT", slot, "NODE", self.name(target))

    def move(self, slot: int) -> None:
        """Move a slot and its keys to the next primary."""
        _, target = self.begin_to_move(slot)
        self.move_keys(slot)
        self.end_move(slot, target)

    def flush(self) -> None:
        """Remove all keys."""
        for node in self.primaries:
            node.command("FLUSHALL")

    def close(self) -> None:
        """End all."""
        for node in self.nodes:
            node.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _alive(self) -> Iterator[RedisServer]:
        return (node for node in self.nodes if node.process is not None and node.process.poll() is None)

    @staticmethod
    def _said(node: RedisServer, *command: str) -> dict[str, str]:
        lines = node.command(*command).decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def _until(self, holds: Callable[[RedisServer], bool]) -> None:
        for node in self.nodes:
            while not holds(node):
                time.sleep(0.01)


def tls(certificate: str, key: str) -> dict[str, str | int]:
    """Settings of a node that speaks TLS, to its cluster as well."""
    given = {"tls_cert_file": certificate, "tls_key_file": key, "tls_ca_cert_file": certificate}
    return {**given, "tls_port": free_port(), "tls_cluster": "yes", "tls_auth_clients": "no"}


@cache
def shared_cluster() -> RedisCluster:
    """The one cluster of this test session, started by the first test that needs it."""
    cluster = RedisCluster()
    atexit.register(cluster.close)
    return cluster


async def empty_cluster_journal() -> RedisJournal:
    """A journal in the session's cluster, from which all else is removed."""
    cluster = shared_cluster()
    cluster.flush()
    return await RedisJournal.open(cluster.url)
