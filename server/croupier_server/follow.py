"""Beginning a subscription: from a snapshot, or with exactly the events that are missing.

The law of this file: a resumed stream gets every event after ``after_seq`` once and in order,
whatever is appended meanwhile; only then does it go live.
"""

from __future__ import annotations

import asyncio
from typing import Final

from croupier.v1 import tables_pb2
from croupier_server.errors import refuse, unavailable
from croupier_server.feed import Feed
from croupier_server.fold import Step, TableState, UnreadableTable
from croupier_server.followers import Subscription, Wishes
from croupier_server.journal.base import Journal, JournalError, Stored
from croupier_server.seating import check_code
from croupier_server.table import Table
from croupier_server.views import Audience, EventView

_SLICE: Final = 32
"""How many events are made before other tasks get their turn."""


async def begin(
    journal: Journal, table: Table, subscription: Subscription, asked: tables_pb2.Subscription
) -> None:
    """Bring a subscription up to date and make it live.

    Raises ``Refusal`` TABLE_UNREADABLE or JOURNAL_UNAVAILABLE; the subscription is to be closed then.
    """
    table.check_readable()
    if not asked.HasField("after_seq"):
        subscription.start(snapshot=True)
        return
    if asked.epoch and asked.epoch != table.followers.epoch:
        subscription.start(snapshot=True, reset=True)
        return
    if asked.after_seq > table.state.seq:
        await table.catch_up()
        if asked.after_seq > table.state.seq:
            subscription.start(snapshot=True, reset=True)
            return
    await _replay(journal, table, subscription, asked.after_seq)


async def _replay(journal: Journal, table: Table, subscription: Subscription, after: int) -> None:
    """Send the events after ``after``: from the table's tail when it has them, else from the journal."""
    complete = True
    if not _tail_covers(table, after):
        async with subscription.feed.replaying:
            complete, after = await _replay_stored(journal, table, subscription, after)
    table.check_readable()
    missing = (event for event in table.tail if event.seq > after)
    complete = complete and all(
        subscription.push(event.chunk(subscription.audience, subscription.head)) for event in missing
    )
    subscription.start(snapshot=not complete)


def _tail_covers(table: Table, after: int) -> bool:
    return after >= table.state.seq or (bool(table.tail) and table.tail[0].seq <= after + 1)


async def _replay_stored(
    journal: Journal, table: Table, subscription: Subscription, after: int
) -> tuple[bool, int]:
    """Fold the stored stream again and send what comes after ``after``, until the tail has the rest.

    Whether all could be sent, and the last number sent.
    """
    state = TableState(table.name)
    while not _tail_covers(table, after):
        for stored in await _stored(journal, state):
            if subscription.closed:
                return False, after
            if stored.seq > table.state.seq:
                break  # the table is about to show it
            step = _fold(state, stored)
            if stored.seq % _SLICE == 0:
                await asyncio.sleep(0)
            if stored.seq > after:
                await subscription.feed.room()
                chunk = EventView(state, step).chunk(subscription.audience, subscription.head)
                if not subscription.push(chunk):
                    return False, after
                after = stored.seq
    return True, after


async def _stored(journal: Journal, state: TableState) -> list[Stored]:
    try:
        return await journal.read(state.name, state.seq)
    except JournalError as error:
        raise unavailable(error) from error


def _fold(state: TableState, stored: Stored) -> Step:
    try:
        return state.fold(stored)
    except UnreadableTable as error:
        raise refuse(
            "TABLE_UNREADABLE", "this table can't be read by this server", table=state.name
        ) from error


async def subscription_for(
    table: Table, feed: Feed, asked: tables_pb2.Subscription, player: str, most_legal: int
) -> Subscription:
    """A subscription of a caller who may have it; it follows the table from now on, ``begin`` is next.

    Raises ``Refusal`` NOT_YOUR_SEAT, WRONG_JOIN_CODE, TABLE_UNREADABLE or JOURNAL_UNAVAILABLE.
    """
    if not _is_seated(table, asked, player):
        await table.refresh()  # another process may have seated the caller just now
    audience = _audience(table, asked, player)
    if audience is None and not table.state.is_inside(player):
        check_code(table.state, asked.join_code)
    wishes = Wishes(legal=most_legal if asked.legal_moves else 0, views=asked.views, form=asked.move_form)
    subscription = Subscription(feed, table.followers, table.state, audience, wishes)
    table.followers.add(subscription)
    return subscription


def _is_seated(table: Table, asked: tables_pb2.Subscription, player: str) -> bool:
    own = table.state.seats_of(player)
    return asked.seat in own if asked.HasField("seat") else bool(own)


def _audience(table: Table, asked: tables_pb2.Subscription, player: str) -> Audience:
    own = table.state.seats_of(player)
    if asked.HasField("seat"):
        if asked.seat not in own:
            raise refuse("NOT_YOUR_SEAT", f"seat {asked.seat} is not yours", seat=asked.seat)
        return asked.seat
    return own[0] if own else None
