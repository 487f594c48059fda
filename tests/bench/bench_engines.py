"""Random play of each engine: games and moves per second on one core; peers beside Dou Dizhu.

At each step the legal moves are made and one is chosen uniformly, then applied. Our rules run
interpreted, and compiled as in a wheel; these and the peers, RLCard and OpenSpiel, have virtual
environments of their own (``make bench`` makes them) and run in turn in the same run. Medians
over the rounds are printed with the ratios, and the median time of making a whole list of legal
moves over all states of random play.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from croupier_games import GAMES
from croupier_games.doudizhu import legal as compiled_in_a_wheel
from croupier_games.game import Game

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / ".venv-bench" / "bin" / "python"
WHEEL = ROOT / ".venv-wheel" / "bin" / "python"
_SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "hidden_unders": (3, {}),
    "doudizhu": (3, {}),
    "basic_rummy": (2, {}),
}
_LISTINGS = 5000
"""States at least whose lists of legal moves are timed."""


class Rates(NamedTuple):
    """What one run of a game came to."""

    games: float
    """Per CPU second."""
    moves: float
    """Per CPU second."""
    listing: float
    """Microseconds of a whole list of legal moves, the median over all states."""


def random_deal(game: Game[Any, Any], players: int, options: dict[str, Any], rng: random.Random) -> Any:
    """A shuffled deal with a random first seat."""
    deck = game.deck(players, options)
    rng.shuffle(deck)
    return game.deal_from(deck, rng.randrange(players), players)


def play(
    game: Game[Any, Any],
    players: int,
    options: dict[str, Any],
    rng: random.Random,
    seen: list[Any] | None = None,
) -> int:
    """One random game; the number of moves. ``seen`` gets the states in which a seat is to move."""
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
        if seen is not None:
            seen.append(state)
        legal = game.legal_moves(state)
        state = game.apply(state, seat, legal[int(rng.random() * len(legal))])
        moves += 1


def measure(name: str, seconds: float, seed: int) -> Rates:
    """Play for so many CPU seconds, then list the legal moves of some games' states."""
    game = GAMES[name]
    players, given = _SETTINGS[name]
    options = game.options(players, **given)
    rng = random.Random(seed)
    games = moves = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        moves += play(game, players, options, rng)
        games += 1
    seen: list[Any] = []
    while len(seen) < _LISTINGS:
        play(game, players, options, rng, seen)
    listing = statistics.median(nanoseconds_to_list(game, state) for state in seen)
    return Rates(games / spent, moves / spent, listing / 1000)


def nanoseconds_to_list(game: Game[Any, Any], state: Any) -> int:
    """How long it takes to make every legal move of a state."""
    start = time.perf_counter_ns()
    list(game.legal_moves(state))
    return time.perf_counter_ns() - start


def compiled(name: str, seconds: float, seed: int) -> Rates | None:
    """The same in the wheel's environment; None when it is not there, or its rules are not compiled."""
    if not WHEEL.exists():
        return None
    found = _last_line([str(WHEEL), str(Path(__file__)), name, str(seconds), str(seed)])
    return Rates(*found["rates"]) if found["compiled"] else None


def peer(name: str, seconds: float, seed: int) -> float | None:
    """A peer's Dou Dizhu games per CPU second; None when its environment is not there."""
    if not PEERS.exists():
        return None
    script = Path(__file__).with_name("peers.py")
    return float(_last_line([str(PEERS), str(script), name, str(seconds), str(seed)])["games"])


def _last_line(command: list[str]) -> dict[str, Any]:
    """The JSON object that a program prints last; it does not see our own source."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(rounds: int = 3, seconds: float = 2.0) -> None:
    """Measure in turn, print medians and ratios."""
    kinds = {"interpreted": measure, "compiled": compiled}
    ours: dict[tuple[str, str], list[Rates]] = {key: [] for key in itertools.product(_SETTINGS, kinds)}
    peers: dict[str, list[float]] = {"rlcard": [], "open_spiel": []}
    for seed in range(rounds):
        for (name, kind), found in ours.items():
            rates = kinds[kind](name, seconds, seed)
            found += [rates] if rates is not None else []
        for name, each in peers.items():
            rate = peer(name, seconds, seed)
            each += [rate] if rate is not None else []
    medians = {
        key: Rates(*map(statistics.median, zip(*found, strict=True))) for key, found in ours.items() if found
    }
    _print_ours(medians)
    _print_peers(medians, {name: statistics.median(rates) for name, rates in peers.items() if rates})


def _print_ours(medians: dict[tuple[str, str], Rates]) -> None:
    print("random play, one core, medians")
    print("engine         rules          games/s      moves/s   list of legal moves")
    for (name, kind), rates in medians.items():
        ratio = rates.moves / medians[name, "interpreted"].moves
        times = "" if kind == "interpreted" else f"   {ratio:.2f} times as fast"
        print(
            f"{name:14s} {kind:12s} {rates.games:9,.0f} {rates.moves:12,.0f} {rates.listing:9.2f} µs{times}"
        )
    if not any(kind == "compiled" for _, kind in medians):
        print("compiled rules not measured: make bench builds them where there is a C compiler")


def _print_peers(medians: dict[tuple[str, str], Rates], peers: dict[str, float]) -> None:
    ours = {kind: rates.games for (name, kind), rates in medians.items() if name == "doudizhu"}
    for name in ("rlcard", "open_spiel"):
        if name not in peers:
            print(f"{name:14s} not measured: make bench installs it")
            continue
        ratios = ", ".join(f"{kind} {games / peers[name]:.2f}" for kind, games in ours.items())
        print(f"{name:14s} {'':12s} {peers[name]:9,.0f}   Dou Dizhu; ours is so many times as fast: {ratios}")


def alone(name: str, seconds: str, seed: str) -> None:
    """One measurement for ``compiled``, as JSON."""
    rates = measure(name, float(seconds), int(seed))
    print(json.dumps({"compiled": compiled_in_a_wheel.__file__.endswith(".so"), "rates": rates}))


if __name__ == "__main__":
    if sys.argv[1:]:
        alone(*sys.argv[1:])
    else:
        main()
