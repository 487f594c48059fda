"""Random play of each engine: games and moves per second on one core; peers beside Dou Dizhu.

At each step the legal moves are made and one is chosen uniformly, then applied. RLCard and
OpenSpiel run in a virtual environment of their own (``make bench`` makes it), in turn with ours
in the same run; medians over the rounds are printed with the ratios.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from croupier_games import GAMES
from croupier_games.game import Game

PEERS = Path(__file__).resolve().parents[2] / ".venv-bench" / "bin" / "python"
_SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "hidden_unders": (3, {}),
    "doudizhu": (3, {}),
    "basic_rummy": (2, {}),
}


def random_deal(game: Game[Any, Any], players: int, options: dict[str, Any], rng: random.Random) -> Any:
    """A shuffled deal with a random first seat."""
    deck = game.deck(players, options)
    rng.shuffle(deck)
    return game.deal_from(deck, rng.randrange(players), players)


def play(game: Game[Any, Any], players: int, options: dict[str, Any], rng: random.Random) -> int:
    """One random game; the number of moves."""
    state = game.load_deal(random_deal(game, players, options, rng), players, options)
    moves = 0
    while True:
        seat = game.to_act(state)
        if seat is None:
            if not game.needs_deal(state):
                return moves
            deck = game.deck(players, options)
            rng.shuffle(deck)
            first = game.next_first(state)
            deal = game.deal_from(deck, rng.randrange(players) if first is None else first, players)
            state = game.next_deal(state, deal)
            continue
        legal = game.legal_moves(state)
        state = game.apply(state, seat, legal[int(rng.random() * len(legal))])
        moves += 1


def measure(name: str, seconds: float, seed: int) -> tuple[float, float]:
    """Games and moves per CPU second."""
    game = GAMES[name]
    players, given = _SETTINGS[name]
    options = game.options(players, **given)
    rng = random.Random(seed)
    games = moves = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        moves += play(game, players, options, rng)
        games += 1
    return games / spent, moves / spent


def peer(name: str, seconds: float, seed: int) -> float | None:
    """A peer's Dou Dizhu games per CPU second; None when its environment is not there."""
    if not PEERS.exists():
        return None
    script = Path(__file__).with_name("peers.py")
    done = subprocess.run(
        [str(PEERS), str(script), name, str(seconds), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout.splitlines()[-1])["games"])


def main(rounds: int = 3, seconds: float = 2.0) -> None:
    """Measure in turn, print medians and ratios."""
    ours: dict[str, list[tuple[float, float]]] = {name: [] for name in _SETTINGS}
    peers: dict[str, list[float]] = {"rlcard": [], "open_spiel": []}
    for seed in range(rounds):
        for name, found in ours.items():
            found.append(measure(name, seconds, seed))
        for name, rates in peers.items():
            rate = peer(name, seconds, seed)
            if rate is not None:
                rates.append(rate)
    print("engine           games/s      moves/s   (random play, one core, median)")
    for name, found in ours.items():
        games, moves = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{name:14s} {games:9,.0f} {moves:12,.0f}")
    games = statistics.median(games for games, _ in ours["doudizhu"])
    for name, rates in peers.items():
        if rates:
            rate = statistics.median(rates)
            print(f"{name:14s} {rate:9,.0f}      Dou Dizhu; ours is {games / rate:.2f} times as fast")
        else:
            print(f"{name:14s} not measured: make bench installs it")


if __name__ == "__main__":
    main()
