"""The bot author's page: each command on it is run, at a small size, and each example plays whole games."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from croupier.arena import PlayedGame, run_arena
from croupier_games import GAMES
from system.commands import command

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "clients/BOTS.md"
EXAMPLES = ROOT / "clients/examples"
BLOCK = re.compile(r"```(sh|python)\n(.*?)```", re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(PAGE.read_text()) if kind == language]


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]
WIRE = next(block for block in blocks("sh") if "croupier serve" in block).splitlines()
ARENAS = [line for line in COMMANDS if line.startswith("croupier arena")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where somebody followed the page: its bot, the examples and a `croupier` on the path."""
    (tmp_path / "my_bot.py").write_text("\n\n".join(blocks("python")))
    for example in EXAMPLES.iterdir():
        if example.is_file():
            shutil.copy(example, tmp_path)
    program = tmp_path / "bin" / "croupier"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m croupier "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(script: str) -> str:
    # Bash, for what fails before a pipe is a failure too.
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def small(arena: str) -> str:
    return re.sub(r"--deals \d+", "--deals 2", arena)


@pytest.mark.parametrize("arena", ARENAS)
def test_an_arena_of_the_page(arena: str, folder: Path) -> None:
    told = run(small(arena))
    rows = {line.split("  ")[0].strip(): line.split()[1:] for line in told.splitlines()}
    assert rows["illegal"] == rows["crashes"] == ["0"] * len(rows["illegal"])
    if "--sprt" in arena:
        assert "after 2 deals" in told
    for option in ("--report", "--record", "--resume"):
        if option in arena:
            assert (folder / arena.split(f"{option} ")[1].split()[0]).stat().st_size
    if "--record" in arena:
        verify = "croupier verify games.jsonl"
        assert verify in COMMANDS
        assert len(run(verify).splitlines()) >= 4


async def test_the_bot_of_the_page_is_played_with_over_the_wire(folder: Path) -> None:
    serve, bot, play = (line.split()[1:] for line in WIRE)
    async with command(*serve[:2], "127.0.0.1:0", "--json", "--journal", "memory:") as serving:
        ready = await serving.event()
        assert ready is not None
        async with command(*bot[:-1], ready["listen"], "--json") as playing:
            player = await playing.event()
            assert player is not None
            told = [player["player"] if word == "players/ID" else word for word in play[:-1]]
            async with command(*told, ready["listen"], "--json") as person:
                while (event := await person.event()) is not None:
                    last = event
                    if event["event"] == "turn":
                        person.write("1")
                assert (await person.ended())[0] == 0
    assert (last["event"], last["result"]) == ("end", "finished")


def test_what_is_installed_is_there_to_be_installed() -> None:
    (line,) = [line for line in COMMANDS if line.startswith("pip install")]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (asked,) = re.findall(r'^pip install "croupier\[(.*)\]"$', line)
    assert set(asked.split(",")) <= set(extras)


def test_every_command_of_the_page_is_tried_here() -> None:
    others = ["pip install", "croupier verify", "croupier serve", "croupier bot", "croupier play", "mkfifo"]
    kinds = {next((kind for kind in others if line.startswith(kind)), line) for line in COMMANDS}
    assert kinds - set(ARENAS) == set(others)


@pytest.mark.parametrize("game", list(GAMES))
def test_the_bot_in_another_language_plays_every_game(game: str, folder: Path) -> None:
    (block,) = [block for block in blocks("sh") if "mkfifo" in block]
    run(block.replace("basic_rummy", game).replace("--json", "--json --record game.jsonl"))
    (record,) = (folder / "game.jsonl").read_text().splitlines()
    assert (json.loads(record)["game"], json.loads(record)["result"]) == (game, "finished")


PYTHON_EXAMPLES = {
    "longest:Longest": "doudizhu",
    "partner:Partner": "doudizhu",
    "saver:Saver": "hidden_unders",
    "melder:Melder": "basic_rummy",
}


@pytest.mark.parametrize("player", PYTHON_EXAMPLES)
def test_an_example_plays_whole_games(player: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    games: list[PlayedGame] = []
    run_arena(PYTHON_EXAMPLES[player], [player, "random"], 3, "first", on_game=games.append)
    assert {(game.result, game.forfeit) for game in games} == {("finished", None)}


def test_the_shelf_is_whole_and_each_example_short() -> None:
    files = {path.name: path.read_text() for path in EXAMPLES.iterdir() if path.is_file()}
    assert set(files) == {f"{player.split(':')[0]}.py" for player in PYTHON_EXAMPLES} | {"shortest.pl"}
    assert all(len(text.splitlines()) < 40 and "he idea: " in text for text in files.values())
    assert all(f"](examples/{name})" in PAGE.read_text() for name in files)
    assert "(BOTS.md)" in (PAGE.parent / "README.md").read_text()
