"""Basic Rummy: the test vectors, whole games made by another implementation of the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from croupier_games.basic_rummy import GAME

VECTORS = Path(__file__).parents[1] / "vectors" / "basic_rummy-games.jsonl"
GAMES: list[dict[str, Any]] = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def test_there_are_vectors_for_every_number_of_players() -> None:
    assert {game["players"] for game in GAMES} == set(GAME.players)
    assert sum(len(game["moves"]) for game in GAMES) > 20_000


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_a_game_comes_out_as_listed(game: dict[str, Any]) -> None:
    state = GAME.load_deal(game["deals"][0], game["players"], game["options"])
    dealt = 0
    for listed in game["moves"]:
        if listed["d"] != dealt:
            dealt += 1
            assert GAME.needs_deal(state)
            assert GAME.next_first(state) == game["deals"][dealt]["start"]
            state = GAME.next_deal(state, game["deals"][dealt])
        assert (GAME.to_act(state), len(GAME.legal_moves(state))) == (listed["s"], listed["n"])
        move = GAME.parse_move(listed["m"])
        assert GAME.format_move(move) == listed["m"]
        state = GAME.apply(state, listed["s"], move)
    assert dealt == len(game["deals"]) - 1
    assert GAME.running_scores(state) == game["scores"]
    assert GAME.facts(state) == game["facts"]
    assert GAME.scores(state) == (game["scores"] if game["facts"]["finished"] else None)
