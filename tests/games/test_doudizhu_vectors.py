"""Dou Dizhu: the test vectors, made by another implementation of the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from croupier_games.doudizhu import GAME, classify
from croupier_games.doudizhu.cardset import RANK_TEXTS, lowest_suits
from croupier_games.doudizhu.combinations import ROCKET
from croupier_games.doudizhu.legal import LegalPlays
from croupier_games.doudizhu.moves import PASS, Play
from games.doudizhu_positions import RANKS, bits, bits_of_ranks, ranks_of_bits

VECTORS = Path(__file__).parents[1] / "vectors"
TYPES = {"four+2singles": "four_singles", "four+2pairs": "four_pairs"}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / f"doudizhu-{name}.jsonl").read_text().splitlines()]


COMBINATIONS, LEGAL, GAMES = lines("combinations"), lines("legal"), lines("games")


def test_the_vectors_are_all_here() -> None:
    assert (len(COMBINATIONS), len(LEGAL), len(GAMES)) == (119, 242, 40)


@pytest.mark.parametrize("listed", COMBINATIONS, ids=lambda listed: listed["ranks"])
def test_a_combination_is_what_is_listed(listed: dict[str, Any]) -> None:
    found = classify(bits_of_ranks(listed["ranks"]))
    if listed["type"] is None:
        assert found is None
        return
    assert found is not None
    name = TYPES.get(listed["type"], listed["type"].replace("+", "_").replace(" ", "_"))
    assert (found.name, found.shape.size) == (name, len(listed["ranks"]))
    if found.shape.kind != ROCKET:
        assert (found.shape.length, RANKS[found.top]) == (listed["core"], listed["top"])


@pytest.mark.parametrize("listed", LEGAL, ids=lambda listed: f"{len(listed['hand'])}-on-{listed['table']}")
def test_a_hand_has_the_plays_listed(listed: dict[str, Any]) -> None:
    hand = bits(" ".join(listed["hand"]))
    table = listed["table"] and classify(bits_of_ranks(listed["table"]))
    moves = list(LegalPlays(hand, table))
    plays = [move.bits for move in moves if isinstance(move, Play)]
    assert sorted([ranks_of_bits(play) for play in plays] + ["pass"] * moves.count(PASS)) == listed["legal"]
    assert all(play & ~hand == 0 for play in plays)


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_a_game_comes_out_as_listed(game: dict[str, Any]) -> None:
    state = GAME.load_deal(game["deals"][0], game["players"], game["options"])
    for before, listed in zip([{"d": 0}, *game["moves"]], game["moves"], strict=False):
        if listed["d"] != before["d"]:
            state = GAME.next_deal(state, game["deals"][listed["d"]])
        assert (GAME.to_act(state), len(GAME.legal_moves(state))) == (listed["s"], listed["n"])
        move = GAME.parse_move(listed["m"])
        assert GAME.format_move(move) == listed["m"]
        state = GAME.apply(state, listed["s"], move)
    assert state.deal.number == len(game["deals"]) - 1
    assert GAME.scores(state) == game["scores"]
    assert GAME.facts(state) == game["facts"]


def test_ranks_are_written_alike() -> None:
    assert [text[0] for text in RANK_TEXTS] == list(RANKS)
    assert ranks_of_bits(lowest_suits(bits("4C 4S RJ"), 2 << 4 | 1 << 56)) == "44R"
