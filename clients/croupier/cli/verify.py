"""``croupier verify``: does a record hold?

The law of this file: the verdict is that of ``croupier_games.records`` and of nothing else. The
first line that does not hold ends it.
"""

from __future__ import annotations

from croupier.cli.look.base import counted
from croupier.cli.output import Failed, emit, say
from croupier.cli.record_file import RecordFile, opened
from croupier.cli.server import JsonFlag
from croupier_games.records import Verified, verify_lines


def verify(file: RecordFile, json: JsonFlag = False) -> int:
    """Recompute every deal and replay every move of a file of records.

    One line a game and exit code 0 when all of them hold; else exit code 1 and the first line that
    does not, and why.
    """
    games = 0
    with opened(file) as lines:
        for verdict in verify_lines(lines):
            if verdict.verified is None:
                assert verdict.error is not None
                where, why = verdict.error.where, verdict.error.why
                if json:
                    emit({"event": "error", "line": verdict.line, "where": where, "message": why})
                else:
                    say(f"line {verdict.line}: does not hold: {where}: {why}")
                return 1
            games += 1
            if json:
                emit({"event": "verified", "line": verdict.line, **_plain(verdict.verified)})
            else:
                say(f"line {verdict.line}: {_in_words(verdict.verified)}")
    if not games:
        raise Failed(f"{file} holds no game")
    return 0


def _in_words(game: Verified) -> str:
    scores = "" if game.scores is None else f", scores {' '.join(map(str, game.scores))}"
    if game.committed:
        deals = "follow from the seed that was promised"
    elif game.recomputed:
        deals = "follow from the seed"
    else:
        deals = "are taken as they are, without a seed"
    size = f"{counted(game.deals, 'deal')}, {counted(game.moves, 'move')}"
    return f"holds: {game.game}, {size}, {game.result or 'no result'}{scores}; deals {deals}"


def _plain(game: Verified) -> dict[str, object]:
    return {
        "game": game.game,
        "players": game.players,
        "deals": game.deals,
        "moves": game.moves,
        "result": game.result,
        "scores": None if game.scores is None else list(game.scores),
        "recomputed": game.recomputed,
        "committed": game.committed,
    }
