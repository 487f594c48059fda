"""Commands that need no server: what they print, and their exit codes."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clients.cli_processes import Terminal
from croupier.cli import main
from croupier.cli.app import run
from croupier.cli.arena_tables import in_columns
from croupier.cli.game_options import game_called
from croupier.cli.look.pen import cells
from croupier.cli.output import Misused
from croupier_games import GAMES

Capture = pytest.CaptureFixture[str]

VECTORS = Path(__file__).parent.parent / "vectors"
COMMANDS = (
    *("serve", "play", "tables", "watch", "bot", "arena"),
    *("rules", "replay", "verify", "token", "healthcheck", "version"),
)
each_game = pytest.mark.parametrize("game", GAMES)


@pytest.fixture(autouse=True)
def homes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test touches the files of whoever runs it."""
    for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    for variable in ("CROUPIER_SERVER", "CROUPIER_TOKEN"):
        monkeypatch.delenv(variable, raising=False)


def objects(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


# --- all commands ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"Usage: croupier {command}" in out
    assert "--json" in out


def test_without_a_command_all_are_listed(capsys: Capture) -> None:
    assert main([]) == 2
    written = capsys.readouterr()
    assert all(f"\n  {command} " in written.out + written.err for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["shuffle"], "No such command"),
        (["verify"], "Missing argument"),
        (["play"], "which game?"),
        (["play", "bridge"], "there is no game 'bridge'; there are hidden_unders, doudizhu, basic_rummy"),
        (["play", "doudizhu", "--points", "300"], "Dou Dizhu has no option --points; it has --deals, --max"),
        (["play", "doudizhu", "--players", "4"], "Dou Dizhu takes 3 players, not 4"),
        (["play", "rummy", "--points", "200"], "points is one of 100, 300, 500, not 200"),
        (["play", "rummy", "--vs", "genius"], "there is no level 'genius'; there are random, easy, normal"),
        (["play", "rummy", "--vs", "open"], "others can only come with --server"),
        (["play", "rummy", "--players", "2", "--vs", "easy", "--vs", "easy"], "2 players have 1 others"),
        (["play", "rummy", "--speed", "warp"], "--speed is one of slow, normal, fast, instant"),
        (["play", "--table", "tables/x"], "--table needs --server"),
        (["play", "rummy", "--join-code", "x"], "--join-code needs --table"),
        (["play", "--resume", "--vs", "easy"], "open a new table"),
        (["rules", "doudizhu", "--auto-done"], "Dou Dizhu has no option --auto-done"),
        (["arena", "doudizhu", "easy", "easy", "--points", "300"], "no option --points; it has --game-deals"),
        (["arena", "rummy", "easy", "nobody:Here"], "cannot import nobody"),
        (["arena", "rummy", "easy"], "Basic Rummy takes 2 to 4 players, not 1"),
        (["arena", "rummy", "easy", "easy", "--deals", "0"], "--deals"),
        (["arena", "doudizhu", "easy", "easy", "--roles", "free"], "--roles is one of auction, fixed"),
        (["arena", "rummy", "easy", "easy", "--roles", "fixed"], "basic_rummy has no roles to fix"),
        (["bot", "rummy", "genius"], "no level 'genius'"),
        (["serve", "--tls-cert", "x.pem"], "--tls-cert and --tls-key go together"),
        (["serve", "--log-level", "loud"], "--log-level is one of"),
        (["serve", "--listen", "everywhere"], "an address is HOST:PORT with a port from 0 to 65535"),
        (["serve", "--metrics", "127.0.0.1:65536"], "an address is HOST:PORT"),
        (["serve", "--listen", "127.0.0.1:" + "9" * 5000], "an address is HOST:PORT"),
        (["tables", "--state", "closed"], "--state is one of open, filled, playing, ended"),
        (["replay", "x.jsonl", "--step", "--json"], "--step needs a terminal"),
    ],
)
def test_wrong_use_is_explained_with_exit_code_2(arguments: list[str], why: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    written = capsys.readouterr()
    assert why in written.err
    assert written.out == ""


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["verify", "/no/such/file"], "/no/such/file cannot be read: No such file or directory"),
        (["replay", "/no/such/file"], "cannot be read"),
        (["play", "--resume"], "there is no game to come back to"),
        (["play", "rummy", "--record", "/no/such/folder/record.jsonl"], "record.jsonl cannot be written"),
        (["healthcheck", "--server", "127.0.0.1:1"], "127.0.0.1:1 gives no answer"),
        (["watch", "tables/x", "--tls-ca", "/no/such/file"], "/no/such/file cannot be read"),
    ],
)
def test_failure_is_one_line_with_exit_code_1(arguments: list[str], why: str, capsys: Capture) -> None:
    assert main(arguments) == 1
    written = capsys.readouterr()
    assert written.err.count("\n") == 1
    assert why in written.err


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("croupier.cli.arena.run_arena", interrupted)
    assert run(["arena", "rummy", "easy", "easy"]) == 130


def test_a_reader_that_leaves_is_no_traceback() -> None:
    command = [sys.executable, "-m", "croupier", "replay", str(VECTORS / "basic_rummy-games.jsonl")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("croupier.cli._NEEDED", ("typer", "no_such_package"))
    assert main(["version"]) == 1
    assert "no_such_package missing; pip install 'croupier[cli]'" in capsys.readouterr().err


def test_the_server_extra_is_named_when_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delattr("croupier.cli.server_parts", raising=False)  # imported already by another test
    monkeypatch.setitem(sys.modules, "croupier.cli.server_parts", None)
    assert main(["serve"]) == 1
    assert "pip install 'croupier[server]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("doudizhu", "doudizhu"),
        ("Dou Dizhu", "doudizhu"),
        ("rummy", "basic_rummy"),
        ("hidden-unders", "hidden_unders"),
    ],
)
def test_games_go_by_key_title_or_part_of_it(name: str, key: str) -> None:
    assert game_called(name).name == key


@pytest.mark.parametrize("name", ["u", "", "poker"])
def test_a_part_of_several_games_or_of_none_is_refused(name: str) -> None:
    with pytest.raises(Misused, match="there is no game"):
        game_called(name)


# --- version and rules -------------------------------------------------------------------------


def test_version(capsys: Capture) -> None:
    assert main(["version", "--json"]) == 0
    (line,) = objects(capsys.readouterr().out)
    assert line["rules"] == {name: game.rules_version for name, game in GAMES.items()}
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith(f"croupier {line['croupier']} ")


@each_game
def test_rules_are_markdown_where_no_person_looks(game: str, capsys: Capture) -> None:
    assert main(["rules", game]) == 0
    assert capsys.readouterr().out.startswith(f"# {GAMES[game].title}")


def test_rules_are_written_for_the_options(capsys: Capture) -> None:
    assert main(["rules", "rummy", "--points", "300", "--players", "4", "--json"]) == 0
    (line,) = objects(capsys.readouterr().out)
    assert (line["players"], line["options"]["points"]) == (4, 300)
    assert "300" in line["markdown"]


# --- verify and replay -------------------------------------------------------------------------


@each_game
def test_verify_says_a_line_for_each_game_that_holds(game: str, capsys: Capture) -> None:
    vectors = VECTORS / f"{game}-games.jsonl"
    assert main(["verify", str(vectors)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(vectors.read_text().splitlines())
    assert all(line.startswith(f"line {n}: holds: {game}, ") for n, line in enumerate(lines, 1))


def test_verify_stops_at_the_first_line_that_does_not_hold(tmp_path: Path, capsys: Capture) -> None:
    good, other, *_ = (VECTORS / "doudizhu-games.jsonl").read_text().splitlines()
    record = json.loads(other)
    record["scores"][0] += 1
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join([good, json.dumps(record), good]) + "\n")
    assert main(["verify", str(file)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("line 1: holds")
    assert re.match("line 2: does not hold: scores: are .* but come out as", second)
    assert main(["verify", str(file), "--json"]) == 1
    assert [line["event"] for line in objects(capsys.readouterr().out)] == ["verified", "error"]


def test_verify_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"no record\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["verify", "-"]) == 1
    assert "line 1: does not hold: record: is not JSON" in capsys.readouterr().out


def test_a_file_without_games_verifies_nothing(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "empty.jsonl"
    file.touch()
    assert main(["verify", str(file)]) == 1
    assert "holds no game" in capsys.readouterr().err


@each_game
def test_replay_shows_all_hands_of_a_game(game: str, capsys: Capture) -> None:
    vectors = VECTORS / f"{game}-games.jsonl"
    record = json.loads(vectors.read_text().splitlines()[1])
    assert main(["replay", str(vectors), "--game", "2", "--ascii"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 80
    assert all(f"\nSeat {seat} (" in out for seat in range(record["players"]))
    assert "Score: Seat 0" in out.splitlines()[-1] or "Score: Seat 0" in out.splitlines()[-2]


@each_game
def test_replay_for_programs_has_every_move_and_hand(game: str, capsys: Capture) -> None:
    vectors = VECTORS / f"{game}-games.jsonl"
    record = json.loads(vectors.read_text().splitlines()[0])
    assert main(["replay", str(vectors), "--json"]) == 0
    first, *events, last = objects(capsys.readouterr().out)
    assert (first["event"], last["event"], last["scores"]) == ("record", "end", record["scores"])
    moves = [event for event in events if event["event"] == "moved"]
    assert [event["move"] for event in moves] == [move["m"] for move in record["moves"]]
    assert [e["deal"] for e in events if e["event"] == "dealt"] == record["deals"]
    assert all("??" not in hand for event in moves for hand in event["hands"])


def test_replay_of_a_game_that_is_not_in_the_file(capsys: Capture) -> None:
    assert main(["replay", str(VECTORS / "doudizhu-games.jsonl"), "--game", "9999"]) == 1
    assert "has no game 9999" in capsys.readouterr().err


def test_replay_stops_where_a_record_does_not_hold(tmp_path: Path, capsys: Capture) -> None:
    record = json.loads((VECTORS / "doudizhu-games.jsonl").read_text().splitlines()[0])
    record["moves"][1]["m"] = "bid 9"
    file = tmp_path / "broken.jsonl"
    file.write_text(json.dumps(record))
    assert main(["replay", str(file)]) == 1
    assert "move 1" in capsys.readouterr().err


def test_replay_step_by_step_at_a_terminal() -> None:
    with Terminal(("replay", str(VECTORS / "hidden_unders-games.jsonl"), "--step")) as terminal:
        for _ in range(3):
            assert "Playpile" in terminal.expect("Enter: next, q: quit > ")
            terminal.type("\r")
        terminal.type("q\r")
        assert terminal.end() == 0


def test_rules_are_laid_out_at_a_terminal() -> None:
    with Terminal(("rules", "doudizhu"), NO_COLOR="1") as terminal:
        assert terminal.end() == 0
    assert "## The goal" not in terminal.output
    assert "The goal" in terminal.output
    assert max(map(cells, terminal.output.splitlines())) <= 80


def test_a_terminal_without_suits_gets_letters() -> None:
    with Terminal(
        ("replay", str(VECTORS / "doudizhu-games.jsonl")), PYTHONIOENCODING="latin-1", NO_COLOR="1"
    ) as terminal:
        assert terminal.end() == 0
    assert terminal.output.isascii()
    assert "Traceback" not in terminal.output


# --- arena -------------------------------------------------------------------------------------


def test_arena_reports_and_keeps_records_that_hold(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "records.jsonl"
    command = ["arena", "rummy", "easy", "random", "--deals", "3", "--seed", "x", "--record", str(file)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("basic_rummy, seed x: 3 boards, 6 games\n")
    assert main(["verify", str(file)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_arena_for_programs_says_every_game_and_the_result(capsys: Capture) -> None:
    assert main(["arena", "doudizhu", "easy", "random", "--deals", "2", "--seed", "x", "--json"]) == 0
    *games, result = objects(capsys.readouterr().out)
    assert [game["board"] for game in games] == ["arena/x/0"] * 2 + ["arena/x/1"] * 2
    assert (result["event"], result["boards"], result["games"]) == ("result", 2, 4)


def test_arena_takes_a_bot_of_ones_own_and_says_what_it_did_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "cli_test_bots.py").write_text(
        "class Mute:\n    def choose(self, view, legal): return 'no'\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["arena", "rummy", "cli_test_bots:Mute", "easy", "--deals", "1", "--seed", "x"]) == 0
    assert "cli_test_bots:Mute forfeits at move" in capsys.readouterr().err


def test_arena_that_is_refused_leaves_records_alone(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("precious")
    assert main(["arena", "rummy", "easy", "genius", "--record", str(file)]) == 2
    assert file.read_text() == "precious"


def test_columns_are_turned_when_they_do_not_fit() -> None:
    rows = [("player", "score"), ("a", "1"), ("b", "20")]
    assert in_columns(rows, 80) == ["player  score", "a       1", "b       20"]
    assert in_columns(rows, 12) == ["player  score", "a       1", "b       20"], "turned it is no better"
    assert in_columns([("a" * 9, "b" * 9), ("1", "2")], 15) == ["a" * 9 + "  1", "b" * 9 + "  2"]
