"""``deploy/check.py`` finds what its validators are there for, and says what it could not run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from deploy.manifests import DEPLOY, ROOT
from system.components import program

MISTAKES = [
    ("Dockerfile", "USER 10001:10001", "USER 10001:10001\nRUN cd /tmp", "check_dockerfile"),
    ("compose.yaml", "stop_grace_period:", "stop_grace_time:", "check_compose"),
    ("k8s/base/server.yaml", "readinessProbe:", "readynessProbe:", "check_manifests"),
    ("k8s/base/scaling.yaml", "minReplicas: 3", "minReplicas: three", "check_manifests"),
    ("k8s/overlays/all-in-one/kustomization.yaml", "../../redis", "../../rediss", "check_manifests"),
    ("k8s/overlays/all-in-one/secrets.example.yaml", "stringData:", "text:", "check_manifests"),
    ("balancers/envoy.yaml", "interval: 0.5s", "interval: 5s", "check_manifests"),
    ("prometheus/prometheus.yml", "static_configs:", "statics:", "check_prometheus"),
    ("prometheus/kubernetes.yml", "dns_sd_configs:", "dns:", "check_prometheus"),
    ("prometheus/alerts.yml", "by (error)", "by error", "check_prometheus"),
    ("prometheus/alerts.yml", "> 0.85\n", "> 0.95\n", "check_prometheus"),
    ("grafana/croupier.json", "sum by (game)", "sum by game)", "check_prometheus"),
]


@pytest.fixture
def tools() -> None:
    program("kubectl", package="kubernetes-client")
    program("promtool", package="prometheus")


@pytest.fixture
def checks(tmp_path: Path) -> ModuleType:
    """``check.py`` of a copy of the folder."""
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    spec = importlib.util.spec_from_file_location("check_of_the_copy", tmp_path / "deploy" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(**environment: str) -> tuple[int, str]:
    """The whole program's exit code, and what it says."""
    command = [sys.executable, DEPLOY / "check.py"]
    given = {**os.environ, "CI": "", **environment}
    done = subprocess.run(command, env=given, capture_output=True, text=True, cwd=ROOT)
    return done.returncode, done.stderr


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(("file", "good", "bad", "found_by"), MISTAKES)
def test_a_mistake_is_found(checks: ModuleType, file: str, good: str, bad: str, found_by: str) -> None:
    path = checks.HERE / file
    text = path.read_text()
    assert good in text
    path.write_text(text.replace(good, bad, 1))
    said, is_wrong = checks.complaint(getattr(checks, found_by))
    assert said.startswith(found_by)
    assert is_wrong


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_a_tool_that_is_missing_is_named(tmp_path: Path, ci: str, code: int) -> None:
    exit_code, said = check(PATH=str(tmp_path), CI=ci)
    assert exit_code == code
    assert "check_manifests did not run: no kubectl: apt-get install kubernetes-client" in said
    assert "check_prometheus did not run: no promtool: apt-get install prometheus" in said
