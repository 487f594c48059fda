"""What concerns one player: invitations, seats held, tables to come back to.

The law of this file: an inbox is a view of the lobby rows that name the player; it has no
history. On opening it shows what stands, then each change; a row that no longer names the
player is shown once more, without seats.
"""

from __future__ import annotations

from typing import Final

from croupier.v1 import players_pb2, tables_pb2
from croupier_server.errors import unavailable
from croupier_server.feed import Feed
from croupier_server.journal.base import Cancel, Journal, JournalError, Row
from croupier_server.views import delimited

_ITEM: Final = 1
_REPLAYED: Final = b"\x20\x01"
"""``WatchInboxResponse.replayed`` set to true, encoded."""
_ALL_THAT_STOOD: Final = ""
"""Stands among the streams for the news that all which stood was sent."""


class Inbox:
    """One open inbox: the rows that concern a player, sent on one feed."""

    def __init__(self, feed: Feed, player: str, *, house: bool) -> None:
        self._feed: Final = feed
        self._player: Final = player
        self._house: Final = house
        self._heard: set[str] | None = set()
        self._unsent: dict[str, Row | None] = {}
        self._cancel: Cancel | None = None

    async def open(self, journal: Journal) -> None:
        """Send what stands, then what changes. Raises ``Refusal`` JOURNAL_UNAVAILABLE."""
        try:
            self._cancel = await journal.listen_rows(self._player, self._changed)
            stood = await journal.rows_of(self._player)
        except JournalError as error:
            raise unavailable(error) from error
        heard, self._heard = self._heard or (), None
        for row in stood:
            if row.stream not in heard:  # what was heard meanwhile is newer
                self._send(row.stream, row)
        self._send(_ALL_THAT_STOOD, None)

    def close(self) -> None:
        """Stop listening."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
        self._feed.forget(self)

    def resync(self) -> tuple[bytes, bool]:
        """The newest state of one table whose news was dropped, or that all which stood was sent."""
        row = self._unsent.pop(next(iter(self._unsent)))
        return self._chunk(row), bool(self._unsent)

    def _changed(self, row: Row) -> None:
        if self._heard is not None:
            self._heard.add(row.stream)
        self._send(row.stream, row)

    def _send(self, key: str, row: Row | None) -> None:
        if not self._feed.push(self, self._chunk(row)):
            self._unsent[key] = row

    def _chunk(self, row: Row | None) -> bytes:
        if row is None:
            return _REPLAYED
        table = tables_pb2.Table.FromString(row.data)
        concerns = self._player in row.subjects
        item = players_pb2.InboxItem(
            table=table,
            invited_seats=[s.seat for s in table.seats if concerns and self._invites(s)],
            seats=[s.seat for s in table.seats if concerns and s.player == self._player],
        )
        return delimited(_ITEM, item.SerializeToString())

    def _invites(self, seat: tables_pb2.Seat) -> bool:
        if seat.player:
            return False
        return bool(seat.bot_level) if self._house else seat.invited_player == self._player
