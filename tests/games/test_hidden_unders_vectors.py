"""Whole games made by an independent implementation of the rules must come out the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from croupier_games.hidden_unders import GAME

VECTORS = Path(__file__).parent.parent / "vectors" / "hidden_unders-games.jsonl"
GAMES = [json.loads(line) for line in VECTORS.read_text().splitlines()]


@pytest.mark.parametrize("vector", GAMES, ids=[f"line{number}" for number in range(1, len(GAMES) + 1)])
def test_a_vector_replays_move_by_move(vector: dict[str, Any]) -> None:
    state = GAME.load_deal(vector["deals"][0], vector["players"], vector["options"])
    deal = 0
    for entry in vector["moves"]:
        if GAME.needs_deal(state):
            deal += 1
            state = GAME.next_deal(state, vector["deals"][deal])
        assert (deal, GAME.to_act(state)) == (entry["d"], entry["s"])
        assert len(GAME.legal_moves(state)) == entry["n"], entry
        move = GAME.parse_move(entry["m"])
        assert GAME.format_move(move) == entry["m"]
        state = GAME.apply(state, entry["s"], move)
    assert GAME.scores(state) == vector["scores"]
    assert GAME.facts(state) == vector["facts"]


def test_the_vectors_cover_rounds_both_decks_auto_done_and_the_turn_limit() -> None:
    options = [vector["options"] for vector in GAMES]
    assert {vector["players"] for vector in GAMES} == {2, 3, 4, 5, 6}
    assert {o["decks"] for o in options} == {1, 2}
    assert {o["auto_done"] for o in options} == {False, True}
    assert {o["rounds"] for o in options} > {1}
    assert any(vector["facts"]["winner"] is None for vector in GAMES)
