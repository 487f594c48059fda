"""Commands that talk to a server, against ``croupier serve`` in a process of its own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.cli_processes import Terminal, run, running
from croupier.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server with house bots."""
    with running("serve", "--listen", "127.0.0.1:0", "--journal", "memory:") as serving:
        yield serving.next("ready")["listen"]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: str) -> Path:
    """Where games are kept for the length of a test; the server is the one that commands talk to."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CROUPIER_SERVER", server)
    monkeypatch.delenv("CROUPIER_TOKEN", raising=False)
    return tmp_path


def printed(capsys: Capture, *arguments: str) -> list[dict]:
    """The objects that a command prints, which succeeds."""
    assert main([*arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_serve_says_where_and_drains_when_told(
    number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("CROUPIER_DRAIN_NOTICE_S", "0")
    with running("serve", "--listen", "127.0.0.1:0", "--house-bots", "0") as serving:
        ready = serving.next("ready")
        assert main(["healthcheck", "--server", ready["listen"]]) == 0
        os.kill(serving.process.pid, number)
        assert serving.process.wait() == code
    assert (home / "data/croupier/croupier.sqlite").exists(), "the default journal"


def test_serve_takes_the_journal_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It may hold a password, which would be seen in the arguments."""
    monkeypatch.setenv("CROUPIER_JOURNAL", f"sqlite:{tmp_path / 'elsewhere.sqlite'}")
    with running("serve", "--listen", "127.0.0.1:0", "--house-bots", "0") as serving:
        serving.next("ready")
        assert (tmp_path / "elsewhere.sqlite").exists()


def test_serve_refuses_a_setting_that_is_none(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("CROUPIER_MAX_CALLS", "many")
    assert main(["serve"]) == 2
    assert "CROUPIER_MAX_CALLS is a number" in capsys.readouterr().err


def test_serve_that_cannot_listen_fails(server: str, capsys: Capture) -> None:
    code, events, errors = run("serve", "--listen", server, "--journal", "memory:")
    assert (code, events) == (1, [])
    assert f"cannot listen on {server}" in errors


@pytest.mark.parametrize(
    ("service", "code", "status"),
    [("", 0, "SERVING"), ("croupier.v1.TableService", 0, "SERVING"), ("no.Such", 1, "SERVICE_UNKNOWN")],
)
def test_healthcheck(service: str, code: int, status: str, capsys: Capture) -> None:
    assert main(["healthcheck", "--service", service]) == code
    assert capsys.readouterr().out == f"{status}\n"


def test_a_token_is_good_for_the_same_player(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    (first,) = printed(capsys, "token", "--name", "Ann")
    monkeypatch.setenv("CROUPIER_TOKEN", first["token"])
    (again,) = printed(capsys, "token")
    assert again["player"] == first["player"]
    assert main(["token"]) == 0
    assert capsys.readouterr().out.count("\n") == 1, "the token alone, for a variable"


def test_a_token_that_is_none_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("CROUPIER_TOKEN", "nonsense")
    assert main(["token"]) == 1
    written = capsys.readouterr()
    assert written.err.count("\n") == 1
    assert "nonsense" not in written.err


def test_programs_and_a_bot_meet_at_a_table_that_others_watch(
    server: str, home: Path, capsys: Capture
) -> None:
    with running("bot", "doudizhu", "random", "--name", "Robo") as bot:
        robo = bot.next("ready")["player"]
        ann = ("play", "doudizhu", "--vs", robo, "--vs", "open", "--title", "Club", "--name", "Ann")
        with running(*ann, "--server", server) as one:
            table = one.next("snapshot")["table"]["name"]
            (listed,) = [t for t in printed(capsys, "tables", "--free") if t["name"] == table]
            assert (listed["title"], listed["seats"][0]["name"]) == ("Club", "Ann")
            with running("play", "--server", server, "--table", table, "--name", "Bob") as other:
                one_end, other_end = _both_play(one, other)
        assert bot.next("outcome")["scores"] == one_end["scores"] == other_end["scores"]
    watched = printed(capsys, "watch", table, "--after-seq", "0")
    assert watched[-1] == one_end
    assert [event["seq"] for event in watched[:-1] if "seq" in event] == list(range(1, len(watched)))
    assert main(["watch", table]) == 0
    assert "Ann, Robo, Bob" in capsys.readouterr().out
    assert table in {t["name"] for t in printed(capsys, "tables", "--state", "ended")}


def _both_play(one, other) -> list[dict]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda program: program.play_first_moves(), (one, other)))


def test_tables_are_listed_up_to_a_limit(server: str, capsys: Capture) -> None:
    with running("play", "rummy", "--server", server, "--vs", "open") as one:
        one.next("snapshot")
        with running("play", "rummy", "--server", server, "--vs", "open") as other:
            other.next("snapshot")
            assert main(["tables", "--game", "basic_rummy", "--limit", "1"]) == 0
            out = capsys.readouterr().out
            assert out.count("tables/") == 1
            assert "Guest, free seat" in out
            assert "There are more" in out
            assert len(printed(capsys, "tables", "--game", "basic_rummy")) == 2


def test_a_server_without_tables_of_a_kind_says_so(capsys: Capture) -> None:
    assert main(["tables", "--game", "doudizhu", "--state", "filled"]) == 0
    assert capsys.readouterr().out == "No tables.\n"


def test_a_private_table_needs_its_code(server: str, capsys: Capture) -> None:
    with running("play", "rummy", "--server", server, "--vs", "open", "--private") as one:
        table = one.next("snapshot")["table"]
        assert table["name"] not in {t["name"] for t in printed(capsys, "tables")}
        join = ("play", "--server", server, "--table", table["name"])
        code, _, errors = run(*join)
        assert code == 1
        assert "code" in errors
        with running(*join, "--join-code", table["join_code"]):
            assert one.next("filled")


def test_a_level_that_the_server_has_not_is_refused(server: str, capsys: Capture) -> None:
    assert main(["play", "rummy", "--server", server, "--vs", "genius", "--json"]) == 2
    assert "there is no level 'genius'" in capsys.readouterr().err


def test_a_seat_on_a_server_is_taken_up_again_by_its_table(server: str, capsys: Capture) -> None:
    with Terminal(("play", "rummy", "--server", server, "--speed", "instant", "--name", "Ann")) as terminal:
        terminal.expect("Table ")
        table = terminal.expect(":")
        terminal.expect("> ")
        terminal.type("\x03")
        assert terminal.end() == 130
    with Terminal(("watch", table)) as terminal:
        terminal.expect("you, Easy bot")  # through the seat, with the token that was kept
    with Terminal(("play", "--server", server, "--table", table)) as terminal:
        terminal.expect("you, Easy bot")
        terminal.expect("> ")
        terminal.type("quit\r")
        assert terminal.end() == 0


def test_a_seed_with_a_server_is_said_to_do_nothing(server: str) -> None:
    code, events, errors = run("play", "doudizhu", "--server", server, "--seed", "x", text="1\n" * 900)
    assert (code, events[-1]["event"]) == (0, "end")
    assert "--seed does nothing here" in errors
