"""What holds for every test."""

from __future__ import annotations

import os
from typing import Any

import pytest
import structlog
from hypothesis import settings

# Before gRPC is imported: its fork handlers crash children that tests fork, now and then, before exec.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# No example fails for the time that it took: machines are busy with other things.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _loggers_keep_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A logger that remembered one test's settings would write to its closed stream in the next."""
    configure = structlog.configure

    def configure_without_cache(**settings: Any) -> None:
        configure(**{**settings, "cache_logger_on_first_use": False})

    monkeypatch.setattr(structlog, "configure", configure_without_cache)
