"""Seeded random games, shared by the suites of this folder.

The law of this file: the same setup and seed always give the same game.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from croupier_games import GAMES, dealing
from croupier_games.game import Game, Options, Plain
from croupier_games.records import build_record, move_entry

AnyGame = Game[Any, Any]

NONCE = bytes(range(16))

INTERESTING: dict[str, list[tuple[int, Options]]] = {
    "hidden_unders": [
        (2, {"auto_done": True}),
        (3, {"decks": 2, "auto_done": True}),
        (4, {"turn_limit": 20}),
        (5, {"rounds": 3, "turn_limit": 40}),
    ],
    "doudizhu": [(3, {"deals": 3, "max_redeals": 1}), (3, {"deals": 2, "max_redeals": 0})],
    "basic_rummy": [
        (3, {"points": 300, "turn_limit": 20}),
        (4, {"double_with_discard": False, "turn_limit": 30}),
    ],
}
"""Setups beside each game's defaults at every number of players."""


@dataclass(frozen=True)
class Setup:
    """What a game is started with; its text names it in test ids."""

    name: str
    players: int
    given: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return "-".join([self.name, str(self.players), *(f"{key}={value}" for key, value in self.given)])

    @property
    def game(self) -> AnyGame:
        return GAMES[self.name]

    @property
    def options(self) -> Options:
        return self.game.options(self.players, **dict(self.given))


@dataclass(frozen=True)
class Moment:
    """A state and what made it: a deal (``seat`` and ``move`` are None) or a move."""

    state: Any
    deal: int
    seat: int | None = None
    move: str | None = None


@dataclass
class Played:
    """A whole game, moment by moment."""

    setup: Setup
    board: str
    seed: bytes
    deals: list[Plain] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)

    @property
    def game(self) -> AnyGame:
        return self.setup.game

    @property
    def nonces(self) -> list[bytes | None]:
        """The first seat gave a nonce, the others did not."""
        return [NONCE] + [None] * (self.setup.players - 1)

    def moves(self) -> Iterator[tuple[Any, int, str, Any]]:
        """Every move: the state before it, its seat and text, and the state after it."""
        for before, after in pairwise(self.moments):
            if after.seat is not None and after.move is not None:
                yield before.state, after.seat, after.move, after.state

    def viewers(self) -> list[int | None]:
        """Every seat, and None for the spectator."""
        return [*range(self.setup.players), None]

    def record(self, result: str = "finished") -> Plain:
        """The record of the game, complete with seed and promises."""
        last, board = self.moments[-1].state, self.board
        promises = [n and dealing.nonce_commitment(board, s, n) for s, n in enumerate(self.nonces)]
        entries = [
            move_entry(m.deal, m.seat, m.move, t=index * 10)
            for index, m in enumerate(self.moments)
            if m.seat is not None and m.move is not None
        ]
        return build_record(
            game=self.setup.name,
            players=self.setup.players,
            options=self.setup.options,
            deals=self.deals,
            moves=entries,
            scores=self.game.scores(last),
            facts=self.game.facts(last),
            result="void" if self.game.void(last) else result,
            rules_version=self.game.rules_version,
            names=[f"player {seat}" for seat in range(self.setup.players)],
            table=board,
            board=board,
            commitment=dealing.commitment(board, self.seed),
            server_seed=self.seed,
            nonce_commitments=promises,
            nonces=self.nonces,
        )


def setups() -> list[Setup]:
    """Each game at every number of players with its defaults, and the interesting ones."""
    every = [Setup(name, players) for name, game in GAMES.items() for players in game.players]
    more = [(name, players, given) for name in GAMES for players, given in INTERESTING.get(name, [])]
    return every + [Setup(name, players, tuple(given.items())) for name, players, given in more]


@cache
def play(setup: Setup, seed: int = 0) -> Played:
    """A game of random legal moves to its end. Kept: nobody may change what it returns."""
    board = f"tables/{setup}/{seed}"
    played = Played(setup, board, hashlib.sha256(board.encode()).digest())
    chance = random.Random(board)
    game, state = setup.game, None
    while state is None or game.scores(state) is None:
        if state is None or game.needs_deal(state):
            state = _dealt(played, state)
        else:
            seat, legal = game.to_act(state), game.legal_moves(state)
            assert seat is not None, "nobody is to act, no deal is due, and the game is not over"
            move = legal[chance.randrange(len(legal))]
            state = game.apply(state, seat, move)
            played.moments.append(Moment(state, len(played.deals) - 1, seat, game.format_move(move)))
    return played


def _dealt(played: Played, state: Any) -> Any:
    setup, game, number = played.setup, played.game, len(played.deals)
    first = None if state is None else game.next_first(state)
    args = (game, setup.options, setup.players, played.board, played.seed)
    deal = dealing.deal(*args, number, played.nonces, first)
    state = game.next_deal(state, deal) if number else game.load_deal(deal, setup.players, setup.options)
    played.deals.append(deal)
    played.moments.append(Moment(state, number))
    return state


def sample(played: Played, count: int = 60) -> list[Moment]:
    """The last moments of a game and some of the others."""
    earlier = played.moments[:-5]
    chance = random.Random(played.board)
    return chance.sample(earlier, min(count, len(earlier))) + played.moments[-5:]


def awaited(game: AnyGame, moments: list[Moment]) -> list[tuple[Any, int]]:
    """The states of these moments in which a seat is to move, and the seat."""
    turns = [(moment.state, game.to_act(moment.state)) for moment in moments]
    return [(state, seat) for state, seat in turns if seat is not None]
