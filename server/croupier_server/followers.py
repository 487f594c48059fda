"""Who follows a table, through which seat, and what each is owed.

The law of this file: a live subscription has been given every event of the table in order, from
its beginning point to the last, or a snapshot that stands for them. Each chunk is made once per
audience and shared by all who see through the same seat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from google.rpc import status_pb2

from croupier.v1 import games_pb2
from croupier_server.epoch import Epoch
from croupier_server.errors import Refusal, refuse
from croupier_server.feed import Feed
from croupier_server.fold import Phase, TableState
from croupier_server.views import (
    Audience,
    Chunk,
    EventView,
    address,
    ended_chunk,
    presence_chunk,
    snapshot_chunk,
    turn_chunk,
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a subscription asked for: how many legal moves with a turn (0: none), views, form."""

    legal: int = 0
    views: bool = False
    form: games_pb2.MoveForm.ValueType = games_pb2.MOVE_FORM_TEXT


class Subscription:
    """One feed's interest in one table, seen through one seat or as a spectator."""

    __slots__ = (
        "_reset",
        "_set_back",
        "_status",
        "audience",
        "closed",
        "feed",
        "followers",
        "head",
        "live",
        "state",
        "when_closed",
        "wishes",
    )

    def __init__(
        self,
        feed: Feed,
        followers: Followers,
        state: TableState,
        audience: Audience,
        wishes: Wishes,
    ) -> None:
        self.feed: Final = feed
        self.followers: Final = followers
        self.state = state
        self.audience: Final = audience
        self.wishes: Final = wishes
        self.head: Final = followers.head(audience)
        self.live = False
        self.closed = False
        self.when_closed: Callable[[], None] | None = None
        self._reset = False
        self._set_back = False
        self._status: status_pb2.Status | None = None

    def push(self, chunk: Chunk) -> bool:
        """Queue a chunk on the feed, by the feed's overflow policy; False when it was dropped."""
        return not self.closed and self.feed.push(self, chunk)

    def resync(self) -> tuple[Chunk, bool]:
        """What replaces dropped updates: a snapshot, and the turn or the end."""
        chunk = b"" if self._status is not None and self._status.code else self._snapshot()
        if self._status is not None:
            self.close()
            chunk += ended_chunk(self.head, self._status)
        elif self.is_to_act:
            chunk += self.turn()
        return chunk, False

    def _snapshot(self) -> Chunk:
        reset, self._reset = self._reset, False
        return snapshot_chunk(self.state, self.audience, epoch=self.followers.epoch, reset=reset)

    @property
    def is_to_act(self) -> bool:
        """True when the seat seen through is the one to move."""
        return self.audience is not None and self.audience == self.state.to_act

    def turn(self) -> Chunk:
        """The turn of the seat to act, as this subscription wants it."""
        wishes = self.wishes
        return turn_chunk(self.state, legal=wishes.legal, views=wishes.views, form=wishes.form)

    def start(self, *, snapshot: bool = False, reset: bool = False) -> None:
        """Go live: all before was sent, or a snapshot is sent now; then the turn, or the end."""
        if self.closed:
            return
        if self._set_back:
            snapshot = reset = True
        self.live, self._reset, self._set_back = True, reset, False
        if snapshot or self.feed.owes(self):
            self.feed.forget(self)
            if not self.push(self._snapshot()):
                self._reset = reset
        if self.state.phase is Phase.ENDED:
            self.end(status_pb2.Status())
        elif self.is_to_act:
            self.push(self.turn())

    def set_back(self, state: TableState) -> None:
        """What was sent is no longer so: a snapshot that says it comes now, or when going live."""
        self.state, self._set_back = state, True
        if self.live:
            self.start()

    def close(self) -> None:
        """Nothing more is sent; calling it again does nothing."""
        if self.closed:
            return
        self.closed = True
        self.followers.remove(self)
        self.feed.forget(self)
        if self.when_closed is not None:
            self.when_closed()

    def end(self, status: status_pb2.Status) -> None:
        """Say why the subscription ends, then close it; where updates were dropped, once it was resynced.

        Only with status OK is anything of the table shown then: a seat may have been lost.
        """
        self._status = status
        self.followers.remove(self)
        if self.push(ended_chunk(self.head, status)):
            self.close()


class Followers:
    """All subscriptions of one table in this process, by audience."""

    __slots__ = ("_audiences", "_epoch", "_heads", "table")

    def __init__(self, table: str, epoch: Epoch) -> None:
        self.table: Final = table
        self._epoch: Final = epoch
        self._audiences: dict[Audience, dict[Subscription, None]] = {}
        self._heads: dict[Audience, bytes] = {}

    def __bool__(self) -> bool:
        return bool(self._audiences)

    def __len__(self) -> int:
        return sum(map(len, self._audiences.values()))

    @property
    def epoch(self) -> str:
        """The epoch that the table's numbers belong to now."""
        return self._epoch.now

    def head(self, audience: Audience) -> bytes:
        """The start of every update for an audience, made once."""
        head = self._heads.get(audience)
        if head is None:
            head = self._heads[audience] = address(self.table, audience)
        return head

    def add(self, subscription: Subscription) -> None:
        """Begin to follow; the first through a seat makes its player present."""
        audience = subscription.audience
        together = self._audiences.setdefault(audience, {})
        together[subscription] = None
        if audience is not None and len(together) == 1:
            self._tell_presence(audience, connected=True)

    def remove(self, subscription: Subscription) -> None:
        """Stop following; the last through a seat makes its player absent."""
        audience = subscription.audience
        left = self._audiences.get(audience, {})
        if subscription not in left:
            return
        del left[subscription]
        subscription.live = False
        if not left:
            del self._audiences[audience]
            if audience is not None:
                self._tell_presence(audience, connected=False)

    def _tell_presence(self, seat: int, *, connected: bool) -> None:
        for audience, subscriptions in self._audiences.items():
            if audience != seat:
                chunk = presence_chunk(self.head(audience), seat, connected)
                for subscription in subscriptions:
                    if subscription.live:
                        subscription.push(chunk)

    def show(self, event: EventView) -> None:
        """Give an event to all, encoded once for each audience."""
        for audience, subscriptions in self._audiences.items():
            chunk = event.chunk(audience, self.head(audience))
            for subscription in subscriptions:
                if subscription.live:
                    subscription.push(chunk)
        if event.step.kind == "seat_left":
            self._unseat(event.step.entry.seat_left.seat)

    def _unseat(self, seat: int) -> None:
        """Who has left a seat no longer sees through it."""
        status = refuse("NOT_SEATED", f"seat {seat} is no longer yours", table=self.table).to_status()
        for subscription in tuple(self._audiences.get(seat, ())):
            subscription.end(status)

    def settle(self, state: TableState) -> None:
        """After a batch of events: tell the seat to act of its turn, or all of the end."""
        if not self._audiences:
            return
        if state.phase is Phase.ENDED:
            self._end(status_pb2.Status())
            return
        turns: dict[Wishes, Chunk] = {}
        for subscription in self._audiences.get(state.to_act, ()) if state.to_act is not None else ():
            if not subscription.live:
                continue
            chunk = turns.get(subscription.wishes)
            if chunk is None:
                chunk = turns[subscription.wishes] = subscription.turn()
            subscription.push(chunk)

    def set_back(self, before: TableState, state: TableState) -> None:
        """Entries were lost: all begin anew from a state, but for whom it has lost the seat."""
        for seat, (was, now) in enumerate(zip(before.seats, state.seats, strict=False)):
            if was.player != now.player:
                self._unseat(seat)
        for subscriptions in tuple(self._audiences.values()):
            for subscription in tuple(subscriptions):
                subscription.set_back(state)

    def end(self, refusal: Refusal) -> None:
        """End every subscription with a reason."""
        self._end(refusal.to_status())

    def _end(self, status: status_pb2.Status) -> None:
        for subscriptions in tuple(self._audiences.values()):
            for subscription in tuple(subscriptions):
                if subscription.live:
                    subscription.end(status)
