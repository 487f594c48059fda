"""What ``deploy/`` ships, as data."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from system.components import program

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
OVERLAY = DEPLOY / "k8s" / "overlays" / "all-in-one"


def load(path: Path) -> Any:
    """A file of one YAML document."""
    return yaml.safe_load(path.read_text())


@cache
def cluster() -> list[dict[str, Any]]:
    """All objects of the overlay, as kubectl makes them."""
    kubectl = program("kubectl", package="kubernetes-client")
    built = subprocess.run([kubectl, "kustomize", OVERLAY], check=True, capture_output=True, text=True)
    return list(yaml.safe_load_all(built.stdout))


def of_kind(kind: str) -> dict[str, Any]:
    """The overlay's objects of a kind, by their names."""
    return {each["metadata"]["name"]: each for each in cluster() if each["kind"] == kind}


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each workload's name and its pods' template."""
    for kind in ("Deployment", "StatefulSet"):
        for name, workload in of_kind(kind).items():
            yield name, workload["spec"]["template"]
