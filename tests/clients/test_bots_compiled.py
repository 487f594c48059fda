"""What bots think with: interpreted in a checkout, compiled in a wheel, and the same games from both.

``make test-wheel`` sets ``CROUPIER_WHEEL`` and runs the tests of the bots on an installed wheel.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from croupier import bots
from croupier_games import GAMES

SOURCE = Path(__file__).parents[2]
BOTS = Path(bots.__file__).parent
WHEEL = "CROUPIER_WHEEL" in os.environ
COMPILED = {
    "basic_rummy": {"melds", "playing"},
    "doudizhu": {"clues", "hands", "plans", "playout", "policy", "solver"},
    "hidden_unders": {"rounds", "tree"},
}
MODULES = [
    (game, module.stem)
    for game in GAMES
    for module in sorted((BOTS / game).glob("*.py"))
    if module.stem[0] != "_"
]


@pytest.mark.parametrize(("game", "module"), MODULES)
def test_playouts_are_compiled_in_a_wheel_and_what_reads_a_view_is_not(game: str, module: str) -> None:
    file = importlib.import_module(f"croupier.bots.{game}.{module}").__file__
    assert file is not None
    assert Path(file).suffix == (".so" if WHEEL and module in COMPILED[game] else ".py")


PLAY = """
import json, sys
from croupier.arena.game import Table
from croupier.bots import basic_rummy, doudizhu, hidden_unders, make_bot
from croupier.bots.doudizhu.levels import SearchBot as DouDizhuSearch
from croupier.bots.doudizhu.search import Budget
from croupier.bots.hidden_unders import rounds
from croupier_games import GAMES

NO_WATCHDOG = 1e9
budget = Budget(candidates=4, playouts=20, bidding=4, choice=2, solved=8, nodes=50, watchdog=NO_WATCHDOG)
unders = (hidden_unders.SearchBot, hidden_unders.TreeBot)
search = {
    "hidden_unders": lambda seed: unders[seed // 2 % 2](seed, 60, NO_WATCHDOG),
    "doudizhu": lambda seed: DouDizhuSearch(budget, seed),
    "basic_rummy": lambda seed: basic_rummy.SearchBot(seed, 24, NO_WATCHDOG, 0.5),
}
games = []
for name, rules in GAMES.items():
    players = rules.players[-1]
    table = Table(rules, rules.options(players), players, "compiled")
    seated = [make_bot(name, "normal", seat) if seat % 2 else search[name](seat) for seat in range(players)]
    moves = []
    while (seat := table.to_act()) is not None and len(moves) < 200:
        moves.append(seated[seat].choose(table.view(seat), table.legal_moves()))
        table.make(seat, moves[-1])
    games.append(moves)
json.dump({"suffix": rounds.__file__[-3:], "games": games}, sys.stdout)
"""


def played(path: str) -> Any:
    """What a program of its own plays with the modules of ``path``, or else with the installed ones."""
    run = subprocess.run(
        [sys.executable, "-c", PLAY],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.mark.skipif(not WHEEL, reason="compares a wheel with its source")
def test_the_same_seed_plays_the_same_games_compiled_and_interpreted() -> None:
    compiled = played("")
    interpreted = played(os.pathsep.join(str(SOURCE / folder) for folder in ("clients", "server")))
    assert (compiled["suffix"], interpreted["suffix"]) == (".so", ".py")
    assert all(compiled["games"])
    assert compiled["games"] == interpreted["games"]
