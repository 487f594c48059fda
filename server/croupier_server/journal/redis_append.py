"""Appends to a journal in Redis.

The law of this file: an append is one script on one connection, and is acknowledged when Redis says
that it went in; whatever else comes of it (time passes, the connection breaks) the outcome is
unknown. A stream of which it is not certain that Redis still has what was shown of it takes none
before that is found out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Final

import hiredis

from croupier_server.journal.base import (
    KEEP,
    Append,
    JournalError,
    JournalUnavailable,
    NotWritten,
    SequenceConflict,
)
from croupier_server.journal.redis_followed import Followed
from croupier_server.journal.redis_forms import pack_row
from croupier_server.journal.redis_names import Names, shard_of, slot_of
from croupier_server.journal.redis_news import News
from croupier_server.journal.redis_scripts import APPEND
from croupier_server.journal.redis_servers import Servers
from croupier_server.journal.redis_troubles import Troubles
from croupier_server.journal.redis_wire import (
    ANSWER_SECONDS,
    NotConfirmed,
    Part,
    Redirected,
    ScriptForgotten,
    Wire,
    pack,
    refusal,
    settle,
)

_LATEST: Final = 1 << 53
"""The last deadline: a score is a floating-point number, exact up to here."""

_Late = asyncio.Future[None] | None
"""Done once entries before those that were appended were read and passed on."""


class _Doubted(Exception):
    """It is to be found out first whether the stream still has what was delivered of it."""


class Appends:
    """Stores batches, and has those who listen here hear of them first."""

    def __init__(self, servers: Servers, names: Names, troubles: Troubles, news: News) -> None:
        self._servers: Final = servers
        self._names: Final = names
        self._troubles: Final = troubles
        self._news: Final = news

    async def append(self, batch: Append) -> None:
        """Store a batch; raises as ``RedisJournal.append``."""
        if isinstance(batch.deadline_ms, int) and batch.deadline_ms > _LATEST:
            raise OverflowError("a deadline is at most 2**53")
        shard = self._names.shard(batch.stream)
        entries = f"{shard}e:{batch.stream}"
        rest = (1, entries, *_arguments(batch, shard))
        packed = pack(("EVALSHA", APPEND.sha, *rest))
        followed = self._news.followed(entries)

        def send(wire: Wire) -> asyncio.Future[_Late]:
            if followed is not None and followed.doubted:
                raise _Doubted
            answer: asyncio.Future[_Late] = asyncio.get_running_loop().create_future()
            wire.send(packed, partial(self._appended, batch, wire, rest, answer))
            return answer

        with nullcontext() if followed is None else followed.appending(batch):
            late = await self._sent(batch, entries, send, followed)
        if late is not None:
            await _in_time(late, JournalUnavailable("stored, but entries before it cannot be read now"))

    async def _sent(
        self, batch: Append, entries: str, send: Callable[[Wire], Awaitable[_Late]], followed: Followed | None
    ) -> _Late:
        """What the answer to an append gives, once nothing is known to be lost. Raises as ``append``."""
        slot = slot_of(entries)
        plain = batch.row is None and isinstance(batch.deadline_ms, type(KEEP))
        while True:
            try:
                return await self._servers.attempt("append", slot, send, one_key=plain)
            except _Doubted:
                assert followed is not None
                await _in_time(
                    followed.certain(), NotWritten("it is not known yet whether Redis lost entries")
                )
            except SequenceConflict as conflict:
                if followed is not None and conflict.last < batch.after:
                    await _in_time(followed.certain(), conflict)
                raise
            except NotWritten as error:
                self._troubles.write_refused(self._part(batch.stream), entries, error)
                raise

    def _appended(
        self, batch: Append, wire: Wire, rest: tuple[Any, ...], answer: asyncio.Future[Any], reply: Any
    ) -> None:
        """Deliver what went in, before anybody who waits goes on; tell them what became of it."""
        if isinstance(reply, Exception):
            error = refusal(reply)
            if isinstance(error, ScriptForgotten):
                again = partial(self._appended, batch, wire, rest, answer)
                wire.send(pack(("EVAL", APPEND.source, *rest)), again)
                return
            self._append_failed(batch.stream, rest[1], error, reply)
            settle(answer, error)
            return
        if self._troubles:
            self._troubles.written(self._part(batch.stream), rest[1])
        if isinstance(reply, int):
            if not answer.done():
                answer.set_exception(SequenceConflict(batch.stream, batch.after, reply))
        else:
            settle(answer, self._news.appended(batch, rest[1], reply))

    def _part(self, stream: str) -> str:
        """Where appends to a stream go, as far as they fail there or not."""
        node = self._servers.of_shard(shard_of(stream))
        return "append" if node is None else node.append.part

    def _append_failed(self, stream: str, key: str, error: JournalUnavailable, reply: Exception) -> None:
        if isinstance(error, Redirected):
            return  # it goes elsewhere
        if isinstance(reply, hiredis.ReplyError | NotConfirmed):  # else the connection was lost
            self._troubles.write_refused(self._part(stream), key, error)
        if str(reply).startswith("READONLY"):
            # Another is the primary now. It may have our address by the next connection.
            for node in self._servers.nodes:
                for link in node.links:
                    link.cut(JournalUnavailable("the primary has become a replica"))


def _arguments(batch: Append, shard: str) -> tuple[Part, ...]:
    deadline = batch.deadline_ms
    cleared = "-" if batch.retire_ms is None else f"-{batch.retire_ms}"
    set_to = cleared if deadline is None else deadline if isinstance(deadline, int) else ""
    row = b"" if batch.row is None else pack_row(batch.row, batch.after + len(batch.entries))
    return (shard, batch.stream, batch.after, set_to, f"{shard}rows", row, *batch.entries)


async def _in_time(done: asyncio.Future[None], otherwise: JournalError) -> None:
    """Wait, but for long enough only. Raises ``otherwise``."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await done
    except TimeoutError:
        raise otherwise from None
