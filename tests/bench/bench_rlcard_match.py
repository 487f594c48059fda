"""Dou Dizhu levels against RLCard's rule agent ``doudizhu-rule-v1``, or against each other.

Every deal is played twice with the sides swapped: the first bidder is forced to bid 3, so the
landlord's cards and seat are the same in both games, and once one side is landlord, once the
other. The games run on our rules; RLCard's agent sits in a process of its own, in the virtual
environment of the benches, and is handed states as its own game makes them. The unit of the
statistics is the deal: win share with a 95% interval by bootstrap over deals.

    PYTHONPATH=tests .venv/bin/python -m bench.bench_rlcard_match hard --deals 400 [--against easy]

The time of a move is CPU time, of the level and whatever it runs on: rules compiled or not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, cast

from croupier.arena.game import MoveTexts
from croupier.bots import Bot, bot_maker
from croupier_games import GAMES

PEERS = Path(__file__).resolve().parents[2] / ".venv-bench" / "bin" / "python"
RANKS = "3456789TJQKA2BR"
"""How RLCard writes ranks, weakest first; our card texts begin with them."""
RESAMPLES = 2000

Plain = dict[str, Any]


def written(cards: Sequence[str]) -> str:
    """Our card texts as RLCard writes cards: ranks alone, weakest first."""
    return "".join(sorted((card[0] for card in cards), key=RANKS.index))


class Peer:
    """RLCard's agent in its process; a context."""

    def __enter__(self) -> Self:
        script = Path(__file__).with_name("rlcard_agent.py")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [str(PEERS), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return self

    def __exit__(self, *_: object) -> None:
        cast(IO[str], self._process.stdin).close()
        self._process.wait()

    def tell(self, message: Plain) -> None:
        """Send a line."""
        stdin = cast(IO[str], self._process.stdin)
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()

    def ask(self, state: Plain) -> str:
        """The action in this state."""
        self.tell(state)
        return cast(IO[str], self._process.stdout).readline().strip()


class RlcardBot:
    """RLCard's agent as a bot: what its game would show it is made from the view."""

    def __init__(self, peer: Peer, seed: int) -> None:
        self._peer = peer
        peer.tell({"seed": seed % (1 << 32)})

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """The agent's action among the legal moves, all of which RLCard knows."""
        by_action = {written(move.split()[1:]) or "pass": move for move in legal_moves}
        return by_action[self._peer.ask(raw_state(view, list(by_action)))]


def raw_state(view: Plain, actions: list[str]) -> Plain:
    """The state that RLCard's game hands its agent; players are numbered from the landlord on."""
    landlord = view["landlord"]
    played: list[list[str]] = [[], [], []]
    for play in view["plays"]:
        played[(play["seat"] - landlord) % 3] += play["cards"]
    own = (view["to_act"] - landlord) % 3
    seen = [card for card in view["bottom"] if card[0] not in written(played[0])]
    gone = {*view["hand"], *(card for cards in played for card in cards)}
    return {
        "self": own,
        "landlord": 0,
        "current_hand": written(view["hand"]),
        "others_hand": written([card for card in DECK if card not in gone]),
        "seen_cards": written(seen),
        "played_cards": [written(cards) for cards in played],
        "num_cards_left": [view["hand_counts"][(landlord + player) % 3] for player in range(3)],
        "trace": [
            [(play["seat"] - landlord) % 3, written(play["cards"]) or "pass"] for play in view["plays"]
        ],
        "actions": actions,
    }


DECK = [f"{rank}{suit}" for rank in RANKS[:13] for suit in "CDHS"] + ["BJ", "RJ"]


class Side(NamedTuple):
    """One side of a match: how its bots are made, and what each of their moves took."""

    name: str
    make: Any
    seconds: list[float]


def forced(number: int, seed: int) -> Any:
    """The state of one deal in which the first bidder bid 3."""
    game = GAMES["doudizhu"]
    rng = random.Random(f"{seed}/{number}")
    deck = game.deck(3, game.options())
    rng.shuffle(deck)
    state = game.load_deal(game.deal_from(deck, rng.randrange(3), 3), 3, game.options())
    return game.apply(state, game.to_act(state) or 0, game.parse_move("bid 3"))


def play(state: Any, landlord: Side, farmers: Side, seed: int) -> tuple[bool, int]:
    """One game from its first lead: whether the landlord won it, and the stake."""
    game = GAMES["doudizhu"]
    alone = game.to_act(state)
    sides = [landlord if seat == alone else farmers for seat in range(3)]
    bots: list[Bot] = [side.make(seed + seat) for seat, side in enumerate(sides)]
    while (seat := game.to_act(state)) is not None:
        view, legal = game.view(state, seat), MoveTexts(game, game.legal_moves(state))
        start = time.process_time()
        answer = bots[seat].choose(view, legal)
        sides[seat].seconds.append(time.process_time() - start)
        state = game.apply(state, seat, game.parse_move(answer))
    scores = game.scores(state) or []
    return scores[alone or 0] > 0, abs(scores[(alone or 0) - 1])


class Result(NamedTuple):
    """Of each deal: games won of two, those as landlord, and the score in farmers' stakes."""

    wins: list[int]
    as_landlord: list[int]
    points: list[int]


def match(one: Side, other: Side, deals: range, seed: int, show: bool = False) -> Result:
    """Both games of each deal."""
    result = Result([], [], [])
    for number in deals:
        state = forced(number, seed)
        won, stake = play(state, one, other, 1000 * number + seed)
        lost, other_stake = play(state, other, one, 1000 * number + seed)
        result.wins.append(won + (not lost))
        result.as_landlord.append(won)
        result.points.append(2 * (stake if won else -stake) + 2 * (-other_stake if lost else other_stake))
        if show and (number + 1) % 10 == 0:
            print(summary(one, other, result), flush=True)
    return result


def interval(shares: Sequence[float]) -> tuple[float, float]:
    """95% of the means of resampled deals."""
    rng = random.Random(0)
    means = sorted(statistics.fmean(rng.choices(shares, k=len(shares))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-1 - RESAMPLES // 40]


def summary(one: Side, other: Side, result: Result) -> str:
    """One line of results."""
    shares = [wins / 2 for wins in result.wins]
    low, high = interval(shares)
    deals = len(shares)
    alone = sum(result.as_landlord) / deals
    farmers = (sum(result.wins) - sum(result.as_landlord)) / deals
    seconds = sorted(one.seconds)
    middle, late = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
    return (
        f"{one.name} against {other.name}: win share {statistics.fmean(shares):.3f} [{low:.3f}, {high:.3f}]"
        f" on {deals} deals; landlord {alone:.3f}, farmers {farmers:.3f};"
        f" points a deal {statistics.fmean(result.points):+.2f};"
        f" CPU a move {1000 * middle:.2f} ms median, {1000 * late:.2f} ms p99"
    )


def run(levels: Sequence[str], deals: int, seed: int = 1) -> None:
    """One match of each level against RLCard's agent, where that is installed."""
    if not PEERS.exists():
        print("RLCard's rule agent not played against: make bench installs it")
        return
    for level in levels:
        with Peer() as peer:
            rlcard = Side("rlcard", partial(RlcardBot, peer), [])
            one = Side(level, bot_maker("doudizhu", level), [])
            print(summary(one, rlcard, match(one, rlcard, range(deals), seed)), flush=True)


def main() -> None:
    """Play one match, with a line every 10 deals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("player", help="a level or module:Class")
    parser.add_argument("--against", default="rlcard", help="another one, or rlcard")
    parser.add_argument("--deals", type=int, default=400)
    parser.add_argument("--start", type=int, default=0, help="the first deal's number")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with Peer() if chosen.against == "rlcard" else nullcontext() as peer:
        make = partial(RlcardBot, peer) if peer else bot_maker("doudizhu", chosen.against)
        one, other = (
            Side(chosen.player, bot_maker("doudizhu", chosen.player), []),
            Side(chosen.against, make, []),
        )
        deals = range(chosen.start, chosen.start + chosen.deals)
        print(summary(one, other, match(one, other, deals, chosen.seed, show=True)))


if __name__ == "__main__":
    main()
