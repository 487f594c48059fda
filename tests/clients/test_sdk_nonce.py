"""A record is held to what was promised, and to what its player saw."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import croupier
from clients.fake_server import TABLE, connect, serving
from clients.streams import drain
from croupier.nonce import Witness, nonce_commitment
from croupier.v1 import cards_pb2, doudizhu_pb2, games_pb2, tables_pb2
from croupier_games import GAMES, dealing, records

BOARD, SEED, NONCE = "tables/t1", bytes(range(32)), b"n" * 32
GAME = GAMES["doudizhu"]


def void_record() -> dict[str, Any]:
    """A Dou Dizhu game in which everybody passed, dealt with seat 1's nonce."""
    options = GAME.options(3, max_redeals=0)
    nonces = [None, NONCE, None]
    deal = dealing.deal(GAME, options, 3, BOARD, SEED, 0, nonces)
    state, moves = GAME.load_deal(deal, 3, options), []
    while (seat := GAME.to_act(state)) is not None:
        moves.append(records.move_entry(0, seat, "pass"))
        state = GAME.apply(state, seat, GAME.parse_move("pass"))
    return records.build_record(
        game="doudizhu",
        players=3,
        options=options,
        deals=[deal],
        moves=moves,
        scores=GAME.scores(state),
        facts=GAME.facts(state),
        result="void",
        rules_version=GAME.rules_version,
        board=BOARD,
        commitment=dealing.commitment(BOARD, SEED),
        server_seed=SEED,
        nonces=nonces,
        nonce_commitments=[None, dealing.nonce_commitment(BOARD, 1, NONCE), None],
    )


def witness(**seen: Any) -> Witness:
    """Seat 1 of that game, who saw everything."""
    hand = sorted(void_record()["deals"][0]["hands"][1])
    facts: dict[str, Any] = {
        "board": BOARD,
        "commitment": dealing.commitment(BOARD, SEED),
        "seat": 1,
        "nonce": NONCE,
        "shown": True,
        "hands": {0: hand},
        "moves": ["pass"],
        "saw_end": True,
    }
    return Witness(**{**facts, **seen})


def test_promise_is_the_one_of_the_contract() -> None:
    assert nonce_commitment(BOARD, 1, NONCE) == dealing.nonce_commitment(BOARD, 1, NONCE)


def test_honest_record_holds() -> None:
    verified = witness().check(void_record())
    assert (verified.deals, verified.recomputed, verified.committed) == (1, True, True)


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        ({"board": "tables/t2"}, "board"),
        ({"commitment": b"c" * 32}, "commitment"),
        ({"nonce": b"m" * 32}, "nonce"),
        ({"hands": {0: ["3C"]}}, "hand of deal 0"),
        ({"hands": {1: ["3C"]}}, "hand of deal 1"),
        ({"moves": ["bid 1"]}, "moves"),
        ({"moves": []}, "moves"),
    ],
)
def test_record_of_another_game_than_was_seen(seen: dict[str, Any], what: str) -> None:
    with pytest.raises(croupier.BrokenPromise, match=f"the record's {what} is not what was seen"):
        witness(**seen).check(void_record())


def test_what_was_not_seen_is_not_held_against_the_record() -> None:
    witness(nonce=b"", shown=False, hands={}, moves=None).check(void_record())
    witness(moves=[], saw_end=False).check(void_record())


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.pop("server_seed"),
        lambda record: record.update(scores=[1, 1, -2]),
        lambda record: record["deals"][0]["bottom"].reverse() or record["deals"][0].update(first=2),
        lambda record: record.update(server_seed="00" * 32),
    ],
    ids=["no seed", "scores", "deal", "another seed"],
)
def test_record_that_does_not_hold(change: Callable[[dict[str, Any]], object]) -> None:
    record = void_record()
    change(record)
    with pytest.raises(croupier.BrokenPromise):
        witness().check(record)


async def test_seat_holds_the_record_to_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.joining.fresh_nonce", lambda: NONCE)
    record = void_record()
    hand = doudizhu_pb2.DouDizhuDealt(
        hand=[cards_pb2.Card.Value(f"CARD_{c}") for c in record["deals"][0]["hands"][1]]
    )
    async with serving() as world, connect(world) as client:
        table, world.record = world.table, json.dumps(record)
        table.info.commitment = dealing.commitment(BOARD, SEED)
        table.add(created=tables_pb2.TableCreated(table=table.info))
        seat = await client.join(TABLE, seat=1, after_seq=0)
        table.fill()
        await world.until(lambda: table.info.seats[1].nonce == NONCE)
        effect = games_pb2.GameEffect(doudizhu=doudizhu_pb2.DouDizhuEffect(dealt=hand))
        table.add(dealt=tables_pb2.TableDealt(number=0), effects=[effect])
        for move in record["moves"]:
            table.move(move["s"], move["m"])
        table.end(0, 0, 0)
        await drain(seat)
        assert (await seat.check_deals()).recomputed
        record["moves"][0]["m"] = record["moves"][1]["m"] = record["moves"][2]["m"] = "bid 1"
        world.record = json.dumps(record)
        with pytest.raises(croupier.BrokenPromise, match="moves"):
            await seat.check_deals()
