"""Alerts and dashboard ask for what a server tells, and the runbook knows every alert."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from pathlib import Path
from urllib.error import URLError

from prometheus_client.parser import text_string_to_metric_families

from croupier.v1 import tables_pb2
from deploy.manifests import DEPLOY, load
from system.players import clients, play_game
from system.processes import free_port, server_process

NAME = re.compile(r"\b((?:croupier|process)_[a-z_]+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)=~?"([^"]*)"')
OF_PROMETHEUS = {"job", "instance"}
"""Labels that a scrape adds."""


def queries() -> list[str]:
    """All PromQL of the alerts and the dashboard."""
    alerts = [rule["expr"] for rule in rules()]
    panels = json.loads((DEPLOY / "grafana" / "croupier.json").read_text())["panels"]
    return alerts + [target["expr"] for panel in panels for target in panel.get("targets", [])]


def rules() -> list[dict]:
    return load(DEPLOY / "prometheus" / "alerts.yml")["groups"][0]["rules"]


async def test_a_live_server_and_its_house_export_every_name_that_is_asked_for(tmp_path: Path) -> None:
    house = f"127.0.0.1:{free_port()}"
    async with (
        server_process(f"sqlite:{tmp_path / 'tables.sqlite'}", house_bots=1, house_metrics=house) as server,
        clients(server.address, 2) as players,
    ):
        await play_game(players, "hidden_unders", {"rounds": 1})
        samples = await asyncio.to_thread(scraped, server.ready["metrics"])
        samples |= await scraped_at_last(house)
    asked = {(name, labels) for query in queries() for name, labels in NAME.findall(query)}
    assert len({name for name, _ in asked}) > 10
    for name, labels in asked:
        # A counter with labels has no sample before its first event; then its family is known all the same.
        assert name in samples, name
        known = samples[name]
        if known:
            assert dict(LABEL.findall(labels)).keys() - OF_PROMETHEUS <= known, name


def scraped(address: str) -> dict[str, set[str]]:
    """The names of all samples that a server may export, with the labels of those that it did."""
    with urllib.request.urlopen(f"http://{address}/metrics") as answer:
        text = answer.read().decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        if family.type == "counter":
            found.setdefault(f"{family.name}_total", set())
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


async def scraped_at_last(address: str) -> dict[str, set[str]]:
    """The same of a process that will serve them soon; the test's own time limit ends it."""
    while True:
        try:
            return await asyncio.to_thread(scraped, address)
        except URLError:
            await asyncio.sleep(0.02)


def test_methods_that_are_asked_for_exist() -> None:
    methods = {m for query in queries() for m in re.findall(r'method="(\w+/\w+)"', query)}
    service = tables_pb2.DESCRIPTOR.services_by_name["TableService"]
    assert methods
    assert methods <= {f"TableService/{name}" for name in service.methods_by_name}


def test_the_runbook_has_a_part_for_every_alert_and_for_no_other() -> None:
    alerts = {rule["alert"] for rule in rules()}
    headings = re.findall(r"^### (Croupier\w+)$", (DEPLOY / "RUNBOOK.md").read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(alerts)
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"RUNBOOK.md#{rule['alert'].lower()}"


def test_every_alert_is_fired_by_a_test() -> None:
    tests = load(DEPLOY / "prometheus" / "alerts_test.yml")["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if "exp_alerts" in case}
    assert fired == {rule["alert"] for rule in rules()}
