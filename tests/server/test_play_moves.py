"""Moves through Play streams, which are begun without a task: what the journal does to them is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from croupier_server.drafts import Request
from croupier_server.journal import MemoryJournal
from croupier_server.moves import AskedMove, decide_move
from server.room import START_S, PlayStream, Room, holder, turns

DEALT = 6


class Sitting(NamedTuple):
    """A table whose first move is due, and the stream of who has it."""

    name: str
    stream: PlayStream


@pytest.fixture
async def sitting(room: Room) -> AsyncIterator[Sitting]:
    name = await room.deal("doudizhu")
    table = await room.tables.get(name)
    stream = room.play(holder(table, table.state.to_act or 0))
    yield Sitting(name, stream)
    await stream.close()


def why(result: object) -> str:
    return str(getattr(result, "refused", result))


async def test_a_move_that_the_journal_did_not_take_is_refused(room: Room, sitting: Sitting) -> None:
    room.journal.fails = True
    sitting.stream.move(sitting.name, "bid 1", "m")
    assert "JOURNAL_UNAVAILABLE" in why(await sitting.stream.result("m"))
    room.journal.fails = False
    sitting.stream.move(sitting.name, "bid 1", "n")
    assert (await sitting.stream.result("n")).seq == DEALT + 1


async def test_a_move_whose_answer_was_lost_is_found_in_the_journal(room: Room, sitting: Sitting) -> None:
    room.journal.forgets_to_answer = True
    sitting.stream.move(sitting.name, "bid 1", "")
    assert (await sitting.stream.result("")).seq == DEALT + 1
    assert len(await room.stored(sitting.name)) == DEALT + 1


async def test_a_move_of_unknown_outcome_is_answered_when_repeated(room: Room, sitting: Sitting) -> None:
    room.journal.forgets_to_answer = room.journal.unreadable = True
    sitting.stream.move(sitting.name, "bid 1", "m")
    assert "OUTCOME_UNKNOWN" in why(await sitting.stream.result("m"))
    room.journal.forgets_to_answer = room.journal.unreadable = False
    sitting.stream.results.clear()
    sitting.stream.move(sitting.name, "bid 1", "m")
    assert (await sitting.stream.result("m")).seq == DEALT + 1


async def test_a_begun_move_that_another_overtakes_is_decided_again(room: Room, sitting: Sitting) -> None:
    table = await (await room.replica()).tables.get(sitting.name)
    who = holder(table, table.state.to_act or 0)
    passed = table._batch(
        decide_move(table.state, AskedMove(Request(who.player), None, "pass", None), START_S * 1000)
    )
    room.journal.gate.clear()
    sitting.stream.move(sitting.name, "bid 1", "late")
    await turns()
    await MemoryJournal.append(room.journal, passed)
    room.journal.gate.set()
    assert "NOT_YOUR_TURN" in why(await sitting.stream.result("late"))
    assert len(await room.stored(sitting.name)) == DEALT + 1


async def test_other_commands_wait_for_a_begun_move(room: Room, sitting: Sitting) -> None:
    table = await room.tables.get(sitting.name)
    next_to_act = ((table.state.to_act or 0) + 1) % 3
    room.journal.gate.clear()
    sitting.stream.move(sitting.name, "bid 1", "m")
    await turns()
    assert table.busy
    waiting = asyncio.create_task(room.move(sitting.name, holder(table, next_to_act), "pass"))
    await turns()
    assert (waiting.done(), table.state.seq) == (False, DEALT)
    room.journal.gate.set()
    assert (await sitting.stream.result("m")).seq == DEALT + 1
    assert await waiting == DEALT + 2


async def test_a_subscription_after_a_begun_move_begins_behind_it(room: Room, sitting: Sitting) -> None:
    room.journal.gate.clear()
    sitting.stream.move(sitting.name, "bid 1", "m")
    sitting.stream.subscribe(sitting.name)
    await turns()
    assert not sitting.stream.updates
    room.journal.gate.set()
    assert (await sitting.stream.until("snapshot")).snapshot.seq == DEALT + 1


async def test_a_begun_move_of_a_stream_that_ends_is_made(room: Room, sitting: Sitting) -> None:
    room.journal.gate.clear()
    sitting.stream.move(sitting.name, "bid 1", "m")
    await turns()
    await sitting.stream.close()
    room.journal.gate.set()
    await turns()
    assert (await room.state(sitting.name)).seq == DEALT + 1
