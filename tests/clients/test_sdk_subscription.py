"""The reader of a subscription is given each step once and in order, whatever comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import grpc
import pytest
from google.rpc import status_pb2
from hypothesis import given
from hypothesis import strategies as st

import croupier
from clients.fake_server import TABLE, status
from croupier.subscription import Need, Subscription
from croupier.v1 import tables_pb2


def update(**kind: Any) -> tables_pb2.TableUpdate:
    return tables_pb2.TableUpdate(table=TABLE, as_seat=0, **kind)


def step(seq: int, **kind: Any) -> tables_pb2.TableUpdate:
    return update(event=tables_pb2.TableEvent(seq=seq, **kind))


def moved(seq: int) -> tables_pb2.TableUpdate:
    return step(seq, moved=tables_pb2.TableMoved(seat=0, text="pass"))


def turn(seq: int, seconds: int = 0) -> tables_pb2.TableUpdate:
    made = tables_pb2.Turn(seat=0, seq=seq)
    if seconds:
        made.deadline.FromSeconds(seconds)
    return update(turn=made)


def snapshot(seq: int, epoch: str = "one", *, reset: bool = False) -> tables_pb2.TableUpdate:
    return update(snapshot=tables_pb2.TableSnapshot(seq=seq, epoch=epoch, reset=reset))


def presence(seat: int, connected: bool) -> tables_pb2.TableUpdate:
    return update(presence=tables_pb2.Presence(seat=seat, connected=connected))


def subscription(after: int | None = 0, limit: int = 1000) -> Subscription:
    return Subscription(tables_pb2.Subscription(table=TABLE, seat=0, after_seq=after), limit=limit)


def given_by(made: Subscription) -> list[Any]:
    """All that waits for the reader; ends the subscription."""

    async def read() -> list[Any]:
        events = []
        with suppress(StopAsyncIteration):
            while True:
                events.append(await made.next())
        return events

    made.finish()
    return asyncio.run(read())


def seqs(made: Subscription) -> list[int]:
    return [event.seq for event in given_by(made)]


def test_steps_come_in_order_and_repeats_do_not_come() -> None:
    made = subscription()
    for seq in (1, 2, 1, 2, 3, 3):
        assert made.take(step(seq)) is Need.NOTHING
    assert seqs(made) == [1, 2, 3]


def test_position_moves_with_each_step_and_is_asked_for_on_resuming() -> None:
    made = subscription(after=None)
    assert not made.command().subscribe.HasField("after_seq")
    made.take(snapshot(5, "life"))
    made.take(step(6))
    asked = made.command().subscribe
    assert (asked.after_seq, asked.epoch, asked.seat) == (6, "life", 0)


def test_without_a_position_only_a_snapshot_begins() -> None:
    made = subscription(after=None)
    for early in (step(3), turn(3)):
        made.take(early)
    made.take(snapshot(3))
    made.take(step(4))
    assert seqs(made) == [3, 4]


def test_hole_is_asked_for_once_and_then_filled() -> None:
    made = subscription()
    made.take(step(1))
    assert [made.take(step(seq)) for seq in (3, 4)] == [Need.SUBSCRIBE, Need.NOTHING]
    assert made.command().subscribe.after_seq == 1
    assert [made.take(step(seq)) for seq in (2, 3, 4)] == [Need.NOTHING] * 3
    assert seqs(made) == [1, 2, 3, 4]


def test_hole_that_stays_is_passed_by_a_snapshot_that_says_so() -> None:
    made = subscription()
    for _ in range(3):
        assert made.take(step(2)) is Need.SUBSCRIBE
        assert made.command().subscribe.HasField("after_seq")
    assert made.take(step(2)) is Need.SUBSCRIBE
    assert not made.command().subscribe.HasField("after_seq")
    made.take(snapshot(2))
    (event,) = given_by(made)
    assert event.missed


def test_turn_shows_a_hole_too() -> None:
    made = subscription()
    assert made.take(turn(2)) is Need.SUBSCRIBE
    for late in (step(1), step(2), turn(2)):
        made.take(late)
    assert [type(event) for event in given_by(made)] == [croupier.Unseen, croupier.Unseen, croupier.Turn]


def test_turn_before_a_hole_that_stays_is_passed_by_a_snapshot() -> None:
    made = subscription()
    assert [made.take(turn(2)) for _ in range(4)] == [Need.SUBSCRIBE] * 4
    assert not made.command().subscribe.HasField("after_seq")


def test_turn_is_given_once_but_again_with_another_deadline_or_after_a_snapshot() -> None:
    made = subscription()
    for one in (turn(0), turn(0), turn(0, seconds=9), snapshot(4), turn(4), turn(4)):
        made.take(one)
    kinds = [type(event) for event in given_by(made)]
    assert kinds == [croupier.Turn, croupier.Turn, croupier.Snapshot, croupier.Turn]


def test_turn_from_before_the_last_move_is_not_given() -> None:
    made = subscription()
    made.take(moved(1))
    made.take(turn(0))
    assert seqs(made) == [1]


def test_turn_is_not_stale_by_steps_that_are_no_moves() -> None:
    made = subscription()
    made.take(step(1))
    made.take(turn(0))
    assert len(given_by(made)) == 2


@pytest.mark.parametrize(("seq", "reset", "given"), [(5, False, 0), (6, False, 1), (2, True, 1)])
def test_snapshot_replaces_only_what_is_older_or_another_history(seq: int, reset: bool, given: int) -> None:
    made = subscription(after=5)
    made.take(snapshot(seq, "two", reset=reset))
    assert len(given_by(made)) == given
    assert made.position == (seq if given else 5)


def test_resync_by_the_server_says_that_steps_were_missed() -> None:
    made = subscription()
    made.take(snapshot(9))
    made.take(step(10))
    first, second = given_by(made)
    assert first.missed
    assert second.seq == 10


def test_presence_is_given_when_it_changes() -> None:
    made = subscription()
    for connected in (True, True, False):
        made.take(presence(1, connected))
    made.take(presence(2, False))
    assert [(e.seat, e.connected) for e in given_by(made)] == [(1, True), (1, False), (2, False)]


def test_unknown_updates_are_passed_over() -> None:
    assert subscription().take(update()) is Need.NOTHING


async def test_end_comes_after_all_that_waits() -> None:
    made = subscription()
    made.take(step(1))
    assert made.take(update(ended=status_pb2.Status())) is Need.FORGET
    assert (await made.next()).table == TABLE
    for _ in range(2):
        with pytest.raises(StopAsyncIteration):
            await made.next()


def test_end_is_not_believed_while_steps_are_missing() -> None:
    made = subscription()
    made.take(step(2))
    assert made.take(update(ended=status_pb2.Status())) is Need.NOTHING


async def test_refusal_is_raised_to_the_reader_when_it_is_final() -> None:
    made = subscription()
    assert made.take(update(ended=status(grpc.StatusCode.UNAVAILABLE, "TABLE_UNREADABLE"))) is Need.RETRY
    denied = status(grpc.StatusCode.PERMISSION_DENIED, "NOT_YOUR_SEAT")
    assert made.take(update(ended=denied)) is Need.FORGET
    with pytest.raises(croupier.PermissionDenied):
        await made.next()


async def test_reader_that_falls_behind_goes_on_with_a_snapshot() -> None:
    made = subscription(limit=3)
    asked: list[int | None] = []
    made.on_catching_up = lambda: asked.append(made.position)
    assert [made.take(step(seq)) for seq in (1, 2, 3, 4)] == [Need.NOTHING] * 3 + [Need.UNSUBSCRIBE]
    assert made.take(step(5)) is Need.NOTHING
    reading = asyncio.ensure_future(made.next())
    await asyncio.sleep(0)
    assert asked == [None]
    made.take(snapshot(5))
    event = await reading
    assert isinstance(event, croupier.Snapshot)
    assert event.missed


async def test_second_reader_is_refused() -> None:
    made = subscription()
    reading = asyncio.ensure_future(made.next())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError):
        await made.next()
    reading.cancel()


def play_out(made: Subscription, last: int, choices: list[int], lose: bool) -> None:
    """Streams overlap and end anywhere (and lose steps); each begins at the position then asked for."""
    streams: list[Iterator[int]] = []

    def open_one() -> None:
        if made.position is None:
            made.take(snapshot(last))
        streams.append(iter(range((made.position or 0) + 1, last + 1)))

    open_one()
    for choice in choices:
        seq = next(streams[choice % len(streams)], None) if choice % 5 else None
        lost = lose and choice % 7 == 0
        if seq is None or (not lost and made.take(step(seq)) is Need.SUBSCRIBE):
            open_one()
    open_one()
    for seq in streams[-1]:
        made.take(step(seq))


CHOICES = st.lists(st.integers(0, 1000), max_size=40)


@given(st.integers(1, 12), CHOICES)
def test_overlapping_streams_give_each_step_once(last: int, choices: list[int]) -> None:
    made = subscription()
    play_out(made, last, choices, lose=False)
    assert seqs(made) == list(range(1, last + 1))


@given(st.integers(1, 12), CHOICES)
def test_lost_steps_are_never_skipped_silently(last: int, choices: list[int]) -> None:
    made = subscription()
    play_out(made, last, choices, lose=True)
    position = 0
    for event in given_by(made):
        assert event.missed if isinstance(event, croupier.Snapshot) else event.seq == position + 1
        position = event.seq
    assert position == last
