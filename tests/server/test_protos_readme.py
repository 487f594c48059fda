"""The guide beside the protos says what the server does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from croupier.v1 import games_pb2, players_pb2, tables_pb2
from croupier_server.errors import REASONS
from croupier_server.settings import Settings

PROTOS = Path(__file__).parents[2] / "protos"
README = (PROTOS / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def errors_table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("errors_table", PROTOS / "errors_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_errors_are_the_servers(errors_table: ModuleType) -> None:
    assert errors_table.written(README) == README
    assert all(f"| `{reason}` |" in README for reason in REASONS)


def test_a_readme_without_markers_is_refused(errors_table: ModuleType) -> None:
    with pytest.raises(ValueError, match="markers"):
        errors_table.written("# Nothing")


def test_every_reason_that_is_named_exists() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", README.partition("<!-- errors: begin -->")[0]))
    foreign = {"CARD_UNSPECIFIED", "TOO_LOW", "DOES_NOT_BEAT"}
    assert named - foreign <= set(REASONS)


def test_every_method_that_is_named_exists() -> None:
    services = [
        service
        for module in (games_pb2, players_pb2, tables_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
    ]
    methods = {method.name for service in services for method in service.methods}
    verbs = "SignIn|Create|Get|List|Join|Leave|Invite|Watch|Make|Enter|Start|Cancel"
    named = set(re.findall(rf"`((?:{verbs})[A-Za-z]*)`", README))
    assert named <= methods
    assert len(named) >= 12


def test_every_heading_of_the_contents_is_there() -> None:
    headings = {
        re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-")
        for h in re.findall(r"^## (.*)$", README, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) == headings


def test_the_limits_are_the_defaults() -> None:
    settings = Settings()
    limits = README.partition("## Limits")[2]
    for value in (
        f"{settings.max_message_bytes // 1024} KiB",
        f"at most {settings.max_page_size}",
        f"| {settings.max_legal_moves} |",
        f"| {settings.max_moves_in_flight} |",
        f"| {settings.max_tables_per_stream} |",
        f"| {settings.max_streams} |",
        f"| {settings.max_open_tables} |",
    ):
        assert value in limits
