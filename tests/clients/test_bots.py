"""What every bot has to keep, at every level of every game, and what the easy ones are there for."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator
from itertools import count, islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier import bots
from croupier.arena import run_arena
from croupier.arena.game import Table
from croupier.bots import LEVELS, Plain, UnknownBot, bot_maker, levels_of, load_bot, make_bot
from croupier.bots.doudizhu.hands import ROCKET, Group, counts_of, split
from croupier_games import GAMES

BOTS = [(game, level) for game in GAMES for level in levels_of(game)]
EASY = [game for game in GAMES if "easy" in levels_of(game)]
MOVES = {"random": 4000, "easy": 4000, "normal": 1000, "hard": 16, "expert": 4}
"""By level: how many moves are looked at; with ``CROUPIER_LONG`` set, ``LONG_MOVES``."""
LONG_MOVES = {"random": 100_000, "easy": 100_000, "normal": 10_000, "hard": 1000, "expert": 200}

every_bot = pytest.mark.parametrize(("game", "level"), BOTS)


def decisions(game: str, level: str, seed: int) -> Iterator[tuple[Table, str]]:
    """Each table just before a move and the answer of the bot to move, games without end.

    All a bot gets has been through JSON, so nothing hangs on it. Every number of players has its turn.
    """
    rules = GAMES[game]
    for number in count():
        players = rules.players[number % len(rules.players)]
        table = Table(rules, rules.options(players), players, f"bots/{seed}/{number}")
        seated = [make_bot(game, level, seed + seat) for seat in range(players)]
        while (seat := table.to_act()) is not None:
            view, legal = json.loads(json.dumps([table.view(seat), list(table.legal_moves())]))
            answer = seated[seat].choose(view, legal)
            yield table, answer
            table.make(seat, answer)


@every_bot
def test_every_answer_is_the_canonical_text_of_a_legal_move(game: str, level: str) -> None:
    rules = GAMES[game]
    moves = LONG_MOVES if "CROUPIER_LONG" in os.environ else MOVES
    for table, answer in islice(decisions(game, level, 1), moves[level]):
        move = rules.parse_move(answer)
        rules.check(table.state, table.to_act() or 0, move)
        assert rules.format_move(move) == answer


@every_bot
def test_the_same_seed_and_views_give_the_same_moves(game: str, level: str) -> None:
    moves = max(4, MOVES[level] // 4)
    once, again = ([answer for _, answer in islice(decisions(game, level, 2), moves)] for _ in range(2))
    assert once == again


@pytest.mark.parametrize("game", EASY)
def test_easy_needs_nothing_but_the_view(game: str) -> None:
    """A bot that joins late, with another seed, decides like one that has played from the start."""
    for table, answer in islice(decisions(game, "easy", 3), 300):
        view = table.view(table.to_act() or 0)
        assert make_bot(game, "easy", 9).choose(view, table.legal_moves()) == answer


@pytest.mark.parametrize("game", GAMES)
def test_random_differs_from_seed_to_seed_and_reaches_every_move(game: str) -> None:
    legal = [f"bid {amount}" for amount in range(20)]
    assert {make_bot(game, "random", seed).choose({}, legal) for seed in range(300)} == set(legal)


def test_bots_import_nothing_that_knows_more_than_a_view() -> None:
    allowed = {"__future__", "collections", "functools", "importlib", "inspect", "pathlib", "random", "sys"}
    allowed |= {"abc", "bisect", "itertools"}
    allowed |= {"math", "time"}  # a watchdog's; nothing that is chosen follows from it
    allowed.add("croupier_games")  # what the rules say of cards and plays
    for path in Path(bots.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [str(node.module)]
            for name in names:
                own = name.startswith("croupier.bots") or name == "typing"
                assert own or name.split(".")[0] in allowed, f"{path.name} imports {name}"


# --- How well they play ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "share"), [("hidden_unders", 0.85), ("doudizhu", 0.9), ("basic_rummy", 0.95)]
)
def test_easy_beats_random_by_far(game: str, share: float) -> None:
    """On 100 boards one against one; in Dou Dizhu as landlord and as the farmers of each board."""
    easy, other = run_arena(game, ["easy", "random"], 100, "easy-beats-random").standings
    assert easy.win_share > share
    assert easy.mean_score > other.mean_score


@pytest.mark.parametrize(("game", "players"), [("hidden_unders", 4), ("doudizhu", 3), ("basic_rummy", 4)])
def test_easy_beats_a_table_full_of_random(game: str, players: int) -> None:
    easy, *others = run_arena(game, ["easy", *["random"] * (players - 1)], 60, "full-table").standings
    assert all(easy.win_share > other.win_share + 0.25 for other in others)


# --- Hidden Unders -----------------------------------------------------------------------------------


def unders_view(phase: str = "play", playpile: str = "") -> Plain:
    return {"phase": phase, "playpile": playpile.split()}


@pytest.mark.parametrize(
    ("playpile", "legal", "answer"),
    [
        ("4C", ["play 5C", "play 9C", "play TC"], "play 5C"),
        ("4C", ["play 5C", "play 5C 5D", "play 9C"], "play 5C 5D"),
        ("4C", ["play 2C", "play AC", "play TC"], "play AC"),
        ("QC", ["play 2C", "play TC"], "play 2C"),
        ("5S 9C 9D", ["play 2C", "play 9H", "play 9H 9S", "play TC"], "play 9H 9S"),
        ("", ["play 4C", "play 5C 5D 5H 5S"], "play 5C 5D 5H 5S"),
        ("2C 2D 2H", ["play 2S", "play 3C"], "play 2S"),
        ("3C 4C 5C 6C 7C 8C 9C 9D JC JD JH QC", ["play KC", "play TC"], "play TC"),
    ],
)
def test_easy_sheds_low_cards_and_clears_what_is_worth_it(
    playpile: str, legal: list[str], answer: str
) -> None:
    assert make_bot("hidden_unders", "easy", 0).choose(unders_view(playpile=playpile), legal) == answer


def test_easy_keeps_its_strongest_cards_as_overs() -> None:
    legal = ["overs 3C 4C 5C 6C", "overs 2C TC KC AC", "overs 3C TC KC AC"]
    assert make_bot("hidden_unders", "easy", 0).choose(unders_view("overs"), legal) == legal[1]


def test_easy_draws_before_it_starts_a_new_pile() -> None:
    """HU-12."""
    legal = ["play 4C", "done"]
    assert make_bot("hidden_unders", "easy", 0).choose(unders_view("cleared"), legal) == "done"


# --- Basic Rummy -------------------------------------------------------------------------------------


def rummy_view(phase: str, hand: str, top: str = "KC", melds: tuple[str, ...] = ()) -> Plain:
    return {
        "phase": phase,
        "to_act": 0,
        "hand": hand.split(),
        "discard_pile": [top],
        "melds": [{"seat": 1, "cards": cards.split()} for cards in melds],
        "seats": [{"has_melded": bool(melds)}] * 2,
    }


@pytest.mark.parametrize(
    ("hand", "top", "melds", "source"),
    [
        ("4H 5H 9C", "6H", (), "discard"),
        ("4H 6H 9C", "5H", (), "discard"),
        ("7C 7D 9C", "7S", (), "discard"),
        ("QH KH 9C", "AH", (), "stock"),
        ("4H 5D 9C", "6H", (), "stock"),
        ("9C KD", "7H", ("4H 5H 6H",), "discard"),
        ("9C KD", "8H", ("4H 5H 6H",), "stock"),
        ("9C KD", "7S", ("7C 7D 7H",), "discard"),
    ],
)
def test_easy_takes_the_discard_that_it_can_lay(
    hand: str, top: str, melds: tuple[str, ...], source: str
) -> None:
    """RUM-1: the ace is low only. RUM-7: a lay-off takes a meld of one's own."""
    view = rummy_view("draw", hand, top, melds)
    assert make_bot("basic_rummy", "easy", 0).choose(view, ["draw stock", "draw discard"]) == f"draw {source}"


def test_easy_takes_no_card_to_lay_off_before_its_first_meld() -> None:
    """RUM-7."""
    view = rummy_view("draw", "9C KD", "7H", ("4H 5H 6H",)) | {"seats": [{"has_melded": False}] * 2}
    assert make_bot("basic_rummy", "easy", 0).choose(view, ["draw stock", "draw discard"]) == "draw stock"


def test_easy_melds_what_sheds_most_in_all() -> None:
    legal = ["meld 5H 6H 7H", "meld 5H 6H 7H 8H", "meld 8C 8D 8H", "meld 6H 7H 8H", "discard 5H"]
    view = rummy_view("meld", "5H 6H 7H 8C 8D 8H")
    assert make_bot("basic_rummy", "easy", 0).choose(view, legal) in ("meld 5H 6H 7H", "meld 8C 8D 8H")


def test_easy_discards_the_dearest_card_that_leads_nowhere() -> None:
    legal = [f"discard {card}" for card in ("3H", "9C", "QD", "KC", "KD")]
    view = rummy_view("meld", "3H 9C QD KC KD", top="2S")
    assert make_bot("basic_rummy", "easy", 0).choose(view, legal) == "discard 9C"


# --- Dou Dizhu ---------------------------------------------------------------------------------------


def doudizhu_view(
    hand: str,
    to_beat: tuple[int, str] | None = None,
    landlord: int = 0,
    counts: tuple[int, int, int] = (9, 9, 9),
) -> Plain:
    beaten = None if to_beat is None else {"seat": to_beat[0], "cards": to_beat[1].split()}
    return {
        "phase": "playing",
        "to_act": 1,
        "landlord": landlord,
        "hand": hand.split(),
        "hand_counts": list(counts),
        "to_beat": beaten,
    }


@pytest.mark.parametrize(
    ("hand", "bid"),
    [
        ("3C 4C 5C 6C 7C 8C 9C 9D 9H KC KD AC AD 2C 2D BJ RJ", "bid 3"),
        ("3C 3D 4D 4H 5H 6C 6D 8D 8H 9D 9S TC JC JD KC KD AS", "pass"),
    ],
)
def test_easy_bids_by_its_hand(hand: str, bid: str) -> None:
    view = {"phase": "bidding", "hand": hand.split()}
    assert make_bot("doudizhu", "easy", 0).choose(view, ["pass", "bid 1", "bid 2", "bid 3"]) == bid


@pytest.mark.parametrize(
    ("hand", "answer"),
    [
        ("3C 4C 5C 6C 7C KD 2H", "play 3C 4C 5C 6C 7C"),
        ("3C 3D 3H 4C 8C 8D AC", "play 3C 3D 3H 4C"),
        ("7C 7D 7H BJ", "play 7C 7D 7H BJ"),
        ("4C 9C 9D 9H 9S", "play 9C 9D 9H 9S"),
    ],
)
def test_easy_leads_long_and_low_and_keeps_the_lead_to_go_out(hand: str, answer: str) -> None:
    assert make_bot("doudizhu", "easy", 0).choose(doudizhu_view(hand), ["play 3C"]) == answer


def test_easy_leads_no_single_to_an_enemy_with_one_card() -> None:
    view = doudizhu_view("3C 6C 6D", counts=(1, 3, 9))
    assert make_bot("doudizhu", "easy", 0).choose(view, ["play 3C"]) == "play 6C 6D"


def test_easy_leads_low_to_a_partner_with_one_card() -> None:
    view = doudizhu_view("3C 6C 6D KD", counts=(9, 4, 1))
    assert make_bot("doudizhu", "easy", 0).choose(view, ["play 3C"]) == "play 3C"


FOLLOWS = ["pass", "play KD", "play 2H", "play 9C 9D 9H 9S"]
HAND = "4C 4D 9C 9D 9H 9S KD 2H"


@pytest.mark.parametrize(
    ("to_beat", "counts", "answer"),
    [
        ((0, "JD"), (9, 8, 9), "play KD"),
        ((2, "JD"), (9, 8, 9), "pass"),
        ((2, "7D"), (9, 8, 1), "pass"),
    ],
)
def test_easy_follows_an_enemy_and_leaves_its_partner_alone(
    to_beat: tuple[int, str], counts: tuple[int, int, int], answer: str
) -> None:
    view = doudizhu_view(HAND, to_beat, counts=counts)
    assert make_bot("doudizhu", "easy", 0).choose(view, FOLLOWS) == answer


@pytest.mark.parametrize(("enemy_cards", "answer"), [(9, "pass"), (1, "play 9C 9D 9H 9S")])
def test_easy_keeps_its_bomb_until_an_enemy_has_to_be_stopped(enemy_cards: int, answer: str) -> None:
    view = doudizhu_view("4C 5D 6H 9C 9D 9H 9S JD", (0, "RJ"), counts=(enemy_cards, 8, 9))
    assert make_bot("doudizhu", "easy", 0).choose(view, ["pass", "play 9C 9D 9H 9S"]) == answer


def test_easy_goes_out_on_its_partners_play_too() -> None:
    view = doudizhu_view("AC AD", (2, "KC KD"), counts=(9, 2, 1))
    assert make_bot("doudizhu", "easy", 0).choose(view, ["pass", "play AC AD"]) == "play AC AD"


DECK = [f"{rank}{suit}" for rank in "3456789TJQKA2" for suit in "CDHS"] + ["BJ", "RJ"]


@given(st.sets(st.sampled_from(DECK), min_size=1, max_size=20))
def test_a_split_is_the_hand_in_groups(hand: set[str]) -> None:
    groups = split(counts_of(hand)).groups
    assert sum(group.counts for group in groups) == counts_of(hand)
    assert all(one.low <= other.low for one, other in pairwise(groups))


@pytest.mark.parametrize(
    ("hand", "groups"),
    [
        ("3C 4C 5C 6C 7C 7D", (Group(1, 0, 5), Group(1, 4, 1))),
        ("3C 3D 4C 4D 5C 5D", (Group(2, 0, 3),)),
        ("3C 3D 3H 4C 4D 4H 9C", (Group(3, 0, 2), Group(1, 6, 1))),
        ("TC JC QC KC AC 2C", (Group(1, 7, 5), Group(1, 12, 1))),
        ("5C 5D 5H 5S BJ RJ", (Group(4, 2, 1), ROCKET)),
    ],
)
def test_split_finds_runs_without_2s_and_keeps_bombs(hand: str, groups: tuple[Group, ...]) -> None:
    """DDZ-14 to DDZ-16, DDZ-21, DDZ-22."""
    assert split(counts_of(hand.split())).groups == groups


# --- The registry ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_every_game_takes_every_level(game: str) -> None:
    """A level without a bot of its own is played by the next lower one."""
    own = levels_of(game)
    assert own == tuple(level for level in LEVELS if level in own)
    for lower, level in pairwise(LEVELS):
        stands_in = type(make_bot(game, level, 0)) is type(make_bot(game, lower, 0))
        assert stands_in or level in own


@pytest.mark.parametrize("game", GAMES)
def test_an_unknown_level_is_refused_with_those_there_are(game: str) -> None:
    with pytest.raises(
        UnknownBot, match="no level 'godlike'; there are: random, easy, normal, hard, expert,"
    ):
        make_bot(game, "godlike", 0)


def test_an_unknown_game_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownBot, match="'whist'; there are for: hidden_unders, doudizhu, basic_rummy"):
        make_bot("whist", "easy", 0)


SOURCE = """
class First:
    def choose(self, view, legal_moves):
        return legal_moves[0]
class Seeded(First):
    def __init__(self, seed):
        self.seed = seed
class Opaque(First):
    __signature__ = 3
class NoBot:
    pass
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with modules of bots in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "test_bots_shelf.py").write_text(SOURCE)
    (tmp_path / "test_bots_broken.py").write_text("1 / 0")
    monkeypatch.delitem(sys.modules, "test_bots_shelf", raising=False)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["First", "Opaque"])
def test_a_class_with_the_one_method_is_a_bot(name: str) -> None:
    assert load_bot(f"test_bots_shelf:{name}").__name__ == name
    bot = bot_maker("doudizhu", f"test_bots_shelf:{name}")(7)
    assert bot.choose({}, ["pass", "bid 1"]) == "pass"


@pytest.mark.usefixtures("folder")
def test_a_class_gets_the_seed_that_it_asks_for() -> None:
    assert vars(bot_maker("doudizhu", "test_bots_shelf:Seeded")(7)) == {"seed": 7}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("test_bots_shelf", "not written as module:Class"),
        ("test_bots_shelf:", "not written as module:Class"),
        (".shelf:First", "not written as module:Class"),
        ("test_bots_shelf:Second", "has no class Second"),
        ("test_bots_shelf:number", "has no class number"),
        ("test_bots_shelf:NoBot", "no method choose"),
        ("test_bots_missing:First", "cannot import test_bots_missing: ModuleNotFoundError"),
        ("test_bots_broken:First", "cannot import test_bots_broken: ZeroDivisionError"),
    ],
)
def test_what_is_no_bot_is_refused_with_the_reason(path: str, why: str) -> None:
    with pytest.raises(UnknownBot, match=why):
        load_bot(path)


def test_the_server_offers_the_levels_that_there_are() -> None:
    from croupier_server.settings import BOT_LEVELS

    assert BOT_LEVELS == LEVELS
