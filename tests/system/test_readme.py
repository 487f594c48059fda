"""What the READMEs show is run as it stands, against a server with house bots."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from system.processes import server_process

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "clients/README.md")
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def blocks(page: str) -> list[str]:
    return BLOCK.findall((ROOT / page).read_text())


def run(folder: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("page", "number"), [("README.md", 0), ("clients/README.md", 1)])
async def test_a_program_of_the_readme_plays_a_game(page: str, number: int, tmp_path: Path) -> None:
    async with server_process(f"sqlite:{tmp_path / 'tables.sqlite'}", house_bots=1) as server:
        program = blocks(page)[number].replace("127.0.0.1:50051", server.address)
        (tmp_path / "program.py").write_text(program)
        shown = await asyncio.to_thread(run, tmp_path, "program.py")
    assert "finished" in shown


def test_the_bot_of_the_readme_enters_the_arena(tmp_path: Path) -> None:
    (tmp_path / "thrifty.py").write_text(blocks("clients/README.md")[0])
    arena = (
        "-m",
        "croupier",
        "arena",
        "doudizhu",
        "thrifty:Thrifty",
        "easy",
        "--deals",
        "3",
        "--seed",
        "first",
    )
    run(tmp_path, *arena, "--record", "games.jsonl", "--json")
    games = (tmp_path / "games.jsonl").read_text().splitlines()
    assert {json.loads(line)["result"] for line in games} == {"finished"}
    run(tmp_path, "-m", "croupier", "verify", "games.jsonl")


def test_the_two_pages_show_the_same_bot() -> None:
    shown = [re.findall(r"class Thrifty:.*?key=len\)", blocks(page)[0], re.DOTALL) for page in PAGES]
    assert shown[0] == shown[1] != []
