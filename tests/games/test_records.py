"""Records: what holds is verified, and of what does not hold the first thing is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from croupier_games import GAMES
from croupier_games.game import Plain
from croupier_games.records import (
    RecordError,
    build_record,
    format_record,
    move_entry,
    parse_record,
    replay,
    verify,
    verify_lines,
)
from games.playing import Setup, play, setups

VECTORS = Path(__file__).parents[1] / "vectors"

every_setup = pytest.mark.parametrize("setup", setups(), ids=str)


def a_record(name: str = "hidden_unders", players: int = 3, **given: Any) -> Plain:
    """A record that holds, to be tampered with."""
    return copy.deepcopy(play(Setup(name, players, tuple(given.items()))).record())


def unsigned(record: Plain) -> Plain:
    """The record without what its deals could be computed from, as in a published game."""
    return {key: record[key] for key in record if key not in ("server_seed", "commitment", "result")}


def cut_short(record: Plain, moves: int, result: str) -> Plain:
    """The record of the same game, ended by the table after some moves."""
    return record | {"moves": record["moves"][:moves], "result": result, "scores": None, "facts": None}


@pytest.mark.parametrize("name", GAMES)
def test_the_published_games_hold(name: str) -> None:
    with (VECTORS / f"{name}-games.jsonl").open("rb") as file:
        verdicts = list(verify_lines(file))
    assert [str(verdict.error) for verdict in verdicts if verdict.error] == []
    assert len(verdicts) >= 40


@every_setup
@pytest.mark.parametrize("seed", range(2))
def test_the_record_of_a_game_holds(setup: Setup, seed: int) -> None:
    record = play(setup, seed).record()
    verified = verify(parse_record(format_record(record)))
    assert verified.recomputed
    assert verified.committed
    assert (verified.game, verified.deals) == (setup.name, len(record["deals"]))
    assert verified.scores == tuple(record["scores"])


@every_setup
def test_replay_goes_through_the_states_of_the_game(setup: Setup) -> None:
    played = play(setup)
    steps = list(replay(played.record()))
    moved = [moment for moment in played.moments if moment.seat is not None]
    assert [(s.deal, s.seat, s.move) for s in steps] == [(m.deal, m.seat, m.move) for m in moved]
    fingerprint = setup.game.fingerprint
    assert [fingerprint(s.after) for s in steps] == [fingerprint(m.state) for m in moved]
    assert [s.index for s in steps] == list(range(len(moved)))


def test_replay_gives_the_moves_before_one_that_does_not_hold() -> None:
    record = a_record()
    record["moves"][5]["m"] = "flip 0"
    steps = replay(record)
    assert [next(steps).index for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(RecordError, match=r'move 5 \(seat \d, "flip 0"\): is not legal'):
        next(steps)


def test_a_record_is_one_line_with_its_keys_in_order() -> None:
    line = format_record(a_record() | {"names": ["Zoë\u2028", "b\n", "c"]})
    assert line.isascii()
    assert line.splitlines() == [line]
    assert list(parse_record(line))[:4] == ["game", "players", "options", "result"]
    assert list(parse_record(line)) == list(a_record())


def test_what_is_not_known_is_left_out() -> None:
    parts = a_record("doudizhu")
    keys = ("game", "players", "options", "deals", "moves", "scores", "facts", "result", "rules_version")
    record = build_record(**{key: parts[key] for key in keys})
    assert not {"table", "board", "commitment", "server_seed", "table_options"} & record.keys()
    assert not verify(record).recomputed
    assert move_entry(0, 1, "pass", by="timeout") == {"d": 0, "s": 1, "m": "pass", "by": "timeout"}


def put(*path_and_value: Any) -> Callable[[Plain], None]:
    """A tampering: the value at a path is replaced."""
    *path, last, value = path_and_value

    def tamper(record: Plain) -> None:
        part: Any = record
        for key in path:
            part = part[key]
        part[last] = value

    return tamper


def swap(*path: Any) -> Callable[[Plain], None]:
    """A tampering: the first two entries of the list at a path change places."""

    def tamper(record: Plain) -> None:
        part: Any = record
        for key in path:
            part = part[key]
        part[0], part[1] = part[1], part[0]

    return tamper


def both(*tamperings: Callable[[Plain], None]) -> Callable[[Plain], None]:
    def tamper(record: Plain) -> None:
        for each in tamperings:
            each(record)

    return tamper


TAMPERINGS = {
    "game": (put("game", "snap"), "game: there is no game 'snap'"),
    "players": (put("players", 9), "players: Hidden Unders takes 2 to 6 players"),
    "fewer players": (put("players", 2), "scores|names|nonces"),
    "unknown option": (put("options", "jokers", 2), "options: .*jokers"),
    "option out of range": (put("options", "rounds", 0), "options: rounds"),
    "another option": (put("options", "decks", 2), "deal 0, "),
    "rules version": (put("rules_version", 999), "rules_version: is 999"),
    "commitment": (put("commitment", "0" * 64), "server_seed: is not what was promised"),
    "seed": (put("server_seed", "0" * 64), "server_seed: is not what was promised"),
    "seed, never promised": (
        both(put("server_seed", "0" * 64), put("commitment", None)),
        "deal 0, .*does not follow",
    ),
    "board": (put("board", "tables/other"), "server_seed: is not what was promised"),
    "no board": (put("board", None), "board: is missing"),
    "board with NUL": (put("board", "a\0b"), "board: .*NUL"),
    "nonce": (put("nonces", 0, "0" * 32), "nonces, seat 0: is not what was promised"),
    "nonce kept back": (put("nonces", 0, None), "deal 0, .*does not follow"),
    "nonce promise": (put("nonce_commitments", 0, "0" * 64), "nonces, seat 0: is not what was promised"),
    "nonce never promised": (put("nonce_commitments", 0, None), "nonces, seat 0: was never promised"),
    "deck": (swap("deals", 0, "deck"), "deal 0, deck: does not follow from the seed"),
    "unders": (swap("deals", 0, "unders", 1), "deal 0, unders: does not follow from the seed"),
    "hands": (swap("deals", 0, "hands"), "deal 0, hands: does not follow from the seed"),
    "start": (put("deals", 0, "start", 7), "deal 0, start: does not follow from the seed"),
    "no deal": (put("deals", []), "move 0 .*deal 0 is due, but the record has only 0"),
    "deal twice": (lambda r: r["deals"].append(r["deals"][0]), "deal 1: no deal is due"),
    "move": (put("moves", 4, "m", "flip 0"), 'move 4 .*"flip 0".*is not legal'),
    "no move": (put("moves", 4, "m", "fold"), 'move 4 .*"fold".*is no move'),
    "move, not canonical": (put("moves", 0, "m", "overs"), "move 0 .*is no"),
    "seat": (lambda r: put("moves", 3, "s", (r["moves"][3]["s"] + 1) % 3)(r), r"move 3 .*seat \d is to move"),
    "no seat": (put("moves", 3, "s", 3), "move 3: there is no seat 3"),
    "deal of move": (put("moves", 3, "d", 1), "move 3 .*says deal 1, but belongs to deal 0"),
    "n": (put("moves", 3, "n", 999), r"move 3 .*n is 999, but \d+ moves are legal"),
    "by": (put("moves", 3, "by", "ghost"), "move 3, by: is 'ghost'"),
    "move left out": (lambda r: r["moves"].pop(3), "move 3"),
    "first move left out": (lambda r: r["moves"].pop(0), "move 0"),
    "last move left out": (lambda r: r["moves"].pop(), r"moves: end before the game is over: seat \d is"),
    "move twice": (lambda r: r["moves"].insert(3, r["moves"][3]), "move 4"),
    "move after the end": (
        lambda r: r["moves"].append({"d": 0, "s": 0, "m": "done"}),
        r"move \d+ .*the game is over",
    ),
    "scores": (put("scores", 0, 999), r"scores: are \[999, .*but come out as"),
    "a score less": (lambda r: r["scores"].pop(), "scores: has 2 scores for 3 seats"),
    "no scores": (put("scores", None), "scores: are null"),
    "true for 1": (put("scores", 0, True), "scores, seat 0: is True, not a whole number"),
    "fact": (put("facts", "pickups", 999), "facts: pickups is 999, but comes out as"),
    "fact of another type": (put("facts", "winner", False), "facts: winner is false"),
    "fact left out": (lambda r: r["facts"].pop("left"), 'facts: have no "left"'),
    "unknown fact": (put("facts", "luck", 1), 'facts: have an unknown "luck"'),
    "no facts": (put("facts", None), "facts: are missing"),
    "void": (put("result", "void"), "result: is void, but the game is finished"),
    "abandoned": (put("result", "abandoned"), "result: is abandoned, but the game was played to its end"),
    "forfeit": (put("result", "forfeit"), "result: is forfeit, but the game was played to its end"),
}


@pytest.mark.parametrize(("tamper", "message"), TAMPERINGS.values(), ids=TAMPERINGS)
def test_the_first_thing_that_does_not_hold_is_named(tamper: Callable[[Plain], None], message: str) -> None:
    record = a_record()
    tamper(record)
    with pytest.raises(RecordError, match=f"^{message}"):
        verify(record)


@pytest.mark.parametrize("name", GAMES)
def test_a_tampered_card_shows_without_a_seed_too(name: str) -> None:
    record = unsigned(a_record(name))
    deal = record["deals"][0]
    deal["hands"][0][0] = deal["hands"][1][0]
    with pytest.raises(RecordError, match=r"^deal 0: "):
        verify(record)


@pytest.mark.parametrize("name", GAMES)
def test_the_order_within_a_hand_means_nothing(name: str) -> None:
    record = a_record(name)
    for hand in record["deals"][0]["hands"]:
        hand.reverse()
    assert verify(record).recomputed


def test_a_move_in_another_order_of_cards_is_named_with_its_canonical_text() -> None:
    record = a_record()
    word, *cards = record["moves"][0]["m"].split()
    record["moves"][0]["m"] = " ".join([word, *reversed(cards)])
    with pytest.raises(RecordError, match=r"^move 0 .*not the canonical text"):
        verify(record)


def test_a_move_that_its_player_did_not_make_holds() -> None:
    record = a_record()
    record["moves"][2]["by"], record["moves"][3]["by"] = "timeout", "takeover"
    assert [step.by for step in replay(record)][2:5] == ["timeout", "takeover", None]


@pytest.mark.parametrize("result", ["abandoned", "forfeit"])
@pytest.mark.parametrize("moves", [0, 1, 12])
def test_a_game_cut_short_holds_as_far_as_it_went(result: str, moves: int) -> None:
    record = cut_short(a_record(), moves, result)
    assert verify(record).moves == moves
    assert verify(record | {"scores": [1, 2, 3]}).scores == (1, 2, 3)
    with pytest.raises(RecordError, match=r"^moves: end before the game is over"):
        verify(record | {"result": "finished"})


def test_a_game_closed_before_its_first_deal_holds() -> None:
    record = cut_short(a_record(), 0, "abandoned") | {"deals": []}
    assert verify(record).deals == 0
    with pytest.raises(RecordError, match=r"^moves: .*deal 0 is due"):
        verify(record | {"result": "finished"})


def test_running_totals_hold_where_the_facts_say_so() -> None:
    setup = Setup("basic_rummy", 2)
    played = play(setup)
    record = unsigned(cut_short(played.record(), 40, "finished"))
    middle = [moment for moment in played.moments if moment.seat is not None][39].state
    record |= {"scores": setup.game.running_scores(middle), "facts": setup.game.facts(middle)}
    record["deals"] = record["deals"][: record["moves"][-1]["d"] + 1]
    assert record["facts"]["finished"] is False
    assert verify(record).result is None
    with pytest.raises(RecordError, match=r"^scores: "):
        verify(record | {"scores": [1000, 0]})
    with pytest.raises(RecordError, match=r"^moves: end before"):
        verify(record | {"result": "finished"})


def test_a_void_game_is_void_and_not_finished() -> None:
    setup = Setup("doudizhu", 3, (("max_redeals", 0),))
    deal = play(setup).deals[0]
    moves = [move_entry(0, (deal["first"] + turn) % 3, "pass") for turn in range(3)]
    facts = {"void": True, "landlord": None, "bid": 0, "multiplier": None}
    record = a_record("doudizhu") | {"options": setup.options, "deals": [deal], "moves": moves}
    record = unsigned(record | {"scores": [0, 0, 0], "facts": facts})
    assert verify(record | {"result": "void"}).result == "void"
    assert verify(record).result is None
    with pytest.raises(RecordError, match=r"^result: is finished, but the game is void"):
        verify(record | {"result": "finished"})


def test_a_second_deal_may_come_too_early() -> None:
    record = unsigned(a_record("doudizhu", deals=2))
    last_of_first = [move["d"] for move in record["moves"]].index(1) - 1
    del record["moves"][last_of_first]
    with pytest.raises(RecordError, match=f"^move {last_of_first} .*says deal 1, but belongs to deal 0"):
        verify(record)


def test_every_line_has_its_verdict() -> None:
    good = format_record(a_record())
    bad = format_record(a_record() | {"scores": [0, 0, 9]})
    verdicts = list(verify_lines([good, bad, "", good.encode()]))
    assert [verdict.line for verdict in verdicts] == [1, 2, 3, 4]
    assert [verdict.error is None for verdict in verdicts] == [True, False, False, True]
    assert str(verdicts[1].error).startswith("line 2: scores: ")
    assert str(verdicts[2].error).startswith("line 3: record: is not JSON")
    assert json.loads(good)["scores"] == list(verdicts[3].verified.scores)  # type: ignore[union-attr,arg-type]
