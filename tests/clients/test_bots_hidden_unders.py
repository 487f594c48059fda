"""Hidden Unders above ``easy``: the fast rounds keep the rules, and what a bot makes of its view."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from clients.bot_views import views
from croupier.arena import run_arena
from croupier.arena.game import Table
from croupier.bots import Plain, make_bot
from croupier.bots.hidden_unders import SearchBot, TreeBot
from croupier.bots.hidden_unders.memory import Memory
from croupier.bots.hidden_unders.rounds import NOBODY, ON, RANKS, Round, strongest_four
from croupier.bots.hidden_unders.texts import counts_of, play_of, play_text, ranks_of
from croupier.bots.hidden_unders.tree import Tree
from croupier.bots.hidden_unders.worlds import Unseen
from croupier_games import GAMES

RULES = GAMES["hidden_unders"]


def face_up(deal: Plain) -> Round:
    """The round of a deal; bots flip the lowest slot first, and what is next is last in a ``Round``."""
    players = len(deal["hands"])
    return Round(
        hands=[counts_of(hand) for hand in deal["hands"]],
        sizes=[8] * players,
        overs=[0] * players,
        unders=[ranks_of(reversed(cards)) for cards in deal["unders"]],
        placed=[False] * players,
        deck=ranks_of(reversed(deal["deck"])),
        pile=0,
        pile_size=0,
        top=0,
        run=0,
        seat=deal["start"],
        turns=1000,
    )


@pytest.mark.parametrize(("players", "decks"), [(2, 1), (3, 1), (4, 1), (5, 2), (6, 2), (2, 2)])
def test_a_round_played_out_ends_as_the_rules_end_it(players: int, decks: int) -> None:
    """``normal`` plays what the players of a ``Round`` play, so both must come to the same end."""
    for number in range(12):
        table = Table(RULES, RULES.options(players, decks=decks), players, f"rounds/{number}")
        quick = face_up(table.deals[0])
        seated = [make_bot("hidden_unders", "normal", 0) for _ in range(players)]
        while (seat := table.to_act()) is not None:
            table.make(seat, seated[seat].choose(table.view(seat), table.legal_moves()))
        winner = quick.play_out()
        state = table.state
        assert (NOBODY if state.winner is None else state.winner) == winner
        assert quick.turns == 1000 - state.turns + (winner != NOBODY)
        for seat, mine in enumerate(state.seats):
            assert quick.sizes[seat] == len(mine.hand)
            assert quick.overs[seat].bit_count() >= (len(mine.overs) > 0)
            assert len(quick.unders[seat]) == len(mine.slots())


@pytest.mark.parametrize("players", RULES.players)
def test_a_world_has_every_card_once_and_all_that_the_view_shows(players: int) -> None:
    chance = random.Random(1)
    for view in views("hidden_unders", players, "worlds")[::5]:
        world = Unseen(view).deal(chance)
        cards = Counter(ranks_of(view["cleared"]))
        for counts in (*world.hands, *world.overs, world.pile):
            cards.update({rank: counts >> 4 * rank & 15 for rank in range(len(RANKS))})
        for ranks in (*world.unders, world.deck):
            cards.update(ranks)
        assert set(cards.values()) == {4 if players < 5 else 8}
        assert world.hands[view["to_act"]] == counts_of(view["hand"])
        assert world.sizes == [seat["hand_count"] for seat in view["seats"]]
        assert [sum(h >> 4 * r & 15 for r in range(13)) for h in world.hands] == world.sizes


def test_what_memory_says_of_a_seat_that_took_the_pile_is_true() -> None:
    said = 0
    for number in range(20):
        memories = [Memory(), Memory()]
        table = Table(RULES, RULES.options(2), 2, f"memory/{number}")
        seated = [make_bot("hidden_unders", "normal", 0) for _ in range(2)]
        while (seat := table.to_act()) is not None:
            view = table.view(seat)
            for at, top, count in memories[seat].see(view):
                hidden = Counter(table.view(at)["hand"]) - Counter(view["seats"][at]["known"])
                low = [rank for rank in ranks_of(hidden) if rank < top and rank not in (0, 8)]
                assert len(low) >= count > 0
                said += 1
            move = seated[seat].choose(view, table.legal_moves())
            memories[seat].made(view, move)
            table.make(seat, move)
    assert said > 20


@pytest.mark.parametrize(
    ("hand", "overs"),
    [
        ("3C 4C 5C 6C 7C 2C TC AC", "7C 2C TC AC"),
        ("3C 4C KC KD 7C 2C TC AC", "TC 2C KC KD"),
        ("3C 3D QC QD QH QS 4C 5C", "QC QD QH QS"),
    ],
)
def test_overs_are_strong_and_come_in_pairs(hand: str, overs: str) -> None:
    chosen = strongest_four(counts_of(hand.split()))
    assert sum(chosen >> 4 * rank & 15 for rank in range(13)) == 4
    assert chosen == counts_of(overs.split()) or "KC" in overs


def test_normal_plays_over_the_next_seats_overs_at_the_end() -> None:
    """HU-15: with no hand and no deck the Overs are what the next seat has to play."""
    view = {
        "phase": "play",
        "to_act": 0,
        "hand": ["5C", "8C", "KC"],
        "playpile": ["4C"],
        "cleared": [],
        "deck_count": 0,
        "seats": [
            {"hand_count": 3, "overs": [], "overs_placed": True, "unders": [0, 1], "known": []},
            {"hand_count": 0, "overs": ["7C"], "overs_placed": True, "unders": [0, 1], "known": []},
        ],
    }
    legal = ["play 5C", "play 8C", "play KC"]
    bot = make_bot("hidden_unders", "normal", 0)
    assert bot.choose(view, legal) == "play 8C"
    assert bot.choose(view | {"deck_count": 5}, legal) == "play 5C"


@pytest.mark.parametrize("search", [SearchBot, TreeBot])
def test_search_goes_out_when_it_can(search: type[SearchBot | TreeBot]) -> None:
    view = {
        "phase": "play",
        "round": 0,
        "to_act": 0,
        "hand": ["9C", "9D", "KC"],
        "playpile": ["9H", "9S"],
        "cleared": [],
        "deck_count": 0,
        "seats": [
            {"hand_count": 3, "overs": [], "overs_placed": True, "unders": [], "known": []},
            {"hand_count": 0, "overs": ["AC"], "overs_placed": True, "unders": [], "known": []},
        ],
    }
    legal = ["play 9C", "play 9C 9D", "play KC"]
    assert search(1, 60, 60).choose(view, legal) == "play 9C 9D"


@pytest.mark.parametrize(("players", "decks"), [(2, 1), (4, 1), (6, 2), (2, 2)])
def test_a_round_of_any_choices_goes_as_in_the_rules(players: int, decks: int) -> None:
    """What ``make`` and ``settle`` do by themselves is what ``normal`` or the rules do there."""
    chance = random.Random(3)
    for number in range(12):
        table = Table(RULES, RULES.options(players, decks=decks), players, f"choices/{number}")
        quick = face_up(table.deals[0])
        result = quick.settle()
        plain = make_bot("hidden_unders", "normal", 0)
        while (seat := table.to_act()) is not None:
            legal = table.legal_moves()
            move = plain.choose(table.view(seat), legal)
            if move.startswith("play"):
                assert (result, quick.seat) == (ON, seat)
                rank, many = play_of(legal[chance.randrange(len(legal))])
                move = play_text(rank, many, legal)
                result = quick.make(rank, many)
            table.make(seat, move)
        assert result == (NOBODY if table.state.winner is None else table.state.winner)
        assert quick.sizes == [len(mine.hand) for mine in table.state.seats]
        assert [len(each) for each in quick.unders] == [len(mine.slots()) for mine in table.state.seats]


def test_a_tree_finds_what_no_play_followed_by_plain_ones_wins() -> None:
    """7 8 J against Overs of 4 8 Q: a J takes the Q out, and the pile that comes back is worth it."""
    hand, overs = counts_of(["7C", "8C", "JC"]), counts_of(["4C", "8D", "QC"])
    start = Round([hand, 0], [3, 0], [0, overs], [[], []], [True, True], [], 0, 0, 0, 0, 0, 60)
    plays = [RANKS.index(rank) for rank in "78J"]
    tree = Tree(len(plays))
    for _ in range(600):
        world, choice = start.copy(), tree.next_choice()
        tree.grow(choice, 0, world, world.make(plays[choice], 1))
    assert RANKS[plays[tree.most_tried()]] == "J"
    for rank in plays:
        world = start.copy()
        assert world.make(rank, 1) == ON
        assert world.play_out() == 1


def test_the_watchdog_cuts_a_tree_short_and_counts_it() -> None:
    ticks = itertools.count()
    bot = TreeBot(1, 10_000, 40, clock=lambda: next(ticks))
    view = next(view for view in views("hidden_unders", 2, "watchdog") if view["phase"] == "overs")
    table = Table(RULES, RULES.options(2), 2, "watchdog")
    assert bot.choose(view, table.legal_moves()) in list(table.legal_moves())
    assert bot.watchdog_cuts == 1


def test_normal_beats_easy() -> None:
    """Each board with either of them in the first seat, so that the cards favour neither."""
    shares = [
        run_arena("hidden_unders", players, 200, "normal-beats-easy").standings
        for players in (["normal", "easy"], ["easy", "normal"])
    ]
    assert shares[0][0].win_share + shares[1][1].win_share > 1.04
