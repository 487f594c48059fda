"""The rules run as they are meant to: from source in a checkout, compiled in a wheel.

``make test-wheel`` sets ``CROUPIER_WHEEL`` and runs this folder on an installed wheel.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

import croupier_games

ROOT = Path(croupier_games.__file__).parent
PLAYED_THROUGH = [
    "cards",
    "immutable",
    *(f"{game}.{p.stem}" for game in croupier_games.GAMES for p in (ROOT / game).glob("*.py")),
]
AT_THE_SEAM = ["dealing", "game", "record_form", "records", "texts"]


def suffix(module: str) -> str:
    """Of what file a module of the rules was loaded."""
    file = importlib.import_module(f"croupier_games.{module.removesuffix('.__init__')}").__file__
    assert file is not None
    return Path(file).suffix


@pytest.mark.parametrize("module", PLAYED_THROUGH)
def test_what_play_goes_through_is_compiled_in_a_wheel(module: str) -> None:
    assert suffix(module) == (".so" if "CROUPIER_WHEEL" in os.environ else ".py")


@pytest.mark.parametrize("module", AT_THE_SEAM)
def test_what_meets_untrusted_data_first_is_never_compiled(module: str) -> None:
    assert suffix(module) == ".py"
