"""PlayerService: who a caller is, and what concerns them.

The law of this file: an inbox is one feed that follows the rows of its player; it ends with
the stream, whatever state its opening is in.
"""

from __future__ import annotations

from typing import Final

from croupier.v1 import players_pb2
from croupier_server.caller import Caller
from croupier_server.feed import Feeds
from croupier_server.ids import Ids
from croupier_server.inbox import Inbox
from croupier_server.journal.base import Journal
from croupier_server.rpc.sign_in import SignIn
from croupier_server.rpc.streams import Streamed
from croupier_server.tokens import Tokens


class PlayerServicer(SignIn):
    """Signing in, and the inbox."""

    def __init__(self, tokens: Tokens, ids: Ids, journal: Journal, feeds: Feeds) -> None:
        super().__init__(tokens, ids)
        self._journal: Final = journal
        self._feeds: Final = feeds

    def watch_inbox(self, request: players_pb2.WatchInboxRequest, caller: Caller) -> Streamed:
        """What stands for the caller, then what changes."""
        del request
        feed = self._feeds.open()
        inbox = Inbox(feed, caller.player, house=caller.is_house)
        return Streamed(self._feeds, feed, inbox.open(self._journal), inbox.close)
