"""Processes that end with the one that started them.

The law of this file: whatever a worker is doing, also a thought that never ends, it is gone when
the other end of its descriptor is.
"""

from __future__ import annotations

import os
import select
import threading


def end_with(descriptor: int) -> None:
    """End this process, without a word, when the other end of a connected descriptor is closed."""
    threading.Thread(target=_wait, args=(descriptor,), daemon=True).start()


def _wait(descriptor: int) -> None:
    watch = select.poll()
    watch.register(descriptor, select.POLLHUP | select.POLLRDHUP)
    watch.poll()
    os._exit(0)
