"""What the stronger Dou Dizhu levels think: plans, worlds, clues, the solver, search and bids."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from inspect import signature
from itertools import count, islice
from typing import Any

import pytest

from bench.bench_rlcard_match import Side, forced, match, raw_state, written
from croupier.arena.game import MoveTexts
from croupier.bots import bot_maker, make_bot
from croupier.bots.doudizhu import clues, worlds
from croupier.bots.doudizhu.bidding import call, win_rate
from croupier.bots.doudizhu.hands import DECK, counts_of, levels_of, size_of, split, text_of
from croupier.bots.doudizhu.knowledge import Knowledge
from croupier.bots.doudizhu.levels import EXPERT, HARD, SearchBot
from croupier.bots.doudizhu.plans import cost, plan
from croupier.bots.doudizhu.policy import choose
from croupier.bots.doudizhu.search import Budget, Search, candidates
from croupier.bots.doudizhu.solver import Solver
from croupier_games import GAMES
from croupier_games.doudizhu import cardset, legal
from croupier_games.doudizhu.combinations import PLAYS

GAME = GAMES["doudizhu"]
RANKS = list(range(13)) * 4 + [13, 14]
TINY = Budget(candidates=4, playouts=20, bidding=4, choice=2, solved=8, nodes=50, watchdog=60)


def counts(text: str) -> int:
    """Of ranks written together, as in ``"334BR"``."""
    return counts_of(list(text))


def hands_of(rng: random.Random, *sizes: int) -> list[int]:
    """So many cards each, of one shuffled deck."""
    deck = rng.sample(RANKS, sum(sizes))
    return [sum(1 << 4 * deck.pop() for _ in range(size)) for size in sizes]


def positions(seed: int) -> Iterator[tuple[Any, int]]:
    """States of play with somebody to act, and the seat; random moves, games without end."""
    rng = random.Random(seed)
    for number in count():
        state = forced(number, seed)
        while (seat := GAME.to_act(state)) is not None:
            yield state, seat
            moves = GAME.legal_moves(state)
            state = GAME.apply(state, seat, moves[rng.randrange(len(moves))])


# --- Hands and plans ---------------------------------------------------------------------------------


def test_levels_are_those_of_the_rules() -> None:
    for seed in range(100):
        bits = sum(random.Random(seed).sample(cardset.BITS, 17))
        assert levels_of(cardset.counts_of(bits)) == cardset.levels_of(bits)


def test_a_plan_is_the_hand_in_combinations_and_costs_what_they_cost() -> None:
    rng = random.Random(1)
    for _ in range(200):
        (hand,) = hands_of(rng, rng.randint(1, 20))
        groups = plan(hand)
        assert sum(groups) == hand
        assert all(group in PLAYS for group in groups)
        assert cost(hand) == sum(map(cost, groups))


def test_plans_find_no_dearer_way_than_the_easy_split() -> None:
    rng = random.Random(2)
    for _ in range(100):
        (hand,) = hands_of(rng, 17)
        assert cost(hand) <= sum(cost(group.counts) for group in split(hand).groups)


def test_text_plays_the_lowest_suits() -> None:
    assert text_of(["3C", "3D", "3H", "4S"], counts("334")) == "play 3C 3D 4S"
    assert text_of(["3C"], 0) == "pass"


# --- The rule policy ---------------------------------------------------------------------------------

OTHERS = counts("3344556677889TJQ2B")


@pytest.mark.parametrize(
    ("hand", "role", "held", "table", "owner", "play"),
    [
        ("3334445566", 0, (10, 9, 9), "", 0, "3334445566"),  # goes out in one
        ("3R", 1, (9, 2, 9), "", 1, "R"),  # what nobody beats first, then out
        ("4999", 2, (5, 9, 4), "", 2, "4999"),
        ("36668K", 2, (5, 1, 6), "", 2, "3"),  # feeds a partner with one card
        ("36688", 2, (1, 9, 5), "", 2, "66"),  # no single to a landlord with one card
        ("3579K", 2, (1, 9, 5), "6", 1, "K"),
        ("3579K", 2, (1, 9, 5), "6", 0, "K"),  # the highest before a landlord with one card
        ("3579K", 1, (9, 5, 1), "6", 2, "pass"),
        ("5789TJK", 1, (9, 7, 9), "6", 2, "pass"),  # the landlord has let its partner's play pass
        ("3579K", 0, (5, 9, 9), "6", 2, "7"),
        ("35R", 0, (3, 9, 9), "Q", 1, "R"),
        ("5555K", 0, (5, 9, 9), "2", 1, "5555"),  # wins: a bomb, then out
        ("5555JK6", 0, (7, 9, 9), "2", 1, "pass"),
        ("5555JK6", 0, (7, 1, 9), "2", 1, "5555"),  # stops an enemy with one card
    ],
)
def test_the_policy(hand: str, role: int, held: tuple[int, ...], table: str, owner: int, play: str) -> None:
    made = choose(counts(hand), OTHERS, role, list(held), counts(table), owner)
    assert made == (0 if play == "pass" else counts(play))


# --- Worlds and clues --------------------------------------------------------------------------------


def test_a_world_is_a_deal_that_the_view_allows() -> None:
    rng = random.Random(3)
    for state, seat in islice(positions(3), 0, 400, 7):
        view = GAME.view(state, seat)
        known = Knowledge(view)
        played = counts_of(card for play in view["plays"] for card in play["cards"])
        for world in worlds.drawn(known, 3, 2, rng):
            assert sum(world) + played == DECK
            assert [size_of(hand) for hand in world] == known.held
            assert world[known.role] == counts_of(view["hand"])
            assert all(known.shown >> shift & 15 <= world[0] >> shift & 15 for shift in range(0, 60, 4))


def test_what_is_drawn_follows_from_the_view_alone() -> None:
    """The same view of two different deals: the two others' hands changed places, card by card."""
    state = forced(0, 4)
    seat = GAME.to_act(state) or 0
    swapped = {**fields_of(state), "hands": tuple(state.hands[(2 * seat - at) % 3] for at in range(3))}
    assert swapped["hands"] != state.hands
    assert GAME.view(type(state)(**swapped), seat) == GAME.view(state, seat)
    answers = [
        SearchBot(TINY, 5).choose(GAME.view(each, seat), MoveTexts(GAME, GAME.legal_moves(each)))
        for each in (state, type(state)(**swapped))
    ]
    assert answers[0] == answers[1]


def fields_of(state: Any) -> dict[str, Any]:
    """The fields of a state, compiled or not."""
    return {name: getattr(state, name) for name in signature(type(state)).parameters}


def test_clues_are_passes_on_enemies_and_leads_of_others() -> None:
    plays = [(0, counts("3")), (1, counts("4")), (2, 0), (0, 0), (1, counts("77"))]
    found = clues.clues_for(2, plays)
    assert found == [
        (1, counts("77"), 0, counts("77")),
        (0, 0, counts("4"), 0),
        (0, counts("3"), 0, counts("3")),
    ]


@pytest.mark.parametrize(
    ("likely", "unlikely"),
    [("3369", "3379"), ("3344", "3349"), ("3349", "334A"), ("AAA", "9")],
)
def test_who_passed_on_an_8_is_unlikely_to_hold_what_beats_it(likely: str, unlikely: str) -> None:
    passed = [clues.Clue(0, 0, counts("8"), 0)]
    assert clues.weight(passed, [counts(likely), 0, 0]) >= clues.weight(passed, [counts(unlikely), 0, 0]) > 0


def test_who_led_a_7_is_unlikely_to_hold_lower_cards_alone() -> None:
    led = [clues.Clue(0, counts("7"), 0, counts("7"))]
    weights = [clues.weight(led, [counts(hand), 0, 0]) for hand in ("89J", "33389", "389", "34589")]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == weights[1] > weights[2] > weights[3] > 0


# --- The solver --------------------------------------------------------------------------------------


def landlord_wins(hands: tuple[int, ...], role: int, table: int, owner: int) -> bool:
    """The definition, move by move, without a memory or an order."""
    levels = levels_of(hands[role])
    lead = not table or owner == role
    for play in legal.leads(levels) if lead else legal.follows(levels, PLAYS[table]):
        after = tuple(hand - play if at == role else hand for at, hand in enumerate(hands))
        following = (role + 1) % 3
        if play and not after[role]:
            won = role == 0
        elif play:
            won = landlord_wins(after, following, play, role)
        else:
            won = landlord_wins(after, following, table, owner)
        if won == (role == 0):
            return won
    return role != 0


def test_the_solver_says_what_trying_everything_says() -> None:
    rng = random.Random(6)
    solver = Solver()
    answers = set()
    for _ in range(150):
        hands = hands_of(rng, *(rng.randint(1, 4) for _ in range(3)))
        role, owner = rng.randrange(3), rng.randrange(3)
        table = rng.choice([0, 1 << 4 * rng.randrange(15), 2 << 4 * rng.randrange(13)])
        exact = landlord_wins(tuple(hands), role, table, owner)
        assert solver.landlord_wins(hands, role, table, owner, 1 << 30) is exact
        answers.add(exact)
    assert answers == {True, False}


def test_the_solver_would_rather_not_say_than_guess() -> None:
    hands = hands_of(random.Random(7), 4, 4, 4)
    asked = [Solver().landlord_wins(hands, 0, 0, 0, nodes) for nodes in (0, 1, 1 << 30)]
    assert asked == [None, None, landlord_wins(tuple(hands), 0, 0, 0)]


# --- Search ------------------------------------------------------------------------------------------


def test_candidates_are_legal_differ_and_hold_a_pass_where_that_is_legal() -> None:
    for state, seat in islice(positions(8), 0, 600, 3):
        found = candidates(Knowledge(GAME.view(state, seat)), 10)
        assert 1 <= len(found) == len(set(found)) <= 10
        hand = GAME.view(state, seat)["hand"]
        for play in found:
            GAME.check(state, seat, GAME.parse_move(text_of(hand, play)))
        passes = "pass" in map(GAME.format_move, GAME.legal_moves(state))
        assert (0 in found) == passes or size_of(found[0]) == len(hand)


@pytest.mark.parametrize("budget", [TINY, HARD])
def test_a_thought_keeps_to_its_playouts_and_nodes(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    solve = Solver.landlord_wins

    def watched(self: Solver, *position: int) -> bool | None:
        won = solve(self, *position)
        asked.append(position[-1] - self._left)
        return won

    monkeypatch.setattr(Solver, "landlord_wins", watched)
    thinking = Search(budget, random.Random(9))
    for state, seat in islice(positions(9), 0, 120, 12):
        before = thinking.playouts
        thinking.best(Knowledge(GAME.view(state, seat)))
        assert thinking.playouts - before <= budget.playouts + 2 * budget.candidates
    assert all(nodes <= budget.nodes for nodes in asked)
    assert thinking.playouts > 0
    assert thinking.watchdog_cuts == 0


def test_the_budgets_grow_with_the_level() -> None:
    assert HARD.playouts * 4 <= EXPERT.playouts
    assert HARD.watchdog < EXPERT.watchdog


def test_a_watchdog_that_cuts_a_thought_short_is_recorded() -> None:
    state = forced(1, 10)
    known = Knowledge(GAME.view(state, GAME.to_act(state)))
    seconds = count(0, 1000)
    thinking = Search(HARD, random.Random(0), clock=lambda: next(seconds))
    assert thinking.best(known) in candidates(known, HARD.candidates)
    assert (thinking.watchdog_cuts, thinking.playouts) == (1, 0)


def test_search_finds_the_only_move_that_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 3 and QQ against 4, K and J only the pair first wins, whoever has what."""
    view = {
        "to_act": 0,
        "landlord": 0,
        "hand": ["3C", "QC", "QD"],
        "hand_counts": [3, 1, 2],
        "plays": [],
        "to_beat": None,
        "bottom": [],
    }
    monkeypatch.setattr("croupier.bots.doudizhu.knowledge.DECK", counts("3QQ4KJ"))
    known = Knowledge(view)
    assert Search(TINY, random.Random(1)).best(known) == counts("QQ")


def test_a_bot_that_has_played_on_thinks_like_one_of_the_same_past() -> None:
    """The same seed and the same views, through JSON and not: the same answers and playouts."""
    once, again = SearchBot(TINY, 3), SearchBot(TINY, 3)
    for state, seat in islice(positions(11), 60):
        view, moves = GAME.view(state, seat), MoveTexts(GAME, GAME.legal_moves(state))
        plain = json.loads(json.dumps([view, list(moves)]))
        assert once.choose(view, moves) == again.choose(*plain)
    assert once.playouts == again.playouts > 0
    assert once.watchdog_cuts == 0


# --- Bids --------------------------------------------------------------------------------------------

STRONG = [
    "3C",
    "4C",
    "5C",
    "6C",
    "7C",
    "8C",
    "9C",
    "9D",
    "9H",
    "KC",
    "KD",
    "AC",
    "AD",
    "2C",
    "2D",
    "BJ",
    "RJ",
]
WEAK = ["3C", "3D", "4D", "4H", "5H", "6C", "6D", "8D", "8H", "9D", "9S", "TC", "JC", "JD", "KC", "KD", "AS"]
CALLS = ["pass", "bid 1", "bid 2", "bid 3"]


@pytest.mark.parametrize("level", ["normal", "hard"])
def test_a_bid_follows_the_chance_to_win(level: str) -> None:
    answers = [
        make_bot("doudizhu", level, 1).choose({"phase": "bidding", "hand": hand}, CALLS)
        for hand in (STRONG, WEAK)
    ]
    assert answers == ["bid 3", "pass"]


def test_a_chance_is_a_share_of_playouts() -> None:
    strong, weak = (win_rate(hand, 20, random.Random(1)) for hand in (STRONG, WEAK))
    assert 0 <= weak < 0.4 < 0.7 < strong <= 1


def test_a_bid_is_legal_or_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    for rate in (0.2, 0.46, 0.9):
        monkeypatch.setattr("croupier.bots.doudizhu.bidding.win_rate", lambda *_, rate=rate: rate)
        for bid in range(3):
            legal_calls = ["pass", *CALLS[bid + 1 :]]
            assert call(WEAK, legal_calls, 1, random.Random(0)) in legal_calls


# --- Matches -----------------------------------------------------------------------------------------


def test_normal_beats_easy_with_sides_swapped() -> None:
    normal, easy = (Side(level, bot_maker("doudizhu", level), []) for level in ("normal", "easy"))
    result = match(normal, easy, range(100), 1)
    assert sum(result.wins) / 200 > 0.5
    assert all(0 <= wins <= 2 for wins in result.wins)


def test_a_state_for_rlcard_says_what_the_view_says() -> None:
    for state, seat in islice(positions(12), 0, 200, 9):
        view = GAME.view(state, seat)
        raw = raw_state(view, ["pass"])
        assert raw["current_hand"] == written(view["hand"])
        assert len(raw["others_hand"]) == sum(raw["num_cards_left"]) - len(raw["current_hand"])
        assert len("".join(raw["played_cards"])) == 54 - sum(raw["num_cards_left"])
        assert raw["num_cards_left"][raw["self"]] == len(raw["current_hand"])
        assert raw["landlord"] == 0
        assert [who for who, _ in raw["trace"]] == [turn % 3 for turn in range(len(raw["trace"]))]
