"""A fresh key for tokens: ``python -m croupier_server.rotate_keys``, of the journal in ``CROUPIER_JOURNAL``.

The law of this file: nobody is signed out by it. Servers sign with the fresh key once they are
started again, and take tokens of the two keys before it until it has been rotated out.
"""

from __future__ import annotations

import asyncio
import os
import sys

from croupier_server.house_main import JOURNAL_VARIABLE
from croupier_server.journal import JournalError, open_journal
from croupier_server.tokens import rotate


async def rotate_key(journal_url: str) -> None:
    """Put a fresh key before the others. Raises ``JournalError``, ``OSError`` or ``ValueError``."""
    journal = await open_journal(journal_url)
    try:
        await rotate(journal)
    finally:
        await journal.close()


def main() -> int:
    """Rotate; the exit code: 0 done, 1 the journal cannot be used, 2 no journal is named."""
    journal_url = os.environ.get(JOURNAL_VARIABLE, "")
    if not journal_url:
        sys.stderr.write(f"croupier: no journal: set {JOURNAL_VARIABLE}\n")
        return 2
    try:
        asyncio.run(rotate_key(journal_url))
    except (JournalError, OSError, ValueError) as error:
        sys.stderr.write(f"croupier: the journal cannot be used: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
