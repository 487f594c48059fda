"""The inbox: what stands on opening, then each change, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from croupier.v1 import players_pb2
from croupier.v1 import tables_pb2 as pb
from croupier_server.caller import Caller
from croupier_server.feed import Feed
from croupier_server.fold import HOUSE
from croupier_server.inbox import Inbox
from croupier_server.journal import Row
from server.room import BOT, Room, guest, refused, turns


class Reader:
    """An open inbox and what was read of it."""

    def __init__(self, room: Room, who: Caller, limit_bytes: int = 1 << 19) -> None:
        self.feed = Feed(limit_bytes)
        self.inbox = Inbox(self.feed, who.player, house=who.is_house)
        self._responses = self.feed
        self._room = room
        self.items: list[players_pb2.InboxItem] = []
        self.replayed_after: int | None = None

    async def open(self) -> None:
        await self.inbox.open(self._room.journal)

    async def next(self) -> None:
        async with asyncio.timeout(10):
            response = players_pb2.WatchInboxResponse.FromString(await anext(self._responses))
        self.items += response.items
        if response.replayed:
            self.replayed_after = len(self.items)

    async def replay(self) -> None:
        """Open, and read what stands."""
        await self.open()
        while self.replayed_after is None:
            await self.next()

    @property
    def last(self) -> players_pb2.InboxItem:
        return self.items[-1]


@pytest.fixture
async def invited(room: Room) -> str:
    """A table of two at which guest 7 is invited."""
    name = await room.create(players=2)
    await room.service.invite_bot(pb.InviteBotRequest(name=name, player=guest(7).player), guest(0))
    return name


@pytest.fixture
async def reader(room: Room) -> AsyncIterator[Reader]:
    """The inbox of guest 7, not open yet."""
    reader = Reader(room, guest(7))
    yield reader
    reader.inbox.close()


async def test_an_empty_inbox_says_so(reader: Reader) -> None:
    await reader.replay()
    assert (reader.items, reader.replayed_after) == ([], 0)


async def test_what_stands_is_shown_on_opening(room: Room, reader: Reader, invited: str) -> None:
    seated = await room.create("doudizhu", private=True, who=guest(7))
    await room.join(seated, guest(7), join_code=(await room.state(seated)).created.join_code)
    await room.create()
    await reader.replay()
    items = {item.table.name: (list(item.invited_seats), list(item.seats)) for item in reader.items}
    assert items == {invited: ([1], []), seated: ([], [0])}
    assert all(not item.table.join_code and not item.table.server_seed for item in reader.items)


async def test_changes_follow(room: Room, reader: Reader, invited: str) -> None:
    await reader.replay()
    await room.join(invited, guest(7))
    await reader.next()
    assert (list(reader.last.invited_seats), list(reader.last.seats)) == ([], [1])
    await room.join(invited, guest(1))
    await room.play_out(invited, random.Random(1))
    while reader.last.table.state != pb.TABLE_STATE_ENDED:
        await reader.next()
    assert (list(reader.last.invited_seats), list(reader.last.seats)) == ([], [])


async def test_who_leaves_is_told_that_the_table_concerns_no_more(room: Room, reader: Reader) -> None:
    name = await room.create(players=2)
    await room.join(name, guest(7))
    await reader.replay()
    await room.service.leave_table(pb.LeaveTableRequest(name=name), guest(7))
    await reader.next()
    assert (reader.last.table.name, list(reader.last.seats)) == (name, [])


async def test_the_house_hears_of_offered_seats(room: Room) -> None:
    reader = Reader(room, BOT)
    await reader.replay()
    name = await room.create(players=3)
    await room.service.invite_bot(pb.InviteBotRequest(name=name, seat=1, level="random"), guest(0))
    await reader.next()
    assert list(reader.last.invited_seats) == [1]
    assert reader.last.table.seats[1].bot_level == "random"
    await room.join(name, BOT, seat=1)
    await reader.next()
    assert (list(reader.last.invited_seats), list(reader.last.seats)) == ([], [1])
    reader.inbox.close()


async def test_a_change_while_opening_is_newer_than_what_stood(
    room: Room, reader: Reader, invited: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are read, then the player leaves, then the rows arrive: the leaving counts."""
    await room.join(invited, guest(7))
    read = room.journal.rows_of

    async def slowly(subject: str) -> list[Row]:
        rows = await read(subject)
        if subject == guest(7).player:
            await room.service.leave_table(pb.LeaveTableRequest(name=invited), guest(7))
        return rows

    monkeypatch.setattr(room.journal, "rows_of", slowly)
    await reader.replay()
    assert [(item.table.name, list(item.seats)) for item in reader.items] == [(invited, [])]


async def test_a_full_inbox_sends_the_newest_of_each_table_once_it_is_read(room: Room) -> None:
    names = [await room.create(players=2, who=guest(n)) for n in range(20)]
    for number, name in enumerate(names):
        await room.service.invite_bot(pb.InviteBotRequest(name=name, player=guest(77).player), guest(number))
    reader = Reader(room, guest(77), limit_bytes=1500)
    await reader.open()
    assert reader.feed._bytes <= 1500
    await room.join(names[19], guest(77))
    while reader.replayed_after is None:
        await reader.next()
    assert {item.table.name for item in reader.items[: reader.replayed_after]} == set(names)
    newest = {item.table.name: list(item.seats) for item in reader.items}
    assert newest[names[19]] == [1]
    assert len(reader.items) in (20, 21)
    reader.inbox.close()


async def test_a_closed_inbox_hears_nothing(room: Room, reader: Reader, invited: str) -> None:
    await reader.replay()
    reader.inbox.close()
    reader.inbox.close()
    await room.join(invited, guest(7))
    await turns()
    assert not reader.feed._chunks
    assert guest(7).player not in room.journal._listeners._subjects


async def test_an_inbox_of_a_store_that_is_gone_is_refused(room: Room, reader: Reader) -> None:
    await room.journal.close()
    with refused("JOURNAL_UNAVAILABLE"):
        await reader.open()


async def test_a_kept_seat_concerns_the_house_by_its_name(room: Room) -> None:
    name = await room.create(players=2)
    await room.service.invite_bot(pb.InviteBotRequest(name=name), guest(0))
    assert [row.stream for row in await room.journal.rows_of(HOUSE)] == [name]
