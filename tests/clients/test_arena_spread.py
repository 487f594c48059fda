"""Arenas over many processes, and arenas that go on after a kill: the result is always the same."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clients.cli_processes import COMMAND, Terminal, run
from croupier.arena import ArenaError, ArenaFailed, ArenaResult, run_arena
from croupier.arena.plan import Plan
from croupier.arena.spread import boards_here
from croupier.cli import main
from croupier_games.records import parse_record, verify

SOURCE = """
import os, signal
from pathlib import Path
class First:
    def choose(self, view, legal_moves):
        return legal_moves[0]
class Mortal:
    '''Dies with its process in the tenth game, once; each game leaves a line.'''
    def __init__(self):
        with open("games.log", "a") as log:
            log.write("game\\\\n")
        if len(Path("games.log").read_text().splitlines()) == 10 and not os.path.exists("died"):
            Path("died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    def choose(self, view, legal_moves):
        return legal_moves[0]
class Lethal:
    def choose(self, view, legal_moves):
        os._exit(1)
class Waiting:
    def choose(self, view, legal_moves):
        with open("fifo", "w") as told:
            told.write("here\\\\n")
        signal.pause()
""".replace("\\\\", "\\")


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module ``spread_shelf`` in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "spread_shelf", raising=False)
    (tmp_path / "spread_shelf.py").write_text(SOURCE)


def without_times(result: ArenaResult) -> dict[str, Any]:
    plain: dict[str, Any] = result.as_plain()
    for player in plain["players"]:
        del player["ms_per_move_p50"], player["ms_per_move_p99"]
    return plain


def arena(deals: int = 12, **more: Any) -> tuple[dict[str, Any], str]:
    """A result without its times, and the records."""
    records = io.StringIO()
    players = ["easy", "random", "spread_shelf:First"]
    result = run_arena("hidden_unders", players, deals, "s", record=records, **more)
    return without_times(result), records.getvalue()


# --- Workers -----------------------------------------------------------------------------------------


def test_workers_find_the_same() -> None:
    alone, records = arena()
    assert (alone, records) == arena(workers=2)
    assert {verify(parse_record(line)).result for line in records.splitlines()} == {"finished"}


def test_workers_come_in_when_it_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[int, int]] = []

    def begun(plan: Plan, start: int, stop: int, workers: int) -> Any:
        started.append((start, stop))
        return boards_here(plan, start, stop)

    monkeypatch.setattr("croupier.arena.spread.boards_of_workers", begun)
    monkeypatch.setattr("croupier.arena.spread._cores", lambda: 2)
    monkeypatch.setattr("croupier.arena.spread._ALONE_SECONDS", 0)
    monkeypatch.setattr("croupier.arena.spread._WORTH_WORKERS_SECONDS", float("inf"))
    alone = arena()
    assert arena(workers=None) == alone
    assert started == []
    monkeypatch.setattr("croupier.arena.spread._WORTH_WORKERS_SECONDS", 0)
    assert arena(workers=None) == alone
    assert started == [(1, 12)]


def test_workers_stop_at_the_same_answer() -> None:
    players = ["easy", "random"]
    alone, spread = (
        run_arena("doudizhu", players, 400, "s", sprt=(0, 250), workers=workers) for workers in (1, 2)
    )
    assert without_times(alone) == without_times(spread)
    assert alone.boards < 100


def test_a_bot_that_takes_its_worker_along_is_named_as_the_likely_cause() -> None:
    with pytest.raises(ArenaFailed, match="a worker process died, most likely of a bot; --isolate"):
        run_arena("hidden_unders", ["spread_shelf:Lethal", "easy"], 3, "s", workers=2)


def test_isolated_bots_of_workers_only_lose_their_games() -> None:
    players = ["spread_shelf:Lethal", "easy"]
    result = run_arena("hidden_unders", players, 2, "s", workers=2, isolate=60)
    assert [forfeit.message for forfeit in result.forfeits] == ["its process ended with exit code 1"] * 4


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_the_workers_end_with_their_arena(number: int, code: int) -> None:
    os.mkfifo("fifo")
    command = [*COMMAND, "arena", "hidden_unders", "spread_shelf:Waiting", "easy", "--workers", "2"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, start_new_session=True)
    with process, Path("fifo").open() as fifo:
        assert fifo.readline() == "here\n"
        if number == signal.SIGINT:  # which a terminal sends to all of them
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        # The workers have stderr too: it has no end before they have.
        _, written = process.communicate(timeout=60)
        assert process.returncode == code
        assert b"Traceback" not in written


def test_no_worker_is_refused() -> None:
    with pytest.raises(ArenaError, match="one worker or more"):
        arena(workers=0)


# --- A Dask cluster ----------------------------------------------------------------------------------


@contextmanager
def dask_process(*arguments: str, until: str) -> Iterator[re.Match[str]]:
    """One process of a cluster, once it has said ``until``."""
    command = [sys.executable, "-m", "dask", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                found = re.search(until, line)
                if found:
                    break
            else:
                raise AssertionError(f"{arguments} ended without {until!r}")
            yield found
        finally:
            process.terminate()
            process.communicate()


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a scheduler with ``workers`` worker processes."""
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    with dask_process(*scheduler, until=r"Scheduler at:\s+(tcp://\S+)") as found:
        address = found[1]
        worker = ("worker", address, "--nworkers", str(workers), "--nthreads", "1", "--no-dashboard")
        with dask_process(*worker, until=r"Registered to:"):
            yield address


@pytest.mark.timeout(300)
def test_a_dask_cluster_finds_the_same() -> None:
    alone, records = arena()
    with cluster(workers=2) as address:
        assert (alone, records) == arena(dask=address)
        players = ["spread_shelf:Lethal", "easy"]
        isolated = run_arena("hidden_unders", players, 1, "s", dask=address, isolate=60)
        assert [forfeit.reason for forfeit in isolated.forfeits] == ["CRASH"] * 2


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.arena.spread._CLUSTER_SECONDS", 0.2)
    with pytest.raises(ArenaFailed, match="no Dask scheduler at tcp"):
        arena(dask="tcp://127.0.0.1:1")


# --- Going on ----------------------------------------------------------------------------------------


def test_after_a_kill_it_goes_on_without_playing_again_what_is_done() -> None:
    players = ["spread_shelf:Mortal", "easy"]
    kept = ("--resume", "kept.jsonl", "--record", "records.jsonl", "--workers", "1")
    code, before, written = run("arena", "hidden_unders", *players, "--deals", "12", "--seed", "s", *kept)
    assert code == -signal.SIGKILL, written
    assert [json.loads(line).get("board") for line in Path("kept.jsonl").read_text().splitlines()] == [
        *(None, 0, 1, 2, 3)
    ]
    assert len(before) == 8
    Path("games.log").unlink()
    result, boards = resumed(12, players=players, record=Path("records.jsonl"))
    assert boards == [f"arena/s/{number // 2}" for number in range(8, 24)]
    assert len(Path("games.log").read_text().splitlines()) == 16
    whole = io.StringIO()
    assert result == without_times(run_arena("hidden_unders", players, 12, "s", record=whole))
    assert Path("records.jsonl").read_text() == whole.getvalue()


def test_after_a_workers_death_it_goes_on() -> None:
    players = ["spread_shelf:Mortal", "easy"]
    with pytest.raises(ArenaFailed):
        resumed(12, players=players, workers=2)
    result, boards = resumed(12, players=players)
    assert boards
    assert result == without_times(run_arena("hidden_unders", players, 12, "s"))


def resumed(deals: int = 4, **more: Any) -> tuple[dict[str, Any], list[str]]:
    """A result without its times, and the boards that were played anew."""
    boards: list[str] = []
    result = run_arena(
        "hidden_unders",
        more.pop("players", ["easy", "random"]),
        deals,
        more.pop("seed", "s"),
        resume=Path("kept.jsonl"),
        on_game=lambda game: None if game.kept else boards.append(game.board),
        **more,
    )
    return without_times(result), boards


def test_a_torn_last_line_is_played_again() -> None:
    whole, _ = resumed()
    kept = Path("kept.jsonl")
    lines = kept.read_bytes()
    kept.write_bytes(lines[:-10])
    again, boards = resumed()
    assert (again, boards) == (whole, ["arena/s/3"] * 2)
    assert len(kept.read_bytes().splitlines()) == 5


def test_a_torn_first_line_is_written_again() -> None:
    whole, _ = resumed()
    kept = Path("kept.jsonl")
    kept.write_bytes(kept.read_bytes()[:20])
    assert resumed() == (whole, [f"arena/s/{number // 2}" for number in range(8)])


def test_more_boards_may_follow_but_not_fewer() -> None:
    resumed(2)
    whole, boards = resumed(5)
    assert (whole["boards"], boards) == (5, [f"arena/s/{number // 2}" for number in range(4, 10)])
    with pytest.raises(ArenaError, match="holds 5 boards already, more than 3"):
        resumed(3)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"seed": "t"}, "seed 's', not 't'"),
        ({"players": ["easy", "easy"]}, "players"),
        ({"options": {"rounds": 2}}, "options"),
        ({"sprt": (0, 5)}, "sprt None"),
        ({"with_records": False}, "records True, not False"),
    ],
)
def test_other_settings_are_refused(more: dict[str, Any], why: str) -> None:
    resumed(1)
    before = Path("kept.jsonl").read_bytes()
    with pytest.raises(ArenaError, match=f"kept.jsonl was begun with other settings: .*{why}"):
        resumed(2, **more)
    assert Path("kept.jsonl").read_bytes() == before


def test_a_bot_that_was_changed_since_is_refused() -> None:
    players = ["easy", "spread_shelf:First"]
    resumed(1, players=players)
    Path("spread_shelf.py").write_text(SOURCE.replace("legal_moves[0]", "legal_moves[-1]"))
    with pytest.raises(ArenaError, match="other settings: sources"):
        resumed(2, players=players)


@pytest.mark.parametrize("content", [b"precious", b"precious\n", b'{"game":"x"}\n', b"[]\n", b"\xff\xfe\n"])
def test_a_file_of_somebody_else_is_left_alone(content: bytes) -> None:
    kept = Path("kept.jsonl")
    kept.write_bytes(content)
    with pytest.raises(ArenaError, match=r"not written by an arena|other settings"):
        resumed()
    assert kept.read_bytes() == content


def test_a_line_that_is_no_board_is_named() -> None:
    resumed(2)
    kept = Path("kept.jsonl")
    kept.write_bytes(kept.read_bytes().replace(b'"board":1', b'"board":7'))
    with pytest.raises(ArenaError, match="line 3: is not board 1"):
        resumed(2)


def test_two_arenas_do_not_share_a_file(tmp_path: Path) -> None:
    resumed(1)

    def second(_: object) -> None:
        with pytest.raises(ArenaFailed, match="another arena goes on with"):
            resumed(2)

    run_arena("hidden_unders", ["easy", "random"], 1, "s", resume=Path("kept.jsonl"), on_game=second)


def test_records_that_were_lost_are_missed() -> None:
    records = Path("records.jsonl")
    resumed(2, record=records)
    records.write_bytes(records.read_bytes()[:-5])
    with pytest.raises(ArenaError, match="has lost records"):
        resumed(3, record=records)


def test_records_beyond_the_saved_boards_are_cut_off() -> None:
    records = Path("records.jsonl")
    resumed(2, record=records)
    with records.open("ab") as file:
        file.write(b'{"half a rec')
    resumed(3, record=records)
    assert [verify(parse_record(line)).result for line in records.read_text().splitlines()] == [
        "finished"
    ] * 6


# --- At a terminal -----------------------------------------------------------------------------------


def test_a_bar_shows_how_far_it_is() -> None:
    arguments = ("arena", "hidden_unders", "easy", "random", "--deals", "10", "--seed", "s")
    with Terminal((*arguments, "--workers", "1"), NO_COLOR="1") as terminal:
        terminal.expect("Boards")
        assert re.search(r"\d+/10", terminal.expect("hidden_unders, seed s: 10 boards, 20 games"))
        assert terminal.end() == 0


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--move-timeout", "3"], 2, "--move-timeout needs --isolate"),
        (["--isolate", "--move-timeout", "0"], 2, "--move-timeout is longer than nothing"),
        (["--dask", "x", "--workers", "2"], 2, "--dask and --workers"),
        (["--sprt", "5", "0"], 2, "the first Elo is less than the second, not 5 and 0"),
        (["--sprt", "x", "0"], 2, "--sprt"),
        (["--workers", "0"], 2, "--workers"),
        (["--resume", "/no/such/folder/kept"], 1, "kept cannot be opened: No such file"),
        (["--deals", "1", "--record", "/no/such/folder/r"], 1, "cannot be written: No such file"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", "hidden_unders", "easy", "random", *arguments]) == code
    assert why in capsys.readouterr().err


def test_the_command_says_what_a_sequential_test_found(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["arena", "doudizhu", "random", "easy", "--seed", "s", "--sprt", "-200", "-5"]
    assert main(command) == 0
    assert "random is -200 rather than -5 Elo stronger" in capsys.readouterr().out
