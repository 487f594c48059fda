"""Bots in their own processes: whatever becomes of one, the arena goes on."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.arena import ArenaResult, PlayedGame, run_arena

SOURCE = """
import ctypes, os, signal, sys, threading
class First:
    def choose(self, view, legal_moves):
        print("thinking aloud")
        return legal_moves[0]
class Hanging:
    def choose(self, view, legal_moves):
        threading.Event().wait()
class Exiting:
    def choose(self, view, legal_moves):
        os._exit(7)
class Killed:
    def choose(self, view, legal_moves):
        os.kill(os.getpid(), signal.SIGSEGV)
class Raising:
    def choose(self, view, legal_moves):
        raise RuntimeError("out of ideas")
class Unmade:
    def __init__(self):
        raise OSError("no model")
    def choose(self, view, legal_moves): ...
class Numeric:
    def choose(self, view, legal_moves):
        return 3
class HangsFirst:
    games = 0
    def choose(self, view, legal_moves):
        if not os.path.exists("hung"):
            open("hung", "w").close()
            threading.Event().wait()
        return legal_moves[0]
class Cut:
    watchdog_cuts = 0
    def choose(self, view, legal_moves):
        self.watchdog_cuts += 1
        return legal_moves[0]
class TellsAndHangs:
    def choose(self, view, legal_moves):
        with open("fifo", "w") as told:
            told.write("here\\n")
            told.flush()
            globals()["kept"] = os.dup(told.fileno())
        threading.Event().wait()
"""
PATIENCE = 30.0


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module ``isolated_shelf`` in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "isolated_shelf", raising=False)
    (tmp_path / "isolated_shelf.py").write_text(SOURCE)


def arena(bot: str, deals: int = 1, seconds: float = PATIENCE) -> tuple[ArenaResult, list[PlayedGame]]:
    games: list[PlayedGame] = []
    players = ["easy", f"isolated_shelf:{bot}"]
    return run_arena("hidden_unders", players, deals, "i", isolate=seconds, on_game=games.append), games


@pytest.mark.parametrize(
    ("bot", "reason", "message"),
    [
        ("Exiting", "CRASH", "its process ended with exit code 7"),
        ("Killed", "CRASH", f"its process ended with signal {signal.SIGSEGV.value}"),
        ("Raising", "CRASH", "RuntimeError: out of ideas"),
        ("Unmade", "CRASH", "OSError: no model"),
        ("Numeric", "ILLEGAL_MOVE", "answered with int, not a text"),
    ],
)
def test_what_goes_wrong_over_there_is_a_forfeit_here(bot: str, reason: str, message: str) -> None:
    result, games = arena(bot)
    assert [(f.reason, f.message) for f in result.forfeits] == [(reason, message)] * 2
    assert [game.winners for game in games] == [{"easy"}] * 2


def test_a_crash_over_there_keeps_its_traceback() -> None:
    result, _ = arena("Raising")
    assert 'raise RuntimeError("out of ideas")' in str(result.forfeits[0].traceback)


def test_a_bot_that_hangs_is_killed_and_the_next_game_gets_a_new_one() -> None:
    result, games = arena("HangsFirst", seconds=3)
    assert [(f.reason, f.message) for f in result.forfeits] == [("TIMEOUT", "gave no answer in 3 s")]
    assert result.standings[1].timeouts == 1
    assert [game.result for game in games] == ["forfeit", "finished"]


def test_isolated_bots_play_the_same_games(capfd: pytest.CaptureFixture[str]) -> None:
    _, apart = arena("First", deals=2)
    assert "thinking aloud" not in capfd.readouterr().out
    games: list[PlayedGame] = []
    run_arena("hidden_unders", ["easy", "isolated_shelf:First"], 2, "i", on_game=games.append)
    assert [game.record for game in games] == [game.record for game in apart]
    assert "thinking aloud" not in capfd.readouterr().out


@pytest.mark.parametrize("isolate", [None, PATIENCE])
def test_thoughts_cut_short_are_counted(isolate: float | None) -> None:
    players = ["isolated_shelf:Cut", "easy"]
    standing, other = run_arena("hidden_unders", players, 1, "i", isolate=isolate).standings
    assert standing.watchdog_cuts == len(standing.thinking) > 0
    assert other.watchdog_cuts == 0


def test_a_bot_that_hangs_ends_with_its_arena(tmp_path: Path) -> None:
    os.mkfifo("fifo")
    command = [
        sys.executable,
        "-m",
        "croupier",
        "arena",
        "hidden_unders",
        "isolated_shelf:TellsAndHangs",
        "easy",
    ]
    process = subprocess.Popen([*command, "--isolate", "--move-timeout", "600"], stderr=subprocess.DEVNULL)
    with process, (tmp_path / "fifo").open() as fifo:
        assert fifo.readline() == "here\n"
        process.kill()
        # The bot holds the fifo open for as long as it lives; its end is the end of the file.
        ready, _, _ = select.select([fifo], [], [], PATIENCE)
        assert ready
        assert fifo.read() == ""
