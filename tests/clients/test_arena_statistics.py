"""The arena's arithmetic: seatings, intervals over deals, who did better."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from croupier.arena import PlayedGame
from croupier.arena import intervals as intervals_module
from croupier.arena.intervals import Interval, ratio_interval, wilson
from croupier.arena.schedule import balanced_latin_square, schedule_of
from croupier.arena.tally import Tally

both_methods = pytest.mark.parametrize("method", ["bootstrap", "normal"])

# --- Seatings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 7))
def test_each_player_is_in_each_seat_and_behind_each_other_equally_often(players: int) -> None:
    rows = balanced_latin_square(players)
    assert len(rows) == players * (1 + players % 2)
    seats = Counter((player, seat) for row in rows for seat, player in enumerate(row))
    behind = Counter(pair for row in rows for pair in pairwise(row))
    assert len(seats) == players**2
    assert len(behind) == players * (players - 1)
    assert len({*seats.values()}) == len({*behind.values()}) == 1


def test_sides_take_turns_as_landlord() -> None:
    schedule = schedule_of("doudizhu", 2)
    assert (schedule.seats, schedule.seatings, schedule.caller) == (3, ((0, 1, 1), (1, 0, 0)), "easy")
    assert schedule_of("doudizhu", 2, "fixed").caller == "forced"
    assert schedule_of("doudizhu", 3).caller is None


# --- Intervals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("games", "wins", "low", "high"),
    [(100, 50, 0.4038, 0.5962), (10, 10, 0.7225, 1), (10, 0, 0, 0.2775), (0, 0, 0, 1)],
)
def test_wilsons_interval(games: int, wins: int, low: float, high: float) -> None:
    assert wilson(wins, games) == pytest.approx((low, high), abs=1e-4)


@both_methods
def test_an_interval_holds_95_times_in_100(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pairs of games of one deal that are far from independent: the landlord's hand decides most.
    monkeypatch.setattr(intervals_module, "method", lambda: method)
    monkeypatch.setattr(intervals_module, "RESAMPLES", 400)
    chance = random.Random(1)
    held = 0
    for _ in range(400):
        wins = [chance.choices((0, 1, 2), (0.2, 0.5, 0.3))[0] for _ in range(80)]
        low, high = found(wins, [2] * 80)
        held += low <= 0.55 <= high
    assert 0.92 < held / 400 < 0.98


@both_methods
def test_games_of_one_deal_are_no_independent_witnesses(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals_module, "method", lambda: method)
    low, high = found([0, 2] * 100, [2] * 200)
    narrow_low, narrow_high = found([1, 1, 2, 0] * 50, [2] * 200)
    assert 0.12 < high - low < 0.15
    assert narrow_high - narrow_low < 0.75 * (high - low)


@both_methods
def test_deals_without_a_game_that_counts_say_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals_module, "method", lambda: method)
    assert found([0, 1, 2, 0], [2, 2, 2, 0]) == found([0, 1, 2], [2, 2, 2])


def found(parts: list[int], wholes: list[int]) -> Interval:
    interval = ratio_interval(parts, wholes)
    assert interval is not None
    return interval


def test_where_all_deals_agree_the_interval_is_not_a_point() -> None:
    tally = Tally()
    for _ in range(10):
        tally.add(games=2, decided=2, wins=2, points=6)
    assert (tally.share, tally.share_interval) == (1, wilson(10, 10))
    assert (tally.mean, tally.mean_interval) == (3, None)
    assert Tally().share_interval == (0, 1)


def test_the_same_results_have_the_same_interval() -> None:
    assert found([0, 1, 2, 2], [2] * 4) == found([0, 1, 2, 2], [2] * 4)


# --- Who did better ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "scores", "winners", "better"),
    [
        ("AB", (3, -3), "A", 1),
        ("AB", (0, 0), "", 0),
        ("ABB", (2, -1, -1), "A", 1),
        ("CAB", (2, -1, -1), "C", 0),
        ("CAB", (-2, 1, 1), "AB", 0),
        ("CAB", (50, 20, 10), "C", 1),
        ("CAB", (50, 50, 10), "", 1),
        ("ABC", (-2, 1, 1), "BC", -1),
    ],
)
def test_who_did_better(names: str, scores: tuple[int, ...], winners: str, better: int) -> None:
    empty: tuple[tuple[int, ...], ...] = ((),) * len(names)
    cuts = (0,) * len(names)
    played = PlayedGame("b", tuple(names), scores, frozenset(winners), None, "finished", {}, empty, cuts)
    assert (played.better("A", "B"), played.better("B", "A")) == (better, -better)
