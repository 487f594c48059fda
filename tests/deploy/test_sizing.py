"""The plan of ``deploy/SIZING.md``: worked out from its figures, and held to them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return Path(shutil.copy(DEPLOY / "SIZING.md", tmp_path))


def work_out(page: Path, *options: str) -> int:
    return subprocess.run([sys.executable, DEPLOY / "sizing.py", *options, page], check=False).returncode


def put(page: Path, symbol: str, figure: str) -> None:
    """Change a figure of the first table."""
    text, changed = re.subn(rf"(\| `{symbol}` \|[^|]*\| )[\d.,]+", rf"\g<1>{figure}", page.read_text())
    assert changed == 1
    page.write_text(text)


def planned(page: Path, line: str) -> list[str]:
    """The cells of a line of the plan."""
    [row] = re.findall(rf"^\| {line} \|(.*)\|$", page.read_text(), re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def test_the_shipped_plan_is_that_of_its_figures(page: Path) -> None:
    assert work_out(page, "--check") == 0


def test_a_figure_that_changed_alone_is_found(page: Path) -> None:
    put(page, "h", "9,000")
    assert work_out(page, "--check") == 1
    assert work_out(page) == 0
    assert work_out(page, "--check") == 0


def test_servers_by_hand(page: Path) -> None:
    for symbol, figure in {
        "c": "900",
        "g": "20",
        "o": "4.1",
        "a": "2",
        "b": "0.4",
        "u": "60",
        "t": "5",
    }.items():
        put(page, symbol, figure)
    work_out(page)
    # 2,000 moves and 100 games a second: (1.8 + 0.61) / (0.6 - 0.04) = 4.3, so five and one more;
    # 20,000 and 1,000: (18 + 6.1) / (0.6 - 0.4) = 120.5; ten times that leaves nothing to divide by.
    assert planned(page, "servers, seats anywhere") == ["6", "122", "no number does", "1,220"]


def test_network_and_disk_by_hand(page: Path) -> None:
    put(page, "l", "1,000")
    put(page, "x", "500")
    work_out(page)
    assert planned(page, "to and from players, Mbit/s") == ["16", "160", "1,600", "1,600"]
    assert planned(page, "Redis writes, MB/s") == ["1", "10", "100", "100"]
