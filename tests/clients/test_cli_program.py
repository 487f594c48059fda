"""The JSON protocol of ``play --json``, against tables in this process."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from clients.cli_sittings import piped, practice
from croupier.cli.playing.conversation import converse
from croupier.cli.playing.program import Program
from croupier.cli.playing.sitting import Plain
from croupier_games import GAMES
from croupier_games.records import verify

Capture = pytest.CaptureFixture[str]
each_game = pytest.mark.parametrize("game", GAMES)


async def played(capsys: Capture, game: str, text: str, **wish: Any) -> tuple[bool, Program, list[Plain]]:
    sitting = practice(game, **wish)
    program = Program(sitting)
    with piped(text) as lines:
        over = await converse(sitting, lines, program)
    if over:
        program.close()
    return over, program, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@each_game
async def test_a_whole_game_by_always_taking_the_first_move(game: str, capsys: Capture) -> None:
    over, _, events = await played(capsys, game, "1\n" * 5000)
    assert over
    assert events[0]["event"] == "snapshot"
    assert events[-1] == {"event": "end", "scores": events[-2]["scores"], "result": events[-2]["result"]}
    turns = [event for event in events if event["event"] == "turn"]
    assert turns
    assert all(turn["legal"] and turn["view"]["to_act"] == turn["seat"] == 0 for turn in turns)


@each_game
async def test_numbers_of_events_have_no_gap(game: str, capsys: Capture) -> None:
    _, _, events = await played(capsys, game, "1\n" * 5000)
    numbers = [event["seq"] for event in events if event["event"] in ("dealt", "moved", "ended")]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_a_turn_stands_on_the_event_before_it(capsys: Capture) -> None:
    _, _, events = await played(capsys, "basic_rummy", "1\n" * 5000)
    for before, event in pairwise(events):
        if event["event"] == "turn":
            assert event["seq"] == before["seq"]


@each_game
async def test_moves_may_be_given_by_text(game: str, capsys: Capture) -> None:
    _, _, by_number = await played(capsys, game, "1\n" * 5000)
    texts = [turn["legal"][0] for turn in by_number if turn["event"] == "turn"]
    assert (await played(capsys, game, "\n".join(texts)))[2] == by_number


@each_game
async def test_the_same_seed_gives_the_same_game_and_another_another(game: str, capsys: Capture) -> None:
    one, again, other = [(await played(capsys, game, "1\n" * 5000, seed=seed))[2] for seed in ("x", "x", "y")]
    assert one == again
    assert one[1] != other[1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0", "NO_SUCH_MOVE"),
        ("99", "NO_SUCH_MOVE"),
        ("-1", "NO_SUCH_MOVE"),
        ("²", "NO_SUCH_MOVE"),
        ("9" * 5000, "NO_SUCH_MOVE"),
        ("nonsense", "MALFORMED_MOVE"),
        ("", "MALFORMED_MOVE"),
        ("meld 2C 3C 4C", "ILLEGAL_MOVE"),
    ],
)
async def test_a_refusal_is_an_event_and_play_goes_on(line: str, reason: str, capsys: Capture) -> None:
    over, _, events = await played(capsys, "basic_rummy", f"{line}\n" + "1\n" * 5000)
    kinds = [event["event"] for event in events]
    first = kinds.index("error")
    assert events[first]["reason"] == reason
    assert kinds[first - 1] == kinds[first + 1] == "turn"
    assert events[first + 1] == events[first - 1], "the turn is open still"
    assert kinds.count("error") == 1
    assert over


async def test_input_that_ends_before_the_game_ends_it(capsys: Capture) -> None:
    over, program, events = await played(capsys, "basic_rummy", "1\n1")
    assert (over, program.starved) == (False, True)
    assert [event["event"] for event in events].count("turn") == 3
    assert events[-1]["event"] == "turn", "there is no end event without an end"


async def test_a_turn_that_comes_again_after_a_resync_is_not_written_twice(capsys: Capture) -> None:
    program = Program(practice("basic_rummy"))
    turn: Plain = {"event": "turn", "seq": 7, "legal": ["draw stock"]}
    snapshot: Plain = {"event": "snapshot", "table": {"result": None}}
    for event in (turn, snapshot, turn):
        await program.heard(event)
    kinds = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert kinds == ["turn", "snapshot"]
    assert program.wants_line


async def test_a_turn_that_ran_out_takes_no_line(capsys: Capture) -> None:
    program = Program(practice("basic_rummy"))
    await program.heard({"event": "turn", "seq": 7, "legal": ["draw stock"]})
    await program.heard({"event": "moved", "seq": 8, "seat": 0, "move": "draw stock", "by": "timeout"})
    assert not program.wants_line


@each_game
async def test_the_record_of_practice_holds_and_is_a_board_of_the_arena(game: str, capsys: Capture) -> None:
    sitting = practice(game, "x")
    with piped("1\n" * 5000) as lines:
        await converse(sitting, lines, Program(sitting))
    record = await sitting.record()
    assert record["board"] == "arena/x/0"
    assert verify(record).committed


async def test_every_deal_of_a_longer_game_is_told(capsys: Capture) -> None:
    _, _, events = await played(capsys, "hidden_unders", "1\n" * 9000, rounds=3)
    assert [event["number"] for event in events if event["event"] == "dealt"] == [0, 1, 2]
