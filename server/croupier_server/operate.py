"""What an operator does to a journal: ``python -m croupier_server.operate rotate-key | restored | rebuild``.

The law of this file: the journal is that of the variable ``CROUPIER_JOURNAL``, and no entry of a
table is touched. ``rotate-key``: servers sign tokens with a fresh key once they are started again,
and take those of the two keys before it; nobody is signed out. ``restored``: while no server runs,
what ``serve --restored`` does at its start. ``rebuild``: rows, inboxes and deadlines in Redis are
made anew from the streams, while servers may go on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from croupier_server.compose import begin_epoch
from croupier_server.house_main import JOURNAL_VARIABLE
from croupier_server.journal import Journal, JournalError, open_journal
from croupier_server.rebuild import rebuild
from croupier_server.tokens import rotate

_TASKS: Final[dict[str, Callable[[Journal], Awaitable[object]]]] = {
    "rotate-key": rotate,
    "restored": begin_epoch,
    "rebuild": rebuild,
}


async def operate(task: str, journal_url: str) -> None:
    """Do one of the tasks. Raises ``JournalError``, ``OSError`` or ``ValueError``."""
    journal = await open_journal(journal_url)
    try:
        await _TASKS[task](journal)
    finally:
        await journal.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Do it; the exit code: 0 done, 1 the journal cannot be used, 2 usage."""
    parser = argparse.ArgumentParser(prog="croupier_server.operate")
    parser.add_argument("task", choices=sorted(_TASKS))
    task = parser.parse_args(argv).task
    journal_url = os.environ.get(JOURNAL_VARIABLE, "")
    if not journal_url:
        parser.error(f"no journal: set {JOURNAL_VARIABLE}")
    try:
        asyncio.run(operate(task, journal_url))
    except (JournalError, OSError, ValueError) as error:
        sys.stderr.write(f"croupier: the journal cannot be used: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
