"""Make the index of a journal in Redis anew from its streams: ``python -m croupier_server.rebuild URL``.

The law of this file: the streams are the truth. What else there is of a table (its row in the lobby
and in inboxes, its deadline) follows from its entries, and is written only while the stream still
ends where it was read to; so servers may go on meanwhile.

It is needed after somebody has damaged the keys of the index: an append changes them together with
its stream, in one step, so no crash leaves them apart.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Final

from croupier_server.fold import Phase, TableState, UnreadableTable
from croupier_server.journal.base import Deadline, JournalError
from croupier_server.journal.redis import RedisJournal
from croupier_server.lobby import lobby_row

_TABLES: Final = "tables/"


async def rebuild(journal: RedisJournal) -> dict[str, list[str]]:
    """Write the row and deadline of every table: which are done, and which cannot be read.

    Raises ``JournalUnavailable``; running it again is harmless.
    """
    found: dict[str, list[str]] = {"rebuilt": [], "unreadable": []}
    async for name in journal.streams(_TABLES):
        try:
            while not await _rebuild_one(journal, name):
                pass  # it went on meanwhile: read it again
        except UnreadableTable:
            found["unreadable"].append(name)
        else:
            found["rebuilt"].append(name)
    return found


async def _rebuild_one(journal: RedisJournal, name: str) -> bool:
    state = TableState(name)
    for stored in await journal.read(name):
        state.fold(stored)
    if state.seq == 0:
        return True  # it has left the journal meanwhile
    deadline = None if state.phase is Phase.ENDED else Deadline(name, state.deadline_seq, state.deadline_ms)
    return await journal.reindex(lobby_row(state), state.seq, deadline)


async def _main(url: str) -> int:
    try:
        journal = await RedisJournal.open(url)
        try:
            found = await rebuild(journal)
        finally:
            await journal.close()
    except (JournalError, ValueError) as error:
        sys.stderr.write(f"croupier: {error}\n")
        return 1
    sys.stdout.write(json.dumps({"rebuilt": len(found["rebuilt"]), "unreadable": found["unreadable"]}) + "\n")
    return 1 if found["unreadable"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m croupier_server.rebuild redis://HOST:PORT\n")
        sys.exit(2)
    sys.exit(asyncio.run(_main(sys.argv[1])))
