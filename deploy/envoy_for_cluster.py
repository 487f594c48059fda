"""Fills ``balancers/envoy.yaml`` in for a cluster: ``k8s/balancer/envoy.yaml``.

The law of this file: there is one configuration of Envoy. A kustomization takes no file from
elsewhere and starts no ``envsubst``, so what it ships is written by this program (``make generate``)
and compared by ``make check`` (``--check``).
"""

from __future__ import annotations

import sys
from pathlib import Path
from string import Template
from typing import Final

HERE: Final = Path(__file__).resolve().parent
SOURCE: Final = HERE / "balancers" / "envoy.yaml"
TARGET: Final = HERE / "k8s" / "balancer" / "envoy.yaml"
REPLICAS: Final = ("croupier-replicas", "50051")
"""A headless Service: one name with the address of every replica."""
VALUES: Final = {
    "CROUPIER_ADMIN_PORT": "9901",
    "CROUPIER_LISTEN_HOST": "0.0.0.0",  # noqa: S104 - in a container
    "CROUPIER_LISTEN_PORT": "8443",
    "CROUPIER_TLS_CERT": "/etc/croupier-tls/tls.crt",
    "CROUPIER_TLS_KEY": "/etc/croupier-tls/tls.key",
    "CROUPIER_IDLE_TIMEOUT": "60s",
    "CROUPIER_TRY_TIMEOUT": "5s",
    "CROUPIER_LB_POLICY": "LEAST_REQUEST",
}
_HEADING: Final = "# Made from balancers/envoy.yaml by envoy_for_cluster.py: change it there.\n"


def for_cluster() -> str:
    """The configuration with its variables filled in. Raises ``KeyError`` for an unknown one."""
    host, port = REPLICAS
    places = {
        f"CROUPIER_REPLICA_{n}_{what}": v for n in (1, 2, 3) for what, v in (("HOST", host), ("PORT", port))
    }
    lines = Template(_without_comment(SOURCE.read_text())).substitute(VALUES | places).splitlines()
    once: list[str] = []
    for line in lines:
        if "- endpoint:" not in line or line not in once:  # three endpoints became the same one
            once.append(line)
    return _HEADING + "\n".join(once) + "\n"


def _without_comment(text: str) -> str:
    """Without the heading, which speaks of the variables."""
    lines = text.splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if not line.startswith("#"))
    return "".join(lines[first:])


def main() -> int:
    """Write it, or compare with ``--check``; the exit code."""
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(for_cluster())
        return 0
    if TARGET.read_text() == for_cluster():
        return 0
    print(f"{TARGET.name} is not what {SOURCE} makes; run: make generate", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
