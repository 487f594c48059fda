"""What of a journal in Redis fails now: lost connections, refusals, keys that hold something else.

The law of this file: each trouble is logged when it begins and when it is over, however many calls
run into it meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog

from croupier_server.journal.base import QueueFull
from croupier_server.journal.redis_link import NotConnected, Outages
from croupier_server.journal.redis_wire import KeyTaken

_log: Final = structlog.get_logger()

_MOST_TAKEN: Final = 1000
"""Of how many streams it is remembered that their key is taken."""


class Troubles:
    """The troubles of one journal. ``when_lost`` is called whenever a connection is lost."""

    def __init__(self, when_lost: Callable[[], None]) -> None:
        self.lost: Final = Outages("journal.lost", "journal.found_again", when_lost)
        self.writes: Final = Outages("journal.write_failed", "journal.write_recovered")
        self._reads: Final = Outages("journal.read_failed", "journal.read_recovered")
        self._taken: Final[set[str]] = set()

    def __bool__(self) -> bool:
        return bool(self.lost or self.writes or self._reads or self._taken)

    def write_refused(self, part: str, key: str, error: Exception) -> None:
        """An append was refused, or nobody knows."""
        self._refused(self.writes, part, key, error)

    def written(self, part: str, key: str) -> None:
        """An append went in, or only was not next."""
        self.writes.ended(part)
        self._not_taken(key)

    def read_refused(self, key: str, error: Exception) -> None:
        """A read was refused."""
        self._refused(self._reads, "read", key, error)

    def read(self, key: str) -> None:
        """A read was answered."""
        if self._reads or self._taken:
            self._reads.ended("read")
            self._not_taken(key)

    def _refused(self, kind: Outages, part: str, key: str, error: Exception) -> None:
        if isinstance(error, NotConnected | QueueFull):
            return  # the connection tells of itself, and a queue that is full is soon not
        if not isinstance(error, KeyTaken):
            kind.began(part, error)
        elif key not in self._taken and len(self._taken) < _MOST_TAKEN:
            self._taken.add(key)
            _log.error("journal.key_taken", key=key, error=str(error))

    def _not_taken(self, key: str) -> None:
        if key in self._taken:
            self._taken.discard(key)
            _log.info("journal.key_given_back", key=key)
