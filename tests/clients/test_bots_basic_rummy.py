"""Basic Rummy above ``easy``: hands played on keep the rules, and what a bot makes of its view."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from clients.bot_views import views
from croupier.arena import run_arena
from croupier.bots import Plain, make_bot
from croupier.bots.basic_rummy.melds import (
    CARD_BITS,
    TEXTS,
    best_melds,
    mask_of,
    melding_pairs,
    melds_in,
    wants,
)
from croupier.bots.basic_rummy.playing import HOLD, HOLD_A_WHILE, LAY, NOBODY
from croupier.bots.basic_rummy.search import Race, SearchBot, plans_of
from croupier.bots.basic_rummy.worlds import Unseen
from croupier_games import GAMES
from croupier_games.basic_rummy import melds as rules_of_melds

RULES = GAMES["basic_rummy"]


def test_wanted_cards_and_melding_pairs_say_the_same() -> None:
    threes = {meld for meld in rules_of_melds.ALL_MELDS if meld.bit_count() == 3}
    for card in CARD_BITS.values():
        pairs = {first | second for first, second in melding_pairs(card)}
        assert pairs == {meld & ~card for meld in threes if meld & card}
    for first, second in combinations(CARD_BITS.values(), 2):
        wanted = {card for card in CARD_BITS.values() if first | second | card in threes}
        assert wants(first | second) == sum(wanted)


@pytest.mark.parametrize(
    ("hand", "value"),
    [
        ("4H 5H 6H 7H 7C 7D", 36),
        ("4H 5H 6H 6C 6D", 18),
        ("KC KD KH KS QS JS", 60),
        ("AC KC QC", 0),
    ],
)
def test_the_best_melds_hold_the_most_and_share_no_card(hand: str, value: int) -> None:
    chosen = best_melds(mask_of(hand.split()))
    assert sum(meld.bit_count() for meld in chosen) == sum(chosen).bit_count()
    assert sum(map(rules_of_melds.value_of, chosen)) == value


@pytest.mark.parametrize("players", RULES.players)
def test_a_world_has_every_card_once_and_all_that_the_view_shows(players: int) -> None:
    chance = random.Random(1)
    for view in views("basic_rummy", players, "worlds")[::3]:
        unseen = Unseen(view)
        world = unseen.deal(chance)
        places = [*world.hands, *world.melds, *world.pile, *world.stock]
        assert sum(place.bit_count() for place in places) == 52
        assert sum(places) == rules_of_melds.ALL_CARDS
        assert world.hands[unseen.me] == mask_of(view["hand"])
        for seat, hand in zip(view["seats"], world.hands, strict=True):
            assert hand.bit_count() == seat["hand_count"]
            assert not mask_of(seat["known"]) & ~hand


@pytest.mark.parametrize("players", RULES.players)
def test_no_card_is_lost_or_made_while_a_hand_is_played_on(players: int) -> None:
    chance = random.Random(2)
    for view in views("basic_rummy", players, "playing")[:60:7]:
        if view["phase"] != "draw":
            continue
        play = Unseen(view, [LAY, HOLD, LAY, HOLD][:players]).deal(chance)
        winner = play.play_out()
        places = [*play.hands, *play.melds, *play.pile, *play.stock]
        assert sum(place.bit_count() for place in places) == 52
        assert sum(places) == rules_of_melds.ALL_CARDS
        assert all(meld in rules_of_melds.FITTING for meld in play.melds)
        assert play.points >= 0
        assert winner == NOBODY or play.points > 0


def rummy_view(hand: str, others: int, melds: tuple[str, ...] = (), pile: str = "2S") -> Plain:
    return {
        "phase": "meld",
        "to_act": 0,
        "scores": [0, 0],
        "hand": hand.split(),
        "discard_pile": pile.split(),
        "melds": [{"seat": 1, "cards": cards.split()} for cards in melds],
        "seats": [
            {"hand_count": len(hand.split()), "has_melded": False, "has_gone_down": False, "known": []},
            {"hand_count": others, "has_melded": bool(melds), "has_gone_down": bool(melds), "known": []},
        ],
        "stock_known": [],
        "stock_count": 20,
        "turns": 0,
        "turn_overs": 0,
        "taken": None,
    }


HOLDING = "4H 5H 6H 9C 9D JS QC KD AC 2C 7D"
LEGAL = ["meld 4H 5H 6H", *[f"discard {card}" for card in HOLDING.split()]]


@pytest.mark.parametrize(("others", "answer"), [(10, "discard"), (4, "discard"), (3, "meld 4H 5H 6H")])
def test_normal_holds_its_meld_back_until_another_hand_is_small(others: int, answer: str) -> None:
    """RUM-17: going out in one turn counts double."""
    move = make_bot("basic_rummy", "normal", 0).choose(rummy_view(HOLDING, others), LEGAL)
    assert move.startswith(answer)
    assert move.split()[1] not in ("5H", "6H")


@pytest.mark.parametrize(("turns", "late"), [(3, False), (4, True)])
def test_a_meld_is_held_a_while_until_it_is_too_late_to_go_out_in_one_turn(turns: int, late: bool) -> None:
    """Eight cards are in no meld, and the third turn is on."""
    view = rummy_view(HOLDING, 10) | {"turns": turns}
    assert Unseen(view, [HOLD_A_WHILE] * 2).shown().lays(10) == late
    assert not Unseen(view, [HOLD] * 2).shown().lays(10)


def test_normal_goes_out_in_one_turn() -> None:
    view = rummy_view("4H 5H 6H 9C 9D 9S TC TD TS TH KD", 10)
    legal = ["meld 4H 5H 6H", "meld 9C 9D 9S", "meld TC TD TH TS", "discard KD"]
    assert make_bot("basic_rummy", "normal", 0).choose(view, legal).startswith("meld")


def test_the_discard_that_the_next_seat_may_want_is_more_dangerous() -> None:
    view = rummy_view(HOLDING, 10)
    view["seats"][1]["known"] = ["JH", "JD"]
    unseen = Unseen(view)
    assert unseen.danger(CARD_BITS["JS"]) >= 1 > unseen.danger(CARD_BITS["AC"])


def test_plans_begin_with_what_normal_does() -> None:
    for view in views("basic_rummy", 2, "plans")[:80]:
        if view["phase"] == "meld" and not view["seats"][view["to_act"]]["has_melded"]:
            unseen = Unseen(view)
            first = plans_of(unseen, unseen.shown())[0]
            legal = [f"discard {card}" for card in view["hand"] if card != view["taken"]]
            legal += ["meld " + " ".join(rules_of_melds.texts_of(meld)) for meld in melds_in(unseen.hand)]
            move = make_bot("basic_rummy", "normal", 0).choose(view, legal)
            assert first.lays == move.startswith("meld")
            assert first.lays or TEXTS[first.discard.bit_length() - 1] == move[-2:]


def test_a_race_is_won_at_the_target_and_even_at_the_start() -> None:
    play = Unseen(rummy_view(HOLDING, 10)).deal(random.Random(1))
    assert Race([0, 0], 0).chance(play, NOBODY) == 0.5
    assert 0.5 < Race([90, 0], 0).chance(play, NOBODY) < 0.7  # one hand gone out of at once is worth 100
    play.points = 60
    assert Race([50, 10], 0).chance(play, 0) == 1
    assert Race([10, 50], 0).chance(play, 1) == 0
    assert 0.5 < Race([120, 60], 0).chance(play, 0) < 1  # with 100 passed, they play to 300 or more


def test_search_remembers_who_goes_down_early() -> None:
    bot = SearchBot(1, 8, 60)
    view = rummy_view("4H 9C JS QC KD AC 2C 7D 8S 3D TS", 7, ("5C 6C 7C",))
    bot.choose(view, [f"discard {card}" for card in view["hand"]])
    assert bot._styles == [HOLD, LAY]


@pytest.mark.parametrize(("turns", "style"), [(0, LAY), (8, HOLD_A_WHILE)])
def test_who_goes_down_when_it_is_too_late_still_holds_a_while(turns: int, style: int) -> None:
    bot = SearchBot(1, 8, 60, style=HOLD_A_WHILE)
    view = rummy_view("4H 9C JS QC KD AC 2C 7D 8S 3D TS", 7, ("5C 6C 7C",)) | {"turns": turns}
    bot.choose(view, [f"discard {card}" for card in view["hand"]])
    assert bot._styles == [HOLD_A_WHILE, style]


def test_normal_beats_easy() -> None:
    normal, easy = run_arena("basic_rummy", ["normal", "easy"], 30, "normal-beats-easy").standings
    assert normal.win_share > easy.win_share + 0.2
