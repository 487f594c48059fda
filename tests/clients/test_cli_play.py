"""``croupier play`` with a server of its own: whole processes, piped and at a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import stat
from pathlib import Path

import pytest

from clients.cli_processes import Terminal, run, running
from croupier.cli import main
from croupier.cli.look.pen import cells
from croupier_games import GAMES

each_game = pytest.mark.parametrize("game", GAMES)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where games are kept for the length of a test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def kept_files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file() and path.suffix != ".jsonl"]


# --- for programs ------------------------------------------------------------------------------


@each_game
def test_a_program_plays_a_whole_game(game: str, home: Path) -> None:
    record = home / "record.jsonl"
    code, events, errors = run("play", game, "--record", str(record), text="1\n" * 5000)
    assert (code, errors) == (0, "")
    last = events[-1]
    assert last["event"] == "end"
    assert last["result"] in ("finished", "void")
    assert len(last["scores"]) == GAMES[game].default_players
    assert main(["verify", str(record)]) == 0
    assert kept_files(home) == [], "a program has nothing to come back to"


def test_a_program_plays_by_text_turn_by_turn() -> None:
    with running("play", "hidden_unders", "--auto-done", "--vs", "random", "--vs", "easy") as program:
        program.write(program.next("turn")["legal"][-1])
        moved = program.next("moved")
        assert moved["seat"] == 0
        assert program.play_first_moves()["event"] == "end"
        assert program.process.wait() == 0


def test_a_program_gets_all_legal_moves_however_few_the_server_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROUPIER_MAX_LEGAL_MOVES", "3")
    with running("play", "hidden_unders") as program:
        turn = program.next("turn")
    assert turn["legal"][0].startswith("overs ")
    assert len(turn["legal"]) > 3


def test_input_that_ends_too_early_is_a_failure() -> None:
    code, events, errors = run("play", "doudizhu", text="pass\n")
    assert code == 1
    assert "the input ended before the game" in errors
    assert events[-1]["event"] != "end"


def test_practice_is_the_same_again(home: Path) -> None:
    first = run("play", "doudizhu", "--seed", "Café", text="1\n" * 500)
    assert first == run("play", "doudizhu", "--seed", "Café", text="1\n" * 500)
    assert first[0] == 0
    assert kept_files(home) == []


# --- for people --------------------------------------------------------------------------------


def test_a_person_plays_a_whole_game_at_a_terminal(home: Path) -> None:
    command = ("play", "hidden", "--auto-done", "--speed", "instant", "--four-colour", "--vs", "random")
    with Terminal(command) as terminal:
        terminal.expect("Random bot sits down.")
        ended = False
        while not ended:
            terminal.expect("> ")
            terminal.type("1\r")
            terminal.expect("1\r\n")
            ended = not _goes_on(terminal)
        assert terminal.end() == 0
    assert "\x1b[32m" in terminal.output
    assert max(map(cells, terminal.output.splitlines())) <= 80
    assert kept_files(home) == []


def _goes_on(terminal: Terminal) -> bool:
    """True when the next prompt comes, False when the game is over."""
    end = "The deals follow from the seed that was promised before the first card."
    while "> " not in (rest := terminal.unread()) and end not in rest:
        terminal.wait()
    return end not in rest


def test_a_game_that_was_left_is_taken_up_again(home: Path) -> None:
    with Terminal(("play", "rummy", "--speed", "instant")) as terminal:
        terminal.expect("Your hand (10)")
        terminal.expect("> ")
        terminal.type("draw stock\r")
        terminal.expect("Your hand (11): ")
        hand = terminal.expect("\r\n")
        terminal.type("\x03")
        before = terminal.expect("to go on: croupier play --resume --table ")
        assert before.endswith("\ncroupier: "), "not on the prompt's line"
        assert terminal.end() == 130
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept_files(home))
    with Terminal(("play", "--resume"), NO_COLOR="1") as terminal:
        terminal.expect("Your hand (11): ")
        assert terminal.expect("\r\n") == _without_colour(hand)
        terminal.type("quit\r")
        assert terminal.end() == 0
    assert "\x1b" not in terminal.output


def _without_colour(text: str) -> str:
    return re.sub("\x1b\\[[0-9]+m", "", text)


def test_two_games_at_once_do_not_disturb_each_other(home: Path) -> None:
    command = ("play", "doudizhu", "--speed", "instant")
    with Terminal(command) as one, Terminal(command) as other:
        one.expect("> ")
        other.expect("> ")
        assert main(["play", "--resume"]) == 1, "neither was left"
        one.type("quit\r")
        other.type("quit\r")
        assert (one.end(), other.end()) == (0, 0)
    assert len(list(home.rglob("*.sqlite"))) == 2


def test_the_server_ends_with_a_player_that_is_killed(home: Path) -> None:
    with Terminal(("play", "doudizhu")) as terminal:
        terminal.expect("> ")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.end()
    (lock,) = home.rglob("*.sqlite.lock")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # comes once the server has let go of its journal


def test_a_game_whose_journal_is_gone_is_forgotten(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal(("play", "doudizhu")) as terminal:
        terminal.expect("> ")
        terminal.type("quit\r")
        terminal.end()
    for journal in home.rglob("*.sqlite"):
        journal.unlink()
    assert main(["play", "--resume"]) == 1
    assert "is gone" in capsys.readouterr().err
    assert main(["play", "--resume"]) == 1
    assert "no game to come back to" in capsys.readouterr().err


def test_the_token_of_a_kept_game_is_not_in_what_others_can_read(home: Path) -> None:
    with Terminal(("play", "doudizhu")) as terminal:
        terminal.expect("> ")
        (kept,) = home.rglob("*.json")
        token = json.loads(kept.read_text())["token"]
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            assert token.encode() not in _read(process)
        terminal.type("quit\r")
        terminal.end()
    assert token not in terminal.output


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
