"""Make the index of a journal in Redis anew from its streams.

The law of this file: the streams are the truth. What else there is of a table (its row in the lobby
and in inboxes, its deadline, when it may leave for the archive) follows from its entries, and is written
only while the stream still ends where it was read to; so servers may go on meanwhile.

It is needed after somebody has damaged the keys of the index: an append changes them together with
its stream, in one step, so no crash leaves them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog

from croupier_server.fold import Phase, TableState, UnreadableTable
from croupier_server.journal.base import Deadline, Finished, Journal
from croupier_server.lobby import lobby_row
from croupier_server.settings import Settings

if TYPE_CHECKING:
    from croupier_server.journal.redis import RedisJournal

_log: Final = structlog.get_logger()

_TABLES: Final = "tables/"


async def rebuild(journal: Journal, settings: Settings | None = None) -> list[str]:
    """Write the row and deadline of every table but those that cannot be read, which are logged.

    The names of those that are done. Raises ``JournalUnavailable``, and ``ValueError`` for a journal
    that is not in Redis; running it again is harmless.
    """
    # Its parser comes with an extra of its own, which other journals do without.
    from croupier_server.journal.redis import RedisJournal

    if not isinstance(journal, RedisJournal):
        raise ValueError("only a journal in Redis has an index that can be rebuilt")
    settings = settings or Settings.from_environment()
    done: list[str] = []
    async for name in journal.streams(_TABLES):
        try:
            while not await _rebuild_one(journal, name, settings):
                pass  # it went on meanwhile: read it again
        except UnreadableTable as error:
            _log.error("table.unreadable", table=name, problem=str(error))
        else:
            done.append(name)
    _log.info("index.rebuilt", tables=len(done))
    return done


async def _rebuild_one(journal: RedisJournal, name: str, settings: Settings) -> bool:
    state = TableState(name)
    for stored in await journal.read(name):
        state.fold(stored)
    if state.seq == 0:
        return True  # it has left the journal meanwhile
    then: Deadline | Finished = Deadline(name, state.deadline_seq, state.deadline_ms)
    if state.phase is Phase.ENDED:
        then = Finished(name, state.time_ms + int(settings.archive_after_s * 1000))
    return await journal.reindex(lobby_row(state), state.seq, then)
