"""The form of a record: every value of an untrusted record, checked before it is used.

The law of this file: whatever JSON comes in, what goes out is either ``Claims``, whose every
field has the type and size that it says, or a ``RecordError`` that names the first field that
has not. Nothing here knows whether a claim is true; ``records`` finds that out.

Fields that this version does not know are passed over: a later one may write them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from croupier_games import UnknownGame, game_named
from croupier_games.dealing import NONCE_BYTES, SEED_BYTES
from croupier_games.game import Game, InvalidOptions, Options, Plain, check_players

RESULTS: Final = ("finished", "void", "forfeit", "abandoned")
"""How a game can have ended; of the first two the scores are recomputed."""
NOT_THE_PLAYER: Final = ("timeout", "takeover")
"""What ``by`` says of a move that its player did not make."""

_LONGEST_MOVE: Final = 200
_LONGEST_WHY: Final = 400
_LONGEST_BOARD: Final = 4096
_DEEPEST: Final = 16
_LARGEST: Final = (1 << 53) - 1
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})*")


class RecordError(ValueError):
    """A record, or one thing in it, that does not hold.

    ``where`` names the field or move, ``why`` says what is wrong with it, ``line`` is the
    record's line in its file, from 1, where that is known. The texts are short and safe to
    print, whatever the record holds.
    """

    def __init__(self, where: str, why: str, line: int | None = None) -> None:
        self.where: Final = _printable(where)
        self.why: Final = _printable(why)
        self.line: Final = line
        text = f"{self.where}: {self.why}"
        super().__init__(text if line is None else f"line {line}: {text}")


def _printable(text: str) -> str:
    short = text if len(text) <= _LONGEST_WHY else text[:_LONGEST_WHY] + "…"
    return "".join(c if c.isprintable() else "?" for c in short)


@dataclass(frozen=True, slots=True)
class Entry:
    """One claimed move: ``move`` by ``seat`` in deal ``deal``; ``n`` moves were legal before it."""

    deal: int
    seat: int
    move: str
    n: int | None
    by: str | None


@dataclass(frozen=True, slots=True)
class Claims:
    """A record whose form is right. ``result`` is None where the record does not say."""

    game: Game[Any, Any]
    players: int
    options: Options
    deals: Sequence[Plain]
    moves: Sequence[Entry]
    scores: list[int] | None
    facts: Plain | None
    result: str | None
    board: str | None
    commitment: bytes | None
    server_seed: bytes | None
    nonces: Sequence[bytes | None]
    nonce_commitments: Sequence[bytes | None]


def claims_of(record: Any) -> Claims:
    """The claims of a record in plain data. Raises ``RecordError`` for the first field that is wrong."""
    record = _object(record, "record")
    game = _game(record)
    players = _players(record, game)
    options = _options(record, game, players)
    result = _choice(record.get("result"), "result", RESULTS)
    _unproven(record, game, players)
    seed = record.get("server_seed")
    digest = record.get("commitment")
    return Claims(
        game=game,
        players=players,
        options=options,
        deals=[_plain_object(d, f"deal {i}") for i, d in enumerate(_list(record.get("deals"), "deals"))],
        moves=[_entry(m, f"move {i}", players) for i, m in enumerate(_list(record.get("moves"), "moves"))],
        scores=_scores(record.get("scores"), players),
        facts=None if record.get("facts") is None else _plain_object(record["facts"], "facts"),
        result=result,
        board=None if record.get("board") is None else _text(record["board"], "board", _LONGEST_BOARD),
        commitment=None if digest is None else _hex(digest, "commitment", range(32, 33)),
        server_seed=None if seed is None else _hex(seed, "server_seed", range(SEED_BYTES, SEED_BYTES + 1)),
        nonces=_hexes(record.get("nonces"), "nonces", players, NONCE_BYTES),
        nonce_commitments=_hexes(
            record.get("nonce_commitments"), "nonce_commitments", players, range(32, 33)
        ),
    )


def _game(record: Mapping[str, Any]) -> Game[Any, Any]:
    name = _text(record.get("game"), "game", 100)
    try:
        return game_named(name)
    except UnknownGame as error:
        raise RecordError("game", str(error)) from error


def _players(record: Mapping[str, Any], game: Game[Any, Any]) -> int:
    players = _integer(record.get("players"), "players")
    try:
        check_players(game, players)
    except InvalidOptions as error:
        raise RecordError("players", str(error)) from error
    return players


def _options(record: Mapping[str, Any], game: Game[Any, Any], players: int) -> Options:
    given = _plain_object(record.get("options"), "options")
    known = [spec.name for spec in game.option_specs()]
    for name in given:
        if name not in known:
            raise RecordError(
                "options", f"{game.title} has no option {_shown(name)}, only {', '.join(known)}"
            )
    try:
        return game.options(players, **given)
    except InvalidOptions as error:
        raise RecordError("options", str(error)) from error


def _unproven(record: Mapping[str, Any], game: Game[Any, Any], players: int) -> None:
    """What a record also says and no replay can confirm: only its form is checked."""
    version = record.get("rules_version")
    if version is not None and _integer(version, "rules_version") != game.rules_version:
        raise RecordError("rules_version", f"is {version}, but these rules are version {game.rules_version}")
    if record.get("names") is not None:
        names = _list(record["names"], "names")
        if len(names) not in (0, players):
            raise RecordError("names", f"has {len(names)} names for {players} seats")
        for seat, name in enumerate(names):
            _text(name, f"names, seat {seat}", 1000)
    if record.get("table") is not None:
        _text(record["table"], "table", _LONGEST_BOARD)
    if record.get("table_options") is not None:
        _object(record["table_options"], "table_options")


def _entry(value: Any, where: str, players: int) -> Entry:
    entry = _object(value, where)
    seat = _integer(entry.get("s"), f"{where}, s")
    if seat >= players:
        raise RecordError(where, f"there is no seat {seat}; the seats are 0 to {players - 1}")
    if entry.get("t") is not None:
        _integer(entry["t"], f"{where}, t")
    return Entry(
        deal=_integer(entry.get("d"), f"{where}, d"),
        seat=seat,
        move=_text(entry.get("m"), f"{where}, m", _LONGEST_MOVE),
        n=None if entry.get("n") is None else _integer(entry["n"], f"{where}, n"),
        by=_choice(entry.get("by"), f"{where}, by", NOT_THE_PLAYER),
    )


def _scores(value: Any, players: int) -> list[int] | None:
    if value is None:
        return None
    scores = _list(value, "scores")
    if len(scores) != players:
        raise RecordError("scores", f"has {len(scores)} scores for {players} seats")
    return [_integer(s, f"scores, seat {i}", low=-_LARGEST) for i, s in enumerate(scores)]


def _hexes(value: Any, where: str, players: int, sizes: range) -> list[bytes | None]:
    if value is None:
        return []
    entries = _list(value, where)
    if len(entries) not in (0, players):
        raise RecordError(where, f"has {len(entries)} entries for {players} seats")
    return [None if e is None else _hex(e, f"{where}, seat {i}", sizes) for i, e in enumerate(entries)]


def _hex(value: Any, where: str, sizes: range) -> bytes:
    text = _text(value, where, 2 * sizes[-1])
    if not _HEX.fullmatch(text):
        raise RecordError(where, f"{_shown(value)} is not lower-case hex")
    if len(text) // 2 not in sizes:
        size = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        raise RecordError(where, f"is {len(text) // 2} bytes, not {size}")
    return bytes.fromhex(text)


def _choice(value: Any, where: str, choices: tuple[str, ...]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in choices:
        raise RecordError(where, f"is {_shown(value)}, not one of {', '.join(choices)}")
    return value


def _integer(value: Any, where: str, low: int = 0) -> int:
    if value is None:
        raise RecordError(where, "is missing")
    if isinstance(value, bool) or not isinstance(value, int):
        raise RecordError(where, f"is {_shown(value)}, not a whole number")
    if not low <= value <= _LARGEST:
        raise RecordError(where, f"is {_shown(value)}, out of range")
    return value


def _text(value: Any, where: str, longest: int) -> str:
    if value is None:
        raise RecordError(where, "is missing")
    if not isinstance(value, str):
        raise RecordError(where, f"is {_shown(value)}, not a text")
    if len(value) > longest:
        raise RecordError(where, f"is {len(value)} characters long; at most {longest} can be")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if value is None:
        raise RecordError(where, "is missing")
    if not isinstance(value, list):
        raise RecordError(where, f"is {_shown(value)}, not a list")
    return value


def _object(value: Any, where: str) -> dict[str, Any]:
    if value is None:
        raise RecordError(where, "is missing")
    if not isinstance(value, dict):
        raise RecordError(where, f"is {_shown(value)}, not an object")
    return value


def _plain_object(value: Any, where: str) -> Plain:
    """An object of plain data: no deeper than ``_DEEPEST``, its keys texts, its numbers whole and small.

    What the games' own readers get to see, so that none of them meets a value that cannot be shown.
    """
    waiting: list[tuple[Any, int]] = [(_object(value, where), 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > _DEEPEST:
            raise RecordError(where, f"is nested more than {_DEEPEST} deep")
        if isinstance(item, dict):
            if not all(isinstance(key, str) for key in item):
                raise RecordError(where, "has a key that is not a text")
            waiting += [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list):
            waiting += [(inner, depth + 1) for inner in item]
        elif item is not None and not isinstance(item, (str, bool)):
            _integer(item, where, low=-_LARGEST)
    result: Plain = value
    return result


def _shown(value: Any) -> str:
    """A value as an error shows it: short, and never an error of its own."""
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and value.bit_length() > 100:
        return "a huge number"
    if isinstance(value, str) and len(value) > 60:
        return repr(value[:60]) + "…"
    return repr(value)
