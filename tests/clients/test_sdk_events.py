"""Events say what the messages say, as values and plain data."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf import timestamp_pb2

import croupier
from croupier.events import event_of, result_text
from croupier.moves import typed_move
from croupier.v1 import cards_pb2, doudizhu_pb2, games_pb2, tables_pb2

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
STAMP = timestamp_pb2.Timestamp(seconds=int(NOON.timestamp()))


def event(kind: str, inner: Any, seat: int | None = 1) -> Any:
    return event_of(tables_pb2.TableUpdate(table="tables/t1", as_seat=seat, **{kind: inner}), kind)


def step(**kind: Any) -> Any:
    return event("event", tables_pb2.TableEvent(seq=7, **kind))


@pytest.mark.parametrize(
    ("kind", "inner", "expected"),
    [
        ("created", tables_pb2.TableCreated(), croupier.Created),
        ("seat_changed", tables_pb2.SeatChanged(), croupier.SeatChanged),
        ("filled", tables_pb2.TableFilled(), croupier.Filled),
        ("dealt", tables_pb2.TableDealt(), croupier.Dealt),
        ("moved", tables_pb2.TableMoved(), croupier.Moved),
        ("ended", tables_pb2.TableEnded(), croupier.Ended),
    ],
)
def test_each_kind_of_step_has_its_class(kind: str, inner: Any, expected: type[croupier.Step]) -> None:
    made = step(**{kind: inner})
    assert type(made) is expected
    assert (made.table, made.as_seat, made.seq) == ("tables/t1", 1, 7)


def test_every_kind_of_step_of_the_protos_is_known() -> None:
    kinds = {field.name for field in tables_pb2.TableEvent.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert kinds == {"created", "seat_changed", "filled", "dealt", "moved", "ended"}


def test_what_may_not_be_seen_still_counts() -> None:
    made = event("event", tables_pb2.TableEvent(seq=7), seat=None)
    assert (type(made), made.seq, made.as_seat) == (croupier.Unseen, 7, None)


@pytest.mark.parametrize(
    ("by", "text"),
    [
        (tables_pb2.MOVED_BY_PLAYER, "player"),
        (tables_pb2.MOVED_BY_TIMEOUT, "timeout"),
        (tables_pb2.MOVED_BY_TAKEOVER, "takeover"),
    ],
)
def test_move(by: tables_pb2.MovedBy.ValueType, text: str) -> None:
    made = step(moved=tables_pb2.TableMoved(seat=2, text="bid 1", by=by))
    assert (made.seat, made.text, made.by) == (2, "bid 1", text)


def test_effects_times_and_who_is_next() -> None:
    dealt = doudizhu_pb2.DouDizhuDealt(deal=1, hand=[cards_pb2.CARD_2C, cards_pb2.CARD_RJ])
    effect = games_pb2.GameEffect(doudizhu=doudizhu_pb2.DouDizhuEffect(dealt=dealt))
    made = step(dealt=tables_pb2.TableDealt(number=3), effects=[effect], to_act=2, time=STAMP, deadline=STAMP)
    assert made.effects[0]["dealt"]["hand"] == ["2C", "RJ"]
    assert (made.number, made.to_act, made.time, made.deadline) == (3, 2, NOON, NOON)


def test_nobody_is_next_and_no_clock_runs() -> None:
    made = step(moved=tables_pb2.TableMoved())
    assert (made.to_act, made.deadline, made.effects) == (None, None, [])


def test_end() -> None:
    ended = tables_pb2.TableEnded(result=tables_pb2.TABLE_RESULT_VOID, scores=[0, 0, 0], server_seed=b"s")
    made = step(ended=ended)
    assert (made.result, made.scores, made.server_seed) == ("void", (0, 0, 0), b"s")


@pytest.mark.parametrize(("result", "text"), [(0, ""), (1, "finished"), (4, "abandoned"), (99, "")])
def test_results(result: int, text: str) -> None:
    assert result_text(result) == text


@pytest.mark.parametrize(
    "move", [games_pb2.Move(text="bid 2"), typed_move("doudizhu", "bid 2")], ids=["text", "typed"]
)
def test_turn_has_texts_in_either_form(move: games_pb2.Move) -> None:
    made = event("turn", tables_pb2.Turn(seat=1, seq=9, legal_moves=[move], deadline=STAMP))
    assert (made.legal_moves, made.seq, made.truncated, made.deadline) == (["bid 2"], 9, False, NOON)
    assert made.view is None


def test_snapshot() -> None:
    view = games_pb2.GameView(doudizhu=doudizhu_pb2.DouDizhuView(deal=4))
    table = tables_pb2.Table(name="tables/t1")
    inner = tables_pb2.TableSnapshot(seq=5, table=table, view=view, to_act=0, deadline=STAMP, reset=True)
    made = event("snapshot", inner)
    assert (made.seq, made.reset, made.missed, made.to_act, made.deadline) == (5, True, False, 0, NOON)
    assert made.now.name == "tables/t1"
    assert made.view["deal"] == 4


def test_presence() -> None:
    made = event("presence", tables_pb2.Presence(seat=2, connected=True))
    assert (made.seat, made.connected) == (2, True)
