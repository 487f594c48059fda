"""The sequential test: it errs as seldom as it promises, and looks at nothing after its answer."""

from __future__ import annotations

import random
from itertools import islice
from math import log, sqrt
from typing import Any

import pytest

from croupier.arena import ArenaError, PlayedGame, Sprt, run_arena
from croupier.arena.sprt import deal_score, share_of_elo

DEALS = 4_000
"""More than any test of the elos below takes."""
RUNS = 200


def scores(chance: random.Random, share: float, luck: float) -> Any:
    """Scores of deals with two games, which share the luck of the cards: ``share`` is the mean."""
    while True:
        lucky = luck if chance.random() < 0.5 else -luck
        games = [chance.random() < share + lucky, chance.random() < share - lucky]
        yield sum(games) / 2


def verdicts(elo: float, luck: float, seed: int) -> list[Sprt]:
    chance = random.Random(seed)
    tests = [Sprt(0, 80) for _ in range(RUNS)]
    for test in tests:
        for score in islice(scores(chance, share_of_elo(elo), luck), DEALS):
            if test.add(score):
                break
    return tests


@pytest.mark.parametrize("luck", [0.0, 0.35])
@pytest.mark.parametrize(("elo", "wrong"), [(0, "elo1"), (80, "elo0")])
def test_it_errs_no_more_often_than_once_in_twenty(elo: float, wrong: str, luck: float) -> None:
    tests = verdicts(elo, luck, seed=2)
    errors = sum(test.accepted == wrong for test in tests)
    assert all(test.accepted for test in tests)
    # 5% and three standard deviations of a count of 200
    assert errors / RUNS < 0.05 + 3 * sqrt(0.05 * 0.95 / RUNS)


def test_luck_that_cancels_saves_deals() -> None:
    plain, cancelled = (sum(test.deals for test in verdicts(80, luck, seed=3)) for luck in (0.0, 0.35))
    assert cancelled < 0.8 * plain


def test_the_ratio_is_that_of_normal_scores_where_there_are_many() -> None:
    test, chance = Sprt(-2, 2), random.Random(4)
    seen = [test.add(score) or score for score in islice(scores(chance, 0.5, 0.2), 2000)]
    low, high = share_of_elo(-2), share_of_elo(2)
    mean = sum(map(float, seen)) / len(seen)
    variance = sum((float(score) - mean) ** 2 for score in seen) / len(seen)
    assert test.accepted is None
    expected = len(seen) * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert test.llr == pytest.approx(expected, rel=0.02, abs=0.01)


def test_once_decided_it_stays_decided() -> None:
    test = Sprt(0, 100)
    while test.add(1.0) is None:
        pass
    before = test.as_plain()
    assert [test.add(0.0) for _ in range(50)] == ["elo1"] * 50
    assert test.as_plain() == before
    assert before["bounds"] == [round(log(0.05 / 0.95), 4), round(log(0.95 / 0.05), 4)]


@pytest.mark.parametrize("elos", [(5, 5), (5, 0), (float("nan"), 1), (0, float("inf"))])
def test_elos_that_no_test_can_tell_apart_are_refused(elos: tuple[float, float]) -> None:
    with pytest.raises(ArenaError, match="less than the second"):
        Sprt(*elos)


def test_an_arena_stops_at_the_answer() -> None:
    games: list[PlayedGame] = []
    result = run_arena("doudizhu", ["easy", "random"], 500, "s", sprt=(0, 200), on_game=games.append)
    assert result.sprt is not None
    assert result.sprt.accepted == "elo1"
    assert result.boards == result.sprt.deals == len(games) // 2 < 60
    again = Sprt(0, 200)
    answers = [
        again.add(deal_score(games[start : start + 2], "easy", "random")) for start in range(0, len(games), 2)
    ]
    assert answers == [None] * (result.boards - 1) + ["elo1"]
    assert result.as_plain()["sprt"]["accepted"] == "elo1"


def test_a_sequential_test_is_between_two() -> None:
    with pytest.raises(ArenaError, match="between two players, not 3"):
        run_arena("basic_rummy", ["easy"] * 3, 1, "s", sprt=(0, 5))
