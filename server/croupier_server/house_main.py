"""The house without a server: ``python -m croupier_server.house_main --server HOST:PORT``.

The law of this file: where many servers share one journal, the house is a process beside them and
no part of any. It opens the journal once, for the key that makes its token (the first process ever
makes that key), and closes it. The journal's URL may hold a password, so it comes from the variable
``CROUPIER_JOURNAL``, which the bots' processes do not get. They are started, watched and handed
their token as ``serve`` does it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

import structlog

from croupier_server import logs
from croupier_server.house import MODULE, House
from croupier_server.journal import JournalError, open_journal
from croupier_server.rpc.sign_in import house_token
from croupier_server.tokens import Tokens

JOURNAL_VARIABLE: Final = "CROUPIER_JOURNAL"

log: Final = structlog.get_logger()


async def run(
    server: str,
    processes: int,
    journal_url: str,
    *,
    more: Sequence[str] = (),
) -> int:
    """Keep ``processes`` house processes at ``server`` until SIGTERM (0) or SIGINT (130).

    ``more`` are arguments for all of them.

    Raises ``JournalError``, ``OSError`` or ``ValueError`` when the journal cannot be read.
    """
    tokens = await _tokens(journal_url)
    command = (sys.executable, "-m", MODULE, *more)
    bots = House(processes, server, lambda: house_token(tokens), command=command)
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[signal.Signals] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.put_nowait, number)
    bots.start()
    try:
        first = await told.get()
    finally:
        await bots.stop()
    log.info("ended", signal=first.name)
    return 130 if first is signal.SIGINT else 0


async def _tokens(journal_url: str) -> Tokens:
    journal = await open_journal(journal_url)
    try:
        return await Tokens.load(journal)
    finally:
        await journal.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="croupier_server.house_main",
        description=f"Keeps house bots beside servers that share the journal of {JOURNAL_VARIABLE}.",
    )
    parser.add_argument("--server", required=True, metavar="HOST:PORT", help="several: separated by commas")
    parser.add_argument("--processes", type=_positive, default=1, help="processes that share the tables")
    parser.add_argument(
        "--thinkers", type=_positive, default=2, help="processes in which slow bots of one think"
    )
    parser.add_argument("--metrics", metavar="HOST:PORT", help="where the first process serves its metrics")
    parser.add_argument("--log-level", default="WARNING", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    parser.add_argument("--tls", action="store_true", help="connect with TLS")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(f"{text} is less than 1")
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; the exit code: 0 told to end, 1 no journal, 2 usage, 130 interrupted."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    journal_url = os.environ.pop(JOURNAL_VARIABLE, "")
    if not journal_url:
        parser.error(f"no journal: set {JOURNAL_VARIABLE}")
    logs.configure()
    try:
        more = ["--thinkers", str(arguments.thinkers), "--log-level", arguments.log_level]
        if arguments.metrics:
            more += ["--metrics", arguments.metrics]
        if arguments.tls:
            more.append("--tls")
        return asyncio.run(run(arguments.server, arguments.processes, journal_url, more=more))
    except (JournalError, OSError, ValueError) as error:
        sys.stderr.write(f"croupier: the journal cannot be read: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
