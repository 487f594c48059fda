"""What it is to sit at a table.

The law of this file: an event is a plain dict with the key ``event``; it is what ``--json`` writes.

- ``snapshot``: ``table`` (name, game, options, seats, …), ``seat`` (yours, None: a spectator's),
  ``seq``, and ``view`` (None: no cards were dealt yet). It replaces all that was told before.
- ``seat_changed``: ``seat`` is now as ``now`` says. ``filled``: all seats are taken.
- ``dealt``: ``number`` of the deal from 0. ``moved``: ``seat``, ``move``, ``by``. Both with ``effects``.
- ``turn``: you are to move: ``seq``, ``seat``, ``legal`` (canonical texts, all of them), ``view``.
- ``ended``: ``result``, ``scores``, ``server_seed``. ``presence``: ``seat`` is ``connected``, or not.
- ``created`` and ``unseen`` have a ``seq`` and nothing else that matters here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, Protocol

Plain = dict[str, Any]


class Refused(Exception):
    """A move that was not made. ``still`` is True while it is the seat's turn; ``reason`` is UPPER_SNAKE."""

    def __init__(self, reason: str, message: str, *, still: bool) -> None:
        super().__init__(message)
        self.reason: Final = reason
        self.still: Final = still


class Sitting(Protocol):
    """One seat of one table, until its end."""

    @property
    def proof(self) -> str:
        """What is known of where the cards came from, in a sentence, once ``record`` was given."""

    def events(self) -> AsyncIterator[Plain]:
        """The events, a snapshot first, until the table has ended."""

    async def play(self, move: str, seq: int) -> None:
        """Make a move in answer to the turn at ``seq``. Raises ``Refused``."""

    async def record(self) -> Plain:
        """The record of the table, which has ended, found to be true to what was seen."""
