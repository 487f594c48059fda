"""The house without a server: ``python -m croupier_server.house_main --server HOST:PORT``.

The law of this file: where many servers share one journal, the house is a process beside them and
no part of any. It opens the journal once, for the key that makes its token (the first process ever
makes that key), and closes it; a journal that is away it waits for as ``serve`` does. The journal's
URL may hold a password, so it comes from the variable ``CROUPIER_JOURNAL``, which the bots' processes
do not get. They are started, watched and handed their token as ``serve`` does it.
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
from croupier_server.patience import Patience
from croupier_server.rpc.sign_in import house_token
from croupier_server.settings import InvalidSetting, Settings
from croupier_server.tokens import Tokens
from croupier_server.told import Told, exit_code

JOURNAL_VARIABLE: Final = "CROUPIER_JOURNAL"

log: Final = structlog.get_logger()


async def run(
    server: str,
    processes: int,
    journal_url: str,
    *,
    more: Sequence[str] = (),
    wait_s: float = 0.0,
) -> int:
    """Keep ``processes`` house processes at ``server`` until SIGTERM (0) or SIGINT (130).

    ``more`` are arguments for all of them. A journal that is away is waited for, ``wait_s`` seconds.

    Raises ``JournalError``, ``OSError`` or ``ValueError`` when the journal cannot be read.
    """
    with Told() as told:
        begin = Patience(wait_s).wait_for("journal", lambda: _tokens(journal_url))
        tokens = await told.unless(begin)
        if tokens is None:
            first = await told.next()
        else:
            command = (sys.executable, "-m", MODULE, *more)
            first = await _keep(House(processes, server, lambda: house_token(tokens), command=command), told)
    log.info("ended", signal=first.name)
    return exit_code(first)


async def _keep(bots: House, told: Told) -> signal.Signals:
    """Let them play until told to end; the signal that said so."""
    bots.start()
    try:
        return await told.next()
    finally:
        await bots.stop()


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
    try:
        settings = Settings.from_environment()
    except InvalidSetting as error:
        parser.error(str(error))
    logs.configure()
    try:
        more = ["--thinkers", str(arguments.thinkers), "--log-level", arguments.log_level]
        if arguments.metrics:
            more += ["--metrics", arguments.metrics]
        if arguments.tls:
            more.append("--tls")
        running = run(
            arguments.server, arguments.processes, journal_url, more=more, wait_s=settings.journal_wait_s
        )
        return asyncio.run(running)
    except (JournalError, OSError, ValueError) as error:
        sys.stderr.write(f"croupier: the journal cannot be read: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
