"""Records: one JSON object a game, by which anyone can check and replay it.

The law of this file: a record is a claim, never a fact. ``replay`` and ``verify`` deal and
move by the rules alone and compare; the first thing that does not hold is a ``RecordError``
that says where and why. The same game always gives the same line.

A record holds ``game``, ``players``, ``options``, ``deals``, ``moves``, ``scores`` and
``facts``, and, where known, ``result``, ``rules_version``, ``names``, ``table``,
``table_options``, ``board``, ``commitment``, ``server_seed``, ``nonce_commitments`` and
``nonces``. Bytes are lower-case hex. Deals, seats and moves are counted from 0, lines from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from croupier_games import dealing
from croupier_games.dealing import InvalidDealing, Nonces
from croupier_games.game import GameError, MalformedMove, Plain
from croupier_games.record_form import Claims, Entry, RecordError, claims_of

__all__ = [
    "RecordError",
    "Step",
    "Verdict",
    "Verified",
    "build_record",
    "format_record",
    "last_state",
    "move_entry",
    "parse_record",
    "replay",
    "verify",
    "verify_lines",
]

_IN_DEALT_ORDER: Final = ("unders", "deck", "stock")


def build_record(
    *,
    game: str,
    players: int,
    options: Mapping[str, Any],
    deals: Sequence[Plain],
    moves: Sequence[Plain],
    scores: Sequence[int] | None,
    facts: Plain | None,
    result: str,
    rules_version: int,
    names: Sequence[str] = (),
    table: str | None = None,
    table_options: Plain | None = None,
    board: str | None = None,
    commitment: bytes | None = None,
    server_seed: bytes | None = None,
    nonce_commitments: Nonces = (),
    nonces: Nonces = (),
) -> Plain:
    """A record of its parts, with its keys always in the same order; parts that are None are left out.

    ``options`` are the game's own, resolved; ``deals`` plain data as dealt; ``moves`` entries
    of ``move_entry``; ``result`` is ``finished``, ``void``, ``forfeit`` or ``abandoned``.
    """
    parts: Plain = {
        "game": game,
        "players": players,
        "options": dict(options),
        "result": result,
        "rules_version": rules_version,
        "names": list(names),
        "table": table,
        "table_options": table_options,
        "board": board,
        "commitment": None if commitment is None else commitment.hex(),
        "server_seed": None if server_seed is None else server_seed.hex(),
        "nonce_commitments": _hex_list(nonce_commitments),
        "nonces": _hex_list(nonces),
        "deals": list(deals),
        "moves": list(moves),
        "scores": None if scores is None else list(scores),
        "facts": facts,
    }
    return {key: part for key, part in parts.items() if part is not None}


def move_entry(
    deal: int, seat: int, move: str, *, t: int | None = None, by: str | None = None, n: int | None = None
) -> Plain:
    """One entry of a record's ``moves``.

    ``move`` is the canonical text, ``t`` milliseconds since the start, ``by`` ``"timeout"`` or
    ``"takeover"`` where the player did not make the move, ``n`` how many moves were legal.
    """
    parts: Plain = {"d": deal, "s": seat, "m": move, "t": t, "by": by, "n": n}
    return {key: part for key, part in parts.items() if part is not None}


def format_record(record: Plain) -> str:
    """The record as one line of JSON in ASCII, without a line end."""
    return json.dumps(record, separators=(",", ":"))


def parse_record(line: str | bytes, number: int | None = None) -> Plain:
    """The record of one line. Raises ``RecordError``; ``number`` is the line's, from 1, for its message.

    An object that names one field twice is refused: two readers could take it for two games.
    """
    try:
        text = line if isinstance(line, str) else line.decode()
        record = json.loads(text, object_pairs_hook=_object_of, parse_constant=_no_constant)
        claims_of(record)
    except RecordError as error:
        raise RecordError(error.where, error.why, number) from error
    except RecursionError as error:
        raise RecordError("record", "is nested too deep", number) from error
    except ValueError as error:
        raise RecordError("record", f"is not JSON: {error}", number) from error
    result: Plain = record
    return result


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a record, found legal: ``game.view(step.after, seat)`` shows what came of it.

    ``index`` is its place in ``moves``, ``deal`` the number of the deal, ``n`` the recorded and
    checked number of legal moves in ``before`` (None where the record has none), ``by`` who
    made it if not the player.
    """

    index: int
    deal: int
    seat: int
    move: str
    n: int | None
    by: str | None
    before: Any
    after: Any


def replay(record: Plain) -> Iterator[Step]:
    """Every move of a record in order, each checked as it comes.

    Deals are recomputed where the record has its seed. Raises ``RecordError`` at the first
    thing that does not hold; what the end of the record claims is for ``verify`` to check.
    """
    fold = _Fold(claims_of(record))
    for index in range(len(fold.claims.moves)):
        yield fold.step(index)


def last_state(record: Plain) -> Any:
    """The state that a record's last deal and move lead to; None when nothing was dealt.

    Raises ``RecordError`` as ``replay`` does.
    """
    fold = _Fold(claims_of(record))
    for index in range(len(fold.claims.moves)):
        fold.step(index)
    fold.deal_what_is_due()
    return fold.state


@dataclass(frozen=True, slots=True)
class Verified:
    """What a record that holds is about.

    ``recomputed`` is True when the deals followed from the seed, ``committed`` when the seed
    was the promised one. ``result`` is None where the record does not say.
    """

    game: str
    players: int
    deals: int
    moves: int
    result: str | None
    scores: tuple[int, ...] | None
    recomputed: bool
    committed: bool


def verify(record: Plain) -> Verified:
    """Checks all that a record claims: promises, deals, moves, scores and facts.

    Scores and facts are recomputed for the results ``finished`` and ``void``, and as running
    totals where there is no result and the facts say ``finished: false``. Raises
    ``RecordError`` for the first thing that does not hold.
    """
    claims = claims_of(record)
    _check_promises(claims)
    fold = _Fold(claims)
    for index in range(len(claims.moves)):
        fold.step(index)
    fold.finish()
    return Verified(
        game=claims.game.name,
        players=claims.players,
        deals=len(claims.deals),
        moves=len(claims.moves),
        result=claims.result,
        scores=None if claims.scores is None else tuple(claims.scores),
        recomputed=claims.server_seed is not None,
        committed=claims.server_seed is not None and claims.commitment is not None,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one line: exactly one of ``verified`` and ``error`` is not None."""

    line: int
    verified: Verified | None
    error: RecordError | None


def verify_lines(lines: Iterable[str | bytes]) -> Iterator[Verdict]:
    """One verdict a line, in order, lines counted from 1; an empty line is an error too."""
    for number, line in enumerate(lines, 1):
        try:
            yield Verdict(number, verify(parse_record(line, number)), None)
        except RecordError as error:
            yield Verdict(number, None, RecordError(error.where, error.why, number))


class _Fold:
    """A game being replayed: ``state`` after ``dealt`` deals and the moves so far."""

    def __init__(self, claims: Claims) -> None:
        self.claims: Final = claims
        self.state: Any = None
        self.dealt = 0

    def step(self, index: int) -> Step:
        """Makes move ``index`` after the deals that are due before it."""
        entry = self.claims.moves[index]
        where = f"move {index} (seat {entry.seat}, {json.dumps(entry.move)})"
        self.deal_what_is_due()
        self._check_turn(entry, where)
        before, game = self.state, self.claims.game
        if entry.n is not None:
            legal = len(game.legal_moves(before))
            if legal != entry.n:
                raise RecordError(where, f"n is {entry.n}, but {legal} moves are legal")
        try:
            move = game.parse_move(entry.move)
            canonical = game.format_move(move)
            if canonical != entry.move:
                raise RecordError(where, f'is not the canonical text, which is "{canonical}"')
            self.state = game.apply(before, entry.seat, move)
        except MalformedMove as error:
            raise RecordError(where, f"is no move: {error}") from error
        except GameError as error:
            raise RecordError(where, f"is not legal: {error}") from error
        return Step(index, entry.deal, entry.seat, entry.move, entry.n, entry.by, before, self.state)

    def finish(self) -> None:
        """Checks what the record claims of the state that it ends in."""
        self.deal_what_is_due()
        claims, game = self.claims, self.claims.game
        if self.dealt < len(claims.deals):
            raise RecordError(f"deal {self.dealt}", "no deal is due after the last move")
        over = self.state is not None and game.scores(self.state) is not None
        if claims.result in ("forfeit", "abandoned"):
            if over:
                raise RecordError("result", f"is {claims.result}, but the game was played to its end")
            return
        running = claims.result is None and claims.facts is not None and claims.facts.get("finished") is False
        if running and not over and self.state is not None:
            self._check_outcome(game.running_scores(self.state))
            return
        if not over:
            raise RecordError("moves", f"end before the game is over: {self._what_is_next()}")
        if claims.result is not None and (claims.result == "void") != game.void(self.state):
            right = "void" if game.void(self.state) else "finished"
            raise RecordError("result", f"is {claims.result}, but the game is {right}")
        self._check_outcome(game.scores(self.state))

    def _check_outcome(self, scores: list[int] | None) -> None:
        claimed, facts = self.claims.scores, self.claims.game.facts(self.state)
        if claimed != scores:
            raise RecordError("scores", f"are {_written(claimed)}, but come out as {_written(scores)}")
        if not _same(self.claims.facts, facts):
            raise RecordError("facts", _first_difference(self.claims.facts, facts))

    def _is_due(self) -> bool:
        return self.state is None or self.claims.game.needs_deal(self.state)

    def _what_is_next(self) -> str:
        if self._is_due():
            return f"deal {self.dealt} is due, but the record has only {len(self.claims.deals)}"
        return f"seat {self.claims.game.to_act(self.state)} is to move"

    def _check_turn(self, entry: Entry, where: str) -> None:
        if self._is_due():
            raise RecordError(where, self._what_is_next())
        to_act = self.claims.game.to_act(self.state)
        if to_act is None:
            raise RecordError(where, "the game is over before this move")
        if entry.deal != self.dealt - 1:
            raise RecordError(where, f"says deal {entry.deal}, but belongs to deal {self.dealt - 1}")
        if entry.seat != to_act:
            raise RecordError(where, f"seat {to_act} is to move")

    def deal_what_is_due(self) -> None:
        """Makes the deals that the record has and that are due now."""
        while self._is_due() and self.dealt < len(self.claims.deals):
            where, claimed = f"deal {self.dealt}", self.claims.deals[self.dealt]
            self._check_deal(where, claimed)
            try:
                self.state = self._after_deal(claimed)
            except GameError as error:
                raise RecordError(where, str(error)) from error
            self.dealt += 1

    def _after_deal(self, claimed: Plain) -> Any:
        claims = self.claims
        if self.state is None:
            return claims.game.load_deal(claimed, claims.players, claims.options)
        return claims.game.next_deal(self.state, claimed)

    def _check_deal(self, where: str, claimed: Plain) -> None:
        claims = self.claims
        if claims.server_seed is None:
            return
        if claims.board is None:
            raise RecordError("board", "is missing, and without it no deal follows from the seed")
        first = None if self.state is None else claims.game.next_first(self.state)
        args = (claims.game, claims.options, claims.players, claims.board, claims.server_seed)
        try:
            dealt = dealing.deal(*args, self.dealt, claims.nonces, first)
        except InvalidDealing as error:
            raise RecordError(where, str(error)) from error
        for key, value in dealt.items():
            if not _same(_dealt(key, claimed.get(key)), _dealt(key, value)):
                why = f"does not follow from the seed, which gives {_written(value)}"
                raise RecordError(f"{where}, {key}", why)


def _check_promises(claims: Claims) -> None:
    """The seed and the nonces are the ones promised before the first deal."""
    board = claims.board
    if board is None:
        if claims.server_seed is not None or any(claims.nonces):
            raise RecordError("board", "is missing, and without it no promise can be checked")
        return
    try:
        if claims.server_seed is not None and claims.commitment is not None:
            _check_promise("server_seed", dealing.commitment(board, claims.server_seed), claims.commitment)
        if claims.nonce_commitments:
            for seat, nonce in enumerate(claims.nonces):
                if nonce is not None:
                    digest = dealing.nonce_commitment(board, seat, nonce)
                    _check_promise(f"nonces, seat {seat}", digest, claims.nonce_commitments[seat])
    except InvalidDealing as error:
        raise RecordError("board", str(error)) from error


def _check_promise(where: str, digest: bytes, promised: bytes | None) -> None:
    if promised is None:
        raise RecordError(where, "was never promised")
    if digest != promised:
        raise RecordError(where, f"is not what was promised: its commitment is {digest.hex()}")


def _dealt(key: str, value: Any) -> Any:
    """A part of a deal with its cards sorted, unless the rules take them in dealt order."""
    if not isinstance(value, list) or key in _IN_DEALT_ORDER:
        return value
    if all(isinstance(item, str) for item in value):
        return sorted(value)
    return [_dealt(key, item) for item in value]


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: unlike in Python, ``true`` is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _first_difference(claimed: Plain | None, found: Plain) -> str:
    if claimed is None:
        return "are missing"
    for key in [*found, *claimed]:
        if key not in claimed or key not in found:
            return f"{'have no' if key in found else 'have an unknown'} {_written(key)}"
        if not _same(claimed[key], found[key]):
            return f"{key} is {_written(claimed[key])}, but comes out as {_written(found[key])}"
    return "differ"


def _written(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:120] + "…"


def _hex_list(values: Nonces) -> list[str | None]:
    return [None if value is None else value.hex() for value in values]


def _object_of(pairs: list[tuple[str, Any]]) -> Plain:
    found: Plain = dict(pairs)
    if len(found) < len(pairs):
        raise RecordError("record", "names a field twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
