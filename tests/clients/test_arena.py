"""The arena: fair seats, honest records, and no bot that can stop it."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from itertools import permutations, takewhile
from pathlib import Path
from typing import Any

import pytest

from croupier.arena import ArenaError, ArenaResult, PlayedGame, Standing, run_arena
from croupier.arena.game import MoveTexts, Table
from croupier.bots import UnknownBot
from croupier_games import GAMES, UnknownGame
from croupier_games.game import InvalidOptions
from croupier_games.records import parse_record, verify

PLAYERS = [
    ("hidden_unders", ["easy", "random"]),
    ("hidden_unders", ["easy", "random", "random", "easy", "random"]),
    ("doudizhu", ["easy", "random"]),
    ("doudizhu", ["easy", "random", "easy"]),
    ("basic_rummy", ["easy", "easy", "random"]),
]


def arena(game: str, players: list[str], deals: int, **more: Any) -> tuple[ArenaResult, list[PlayedGame]]:
    games: list[PlayedGame] = []
    return run_arena(game, players, deals, more.pop("seed", "test"), on_game=games.append, **more), games


@pytest.mark.parametrize(("game", "players"), PLAYERS)
def test_every_record_verifies_from_its_seed(game: str, players: list[str]) -> None:
    lines = io.StringIO()
    result = run_arena(game, players, 4, "verify", record=lines)
    verified = [verify(parse_record(line)) for line in lines.getvalue().splitlines()]
    assert len(verified) == result.games
    assert all(v.recomputed and v.committed and v.result == "finished" for v in verified)


def test_a_board_is_named_and_seeded_by_the_arenas_seed() -> None:
    _, games = arena("hidden_unders", ["easy", "random"], 2, seed="äb c")
    assert [game.record["board"] for game in games] == ["arena/äb c/0"] * 2 + ["arena/äb c/1"] * 2
    digest = hashlib.sha256("croupier/arena/v1\0arena/äb c/1".encode()).hexdigest()
    assert games[-1].record["server_seed"] == digest


@pytest.mark.parametrize(("game", "players"), PLAYERS)
def test_the_same_seed_gives_the_same_records(game: str, players: list[str]) -> None:
    first, second, other = (
        [played.record for played in arena(game, players, 3, seed=seed)[1]] for seed in ("a", "a", "b")
    )
    assert first == second
    assert first != other


def test_every_board_is_played_in_every_seating() -> None:
    _, games = arena("basic_rummy", ["random", "easy", "easy"], 2)
    for board in (games[:6], games[6:]):
        assert len({game.board for game in board}) == 1
        assert all(game.record["deals"][0] == board[0].record["deals"][0] for game in board)
        assert {game.names for game in board} == {*permutations(("random", "easy", "easy#2"))}
    assert games[1].record["names"] == list(games[1].names)


def test_repeated_players_are_numbered_and_play_apart() -> None:
    result, games = arena("hidden_unders", ["random", "random", "random"], 1)
    assert [standing.player for standing in result.standings] == ["random", "random#2", "random#3"]
    assert sum(standing.wins for standing in result.standings) == len(games)


# --- Dou Dizhu with two sides ------------------------------------------------------------------------


def test_two_sides_are_landlord_and_farmers_of_each_board_in_turn() -> None:
    result, games = arena("doudizhu", ["easy", "random"], 5)
    assert (result.boards, result.games) == (5, 10)
    for one, other in zip(games[::2], games[1::2], strict=True):
        landlord = one.record["facts"]["landlord"]
        assert other.record["facts"]["landlord"] == landlord
        for game, alone, farmer in ((one, "easy", "random"), (other, "random", "easy")):
            assert [game.names[seat] for seat in range(3) if seat != landlord] == [farmer] * 2
            assert game.names[landlord] == alone


def test_two_sides_get_the_same_deals_and_bids() -> None:
    _, (one, other) = arena("doudizhu", ["easy", "random"], 1)
    bids = [
        [*takewhile(lambda move: not move["m"].startswith("play"), game.record["moves"])]
        for game in (one, other)
    ]
    assert one.record["deals"] == other.record["deals"]
    assert bids[0] == bids[1] != []
    assert one.record["table_options"] == {"bids": "easy"}


def test_a_side_is_judged_by_all_its_seats() -> None:
    result, games = arena("doudizhu", ["easy", "random"], 10)
    easy, other = result.standings
    assert easy.games == other.games == len(games) == easy.wins + other.wins
    assert easy.score == -other.score
    assert sum(map(len, (easy.thinking, other.thinking))) == sum(len(t) for g in games for t in g.thinking)


def test_a_board_that_nobody_bids_on_is_void_for_both_sides() -> None:
    result, games = arena("doudizhu", ["easy", "random"], 30, options={"max_redeals": 0})
    void = [game for game in games if game.record["result"] == "void"]
    assert void
    assert [verify(game.record).result for game in void] == ["void"] * len(void)
    assert [standing.undecided for standing in result.standings] == [len(void)] * 2
    assert len({game.record["board"] for game in void}) * 2 == len(void)


def test_with_fixed_roles_the_first_bidder_is_landlord_and_each_side_in_turn() -> None:
    lines = io.StringIO()
    _, games = arena("doudizhu", ["easy", "random"], 6, roles="fixed", record=lines)
    for one, other in zip(games[::2], games[1::2], strict=True):
        landlord = one.record["deals"][0]["first"]
        for game, alone in ((one, "easy"), (other, "random")):
            assert game.record["facts"]["landlord"] == landlord
            assert game.record["moves"][0] == {"d": 0, "s": landlord, "m": "bid 3"}
            assert game.names.count(alone) == 1
            assert game.names[landlord] == alone
            assert game.record["table_options"] == {"bids": "forced"}
    assert [verify(parse_record(line)).result for line in lines.getvalue().splitlines()] == ["finished"] * 12


def test_with_fixed_roles_three_players_are_landlord_equally_often() -> None:
    _, games = arena("doudizhu", ["easy", "random", "random"], 2, roles="fixed")
    landlords = [game.names[game.record["facts"]["landlord"]] for game in games]
    assert sorted(landlords) == ["easy"] * 4 + ["random"] * 4 + ["random#2"] * 4


def test_in_a_round_robin_every_two_meet() -> None:
    for game, seats in (("hidden_unders", 2), ("doudizhu", 3)):
        result, games = arena(game, ["easy", "random", "random"], 2, round_robin=True)
        assert len(games) == 2 * 3 * 2
        assert {(len(played.names), len({*played.names})) for played in games} == {(seats, 2)}
        assert [standing.games for standing in result.standings] == [8, 8, 8]
        assert [sum(pairing.tally.games) for pairing in result.pairings] == [4] * 6


# --- Bots that misbehave -----------------------------------------------------------------------------

SOURCE = """
import sys
class First:
    def choose(self, view, legal_moves):
        return legal_moves[0]
class Crashing:
    def choose(self, view, legal_moves):
        raise RuntimeError("out of ideas")
class Exiting:
    def choose(self, view, legal_moves):
        sys.exit(3)
class NeverBegun:
    def __init__(self):
        raise OSError("no model")
    def choose(self, view, legal_moves): ...
class NoText:
    def choose(self, view, legal_moves):
        return None
class NoMove:
    def choose(self, view, legal_moves):
        return "castle"
class Illegal:
    def choose(self, view, legal_moves):
        return "draw stock" if view["phase"] == "draw" else "meld 2C 9D KH"
class Meddler:
    def choose(self, view, legal_moves):
        view.clear()
        word, *cards = legal_moves[0].split()
        return "  ".join([word, *(reversed(cards) if word == "meld" else cards)])
"""
"""Bots of a careless author."""


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module ``test_arena_shelf`` in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "test_arena_shelf", raising=False)
    (tmp_path / "test_arena_shelf.py").write_text(SOURCE)


@pytest.mark.parametrize(
    ("bot", "reason", "message"),
    [
        ("Crashing", "CRASH", "RuntimeError: out of ideas"),
        ("Exiting", "CRASH", "SystemExit: 3"),
        ("NeverBegun", "CRASH", "OSError: no model"),
        ("NoText", "ILLEGAL_MOVE", "answered with NoneType, not a text"),
        ("NoMove", "ILLEGAL_MOVE", "answered 'castle': "),
        ("Illegal", "ILLEGAL_MOVE", "answered 'meld 2C 9D KH': not in your hand"),
    ],
)
def test_a_bot_that_misbehaves_forfeits_and_the_arena_goes_on(bot: str, reason: str, message: str) -> None:
    player = f"test_arena_shelf:{bot}"
    result, games = arena("basic_rummy", ["easy", player], 3)
    assert [(f.reason, f.player, f.message[: len(message)]) for f in result.forfeits] == [
        (reason, player, message)
    ] * 6
    easy, other = result.standings
    assert (easy.wins, other.wins) == (6, 0)
    assert other.crashes + other.illegal_moves == other.games == len(games) == 6
    assert all(verify(game.record).result == "forfeit" for game in games)


def test_a_crash_keeps_its_traceback() -> None:
    result, _ = arena("hidden_unders", ["easy", "test_arena_shelf:Crashing"], 1)
    assert 'raise RuntimeError("out of ideas")' in str(result.forfeits[0].traceback)


def test_a_forfeit_says_where_it_happened() -> None:
    result, (game, _) = arena("hidden_unders", ["easy", "test_arena_shelf:NoMove"], 1)
    forfeit, _ = result.forfeits
    assert (forfeit.board, forfeit.move) == ("arena/test/0", len(game.record["moves"]))
    assert game.names[forfeit.seat] == forfeit.player
    assert sorted(game.scores) == [-1, 1]


def test_a_farmers_forfeit_is_the_loss_of_its_side() -> None:
    result, games = arena("doudizhu", ["easy", "test_arena_shelf:Crashing"], 4)
    easy, other = result.standings
    assert (easy.wins, other.wins, other.crashes) == (8, 0, 8)
    assert all(sum(game.scores) == 0 for game in games)
    assert easy.score == -other.score > 0


def test_a_bot_may_write_a_legal_move_its_own_way_and_spoil_its_view() -> None:
    result, games = arena("basic_rummy", ["easy", "test_arena_shelf:Meddler"], 2)
    assert not result.forfeits
    assert all(verify(game.record).result == "finished" for game in games)


def test_a_stateless_bot_class_plays_every_game() -> None:
    for game in GAMES:
        result, _ = arena(game, ["test_arena_shelf:First", "easy"], 2)
        assert result.forfeits == ()


# --- What cannot be asked for ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "game", "players", "deals", "seed", "options"),
    [
        (UnknownGame, "whist", ["easy", "easy"], 1, "s", {}),
        (UnknownBot, "doudizhu", ["easy", "godlike"], 1, "s", {}),
        (UnknownBot, "doudizhu", ["easy", "nowhere:Bot"], 1, "s", {}),
        (InvalidOptions, "doudizhu", ["easy"] * 4, 1, "s", {}),
        (InvalidOptions, "doudizhu", ["easy"], 1, "s", {}),
        (InvalidOptions, "hidden_unders", ["easy"], 1, "s", {}),
        (InvalidOptions, "basic_rummy", ["easy"] * 2, 1, "s", {"points": 7}),
        (ArenaError, "doudizhu", ["easy"] * 2, 1, "s", {"deals": 2}),
        (ArenaError, "basic_rummy", ["easy"] * 2, 0, "s", {}),
        (InvalidOptions, "doudizhu", ["easy"] * 12, 1, "s", {}),
        (ArenaError, "basic_rummy", ["easy"] * 2, 1, "s\0", {}),
        (ArenaError, "basic_rummy", ["easy"] * 2, 1, "\ud800", {}),
    ],
)
def test_what_cannot_be_played_is_refused_at_once(
    error: type[Exception], game: str, players: list[str], deals: int, seed: str, options: dict[str, Any]
) -> None:
    with pytest.raises(error):
        run_arena(game, players, deals, seed, options, on_game=lambda played: pytest.fail(str(played.names)))


@pytest.mark.parametrize(
    ("game", "players", "more", "why"),
    [
        ("basic_rummy", 2, {"roles": "fixed"}, "basic_rummy has no roles to fix"),
        ("doudizhu", 3, {"roles": "fixed", "options": {"deals": 2}}, "single deals"),
        ("doudizhu", 3, {"round_robin": True, "options": {"deals": 2}}, "single deals"),
        ("doudizhu", 1, {"round_robin": True}, "two players or more"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(
    game: str, players: int, more: dict[str, Any], why: str
) -> None:
    with pytest.raises(ArenaError, match=why):
        arena(game, ["easy"] * players, 1, **more)


# --- What comes out ----------------------------------------------------------------------------------


def test_a_result_is_plain_data_and_a_table() -> None:
    result, _ = arena("hidden_unders", ["easy", "test_arena_shelf:Crashing"], 2)
    plain = json.loads(json.dumps(result.as_plain()))
    assert [player["win_share"] for player in plain["players"]] == [1.0, 0.0]
    assert [forfeit["reason"] for forfeit in plain["forfeits"]] == ["CRASH"] * 4
    rows = result.to_rows()
    assert [row[:3] for row in rows[1:]] == [("easy", "4", "4"), ("test_arena_shelf:Crashing", "4", "0")]
    assert len({len(row) for row in rows}) == 1


def test_times_are_percentiles_by_nearest_rank() -> None:
    standing = Standing("easy", thinking=[ms * 1_000_000 for ms in range(200, 0, -1)])
    assert [standing.ms_per_move(percent) for percent in (50, 99, 100)] == [100, 198, 200]
    assert Standing("easy").ms_per_move(50) == 0


def test_move_texts_are_the_legal_moves_however_they_are_read() -> None:
    rules = GAMES["doudizhu"]
    table = Table(rules, rules.options(3), 3, "texts")
    table.make(table.to_act() or 0, "bid 3")
    moves = rules.legal_moves(table.state)
    texts = [rules.format_move(move) for move in moves]
    fresh = [MoveTexts(rules, moves) for _ in range(4)]
    assert len(fresh[0]) == len(texts) > 10
    assert [fresh[0][0], fresh[0][-1], fresh[1][3:7], list(fresh[2])] == [
        texts[0],
        texts[-1],
        texts[3:7],
        texts,
    ]
    assert [fresh[2][0], fresh[2][3:7], texts[5] in fresh[3]] == [texts[0], texts[3:7], True]
    assert repr(fresh[3]) == repr(texts)
