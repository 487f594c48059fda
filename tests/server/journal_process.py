# ruff: noqa: ASYNC240, T201 (its output is its purpose)
"""A process that has a journal open, for tests that kill it: ``journal_process.py WHAT PATH``.

``hold`` opens it and waits. ``append`` appends batches of two to several streams without end
and prints ``STREAM SEQ`` once the batch that ends with that number is acknowledged. ``full``
lets files grow no further for a while and prints what then becomes of appends. ``forget`` ends
without closing it.
"""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from pathlib import Path

from croupier_server.journal import Append, Journal, JournalUnavailable, open_journal


async def hold(journal: Journal, _: Path) -> None:
    await journal.append(Append("t", await journal.last_seq("t"), (b"held",)))
    print("held", flush=True)
    await asyncio.Event().wait()


async def append(journal: Journal, _: Path) -> None:
    async def play(stream: str) -> None:
        seq = 0
        while True:
            entries = tuple(f"{stream}#{seq + more}".encode() for more in (1, 2))
            await journal.append(Append(stream, seq, entries))
            seq += 2
            print(stream, seq, flush=True)

    await asyncio.gather(*(play(f"tables/{number}") for number in range(8)))


async def full(journal: Journal, path: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    await journal.append(Append("t", 0, (b"before",), 1))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = Path(f"{path}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, most))
    batches = [Append("t", 1, (bytes(100_000), b"x"), 2), Append("u", 0, (bytes(100_000),), 2)]
    outcomes = await asyncio.gather(*map(journal.append, batches), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [JournalUnavailable] * 2, outcomes
    assert (await journal.last_seq("t"), await journal.last_seq("u")) == (1, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    await journal.append(Append("t", 1, (bytes(100_000), b"after")))
    await journal.close()


async def forget(journal: Journal, _: Path) -> None:
    await journal.append(Append("t", 0, (b"kept",)))


async def main(what: str, path: Path) -> None:
    doings = {"hold": hold, "append": append, "full": full, "forget": forget}
    await doings[what](await open_journal(f"sqlite:{path}"), path)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
