"""``croupier replay``: a recorded game, move by move, with every hand in the open.

The law of this file: every move shown was found legal by the rules on the way; what they refuse
ends the replay.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Any, Final

import typer

from croupier.cli.display import AsciiFlag, FourColourFlag
from croupier.cli.look import LOOKS, Cast, Look
from croupier.cli.output import Failed, Misused, emit, is_terminal, pen, say
from croupier.cli.record_file import RecordFile, opened
from croupier.cli.server import JsonFlag
from croupier_games import game_named
from croupier_games import records as recorded
from croupier_games.game import Plain
from croupier_games.records import RecordError, Step, parse_record


def replay(
    file: RecordFile,
    game: Annotated[int, typer.Option(min=1, help="Which game of the file, from 1.")] = 1,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter before each turn; q ends it.")] = False,
    ascii_only: AsciiFlag = False,
    four_colour: FourColourFlag = False,
    json: JsonFlag = False,
) -> int:
    """Show a recorded game move by move, with all hands."""
    if step and (json or not is_terminal(sys.stdin)):
        raise Misused("--step needs a terminal, and no --json")
    try:
        record = _record(file, game)
        if json:
            for event in as_events(record):
                emit(event)
        else:
            hand = pen(ascii_only=ascii_only, four_colour=four_colour)
            names = record.get("names") or [f"Seat {seat}" for seat in range(record["players"])]
            look = LOOKS[record["game"]](hand, Cast(names, None, hand))
            for lines in in_words(record, look, with_tables=step):
                say(lines)
                if step and input("Enter: next, q: quit > ").strip().lower().startswith("q"):
                    break
    except RecordError as error:
        raise Failed(f"{file}: {error}") from None
    except EOFError:
        return 0
    return 0


def _record(file: str, number: int) -> Plain:
    with opened(file) as lines:
        for line in islice(lines, number - 1, None):
            return parse_record(line, number)
    raise Failed(f"{file} has no game {number}")


def in_words(record: Plain, look: Look, *, with_tables: bool) -> Iterator[list[str]]:
    """The game in paragraphs: one a turn, with the hands as they were before it.

    ``with_tables`` shows the table, too. Raises ``RecordError`` where the record does not hold.
    """
    rules = game_named(record["game"])
    deal, seat = -1, -1
    lines: list[str] = []
    for each in recorded.replay(record):
        if each.deal != deal or each.seat != seat:
            if lines:
                yield lines
            lines = _opening(each, rules, look) if each.deal != deal else []
            deal, seat = each.deal, each.seat
            lines += ["", *(look.table(rules.view(each.before, None)) if with_tables else [])]
            lines += _hands(record, each, rules, look)
        effects = rules.happened(each.after, each.seat)
        lines += look.moved(each.seat, each.move, effects, each.by or "player")
    scores = record.get("scores")
    yield [*lines, "", *(look.outcome(scores) if scores else ["The record has no scores."])]


def _opening(step: Step, rules: Any, look: Look) -> list[str]:
    """The deal that went before a move, in words."""
    return ["", look.pen.strong(f"Deal {step.deal}"), *look.told(rules.happened(step.before, None))]


def _hands(record: Plain, step: Step, rules: Any, look: Look) -> list[str]:
    lines: list[str] = []
    for seat in range(record["players"]):
        view = rules.view(step.before, seat)
        lines += look.hand(view["hand"], look.cast.title(seat))
        lines += look.face_down(seat, view, record["deals"][step.deal])
    return lines


def as_events(record: Plain) -> Iterator[Plain]:
    """The game as events: ``record``, ``dealt`` and ``moved`` with all hands after it, ``end``."""
    rules = game_named(record["game"])
    yield {"event": "record", **{key: record[key] for key in _HEAD if key in record}}
    deal: Final[list[int]] = []
    for each in recorded.replay(record):
        for number in _new(each.deal, deal):
            yield {"event": "dealt", "number": number, "deal": record["deals"][number]}
        yield {
            "event": "moved",
            "deal": each.deal,
            "number": each.index,
            "seat": each.seat,
            "move": each.move,
            "by": each.by or "player",
            "effects": rules.happened(each.after, each.seat),
            "hands": [rules.view(each.after, seat)["hand"] for seat in range(record["players"])],
            "view": rules.view(each.after, None),
        }
    yield {"event": "end", "scores": record.get("scores"), "result": record.get("result")}


_HEAD: Final = ("game", "players", "options", "names", "table", "board", "commitment", "server_seed")


def _new(number: int, seen: list[int]) -> Iterable[int]:
    """The deals up to ``number`` that were not seen yet; they are seen now."""
    fresh = range(len(seen), number + 1)
    seen.extend(fresh)
    return fresh
