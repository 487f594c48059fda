"""The file that an arena goes on from after it was stopped.

The law of this file: the first line says what is played, each other one holds a board, in order.
A board counts once its line is whole; a torn last line is what a kill leaves, and is cut off. What
the file was begun with and what it is asked to go on with is the same, or it is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, Final

from croupier.arena.game import Forfeit, PlayedGame
from croupier.arena.plan import Plan
from croupier.arena.schedule import ArenaError, ArenaFailed
from croupier.arena.sprt import Sprt
from croupier.bots import Plain
from croupier_games import game_named

_FORM: Final = 1


def settings_of(plan: Plan, sprt: Sprt | None) -> Plain:
    """All that a result depends on but the number of boards, which may grow from run to run.

    Of a bot of one's own that is also the digest of the file that it is in.
    """
    return {
        "form": _FORM,
        "croupier": version("croupier"),
        "game": plan.game,
        "rules_version": game_named(plan.game).rules_version,
        "options": plan.options,
        "players": list(plan.players),
        "sources": [_source_digest(player) for player in plan.players],
        "seed": plan.seed,
        "roles": plan.roles,
        "seatings": [list(seating) for seating in plan.schedule.seatings],
        "isolate": plan.isolate,
        "records": plan.with_records,
        "sprt": None if sprt is None else [sprt.elo0, sprt.elo1],
    }


class Saved:
    """An open file of boards: those that were in it, and a place for more."""

    def __init__(self, path: Path, file: BinaryIO, plan: Plan, settings: Plain) -> None:
        self._path: Final = path
        self._file: Final = file
        self._plan: Final = plan
        *lines, torn = file.read().split(b"\n")
        self._lines: Final = lines
        header = _line_of(settings)
        if not lines and not header.startswith(torn):
            raise ArenaError(f"{path} was not written by an arena")
        if lines and self._parsed(0) != settings:
            raise ArenaError(f"{path} was begun with other settings: {self._differences(settings)}")
        if torn:
            file.truncate(file.tell() - len(torn))
        if not lines:
            self._write(header)
        self.boards: Final = max(0, len(self._lines) - 1)
        self.record_end: Final[int | None] = self._parsed(-1)["record_end"] if self.boards else None

    def played(self) -> Iterator[list[PlayedGame]]:
        """The boards that were in the file; their games have no records."""
        for number in range(self.boards):
            try:
                line = self._parsed(number + 1)
                if line["board"] != number:
                    raise ArenaError(f"{self._path}, line {number + 2}: is not board {number}")
                board = self._plan.board(number)
                yield [_game_of(board, each) for each in line["games"]]
            except (KeyError, TypeError, AttributeError) as error:
                raise ArenaError(f"{self._path}, line {number + 2}: is no board") from error

    def add(self, number: int, games: Sequence[PlayedGame], record_end: int | None) -> None:
        """Keeps a board; ``record_end`` is the length of the records with it, in bytes."""
        games_played = [_plain_of(played) for played in games]
        self._write(_line_of({"board": number, "record_end": record_end, "games": games_played}))

    def _write(self, line: bytes) -> None:
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise ArenaFailed(f"{self._path} cannot be written: {error.strerror}") from error

    def _parsed(self, index: int) -> Plain:
        try:
            line = json.loads(self._lines[index])
        except ValueError as error:
            raise ArenaError(f"{self._path} was not written by an arena: {error}") from error
        if not isinstance(line, dict):
            raise ArenaError(f"{self._path} was not written by an arena")
        return line

    def _differences(self, settings: Plain) -> str:
        begun = self._parsed(0)
        keys = [key for key in {**settings, **begun} if begun.get(key) != settings.get(key)]
        return "; ".join(f"{key} {begun.get(key)!r}, not {settings.get(key)!r}" for key in keys)


@contextmanager
def saved_in(path: Path, plan: Plan, sprt: Sprt | None) -> Iterator[Saved]:
    """The file at ``path``, made when there is none.

    Raises ``ArenaError`` for one that another arena has open, that was begun with other settings,
    or that is none of ours; it is left as it was then.
    """
    settings = json.loads(json.dumps(settings_of(plan, sprt)))
    try:
        file = path.open("a+b")
    except OSError as error:
        raise ArenaFailed(f"{path} cannot be opened: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ArenaFailed(f"another arena goes on with {path} just now") from error
        file.seek(0)
        yield Saved(path, file, plan, settings)


def _line_of(plain: Plain) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def _plain_of(played: PlayedGame) -> Plain:
    return {
        "names": played.names,
        "scores": played.scores,
        "winners": sorted(played.winners),
        "forfeit": None if played.forfeit is None else asdict(played.forfeit),
        "result": played.result,
        "thinking": played.thinking,
        "watchdog_cuts": played.watchdog_cuts,
    }


def _game_of(board: str, plain: Plain) -> PlayedGame:
    return PlayedGame(
        board=board,
        names=tuple(plain["names"]),
        scores=tuple(plain["scores"]),
        winners=frozenset(plain["winners"]),
        forfeit=None if plain["forfeit"] is None else Forfeit(**plain["forfeit"]),
        result=plain["result"],
        record={},
        thinking=tuple(tuple(times) for times in plain["thinking"]),
        watchdog_cuts=tuple(plain["watchdog_cuts"]),
        kept=True,
    )


def _source_digest(player: str) -> str | None:
    module, colon, _ = player.partition(":")
    spec = importlib.util.find_spec(module) if colon else None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return None
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
