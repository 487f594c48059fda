"""Tables leave memory when nobody needs them, and come back as they were."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import AsyncIterator

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_server.drafts import SERVER, draft
from croupier_server.fold import Phase, TableState
from croupier_server.followers import Subscription
from croupier_server.journal import Append
from croupier_server.journal.v1 import entry_pb2
from croupier_server.table import Table
from server.room import Room, guest, refused, turns

VOID = {"doudizhu": {"max_redeals": 0}}


@pytest.fixture
async def forgetful() -> AsyncIterator[Room]:
    """A room that drops a table as soon as nobody is at it."""
    room = Room(evict_after_s=0)
    await room.open()
    yield room
    await room.close()


def listeners(room: Room) -> int:
    return sum(map(len, room.journal._listeners._streams._tell.values()))


def alive() -> int:
    """How many tables, their states and subscriptions there are in this process."""
    gc.collect()
    return sum(isinstance(thing, (Table, TableState, Subscription)) for thing in gc.get_objects())


async def void_game(room: Room) -> str:
    """A game that is over after three passes (DDZ-4)."""
    name = await room.deal("doudizhu", options=VOID, who=guest(random.randrange(10**6)))
    while (await room.state(name)).phase is not Phase.ENDED:
        await room.some_move(name)
    return name


async def test_an_ended_table_leaves_at_once(room: Room) -> None:
    name = await void_game(room)
    room.tables.evict()
    assert (len(room.tables), listeners(room)) == (0, 0)
    assert (await room.state(name)).phase is Phase.ENDED


async def test_a_table_in_use_stays_and_an_idle_one_leaves(room: Room, forgetful: Room) -> None:
    for each, left in ((room, 1), (forgetful, 0)):
        await each.deal("doudizhu")
        each.tables.evict()
        assert len(each.tables) == listeners(each) == left


async def test_a_followed_table_stays(forgetful: Room) -> None:
    name = await forgetful.deal("doudizhu")
    stream = forgetful.watch(name, guest(0))
    await stream.until("snapshot")
    forgetful.tables.evict()
    assert forgetful.tables.loaded(name)
    seq = await forgetful.some_move(name)
    await stream.until("event", seq)
    await stream.close()
    forgetful.tables.evict()
    assert not forgetful.tables.loaded(name)


async def test_a_table_that_works_stays(forgetful: Room) -> None:
    name = await forgetful.deal("doudizhu")
    forgetful.journal.gate.clear()
    move = asyncio.create_task(forgetful.some_move(name))
    await turns()
    forgetful.tables.evict()
    assert forgetful.tables.loaded(name)
    forgetful.journal.gate.set()
    await move


async def test_whoever_comes_while_a_table_goes_finds_it(forgetful: Room) -> None:
    """However the table is dropped meanwhile, a stream is never left with a dead one."""
    name = await forgetful.deal("doudizhu")
    forgetful.tables.evict()
    stream = forgetful.watch(name, guest(0), after_seq=0)
    opening = asyncio.create_task(stream.until("event", 6))
    chance = random.Random(1)
    while not opening.done():
        await turns(chance.randrange(4))
        forgetful.tables.evict()
        await asyncio.wait((opening,), timeout=0)
    seq = await forgetful.some_move(name)
    await stream.until("event", seq)
    await stream.close()


async def test_a_table_comes_back_as_it_was(room: Room) -> None:
    name = await room.deal("basic_rummy", move_seconds=20)
    await room.play_out(name, random.Random(1), moves=50)
    before = await room.tables.get(name)
    room.tables.evict()
    other = await room.replica()
    after = await other.state(name)
    same = set(TableState.__slots__) - {"game_state"}
    assert {key: getattr(after, key) for key in same} == {key: getattr(before.state, key) for key in same}
    rules = after.rules
    assert rules.fingerprint(after.game_state) == rules.fingerprint(before.state.game_state)
    await other.tables.stop()


async def test_a_thousand_ended_tables_leave_nothing_behind(room: Room) -> None:
    before = alive()
    stream = room.play(guest(0))
    for number in range(1000):
        name = await room.create("doudizhu", who=guest(number))
        stream.subscribe(name)
        await stream.next()
        if number % 20 == 0:
            for seat in range(3):
                await room.join(name, guest(seat))
            await room.play_out(name, random.Random(number))
            stream.clear()
    await room.pass_time(3600)
    while await room.tables.sweeper.fire_due():
        pass
    while len(room.tables):
        await stream.next()
        stream.clear()
        room.tables.evict()
    assert (listeners(room), alive()) == (0, before)
    await stream.close()


async def test_what_is_not_there_leaves_no_listener(room: Room) -> None:
    for _ in range(3):
        with refused("TABLE_NOT_FOUND"):
            await room.tables.get("tables/" + "x" * 22)
    assert (len(room.tables), listeners(room), len(room.tables._loading)) == (0, 0, 0)


async def test_what_cannot_be_loaded_leaves_no_listener(room: Room) -> None:
    damaged, stuck = await room.deal("doudizhu"), await room.create("doudizhu")
    await add_entries(room, stuck)
    other = await room.replica()
    room.journal.damage(damaged, 3, b"\xff")
    before = listeners(room)
    with refused("TABLE_UNREADABLE"):
        await other.tables.get(damaged)
    room.journal.fails = True
    with refused("JOURNAL_UNAVAILABLE"):
        await other.tables.get(stuck)
    room.journal.unreadable = True
    with refused("JOURNAL_UNAVAILABLE"):
        await other.tables.get(stuck)
    assert (listeners(room), len(other.tables)) == (before, 0)


async def add_entries(room: Room, name: str) -> None:
    """All sit, and then the process died before it dealt."""
    sat = [entry_pb2.SeatTaken(seat=n, player=guest(n).player) for n in range(3)]
    drafts = [draft(1, SERVER, seat_taken=taken) for taken in sat]
    drafts.append(draft(1, SERVER, filled=entry_pb2.Filled()))
    datas = tuple(d.entry.SerializeToString() for d in drafts)
    await room.journal.append(Append(name, 1, datas))


async def test_a_loaded_table_takes_the_step_that_is_nobodys(room: Room) -> None:
    name = await room.create("doudizhu")
    await add_entries(room, name)
    other = await room.replica()
    states = await asyncio.gather(other.state(name), room.state(name))
    assert [state.phase for state in states] == [Phase.PLAYING] * 2
    assert len(await room.stored(name)) == 6
    await other.tables.stop()


async def test_a_table_is_loaded_once_however_many_ask(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    name = await room.deal("doudizhu")
    other = await room.replica()
    loads: list[Table] = []
    load = Table.load

    async def count(table: Table) -> None:
        loads.append(table)
        await load(table)

    monkeypatch.setattr(Table, "load", count)
    asks = [asyncio.create_task(other.tables.get(name)) for _ in range(50)]
    await asyncio.sleep(0)
    asks[0].cancel()
    found = await asyncio.gather(*asks, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError)
    assert {id(table) for table in found[1:]} == {id(loads[0])}
    assert len(loads) == 1
    await other.tables.stop()


async def test_stopping_lets_go_of_all(room: Room) -> None:
    names = [await room.deal("doudizhu") for _ in range(3)]
    other = await room.replica()
    await other.tables.start()
    await other.tables.get(names[0])
    loading = asyncio.create_task(other.tables.get(names[1]))
    await asyncio.sleep(0)
    await other.tables.stop()
    await asyncio.wait((loading,))
    await room.tables.stop()
    assert (len(other.tables), listeners(room)) == (0, 0)


async def test_an_evicted_table_answers_a_repeat(room: Room) -> None:
    name = await room.create(request_id="r")
    joined = await room.join(name, guest(1), request_id="j")
    await room.tables.stop()
    assert await room.create(request_id="r") == name
    again = pb.JoinTableRequest(name=name, request_id="j")
    assert (await room.service.join_table(again, guest(1))).seat == joined.seat
