"""The house's bots, as a process of their own: ``python -m croupier.house --server HOST:PORT``.

The law of this file: bots think here and never in the server's process. The house is a client
like any other; its token comes from the environment variable ``CROUPIER_HOUSE_TOKEN`` or as a
line on standard input, never in the arguments, which others can read. It outlives servers: it
reconnects for as long as it runs. It does not outlive its parent: when standard input is a pipe,
its end is the end of the process.

Slow bots think in ``--thinkers`` processes more, which end with this one; see ``croupier.thinkers``.
What was thought is logged every minute (level ``INFO``, or ``WARNING`` when ``easy`` stood in for
another level) and served at ``--metrics``.

Several processes share the work with ``--shard i/N``: each takes the tables whose name's CRC-32
leaves ``i`` when divided by ``N``.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import stat
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import croupier
from croupier.thinkers import Load, Pool, Seats
from croupier.thinkers.load import serve_metrics

log = logging.getLogger("croupier.house")

TOKEN_VARIABLE: Final = "CROUPIER_HOUSE_TOKEN"  # noqa: S105 - its name, not its value
METRICS_VARIABLE: Final = "CROUPIER_HOUSE_METRICS"
LOG_LEVEL_VARIABLE: Final = "CROUPIER_HOUSE_LOG_LEVEL"
"""These two say what the arguments do not, for who lets a server start the house."""
_MOST_SEATS: Final = 900
"""A little less than the subscriptions that a stream may have by default."""
_PAUSE: Final = 5.0
"""Seconds before the house tries again what a server could not do at all."""
_REPORTS: Final = 60.0
"""Seconds between two lines on the load."""


def shard(text: str) -> tuple[int, int]:
    """``i/N`` as numbers, ``0 <= i < N``. Raises ``ValueError``."""
    first, slash, last = text.partition("/")
    index, count = int(first), int(last)
    if not slash or not 0 <= index < count:
        raise ValueError(f"{text!r} is no shard, as 0/1 and 2/4 are")
    return index, count


def takes(table: str, index: int, count: int) -> bool:
    """True when the table of that name belongs to shard ``index`` of ``count``."""
    return zlib.crc32(table.encode()) % count == index


async def serve(client: croupier.Client, index: int, count: int, tables: int, seats: Seats) -> None:
    """Play the house's seats of shard ``index`` of ``count``, at most ``tables`` at once, until cancelled.

    ``seats`` makes the bots. Raises the ``croupier.Error`` by which a server turned the house away
    for good.
    """
    while True:
        try:
            await croupier.serve_invitations(
                client,
                seats,
                accept=lambda table, _: takes(table.name, index, count),
                concurrency=tables,
                nonce=False,  # the house's own would prove nothing to anybody
                threads=False,  # slow bots have processes
            )
        except croupier.Error as error:
            if not error.transient:
                raise
            log.warning("again in %g s: %s", _PAUSE, error)
            await asyncio.sleep(_PAUSE)


@asynccontextmanager
async def reported(load: Load, metrics: tuple[str, int] | None) -> AsyncIterator[None]:
    """Log ``load`` every minute and at the end, and serve it at the address ``metrics``, if any."""
    serving = None if metrics is None else serve_metrics(load, *metrics)
    reporting = asyncio.create_task(_report_often(load))
    try:
        yield
    finally:
        reporting.cancel()
        await asyncio.wait([reporting])
        _report(load)
        if serving is not None:
            server, thread = serving
            await asyncio.to_thread(server.shutdown)
            server.server_close()
            thread.join()


async def _report_often(load: Load) -> None:
    while True:
        await asyncio.sleep(_REPORTS)
        _report(load)


def _report(load: Load) -> None:
    if (news := load.news()) is not None:
        line, stood_in = news
        log.log(logging.WARNING if stood_in else logging.INFO, "load %s", line)


async def run(arguments: argparse.Namespace, token: str) -> int:
    """The whole life of the process; its exit code."""
    stdin = await _piped_stdin()
    if not token:
        line = await stdin.readline() if stdin is not None else sys.stdin.buffer.readline()
        token = line.decode().strip()
    if not token:
        print(f"no token: set {TOKEN_VARIABLE} or write it as a line to standard input", file=sys.stderr)  # noqa: T201
        return 2
    loop = asyncio.get_running_loop()
    ending: asyncio.Future[int] = loop.create_future()
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        loop.add_signal_handler(number, _settle, ending, code)
    playing = loop.create_task(_play(arguments, token))
    waiting: list[asyncio.Future[Any]] = [ending, playing]
    if stdin is not None:
        waiting.append(loop.create_task(_until_end(stdin)))
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    code = ending.result() if ending.done() else 1 if playing.done() else 0
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    if not playing.cancelled() and (error := playing.exception()) is not None:
        log.error("%s", error, exc_info=None if isinstance(error, croupier.Error) else error)
    return code


async def _play(arguments: argparse.Namespace, token: str) -> None:
    index, count = arguments.shard
    connecting = croupier.connect(
        arguments.server, token=token, sign_in=False, tls=arguments.tls, retry_for=None
    )
    async with connecting as client:
        log.info("shard %d/%d plays at %s", index, count, arguments.server)
        pool = Pool(arguments.thinkers, queue=arguments.queue)
        seats = Seats(pool)
        metrics = arguments.metrics and (arguments.metrics[0], arguments.metrics[1] + index)
        try:
            async with reported(seats.load, metrics):
                await serve(client, index, count, arguments.tables, seats)
        finally:
            await pool.close()


async def _piped_stdin() -> asyncio.StreamReader | None:
    """Standard input as a stream when it is a pipe or socket, so that its end can be waited for."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return None
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    return reader


async def _until_end(stdin: asyncio.StreamReader) -> None:
    while await stdin.read(1024):
        pass


def _settle(ending: asyncio.Future[int], code: int) -> None:
    if not ending.done():
        ending.set_result(code)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not 0 <= int(port) < 1 << 16:
        raise ValueError(f"{text!r} is not written as HOST:PORT")
    return host.strip("[]"), int(port)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(f"{text} is less than 1")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="croupier.house", description="Plays the seats of house bots.")
    parser.add_argument("--server", required=True, metavar="HOST:PORT", help="several: separated by commas")
    parser.add_argument("--shard", type=shard, default=(0, 1), metavar="I/N", help="take only 1 in N tables")
    parser.add_argument("--tables", type=_positive, default=_MOST_SEATS, help="most seats played at once")
    parser.add_argument("--thinkers", type=_positive, default=2, help="processes in which slow bots think")
    parser.add_argument("--queue", type=_positive, default=16, help="most thoughts that wait for one of them")
    parser.add_argument(
        "--metrics",
        type=_address,
        default=os.environ.get(METRICS_VARIABLE) or None,
        metavar="HOST:PORT",
        help="where shard 0 serves metrics; shard I does I ports on",
    )
    parser.add_argument("--tls", action="store_true", help="connect with TLS")
    parser.add_argument(
        "--log-level",
        default=os.environ.get(LOG_LEVEL_VARIABLE) or "WARNING",
        choices=("DEBUG", "INFO", "WARNING", "ERROR"),
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the process; its exit code: 0 told to end, 1 turned away, 2 usage, 130 interrupted."""
    arguments = _parser().parse_args(argv)
    line = "%(asctime)s %(levelname)s house %(message)s"
    logging.basicConfig(level=arguments.log_level, stream=sys.stderr, format=line)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's core writes past our log lines
    token = os.environ.pop(TOKEN_VARIABLE, "")
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(run(arguments, token))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, as with the server."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


if __name__ == "__main__":
    sys.exit(main())
