"""A person at the table: what is written for the lines that are typed."""

from __future__ import annotations

import asyncio

import pytest

from clients.cli_sittings import piped, practice
from croupier.cli.look import Pen
from croupier.cli.look.pen import cells
from croupier.cli.output import Failed
from croupier.cli.playing.conversation import converse
from croupier.cli.playing.lines import Lines
from croupier.cli.playing.narrator import Narrator
from croupier.cli.playing.person import Person
from croupier.cli.playing.practice import PracticeSitting
from croupier.cli.playing.sitting import Plain, Refused
from croupier.cli.rules import show_rules_of
from croupier_games import GAMES

Capture = pytest.CaptureFixture[str]


def person_at(sitting: PracticeSitting, *, prompt: bool = False) -> Person:
    return Person(sitting, Pen(), pause=0.0, prompt=prompt, rules=show_rules_of)


async def shown(capsys: Capture, game: str, text: str) -> str:
    """What is written while a person types ``text`` at a table of ``game``."""
    sitting = practice(game)
    with piped(text) as lines:
        await converse(sitting, lines, person_at(sitting))
    return capsys.readouterr().out


@pytest.mark.parametrize("game", GAMES)
async def test_a_whole_game_in_plain_lines(game: str, capsys: Capture) -> None:
    out = await shown(capsys, game, "1\n" * 5000)
    assert "Your hand (" in out
    assert "the game. Score: you" in out or "Nobody wins" in out
    assert max(map(cells, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "> " not in out, "a prompt is for those who type"


async def test_the_words_that_are_no_moves(capsys: Capture) -> None:
    out = await shown(capsys, "doudizhu", "?\nhand\ntable\nmoves\nmore calls\nmore bombs\nrules\nquit\n")
    assert "more KIND" in out
    assert out.count("Your hand (17)") == 3, "dealt, on the turn, and when asked for"
    assert out.count("Cards left:") == 2
    assert out.count("calls: 1) pass") == 3
    assert "There are no moves of a kind bombs." in out
    assert "# Dou Dizhu" in out


async def test_what_is_not_understood_or_refused_is_said_and_asked_again(capsys: Capture) -> None:
    out = await shown(capsys, "doudizhu", "fold\nbid 9\n99\nquit\n")
    assert "Fold is no move" in out
    assert "'bid 9' is not a move" in out
    assert "There is no move 99" in out


async def test_what_goes_on_after_ones_own_move_is_said_in_short(capsys: Capture) -> None:
    out = await shown(capsys, "basic_rummy", "draw stock\nquit\n")
    after = out.partition("You draw")[2]
    assert "Your hand (11)" in after
    assert "Discard pile" not in after


async def test_quitting_is_no_failure_and_the_end_of_the_input_is(capsys: Capture) -> None:
    for text, starved in (("quit\n", False), ("hand\n", True)):
        sitting = practice("doudizhu")
        person = person_at(sitting)
        with piped(text) as lines:
            assert not await converse(sitting, lines, person)
        assert person.starved is starved


async def test_words_typed_before_ones_turn_are_answered(capsys: Capture) -> None:
    person = person_at(practice("doudizhu"), prompt=True)
    assert person.wants_line
    await person.typed("3c")
    await person.typed("hand")
    assert capsys.readouterr().out == "It is not your turn; ? for help.\nWait for your turn; ? for help.\n"


async def test_somebody_who_types_is_prompted_once_for_each_answer(capsys: Capture) -> None:
    person = await person_on_turn(prompt=True)
    await person.typed("fold")
    await person.typed("")
    assert capsys.readouterr().out.count("> ") == 3


async def person_on_turn(*, prompt: bool, sitting: PracticeSitting | None = None) -> Person:
    sitting = sitting or practice("doudizhu")
    person = person_at(sitting, prompt=prompt)
    async for event in sitting.events():
        await person.heard(event)
        if event["event"] == "turn":
            break
    return person


async def test_text_never_follows_a_prompt_on_its_line(capsys: Capture) -> None:
    person = await person_on_turn(prompt=True)
    await person.heard({"event": "moved", "seat": 0, "move": "pass", "by": "timeout", "effects": []})
    assert "> \nTime is up. You pass.\n" in capsys.readouterr().out


async def test_a_turn_that_is_over_when_the_move_comes_is_said_so(capsys: Capture) -> None:
    class Late(PracticeSitting):
        async def play(self, move: str, seq: int) -> None:
            raise Refused("STALE_SEQ", "the game has moved on", still=False)

    rules = GAMES["doudizhu"]
    late = Late(rules, rules.options(3), ["easy", "easy"], "x", "Ann")
    person = await person_on_turn(prompt=False, sitting=late)
    assert await person.typed("pass")
    assert not person.wants_line
    assert capsys.readouterr().out.endswith("The game has moved on.\n")


async def test_an_onlooker_is_told_who_comes_and_goes(capsys: Capture) -> None:
    narrator = Narrator(Pen())
    await narrator.heard(_snapshot())
    for event in (
        {"event": "seat_changed", "seat": 1, "now": _seat(1, "Bob")},
        {"event": "presence", "seat": 1, "connected": False},
        {"event": "ended", "result": "abandoned", "scores": []},
        {"event": "from the future"},
    ):
        await narrator.heard(event)
    assert capsys.readouterr().out.splitlines() == [
        "Table tables/x: Ann, a free seat, a bot (easy) is coming.",
        "Bob sits down.",
        "Bob is away.",
        "",
        "The game was abandoned.",
    ]


async def test_a_game_that_is_unknown_here_is_refused() -> None:
    snapshot = _snapshot()
    snapshot["table"]["game"] = "bridge"
    with pytest.raises(Failed, match="cannot show the game bridge"):
        await Narrator(Pen()).heard(snapshot)


def _snapshot() -> Plain:
    seats = [_seat(0, "Ann"), _seat(1, ""), {**_seat(2, ""), "level": "easy"}]
    table = {"name": "tables/x", "game": "doudizhu", "seats": seats, "result": None}
    return {"event": "snapshot", "table": table, "seat": None, "view": None}


def _seat(number: int, name: str) -> Plain:
    return {"seat": number, "player": "", "name": name, "level": "", "invited": ""}


async def test_lines_come_whole_and_end() -> None:
    with piped("one\r\ntwo\n\nlast") as lines:
        assert [await lines.next() for _ in range(6)] == ["one", "two", "", "last", None, None]


async def test_a_line_that_was_awaited_in_vain_is_not_lost() -> None:
    with piped("one\n") as lines:
        waiting = asyncio.ensure_future(lines.next())
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await lines.next() == "one"


async def test_no_more_is_read_than_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []

    def read(_: Lines) -> bytes:
        reads.append(1)
        return b"1\n"

    monkeypatch.setattr(Lines, "_chunk", read)
    lines = Lines()
    assert [await lines.next() for _ in range(3)] == ["1", "1", "1"]
    assert len(reads) <= 4
    lines.close()
