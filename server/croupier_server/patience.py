"""Waiting, at the start of a process, for a store that is away.

The law of this file: what may come back by itself is waited for, however it failed; what waiting
does not mend (``JournalRefused``, ``ArchiveRefused``, any other error) is raised at once. The types
tell one from the other. Whatever was begun and failed must have let go of all that it held.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog

from croupier_server.archive.base import ArchiveRefused, ArchiveUnavailable
from croupier_server.journal.base import JournalRefused, JournalUnavailable

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0
_SAY_EVERY: Final = 30.0
"""Seconds between two lines on the same wait."""

log: Final = structlog.get_logger()

_Begun = TypeVar("_Begun")


class Patience:
    """So much of it, in seconds, for all that one process waits for. It begins to run out when made."""

    def __init__(self, seconds: float) -> None:
        self._until: Final = asyncio.get_running_loop().time() + seconds

    async def wait_for(self, what: str, begin: Callable[[], Awaitable[_Begun]]) -> _Begun:
        """What ``begin`` gives, begun again while the store is away; ``what`` is ``journal`` or ``archive``.

        Raises what ``begin`` raises: at once what waiting does not mend, and else the last error
        once there is no patience left.
        """
        clock = asyncio.get_running_loop().time
        pause, say_at, waiting = _FIRST_PAUSE, clock(), f"{what}.waiting"
        while True:
            try:
                return await begin()
            except (JournalUnavailable, ArchiveUnavailable) as error:
                left = self._until - clock()
                if left <= 0 or isinstance(error, JournalRefused | ArchiveRefused):
                    raise
                if clock() >= say_at:
                    say_at = clock() + _SAY_EVERY
                    log.warning(waiting, problem=str(error), gives_up_in_s=round(left, 1))
            # The last try is at the very end. Those that start together do not come back together.
            await asyncio.sleep(min(pause * random.uniform(0.7, 1.0), left))  # noqa: S311 (spreads the load)
            pause = min(2 * pause, _LONGEST_PAUSE)
