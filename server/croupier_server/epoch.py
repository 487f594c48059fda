"""Which life of the journal this is: numbers of tables' events from another one mean nothing here.

The law of this file: whoever finds that the journal has lost entries which were shown begins a new
epoch before showing anything else, and all processes on the journal take it over. Epochs are
entries of a stream of their own, so that one of those who begin one at once does, and all hear.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import Final

import structlog

from croupier_server.journal.base import Append, Cancel, Journal, JournalError, SequenceConflict, Stored

log = structlog.get_logger()

_STREAM: Final = "epochs"
_RETRY_SECONDS: Final = 1.0


class Epoch:
    """The epoch as far as this process knows. ``follow`` learns it, ``renew`` begins another."""

    def __init__(self, journal: Journal, first: str) -> None:
        """``first`` is the epoch of a journal that has never lost anything."""
        self.now = first
        self._journal: Final = journal
        self._first: Final = first
        self._last = 0
        self._cancel: Cancel | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None

    async def follow(self) -> None:
        """Learn which epoch this is, and hear of others from now on. Raises ``JournalError``."""
        self._last, self.now = 0, self._first
        self._cancel = await self._journal.listen(_STREAM, 0, self._take, self._set_back)

    def close(self) -> None:
        """Hear no more."""
        for task in (self._renewing, self._again):
            if task is not None:
                task.cancel()
        self._let_go()

    async def renew(self) -> None:
        """Begin a new epoch; who asks while one begins gets that one. Raises ``JournalError``."""
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._append(), name="epoch")
            self._renewing.add_done_callback(self._renewed)
        await asyncio.shield(self._renewing)

    async def _append(self) -> None:
        try:
            await self._journal.append(Append(_STREAM, self._last, (secrets.token_hex(8).encode(),)))
        except SequenceConflict:
            self._take(await self._journal.read(_STREAM, self._last))  # another has begun one

    def _renewed(self, done: asyncio.Task[None]) -> None:
        self._renewing = None
        if not done.cancelled():
            done.exception()  # whoever waits gets it

    def _take(self, entries: Sequence[Stored]) -> None:
        for entry in entries:
            if entry.seq == self._last + 1:
                self._last, self.now = entry.seq, f"{self._first}-{entry.data.decode()}"

    def _let_go(self) -> None:
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    def _set_back(self) -> None:
        """Even the epochs were lost: learn them anew and begin another."""
        if self._again is None:
            self._again = asyncio.create_task(self._follow_again(), name="epoch again")

    async def _follow_again(self) -> None:
        while True:
            self._let_go()
            try:
                await self.follow()
                await self.renew()
            except JournalError as error:
                log.warning("epoch.unavailable", problem=str(error))
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                self._again = None
                return
