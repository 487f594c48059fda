"""Appends without end to a journal in Redis whose servers move, die and come back meanwhile."""

from __future__ import annotations

import asyncio

from croupier_server.journal import Append, JournalUnavailable, SequenceConflict, Stored
from croupier_server.journal.redis import RedisJournal
from server.journal_contract import lobby_row
from server.redis_server import until


class Writers:
    """Appends to several streams without end. ``acknowledged`` is each one's last number."""

    def __init__(self, journal: RedisJournal, streams: list[str]) -> None:
        self.acknowledged = dict.fromkeys(streams, 0)
        self.failures = 0
        self._journal = journal
        self._going_on = True
        self._tasks = [asyncio.create_task(self._write(stream)) for stream in streams]

    @property
    def total(self) -> int:
        return sum(self.acknowledged.values())

    async def _write(self, stream: str) -> None:
        while self._going_on:
            seq = self.acknowledged[stream]
            row = lobby_row(stream, state=str(seq + 2), subjects=["house"])
            entries = tuple(f"{stream}#{seq + more}".encode() for more in (1, 2))
            try:
                await self._journal.append(Append(stream, seq, entries, deadline_ms=seq + 2, row=row))
            except JournalUnavailable:
                self.failures += 1
                await self._find_out(stream, seq)
            except SequenceConflict as conflict:  # an append whose outcome was unknown is in
                self.acknowledged[stream] = conflict.last
            else:
                self.acknowledged[stream] = seq + 2

    async def _find_out(self, stream: str, seq: int) -> None:
        try:
            last = await self._journal.last_seq(stream)
        except JournalUnavailable:
            await asyncio.sleep(0.02)
        else:
            assert last in {seq, seq + 2}, f"{stream}: {last} of {seq}"

    async def go_on(self, count: int) -> None:
        """Until so many more are acknowledged in each stream."""
        wanted = {stream: seq + count for stream, seq in self.acknowledged.items()}
        await until(
            lambda: (
                all(self.acknowledged[stream] >= seq for stream, seq in wanted.items())
                or any(task.done() for task in self._tasks)
            )
        )
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        self._going_on = False
        await asyncio.gather(*self._tasks)

    async def check(self, through: RedisJournal) -> None:
        """All that was acknowledged is there, once and in order, with its row and deadline."""
        for stream, seq in self.acknowledged.items():
            expected = [Stored(n, f"{stream}#{n}".encode()) for n in range(1, seq + 1)]
            assert await through.read(stream) == expected
        rows = {row.stream: int(row.state) for row in await through.rows_of("house")}
        deadlines = {one.stream: (one.seq, one.at_ms) for one in await through.due(1 << 52, 1000)}
        assert rows == self.acknowledged
        assert deadlines == {stream: (seq, seq) for stream, seq in self.acknowledged.items()}
