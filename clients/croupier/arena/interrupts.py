"""Ctrl-C while other processes are started.

The law of this file: a terminal interrupts all processes of a command at once, but only the one that
started the others knows what to do then; the others end with it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[None]:
    """Processes started in this block are never interrupted; this one is, but only after it.

    They inherit the mask of blocked signals, so not even their first moments are open to it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
