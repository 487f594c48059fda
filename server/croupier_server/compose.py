"""How the parts of a server process are put together.

The law of this file: every part is made here, once, and given what it needs; no part looks
another one up. What lives as long as the process is started and stopped here, in order.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor

from croupier.v1 import games_pb2, players_pb2, tables_pb2
from croupier_server.archive.base import Archive
from croupier_server.archiver import MOST_COUNTED, Archiver
from croupier_server.clock import JournalClock
from croupier_server.drain import Drain
from croupier_server.epoch import Epoch
from croupier_server.feed import Feeds
from croupier_server.ids import Ids
from croupier_server.journal.base import Journal
from croupier_server.lobby import PageTokens
from croupier_server.metrics import Metrics
from croupier_server.rpc.game_service import GameServicer
from croupier_server.rpc.player_service import PlayerServicer
from croupier_server.rpc.table_service import TableServicer
from croupier_server.settings import Settings
from croupier_server.tables import Tables
from croupier_server.tokens import Tokens

_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Parts:
    """What a process serves with, ready to be mounted."""

    tokens: Tokens
    tables: Tables
    feeds: Feeds
    epoch: Epoch
    services: tuple[tuple[ServiceDescriptor, object], ...]
    """Each service with its servicer."""
    archiver: Archiver | None

    async def start(self) -> None:
        """Learn the epoch, then begin to act on deadlines and to archive. Raises ``JournalError``."""
        await self.epoch.follow()
        await self.tables.start()
        if self.archiver is not None:
            await self.archiver.start()

    async def stop(self) -> None:
        """Stop acting; nothing is written any more."""
        self.feeds.stop()
        if self.archiver is not None:
            await self.archiver.stop()
        await self.tables.stop()
        self.epoch.close()


async def compose(
    journal: Journal,
    settings: Settings,
    drain: Drain,
    metrics: Metrics,
    *,
    archive: Archive | None = None,
    restored: bool = False,
) -> Parts:
    """All parts over a journal; ``restored`` begins a new epoch of it. Raises ``JournalError``.

    Without an archive ended tables stay in the journal.
    """
    epoch = Epoch(journal, await (begin_epoch(journal) if restored else _epoch(journal)))
    ids = Ids(await journal.key("id-key", secrets.token_bytes(_KEY_BYTES)))
    page_tokens = PageTokens(await journal.key("page-key", secrets.token_bytes(_KEY_BYTES)))
    tokens = await Tokens.load(journal, cache_size=settings.token_cache)
    clock = JournalClock(journal)
    tables = Tables(journal, settings, clock, epoch, metrics, archive)
    archiver = None
    if archive is not None:
        archiver = Archiver(journal, clock, archive, metrics, settings.archive_lease_s, tables.retired)
    feeds = Feeds(
        limit_bytes=settings.subscriber_queue_bytes,
        heartbeat_seconds=settings.heartbeat_s,
        now_ms=clock.now_ms,
        on_overflow=metrics.overflowed,
    )
    drain.add(lambda: feeds.drain(math.ceil(settings.drain_grace_s)))
    metrics.watch("live_tables", "Tables in memory.", lambda: len(tables))
    metrics.watch("journal_failing", "1 while the journal is away or refuses.", lambda: journal.failing)
    metrics.watch("subscribers", "Streams with a feed.", lambda: len(feeds))
    if archiver is not None:
        backlog = f"Ended tables that wait for the archive; {MOST_COUNTED} stands for more."
        metrics.watch("archive_backlog", backlog, lambda: archiver.backlog)
    services = (
        (_service(games_pb2.DESCRIPTOR, "GameService"), GameServicer(journal, settings, epoch)),
        (_service(players_pb2.DESCRIPTOR, "PlayerService"), PlayerServicer(tokens, ids, journal, feeds)),
        (
            _service(tables_pb2.DESCRIPTOR, "TableService"),
            TableServicer(tables, feeds, settings, ids, page_tokens),
        ),
    )
    return Parts(tokens, tables, feeds, epoch, services, archiver)


async def begin_epoch(journal: Journal) -> str:
    """A new epoch: clients that know later events of the one before are told to forget them."""
    return await _epoch(journal, anew=True)


async def _epoch(journal: Journal, *, anew: bool = False) -> str:
    return (await journal.key("epoch", secrets.token_hex(8).encode(), replace=anew)).decode()


def _service(file: FileDescriptor, name: str) -> ServiceDescriptor:
    service: ServiceDescriptor = file.services_by_name[name]
    return service
