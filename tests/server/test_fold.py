"""A journal that cannot be understood is refused, whole; nothing is guessed."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES
from croupier_server.fold import TableState, UnreadableTable
from croupier_server.journal import Stored
from croupier_server.journal.v1 import entry_pb2
from server.room import Room, guest, refused

DEAL = 6
"""The number of the deal at a table of three."""


async def stream(room: Room, game: str = "doudizhu", moves: int = 5) -> tuple[str, list[Stored]]:
    name = await room.deal(game, players=3)
    await room.play_out(name, random.Random(game), moves=moves)
    return name, await room.stored(name)


def fold(name: str, stored: list[Stored]) -> TableState:
    state = TableState(name)
    for entry in stored:
        state.fold(entry)
    return state


def changed(stored: Stored, change: Callable[[entry_pb2.Entry], object]) -> bytes:
    """The bytes of an entry in which something was changed."""
    entry = entry_pb2.Entry.FromString(stored.data)
    change(entry)
    return entry.SerializeToString()


def swapped_hands(entry: entry_pb2.Entry) -> None:
    deal = json.loads(entry.dealt.deal_json)
    deal["hands"][0], deal["hands"][1] = deal["hands"][1], deal["hands"][0]
    entry.dealt.deal_json = json.dumps(deal)


DAMAGES: dict[str, tuple[int, Callable[[entry_pb2.Entry], object]]] = {
    "a newer form": (2, lambda e: setattr(e, "version", 2)),
    "an unknown kind": (3, lambda e: e.ClearField("seat_taken")),
    "another rules version": (1, lambda e: setattr(e.created, "rules_version", 99)),
    "an unknown game": (1, lambda e: setattr(e.created, "game", "poker")),
    "unknown options": (1, lambda e: setattr(e.created, "options_json", '{"jokers": 9}')),
    "options that are no JSON": (1, lambda e: setattr(e.created, "options_json", "{")),
    "too many players": (1, lambda e: setattr(e.created, "players", 9)),
    "no beginning": (1, lambda e: e.filled.SetInParent()),
    "a second beginning": (3, lambda e: e.created.SetInParent()),
    "a seat that is not there": (2, lambda e: setattr(e.seat_taken, "seat", 3)),
    "a move before the deal": (2, lambda e: e.moved.CopyFrom(entry_pb2.Moved(move="pass"))),
    "a deal of another number": (DEAL, lambda e: setattr(e.dealt, "number", 1)),
    "a deal that is no JSON": (DEAL, lambda e: setattr(e.dealt, "deal_json", "[")),
    "a deal of too few cards": (DEAL, lambda e: setattr(e.dealt, "deal_json", '{"hands": []}')),
    "a deal that is nested without end": (DEAL, lambda e: setattr(e.dealt, "deal_json", "[" * 10**5)),
    "other hands than were digested": (DEAL, swapped_hands),
    "a move of another seat": (DEAL + 1, lambda e: setattr(e.moved, "seat", (e.moved.seat + 1) % 3)),
    "an illegal move": (DEAL + 1, lambda e: setattr(e.moved, "move", "play 3C")),
    "no move": (DEAL + 1, lambda e: setattr(e.moved, "move", "dance")),
    "a move by nobody known": (DEAL + 1, lambda e: setattr(e.moved, "by", 9)),
    "an end of an unknown kind": (DEAL + 1, lambda e: setattr(e.ended, "result", 9)),
    "an end of no kind": (DEAL + 1, lambda e: e.ended.SetInParent()),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_what_does_not_fold_is_refused(room: Room, damage: str) -> None:
    name, stored = await stream(room)
    seq, change = DAMAGES[damage]
    room.journal.damage(name, seq, changed(stored[seq - 1], change))
    state = fold(name, stored[: seq - 1])
    with pytest.raises(UnreadableTable, match=name):
        state.fold((await room.stored(name))[seq - 1])
    other = await room.replica()
    for _ in range(2):
        with refused("TABLE_UNREADABLE"):
            await other.tables.get(name)
    with refused("TABLE_UNREADABLE"):
        await other.service.get_table(pb.GetTableRequest(name=name), guest(0))
    await other.tables.stop()


async def test_the_log_of_a_damaged_table_names_no_card(room: Room) -> None:
    name, stored = await stream(room)
    room.journal.damage(name, DEAL, changed(stored[DEAL - 1], swapped_hands))
    hand = json.loads(entry_pb2.Entry.FromString(stored[DEAL - 1].data).dealt.deal_json)["hands"][0]
    other = await room.replica()
    with capture_logs() as logs, refused("TABLE_UNREADABLE"):
        await other.tables.get(name)
    assert [line["event"] for line in logs] == ["table.unreadable"]
    assert not any(card in str(logs).replace(name, "") for card in hand)


async def test_an_entry_behind_the_end_is_refused(room: Room) -> None:
    name, stored = await stream(room, moves=10**6)
    filled = next(entry for entry in stored if entry_pb2.Entry.FromString(entry.data).HasField("filled"))
    with pytest.raises(UnreadableTable):
        fold(name, [*stored, Stored(len(stored) + 1, filled.data)])


async def test_a_gap_is_refused(room: Room) -> None:
    name, stored = await stream(room)
    for gap in (stored[1:], stored[:3] + stored[4:], [*stored, stored[-1]]):
        with pytest.raises(UnreadableTable, match="does not follow"):
            fold(name, gap)


@pytest.fixture(scope="module")
def sample() -> list[Stored]:
    """A stream to damage; its room is not needed any more."""

    async def make() -> list[Stored]:
        room = Room()
        await room.open()
        _, stored = await stream(room)
        await room.close()
        return stored

    return asyncio.run(make())


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_damaged_bytes_never_lead_to_another_error(sample: list[Stored], data: st.DataObject) -> None:
    victim = data.draw(st.integers(0, len(sample) - 1))
    raw = bytearray(sample[victim].data)
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    damaged = [*sample[:victim], Stored(victim + 1, bytes(raw)), *sample[victim + 1 :]]
    state = TableState("tables/x")
    try:
        for entry in damaged:
            state.fold(entry)
    except UnreadableTable:
        return
    assert state.seq == len(sample)


@pytest.mark.parametrize("game", GAMES)
async def test_a_fold_needs_no_clock_and_no_chance(
    room: Room, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, stored = await stream(room, game, moves=10**6)
    with monkeypatch.context() as patched:
        for source in ("random.random", "secrets.token_bytes", "os.urandom", "time.time", "time.monotonic"):
            patched.setattr(source, lambda *_: pytest.fail("a fold asked for chance or time"))
        state = fold(name, stored)
    assert state.ended is not None
    assert list(state.ended.scores) == state.rules.scores(state.game_state)


async def test_the_state_of_the_writer_is_that_of_the_fold(room: Room) -> None:
    name, stored = await stream(room, "basic_rummy", moves=200)
    mine, folded = await room.state(name), fold(name, stored)
    assert mine.rules.fingerprint(mine.game_state) == mine.rules.fingerprint(folded.game_state)
    assert (mine.requests, mine.seats, mine.deadline_ms) == (
        folded.requests,
        folded.seats,
        folded.deadline_ms,
    )
