"""Streams out of a feed: work fills it, the stream empties it.

The law of this file: the work ends with the stream and the stream with its work's failure, and
what was opened is closed whichever ends first.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from croupier_server.feed import Feed, Feeds


async def streamed(
    feeds: Feeds, feed: Feed, work: Coroutine[Any, Any, None], close: Callable[[], None]
) -> AsyncIterator[bytes]:
    """The responses of ``feed`` while ``work`` fills it; ``close`` is called at the end."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: end_failed(feed, done))
    try:
        async for response in feed.responses():
            yield response
    finally:
        feeds.close(feed)
        close()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait((task,))


def end_failed(feed: Feed, done: asyncio.Future[None]) -> None:
    """A stream whose work failed ends with the reason."""
    if not done.cancelled() and isinstance(error := done.exception(), Exception):
        feed.finish(error)
