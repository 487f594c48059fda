"""Dou Dizhu random play of RLCard and OpenSpiel; runs in their own virtual environment.

``python peers.py rlcard|open_spiel SECONDS SEED`` prints ``{"games": games per CPU second}``.
"""

import json
import random
import sys
import time


def rlcard(rng):
    """RLCard's raw game, without its state encoding for agents' networks."""
    from rlcard.games.doudizhu import Game

    game = Game()

    def play():
        state, _ = game.init_game()
        while not game.is_over():
            state, _ = game.step(rng.choice(state["actions"]))

    return play


def open_spiel(rng):
    """OpenSpiel's C++ game driven from Python."""
    import pyspiel

    game = pyspiel.load_game("dou_dizhu")

    def play():
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])

    return play


def main():
    """Play for so many CPU seconds."""
    name, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    play = {"rlcard": rlcard, "open_spiel": open_spiel}[name](random.Random(seed))
    games, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        play()
        games += 1
    print(json.dumps({"games": games / spent}))


if __name__ == "__main__":
    main()
