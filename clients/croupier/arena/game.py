"""One game between bots, from the first deal to its record.

The law of this file: a move counts when the rules have taken it, and only a bot's own answer
or error ends a game early. Anything else that goes wrong is a fault of this program and raised.
"""

from __future__ import annotations

import copy
import hashlib
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

from croupier.bots import Bot, BotMaker
from croupier_games import dealing
from croupier_games.game import Game, GameError, Options, Plain
from croupier_games.records import build_record, move_entry

ILLEGAL_MOVE: Final = "ILLEGAL_MOVE"
CRASH: Final = "CRASH"

_PARTNERED: Final = frozenset({"doudizhu"})
"""Games that several seats win together: those with a score over zero."""
_LONGEST_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player by the name that it has in records, and what makes its bots."""

    name: str
    make: BotMaker


@dataclass(frozen=True, slots=True)
class Forfeit:
    """How a bot lost a game.

    ``reason`` is ``ILLEGAL_MOVE`` or ``CRASH``, ``move`` how many moves went before in the
    game, ``traceback`` the crash's own, else None.
    """

    board: str
    seat: int
    player: str
    move: int
    reason: str
    message: str
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """One game: its players and scores by seat, its record, and how long each move took.

    ``winners`` are names: those with the most points or, in Dou Dizhu, a score over zero; all
    but the one who forfeited; nobody where the most points are shared or nobody bid. A forfeit
    costs its seat one point for each other seat and gives one to each of them. ``thinking`` is
    in nanoseconds, a list a seat.
    """

    names: tuple[str, ...]
    scores: tuple[int, ...]
    winners: frozenset[str]
    forfeit: Forfeit | None
    record: Plain
    thinking: tuple[tuple[int, ...], ...]


class MoveTexts(Sequence[str]):
    """The texts of legal moves, made when they are first read."""

    def __init__(self, game: Game[Any, Any], moves: Sequence[Any]) -> None:
        self._game: Final = game
        self._moves: Final = moves
        self._texts: list[str] | None = None

    def __len__(self) -> int:
        return len(self._moves)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if self._texts is not None:
            return self._texts[index]
        if isinstance(index, int):
            return self._game.format_move(self._moves[index])
        return [self._game.format_move(move) for move in self._moves[index]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> list[str]:
        if self._texts is None:
            self._texts = [self._game.format_move(move) for move in self._moves]
        return self._texts


def board_seed(board: str) -> bytes:
    """The 32 bytes that the deals of an arena's board follow from."""
    return hashlib.sha256(b"croupier/arena/v1\0" + board.encode()).digest()


class Table:
    """A game being played: its state, and the deals and moves that led there."""

    def __init__(self, game: Game[Any, Any], options: Options, players: int, board: str) -> None:
        self.game: Final = game
        self.options: Final = options
        self.players: Final = players
        self.board: Final = board
        self.seed: Final = board_seed(board)
        self.deals: list[Plain] = []
        self.moves: list[Plain] = []
        self.state: Any = game.load_deal(self._deal(None), players, options)

    def _deal(self, first: int | None) -> Plain:
        number = len(self.deals)
        deal = dealing.deal(self.game, self.options, self.players, self.board, self.seed, number, first=first)
        self.deals.append(deal)
        return deal

    def to_act(self) -> int | None:
        """The seat to move once the deals that are due are dealt; None when the game is over."""
        game = self.game
        while game.needs_deal(self.state):
            self.state = game.next_deal(self.state, self._deal(game.next_first(self.state)))
        return game.to_act(self.state)

    def view(self, seat: int) -> Plain:
        """What ``seat`` may know."""
        return self.game.view(self.state, seat)

    def legal_moves(self) -> MoveTexts:
        """The legal moves of the seat to act."""
        return MoveTexts(self.game, self.game.legal_moves(self.state))

    def make(self, seat: int, text: str) -> None:
        """Makes the move. Raises ``GameError`` for what is no legal one, and changes nothing then."""
        move = self.game.parse_move(text)
        self.state = self.game.apply(self.state, seat, move)
        self.moves.append(move_entry(len(self.deals) - 1, seat, self.game.format_move(move)))

    def fork(self) -> Table:
        """The same game up to here, to go on in another way."""
        fork = copy.copy(self)
        fork.deals, fork.moves = [*self.deals], [*self.moves]
        return fork


def play_game(game: Game[Any, Any], options: Options, seated: Sequence[Entrant], board: str) -> PlayedGame:
    """A whole game of ``board``; ``options`` are resolved, ``seated`` is one entrant a seat."""
    return play_on(Table(game, options, len(seated), board), seated)


def play_on(
    table: Table, seated: Sequence[Entrant], table_options: Mapping[str, Any] | None = None
) -> PlayedGame:
    """The rest of a game; ``table_options`` go into its record."""
    thinking: tuple[list[int], ...] = tuple([] for _ in seated)
    forfeit = _play_out(table, seated, thinking)
    game, state = table.game, table.state
    scores = _scores(table, forfeit)
    record = build_record(
        game=game.name,
        players=table.players,
        options=table.options,
        deals=table.deals,
        moves=table.moves,
        scores=scores,
        facts=game.facts(state),
        result="forfeit" if forfeit else "void" if game.void(state) else "finished",
        rules_version=game.rules_version,
        names=[entrant.name for entrant in seated],
        table_options=None if table_options is None else dict(table_options),
        board=table.board,
        commitment=dealing.commitment(table.board, table.seed),
        server_seed=table.seed,
    )
    names = tuple(entrant.name for entrant in seated)
    winners = _winners(game.name, names, scores, forfeit)
    return PlayedGame(names, tuple(scores), winners, forfeit, record, tuple(map(tuple, thinking)))


def _play_out(table: Table, seated: Sequence[Entrant], thinking: Sequence[list[int]]) -> Forfeit | None:
    """Plays until the game is over, or a bot forfeits it."""
    bots: dict[int, Bot] = {}
    while (seat := table.to_act()) is not None:
        view, legal_moves = table.view(seat), table.legal_moves()
        started = time.perf_counter_ns()
        try:
            if seat not in bots:
                bots[seat] = seated[seat].make(_bot_seed(table.board, seat, seated[seat].name))
            answer: object = bots[seat].choose(view, legal_moves)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a bot's own code raises what it likes
            message = _shown(f"{type(error).__name__}: {error}")
            return _forfeit(table, seat, seated, CRASH, message, traceback.format_exc())
        thinking[seat].append(time.perf_counter_ns() - started)
        if not isinstance(answer, str):
            message = f"answered with {type(answer).__name__}, not a text"
            return _forfeit(table, seat, seated, ILLEGAL_MOVE, message)
        try:
            table.make(seat, answer)
        except GameError as error:
            return _forfeit(table, seat, seated, ILLEGAL_MOVE, f"answered {_shown(answer)!r}: {error}")
    return None


def _forfeit(
    table: Table, seat: int, seated: Sequence[Entrant], reason: str, message: str, trace: str | None = None
) -> Forfeit:
    return Forfeit(table.board, seat, seated[seat].name, len(table.moves), reason, message, trace)


def _bot_seed(board: str, seat: int, name: str) -> int:
    text = f"croupier/arena/bot/v1\0{board}\0{seat}\0{name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _scores(table: Table, forfeit: Forfeit | None) -> list[int]:
    if forfeit is None:
        return table.game.running_scores(table.state)
    return [1 - table.players if seat == forfeit.seat else 1 for seat in range(table.players)]


def _winners(
    game: str, names: Sequence[str], scores: Sequence[int], forfeit: Forfeit | None
) -> frozenset[str]:
    if forfeit is not None:
        return frozenset(names) - {forfeit.player}
    if game in _PARTNERED:
        return frozenset(name for name, score in zip(names, scores, strict=True) if score > 0)
    best = max(scores)
    leaders = [name for name, score in zip(names, scores, strict=True) if score == best]
    return frozenset(leaders if len(leaders) == 1 else ())


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
