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
TIMEOUT: Final = "TIMEOUT"

_PARTNERED: Final = frozenset({"doudizhu"})
"""Games that several seats win together: those with a score over zero."""
_LONGEST_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player by the name that it has in records, and what makes its bots."""

    name: str
    make: BotMaker


class BotTimeout(Exception):
    """A bot in a process of its own gave no answer in time; ``str()`` says how long that is."""


class NoText(Exception):
    """A bot in a process of its own answered with no text; ``str()`` is the type that it was."""


class BotCrash(Exception):
    """A bot in a process of its own raised or died; ``trace`` is its own traceback, if it left one."""

    def __init__(self, message: str, trace: str | None) -> None:
        super().__init__(message)
        self.trace: Final = trace


@dataclass(frozen=True, slots=True)
class Forfeit:
    """How a bot lost a game.

    ``reason`` is ``ILLEGAL_MOVE``, ``CRASH`` or ``TIMEOUT``, ``move`` how many moves went before
    in the game, ``traceback`` the crash's own, else None.
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
    in nanoseconds, a tuple a seat; ``watchdog_cuts`` by seat how many thoughts a bot says that
    its watchdog cut short. ``record`` is empty where nobody asked for it; ``kept`` is True where
    the game was played in an earlier run, and then ``record`` is empty too.
    """

    board: str
    names: tuple[str, ...]
    scores: tuple[int, ...]
    winners: frozenset[str]
    forfeit: Forfeit | None
    result: str
    record: Plain
    thinking: tuple[tuple[int, ...], ...]
    watchdog_cuts: tuple[int, ...]
    kept: bool = False

    def points(self, player: str) -> int:
        """The scores of all seats of a player."""
        return sum(score for name, score in zip(self.names, self.scores, strict=True) if name == player)

    def better(self, one: str, other: str) -> int:
        """1 where ``one`` did better than ``other``, -1 where worse, 0 where neither, as on one side.

        A winner did better than who is none; among others the points decide.
        """
        if (one in self.winners) != (other in self.winners):
            return 1 if one in self.winners else -1
        if one in self.winners:
            return 0
        mine, theirs = self.points(one), self.points(other)
        return (mine > theirs) - (mine < theirs)


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
    """A game being played: its state, and the deals and moves that led there.

    ``made`` holds the number of the deal, the seat and the move.
    """

    def __init__(self, game: Game[Any, Any], options: Options, players: int, board: str) -> None:
        self.game: Final = game
        self.options: Final = options
        self.players: Final = players
        self.board: Final = board
        self.seed: Final = board_seed(board)
        self.deals: list[Plain] = []
        self.made: list[tuple[int, int, Any]] = []
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
        self.made.append((len(self.deals) - 1, seat, move))

    def fork(self) -> Table:
        """The same game up to here, to go on in another way."""
        fork = copy.copy(self)
        fork.deals, fork.made = [*self.deals], [*self.made]
        return fork

    @property
    def moves(self) -> list[Plain]:
        """The moves so far as a record's entries, which are made only now."""
        return [move_entry(deal, seat, self.game.format_move(move)) for deal, seat, move in self.made]


def play_game(game: Game[Any, Any], options: Options, seated: Sequence[Entrant], board: str) -> PlayedGame:
    """A whole game of ``board``; ``options`` are resolved, ``seated`` is one entrant a seat."""
    return play_on(Table(game, options, len(seated), board), seated)


def play_on(
    table: Table,
    seated: Sequence[Entrant],
    table_options: Mapping[str, Any] | None = None,
    *,
    with_record: bool = True,
) -> PlayedGame:
    """The rest of a game; ``table_options`` go into its record."""
    played = _Play(table, seated)
    forfeit = played.to_the_end()
    names = tuple(entrant.name for entrant in seated)
    scores = _scores(table, forfeit)
    result = "forfeit" if forfeit else "void" if table.game.void(table.state) else "finished"
    return PlayedGame(
        board=table.board,
        names=names,
        scores=tuple(scores),
        winners=_winners(table.game.name, names, scores, forfeit),
        forfeit=forfeit,
        result=result,
        record=_record(table, names, scores, result, table_options) if with_record else {},
        thinking=tuple(map(tuple, played.thinking)),
        watchdog_cuts=played.watchdog_cuts(),
    )


def _record(
    table: Table,
    names: Sequence[str],
    scores: Sequence[int],
    result: str,
    table_options: Mapping[str, Any] | None,
) -> Plain:
    return build_record(
        game=table.game.name,
        players=table.players,
        options=table.options,
        deals=table.deals,
        moves=table.moves,
        scores=scores,
        facts=table.game.facts(table.state),
        result=result,
        rules_version=table.game.rules_version,
        names=names,
        table_options=None if table_options is None else dict(table_options),
        board=table.board,
        commitment=dealing.commitment(table.board, table.seed),
        server_seed=table.seed,
    )


class _Play:
    """Bots at a table. ``thinking`` is in nanoseconds, one for each move of a seat."""

    def __init__(self, table: Table, seated: Sequence[Entrant]) -> None:
        self._table: Final = table
        self._seated: Final = seated
        self._bots: Final[dict[int, Bot]] = {}
        self.thinking: Final[tuple[list[int], ...]] = tuple([] for _ in seated)

    def to_the_end(self) -> Forfeit | None:
        """Plays until the game is over, or a bot forfeits it."""
        table = self._table
        while (seat := table.to_act()) is not None:
            view, legal_moves = table.view(seat), table.legal_moves()
            started = time.perf_counter_ns()
            try:
                answer: object = self._bot(seat).choose(view, legal_moves)
            except BotTimeout as error:
                return self._forfeit(seat, TIMEOUT, str(error))
            except NoText as error:
                return self._forfeit(seat, ILLEGAL_MOVE, _no_text(str(error)))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a bot's own code raises what it likes
                return self._crash(seat, error)
            self.thinking[seat].append(time.perf_counter_ns() - started)
            if not isinstance(answer, str):
                return self._forfeit(seat, ILLEGAL_MOVE, _no_text(type(answer).__name__))
            try:
                table.make(seat, answer)
            except GameError as error:
                return self._forfeit(seat, ILLEGAL_MOVE, f"answered {_shown(answer)!r}: {error}")
        return None

    def watchdog_cuts(self) -> tuple[int, ...]:
        """What each seat's bot says in its ``watchdog_cuts``; 0 where it has none."""
        cuts = [getattr(self._bots.get(seat), "watchdog_cuts", 0) for seat in range(len(self._seated))]
        return tuple(cut if isinstance(cut, int) else 0 for cut in cuts)

    def _bot(self, seat: int) -> Bot:
        if seat not in self._bots:
            entrant = self._seated[seat]
            self._bots[seat] = entrant.make(_bot_seed(self._table.board, seat, entrant.name))
        return self._bots[seat]

    def _crash(self, seat: int, error: BaseException) -> Forfeit:
        trace = error.trace if isinstance(error, BotCrash) else traceback.format_exc()
        shown = str(error) if isinstance(error, BotCrash) else f"{type(error).__name__}: {error}"
        return self._forfeit(seat, CRASH, _shown(shown), trace)

    def _forfeit(self, seat: int, reason: str, message: str, trace: str | None = None) -> Forfeit:
        table = self._table
        return Forfeit(table.board, seat, self._seated[seat].name, len(table.made), reason, message, trace)


def _no_text(kind: str) -> str:
    return f"answered with {kind}, not a text"


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
