"""A server process, from opening its journal to the end of its drain.

The law of this file: what was opened is closed in the opposite order, whatever happens between.
A process that is told to go turns unhealthy first, then ends its streams with a hint, lets calls
finish, and is gone within ten seconds; nothing that it confirmed is lost.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import structlog
import uvloop

from croupier_server import house
from croupier_server.archive import Archive, ArchiveError, default_archive, open_archive
from croupier_server.compose import Parts, compose
from croupier_server.drain import Drain
from croupier_server.journal import Journal, JournalError, open_journal
from croupier_server.metrics import Metrics, release
from croupier_server.patience import Patience
from croupier_server.rpc.server import CannotListen, RpcServer, Tls, reachable_from_here, split_address
from croupier_server.rpc.sign_in import house_token
from croupier_server.settings import Settings
from croupier_server.told import Told, exit_code

Ready = Callable[[dict[str, Any]], None]
"""Gets ``{"event": "ready", "listen": "127.0.0.1:12345", …}`` once the server serves."""

log: Final = structlog.get_logger()


class CannotServe(Exception):
    """Why the process cannot begin to serve, for people: an address in use, a journal that won't open."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that serves. Addresses are ``HOST:PORT`` with the port that was chosen."""

    address: str
    metrics_address: str | None
    turn_unhealthy: Callable[[], None]
    """Tell balancers to look elsewhere while everything goes on."""
    house_token: Callable[[], str]
    """Makes a token for bots of the house; keep it out of arguments and logs."""

    def ready_line(self) -> dict[str, Any]:
        """What is said once it serves."""
        line = {"event": "ready", "listen": self.address, "version": release()}
        return line if self.metrics_address is None else {**line, "metrics": self.metrics_address}


@asynccontextmanager
async def serving(
    settings: Settings,
    *,
    journal_url: str = "memory:",
    archive_url: str | None = None,
    listen: str = "127.0.0.1:0",
    metrics_listen: str | None = None,
    house_bots: int = 0,
    tls: Tls | None = None,
    restored: bool = False,
) -> AsyncIterator[Serving]:
    """A server in this event loop for as long as the block lasts; leaving the block drains it.

    ``archive_url`` None stands for the journal's default archive. ``restored`` says that the
    journal comes from a backup: clients that know later events are told to forget them.

    A journal or an archive that is away is waited for, ``journal_wait_s`` in all; meanwhile nothing
    listens. Raises ``CannotServe`` when it cannot begin.
    """
    patience = Patience(settings.journal_wait_s)
    async with AsyncExitStack() as opened:
        journal = await _journal(journal_url, patience)
        opened.push_async_callback(journal.close)
        archive = await _archive(archive_url or default_archive(journal_url), journal, patience)
        if archive is not None:
            opened.push_async_callback(archive.close)

        async def begin() -> _Begun:
            return await _begin(journal, settings, archive, restored=restored)

        try:
            parts, drain, metrics = await patience.wait_for("journal", begin)
        except JournalError as error:
            raise CannotServe(f"the journal {_shown(journal_url)} cannot be used: {error}") from error
        opened.push_async_callback(parts.stop)
        server = RpcServer(parts.services, parts.tokens, settings, metrics)
        try:
            address = server.listen(listen, tls)
            bots = _house(house_bots, address if tls is None else server.listen_on_loopback(), parts)
            metrics_address = _serve_metrics(metrics, metrics_listen, opened)
        except CannotListen as error:
            raise CannotServe(str(error)) from error
        await server.start()
        opened.push_async_callback(_go, drain, server, bots)
        bots.start()
        yield Serving(address, metrics_address, server.turn_unhealthy, lambda: house_token(parts.tokens))


class _Begun(NamedTuple):
    """What works on the journal by now, though nobody can call it."""

    parts: Parts
    drain: Drain
    metrics: Metrics


async def _begin(journal: Journal, settings: Settings, archive: Archive | None, *, restored: bool) -> _Begun:
    """All parts, started; none of them is left when that fails. Raises ``JournalError``."""
    drain, metrics = Drain(), Metrics()
    parts = await compose(journal, settings, drain, metrics, archive=archive, restored=restored)
    try:
        await parts.start()
    except BaseException:
        await parts.stop()
        raise
    return _Begun(parts, drain, metrics)


async def _journal(url: str, patience: Patience) -> Journal:
    try:
        return await patience.wait_for("journal", lambda: open_journal(url))
    except (JournalError, ValueError, OSError) as error:
        raise CannotServe(f"the journal {_shown(url)} cannot be opened: {error}") from error


async def _archive(url: str, journal: Journal, patience: Patience) -> Archive | None:
    try:
        archive = await patience.wait_for("archive", lambda: open_archive(url))
    except (ArchiveError, ValueError, OSError) as error:
        raise CannotServe(f"the archive {_shown(url)} cannot be opened: {error}") from error
    if journal.shared and archive is None:
        log.warning("archive.none", problem="ended tables stay in the journal, which grows; give --archive")
    elif journal.shared and archive is not None and not archive.shared:
        log.warning("archive.local", problem="servers on other machines do not see what this one archives")
    return archive


async def _go(drain: Drain, server: RpcServer, bots: house.House) -> None:
    drain.begin()
    await asyncio.gather(bots.stop(), server.stop())


def _house(count: int, address: str, parts: Parts) -> house.House:
    if count and not house.is_there():
        log.warning("house.missing", problem=f"this installation has no {house.MODULE}")
        count = 0
    return house.House(count, reachable_from_here(address), lambda: house_token(parts.tokens))


def _serve_metrics(metrics: Metrics, listen: str | None, opened: AsyncExitStack) -> str | None:
    if listen is None:
        return None
    host, port = split_address(listen)
    try:
        chosen, stop = metrics.serve(host.strip("[]"), port)
    except OSError as error:
        raise CannotListen(f"cannot listen on {listen} for metrics: {error.strerror}") from error
    opened.callback(stop)
    return f"{host}:{chosen}"


def _shown(url: str) -> str:
    """A journal's or archive's URL without the name and password that may be before or behind its place."""
    scheme, _, rest = url.partition(":")
    if not rest.startswith("//"):
        return url
    before, _, behind = rest.partition("?")
    place = before.rpartition("@")[2].removeprefix("//")
    return (
        f"{scheme}:" if "@" in behind else f"{scheme}://{place}"
    )  # where a password begins is not clear then


async def serve(
    settings: Settings,
    *,
    journal_url: str,
    archive_url: str | None = None,
    listen: str,
    metrics: str | None,
    house_bots: int,
    ready: Ready,
    tls: Tls | None = None,
    restored: bool = False,
) -> int:
    """Serve until SIGTERM or SIGINT, then drain; a second signal cuts the notice short.

    One that comes before it serves, such as while it waits for its journal, ends it at once.

    Returns the exit code: 0, or 130 for SIGINT. Raises ``CannotServe``.
    """
    places: dict[str, Any] = {"journal_url": journal_url, "archive_url": archive_url}
    places |= {"listen": listen, "metrics_listen": metrics}
    with Told() as told:
        async with AsyncExitStack() as stack:
            begin = serving(settings, **places, house_bots=house_bots, tls=tls, restored=restored)
            served = await told.unless(stack.enter_async_context(begin))
            if served is None:
                first = await told.next()
            else:
                log.info("serving", listen=served.address, journal=_shown(journal_url), version=release())
                ready(served.ready_line())
                first = await _drained(served, told, settings.drain_notice_s)
    log.info("ended", signal=first.name)
    return exit_code(first)


async def _drained(served: Serving, told: Told, notice_s: float) -> signal.Signals:
    """Serve until told to end, then give balancers their time; which signal came first."""
    first = await told.next()
    log.info("draining", signal=first.name)
    served.turn_unhealthy()
    try:
        async with asyncio.timeout(notice_s):
            await told.next()
    except TimeoutError:
        pass  # the balancers have had their time
    return first


def run(
    settings: Settings,
    *,
    journal_url: str,
    archive_url: str | None = None,
    listen: str,
    metrics: str | None = None,
    house_bots: int = 0,
    ready: Ready | None = None,
    tls: Tls | None = None,
    restored: bool = False,
) -> int:
    """Serve in a loop of its own; the exit code, 1 with a line on stderr when it cannot begin.

    ``ready`` None: the ready line is written to stdout as JSON.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's core writes past our log lines
    _tame_the_collector()
    places: dict[str, Any] = {"journal_url": journal_url, "archive_url": archive_url}
    places |= {"listen": listen, "metrics": metrics}
    try:
        return uvloop.run(
            serve(
                settings,
                **places,
                house_bots=house_bots,
                ready=ready or write_ready,
                tls=tls,
                restored=restored,
            )
        )
    except CannotServe as error:
        sys.stderr.write(f"croupier: {error}\n")
        return 1


def _tame_the_collector() -> None:
    """Look for reference cycles seldom: tables make none, and a full look stops every table."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def write_ready(line: dict[str, Any]) -> None:
    """Write the ready line to stdout as JSON."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
