"""Is a changed constant better? The Dou Dizhu rule policy against itself, one side with the change.

How the constants of ``croupier.bots.doudizhu.plans`` and ``policy`` were found: one was changed at
a time and kept where it won more over a few thousand deals, each played twice with the sides
swapped. Playouts use the same policy, so the searching levels gain by it, too.

    PYTHONPATH=tests .venv/bin/python -m bench.fit_doudizhu _SHED=3 _RUN_COST=80 --deals 1000
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from importlib import util
from types import ModuleType
from typing import Any

from bench.bench_rlcard_match import interval
from croupier.bots.doudizhu.hands import size_of
from croupier_games.doudizhu.combinations import PLAYS

Policy = Callable[[int, int, int, list[int], int, int], int]

RANKS = [*range(13)] * 4 + [13, 14]


def copy_of(name: str) -> ModuleType:
    """The module once more, apart from the one that is imported."""
    spec = util.find_spec(f"croupier.bots.doudizhu.{name}")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def variant(changed: Mapping[str, Any]) -> Policy:
    """The rule policy with other constants. Raises ``SystemExit`` for one that there is not."""
    plans, policy = copy_of("plans"), copy_of("policy")
    policy.__dict__.update(cost=plans.cost, plan=plans.plan)
    for name, value in changed.items():
        home = next((module for module in (plans, policy) if name in vars(module)), None)
        if home is None:
            raise SystemExit(f"there is no constant {name}")
        setattr(home, name, value)
    choose: Policy = policy.choose
    return choose


def landlord_wins(hands: Sequence[int], policies: Sequence[Policy]) -> bool:
    """One deal from the landlord's lead on, hands and policies by role."""
    hands, held = [*hands], [size_of(hand) for hand in hands]
    role = table = owner = 0
    while True:
        table = 0 if owner == role else table
        hand = hands[role]
        play = policies[role](hand, sum(hands) - hand, role, held, table, owner)
        if play:
            if play == hand:
                return role == 0
            hands[role] -= play
            held[role] -= PLAYS[play].shape.size
            table, owner = play, role
        role = (role + 1) % 3


def shares(one: Policy, other: Policy, deals: int, seed: int) -> list[float]:
    """Of each deal, the share of the two games that ``one`` won."""
    rng = random.Random(seed)
    won = []
    for _ in range(deals):
        cards = [1 << 4 * rank for rank in rng.sample(RANKS, 54)]
        hands = [sum(cards[:20]), sum(cards[20:37]), sum(cards[37:])]
        alone = landlord_wins(hands, [one, other, other])
        together = not landlord_wins(hands, [other, one, one])
        won.append((alone + together) / 2)
    return won


def main() -> None:
    """Try each change by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("changes", nargs="+", help="NAME=VALUE")
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for change in chosen.changes:
        name, _, value = change.partition("=")
        won = shares(variant({name: ast.literal_eval(value)}), variant({}), chosen.deals, chosen.seed)
        low, high = interval(won)
        print(f"{change}: win share {statistics.fmean(won):.4f} [{low:.4f}, {high:.4f}]", flush=True)


if __name__ == "__main__":
    main()
