"""RLCard's rule agent for Dou Dizhu, asked over pipes; runs in a virtual environment of its own.

A line in is ``{"seed": n}``, which begins a game, or a raw state as RLCard's game hands it to its
agents, players numbered from the landlord on; a line out is the action. The agent draws from
numpy's global generator, so a seed fixes its game.
"""

import json
import sys

import numpy as np
from rlcard.games.doudizhu.utils import CARD_TYPE, TYPE_CARD
from rlcard.models.doudizhu_rule_models import DouDizhuRuleAgentV1

PLACES = {
    cards: place
    for place, cards in enumerate(
        cards for weights in TYPE_CARD.values() for listed in weights.values() for cards in listed
    )
}
"""Each action's place in RLCard's own lists, in which the agent takes the first of equals."""
AFTER_THE_REST = {"pass": -1, "rocket": 1, "bomb": 2}


def place(action):
    """Where RLCard's game lists an action that follows: pass, the type to beat, rocket, bombs."""
    kind = action if action == "pass" else CARD_TYPE[0][action][0][0]
    return AFTER_THE_REST.get(kind, 0), PLACES.get(action, -1)


def main():
    """Answer until the pipe ends."""
    agent = DouDizhuRuleAgentV1()
    for line in sys.stdin:
        state = json.loads(line)
        if "seed" in state:
            np.random.seed(state["seed"])
            continue
        state["actions"].sort(key=place)
        state["trace"] = [tuple(each) for each in state["trace"]]
        print(agent.step({"raw_obs": state}), flush=True)


if __name__ == "__main__":
    main()
