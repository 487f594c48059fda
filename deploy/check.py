"""Checks what is deployed with: each file by the tool that its users run, without running anything.

``python deploy/check.py``. The Python tools come with the project's development requirements;
kubectl and promtool come from the distribution. Where one of those two is missing, what it would
have checked is named; with ``CI`` set that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KUBERNETES = ("1.30", "1.37")
"""The oldest and the newest release that the manifests are held against."""
KUSTOMIZATIONS = sorted(path.parent for path in (HERE / "k8s").rglob("kustomization.yaml"))
DASHBOARD = HERE / "grafana" / "croupier.json"
PACKAGES = {"kubectl": "kubernetes-client", "promtool": "prometheus"}
"""The Debian package of each tool that PyPI does not have."""


class Missing(Exception):
    """A tool that is not installed; ``str()`` says how to get it."""


def tool(name: str) -> str:
    """Where a tool is, first of all beside this Python. Raises ``Missing``."""
    beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    if found := shutil.which(name, path=beside):
        return found
    package = PACKAGES.get(name)
    raise Missing(f"no {name}: " + (f"apt-get install {package}" if package else "make setup"))


def run(name: str, *arguments: str | Path) -> str:
    """What a tool writes to stdout. Raises ``CalledProcessError`` when it finds fault, ``Missing``."""
    command = [tool(name), *map(str, arguments)]
    done = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout


def check_dockerfile() -> None:
    """Hadolint knows Dockerfiles and the shell in them."""
    run("hadolint", "--failure-threshold", "style", HERE / "Dockerfile")


def check_compose() -> None:
    """The schema of the Compose specification."""
    run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", HERE / "compose.yaml")


def check_manifests() -> None:
    """What kubectl makes of each kustomization, and the examples, by the schemas of Kubernetes."""
    run(sys.executable, HERE / "envoy_for_cluster.py", "--check")
    with tempfile.TemporaryDirectory() as folder:
        files = sorted((HERE / "k8s").rglob("*.example.yaml"))
        for number, source in enumerate(KUSTOMIZATIONS):
            built = Path(folder) / f"{number}-{source.name}.yaml"
            built.write_text(run("kubectl", "kustomize", source))
            files.append(built)
        for release in KUBERNETES:
            run("kubernetes-validate", "--strict", "--quiet", "-k", release, *files)


def check_prometheus() -> None:
    """Configurations and rules; each alert's unit test; the dashboard's queries."""
    folder = HERE / "prometheus"
    run("promtool", "check", "config", folder / "prometheus.yml", folder / "kubernetes.yml")
    run("promtool", "test", "rules", folder / "alerts_test.yml")
    rules = [{"record": f"panel:{n}", "expr": expr} for n, expr in enumerate(dashboard_queries())]
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "dashboard.yml"
        file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
        run("promtool", "check", "rules", file)


def dashboard_queries() -> Iterator[str]:
    """Each panel's PromQL, with a value for each of Grafana's variables."""
    values = {"$__rate_interval": "1m", "$job": "croupier", "$instance": ".*"}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            query: str = target["expr"]
            for name, value in values.items():
                query = query.replace(name, value)
            yield query


def check_sizing() -> None:
    """The plan is that of the figures."""
    run(sys.executable, HERE / "sizing.py", "--check")


CHECKS: tuple[Callable[[], None], ...] = (
    check_dockerfile, check_compose, check_manifests, check_prometheus, check_sizing,
)  # fmt: skip


def complaint(check: Callable[[], None]) -> tuple[str, bool]:
    """What is wrong, empty for nothing; and whether that is more than a missing tool."""
    try:
        check()
    except Missing as missing:
        return f"{check.__name__} did not run: {missing}", False
    except subprocess.CalledProcessError as error:
        found: Any = f"{error.stdout}{error.stderr}".strip()
        return f"{check.__name__}: {' '.join(map(str, error.cmd))}\n{found}", True
    return "", False


def main() -> int:
    """Run all checks at once; the exit code."""
    with ThreadPoolExecutor() as pool:
        complaints = [(text, wrong) for text, wrong in pool.map(complaint, CHECKS) if text]
    for text, _ in complaints:
        print(text, file=sys.stderr)
    must_run = bool(os.environ.get("CI"))
    return 1 if any(wrong or must_run for _, wrong in complaints) else 0


if __name__ == "__main__":
    sys.exit(main())
