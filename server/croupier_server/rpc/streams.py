"""Streams out of a feed: work fills it, the stream empties it.

The law of this file: the work ends with the stream and the stream with its work's failure, and
what was opened is closed whichever ends first.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final

from croupier_server.feed import Feed, Feeds


class Streamed:
    """The responses of ``feed`` while ``work`` fills it; ``close`` is called at the end."""

    def __init__(
        self, feeds: Feeds, feed: Feed, work: Coroutine[Any, Any, None], close: Callable[[], None]
    ) -> None:
        self._feeds: Final = feeds
        self._feed: Final = feed
        self._close: Final = close
        self._task: Final = asyncio.create_task(work)
        self._task.add_done_callback(lambda done: end_failed(feed, done))

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._feed

    async def aclose(self) -> None:
        """The stream is over."""
        self._feeds.close(self._feed)
        self._close()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait((self._task,))


def end_failed(feed: Feed, done: asyncio.Future[None]) -> None:
    """A stream whose work failed ends with the reason."""
    if not done.cancelled() and isinstance(error := done.exception(), Exception):
        feed.finish(error)
