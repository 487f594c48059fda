"""What the files of ``deploy/`` say of each other and of the server: kept, and never apart."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from croupier_server.settings import Settings
from deploy.manifests import DEPLOY, OVERLAY, ROOT, load, of_kind, pods

BOTS_S = 3
"""What a house process gets to end; servers of these files have none."""


def pod_of(name: str) -> dict[str, Any]:
    return dict(pods())[name]


def settings() -> Settings:
    """What the cluster's servers work by."""
    given = next(m for n, m in of_kind("ConfigMap").items() if n.startswith("croupier-settings-"))
    return Settings.from_environment(given["data"])


def test_a_cluster_waits_for_the_end_of_a_drain() -> None:
    pod = pod_of("croupier-server")["spec"]
    drain = settings()
    before = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    needed = before + drain.drain_notice_s + drain.drain_grace_s + BOTS_S
    assert pod["terminationGracePeriodSeconds"] >= needed
    assert drain.drain_notice_s + drain.drain_grace_s < 10


def test_compose_waits_for_the_end_of_a_drain() -> None:
    drain = Settings()
    for name in ("server-1", "server-2", "server-3"):
        grace = load(DEPLOY / "compose.yaml")["services"][name]["stop_grace_period"]
        assert int(grace.removesuffix("s")) >= drain.drain_notice_s + drain.drain_grace_s + BOTS_S


@pytest.mark.parametrize("name", ["croupier-server", "croupier-house", "croupier-redis", "croupier-balancer"])
def test_pods_can_do_no_more_than_they_need(name: str) -> None:
    pod = pod_of(name)["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]


def test_every_pod_has_a_policy_for_both_directions() -> None:
    policies = of_kind("NetworkPolicy")
    for name, pod in pods():
        policy = policies[name]["spec"]
        assert policy["podSelector"]["matchLabels"] == pod["metadata"]["labels"]
        assert policy["policyTypes"] == ["Ingress", "Egress"]


@pytest.mark.parametrize("kind", ["Service", "PodDisruptionBudget"])
def test_selectors_find_pods(kind: str) -> None:
    labels = [pod["metadata"]["labels"] for _, pod in pods()]
    for name, found in of_kind(kind).items():
        selector = found["spec"]["selector"]
        assert selector.get("matchLabels", selector) in labels, name


def test_the_servers_are_probed_by_grpc_health_where_they_listen() -> None:
    server = pod_of("croupier-server")["spec"]["containers"][0]
    port = next(p["containerPort"] for p in server["ports"] if p["name"] == "grpc")
    assert f"0.0.0.0:{port}" in server["args"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert server[probe]["grpc"]["port"] == port


def test_a_cluster_lets_a_server_wait_for_its_journal() -> None:
    probe = pod_of("croupier-server")["spec"]["containers"][0]["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= settings().journal_wait_s + 30


def test_the_autoscaler_alone_says_how_many_servers_there_are() -> None:
    scaler = of_kind("HorizontalPodAutoscaler")["croupier-server"]["spec"]
    server = of_kind("Deployment")[scaler["scaleTargetRef"]["name"]]["spec"]
    assert "replicas" not in server
    container = server["template"]["spec"]["containers"][0]
    assert scaler["metrics"][0]["containerResource"]["container"] == container["name"]
    assert container["resources"]["requests"]["cpu"] == "1", "a percentage of one event loop's core"
    assert "cpu" not in container["resources"]["limits"]


def test_no_secret_is_an_argument_or_in_the_repository() -> None:
    for _, pod in pods():
        for container in pod["spec"]["containers"]:
            words = [*container.get("command", []), *container.get("args", [])]
            assert not [word for word in words if "redis://" in word or "$(" in word]
    assert not of_kind("Secret")
    examples = (OVERLAY / "secrets.example.yaml").read_text()
    assert re.findall(r"(?:croupier:|>)(\w+)", examples) == ["PASSWORD", "PASSWORD", "OPERATOR_PASSWORD"]


def test_compose_mounts_what_is_there() -> None:
    services = load(DEPLOY / "compose.yaml")["services"]
    mounts = [v.split(":")[0] for s in services.values() for v in s.get("volumes", []) if v.startswith(".")]
    assert len(mounts) == 3
    assert [mount for mount in mounts if not (DEPLOY / mount).exists()] == []


def test_compose_gives_the_balancer_and_prometheus_every_server() -> None:
    services = load(DEPLOY / "compose.yaml")["services"]
    servers = {name for name in services if name.startswith("server-")}
    variables = services["balancer"]["environment"]
    assert {v for k, v in variables.items() if "_REPLICA_" in k} == {f"{name}:50051" for name in servers}
    read = (DEPLOY / "balancers" / "haproxy.cfg").read_text()
    assert [name for name in variables if name not in read] == []
    jobs = {job["job_name"]: job for job in load(DEPLOY / "prometheus" / "prometheus.yml")["scrape_configs"]}
    targets = jobs["croupier"]["static_configs"][0]["targets"]
    assert set(targets) == {f"{name}:9464" for name in servers}
    assert jobs["house"]["static_configs"][0]["targets"] == [
        f"house:{metrics_port(services['house']['command'])}"
    ]
    for name, service in services.items():
        watched = name in {*servers, "house", "balancer", "prometheus"}
        assert ("watch" in service["networks"]) == watched, name


def metrics_port(arguments: list[str]) -> int:
    """Where a process that is started so serves its metrics."""
    return int(arguments[arguments.index("--metrics") + 1].rpartition(":")[2])


def test_prometheus_finds_what_it_scrapes_in_a_cluster() -> None:
    services, policies = of_kind("Service"), of_kind("NetworkPolicy")
    for job in load(DEPLOY / "prometheus" / "kubernetes.yml")["scrape_configs"]:
        (asked,) = job["dns_sd_configs"]
        service, namespace, *_ = asked["names"][0].split(".")
        assert namespace == services[service]["metadata"]["namespace"]
        name = f"croupier-{services[service]['spec']['selector']['app.kubernetes.io/component']}"
        container = pod_of(name)["spec"]["containers"][0]
        assert metrics_port(container["args"]) == asked["port"]
        assert {"name": "metrics", "containerPort": asked["port"]} in container["ports"]
        rules = policies[name]["spec"]["ingress"]
        (let_in,) = (rule["from"] for rule in rules if rule["ports"][0]["port"] == "metrics")
        assert let_in[0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}


def pins(name: str) -> dict[str, frozenset[str]]:
    """Each requirement of a lock file with its hashes."""
    text = (ROOT / "requirements" / name).read_text().replace("\\\n", " ")
    return {words[0]: frozenset(words[1:]) for words in map(str.split, text.splitlines()) if words}


@pytest.mark.parametrize("name", ["serve.txt", "build.txt"])
def test_the_image_has_what_the_tests_had(name: str) -> None:
    tested = pins("dev.txt")
    for requirement, hashes in pins(name).items():
        assert hashes
        assert tested[requirement] == hashes, requirement


def test_the_image_has_every_extra_that_serves() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    serving = extras.keys() - {"arena", "dask", "dev"}
    wanted = [*project["dependencies"], *(each for name in serving for each in extras[name])]
    names = {re.split(r"[^\w-]", each, maxsplit=1)[0].lower() for each in wanted}
    assert names <= {pin.partition("==")[0].lower() for pin in pins("serve.txt")}


def test_the_lock_of_the_build_is_that_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["build-system"]["requires"]) <= pins("build.txt").keys()


def test_the_image_is_built_from_what_the_context_lets_through() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    let_through = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"]
    assert sorted(" ".join(copied).split()) == sorted(let_through)
    assert [name for name in let_through if not (ROOT / name).exists()] == []
