"""Each journal against a model in plain lists, over random histories."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier_server.journal import (
    KEEP,
    Append,
    Cancel,
    Deadline,
    Finished,
    Journal,
    Row,
    RowFilter,
    SequenceConflict,
    Stored,
)
from server.journal_contract import STORES, Heard

STREAMS = ("tables/a", "tables/b", "tables/c")
SUBJECTS = ("players/x", "players/y", "house")
GAMES = ("doudizhu", "hidden_unders")
STATES = ("waiting", "playing")
END_OF_TIME = 1000


@dataclass
class Model:
    """What a journal holds, by the words of its contract."""

    streams: dict[str, list[bytes]] = field(default_factory=lambda: {stream: [] for stream in STREAMS})
    deadlines: list[Deadline] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    over: list[Finished] = field(default_factory=list)

    def append(self, batch: Append) -> bool:
        """Whether the batch went in."""
        entries = self.streams[batch.stream]
        if batch.after != len(entries):
            return False
        entries.extend(batch.entries)
        if batch.deadline_ms is not KEEP:
            self.deadlines = [one for one in self.deadlines if one.stream != batch.stream]
        if isinstance(batch.deadline_ms, int):
            self.deadlines.append(Deadline(batch.stream, len(entries), batch.deadline_ms))
        if batch.retire_ms is not None:
            self.over = [one for one in self.over if one.stream != batch.stream]
            self.over.append(Finished(batch.stream, batch.retire_ms))
        if batch.row:
            self.rows = [row for row in self.rows if row.stream != batch.stream] + [batch.row]
        return True

    def retire(self, stream: str, last: int) -> bool:
        """Whether the stream was freed, or was not there."""
        if len(self.streams[stream]) not in (0, last):
            return False
        self.streams[stream] = []
        self.deadlines = [one for one in self.deadlines if one.stream != stream]
        self.over = [one for one in self.over if one.stream != stream]
        self.rows = [row for row in self.rows if row.stream != stream]
        return True

    def heard_from(self, stream: str, after: int) -> list[Stored]:
        numbered = [Stored(seq, data) for seq, data in enumerate(self.streams[stream], 1)]
        return numbered[after:]

    def due(self, now_ms: int) -> list[Deadline]:
        come = (one for one in self.deadlines if one.at_ms <= now_ms)
        return sorted(come, key=lambda one: (one.at_ms, one.stream))

    def page(self, where: RowFilter) -> list[Row]:
        shown = [row for row in self.rows if row.listed and row.game == (where.game or row.game)]
        shown = [row for row in shown if row.state in (where.states or STATES)]
        shown = [row for row in shown if row.free_seats or not where.with_free_seats]
        return sorted(shown, key=lambda row: (row.created_ms, row.stream), reverse=True)

    def rows_of(self, subject: str) -> list[Row]:
        found = [row for row in self.rows if subject in row.subjects]
        return sorted(found, key=lambda row: (row.created_ms, row.stream))


@dataclass(frozen=True)
class Try:
    """An append whose ``after`` misses the last number by ``off``."""

    stream: str
    off: int
    entries: tuple[bytes, ...]
    deadline: int | str | None
    retire_ms: int | None
    row: tuple[str, str, int, bool, int, tuple[str, ...]] | None

    def batch(self, last: int) -> Append:
        deadline = KEEP if isinstance(self.deadline, str) else self.deadline
        row = None
        if self.row:
            game, state, seats, listed, created, subjects = self.row
            row = Row(self.stream, game, state, seats, listed, created, subjects, b"".join(self.entries))
        retire_ms = self.retire_ms if deadline is None else None
        return Append(self.stream, last + self.off, self.entries, deadline, row, retire_ms)


@dataclass(frozen=True)
class Retire:
    """A stream is retired whose last number is thought to be ``off`` more than it is."""

    stream: str
    off: int


@dataclass(frozen=True)
class Listen:
    """Somebody begins to listen, ``back`` entries before the end."""

    stream: str
    back: int


tries = st.builds(
    Try,
    stream=st.sampled_from(STREAMS),
    off=st.sampled_from([0, 0, 0, 0, 1, -1]),
    entries=st.lists(st.binary(max_size=20), min_size=1, max_size=3).map(tuple),
    deadline=st.one_of(st.just("keep"), st.none(), st.integers(0, END_OF_TIME)),
    retire_ms=st.none() | st.integers(0, END_OF_TIME),
    row=st.none()
    | st.tuples(
        st.sampled_from(GAMES),
        st.sampled_from(STATES),
        st.integers(0, 2),
        st.booleans(),
        st.integers(0, 3),
        st.lists(st.sampled_from(SUBJECTS), unique=True).map(tuple),
    ),
)
listens = st.builds(Listen, st.sampled_from(STREAMS), st.integers(-1, 3))
retires = st.builds(Retire, st.sampled_from(STREAMS), st.sampled_from([0, 0, 1, -1]))
filters = st.builds(
    RowFilter,
    st.sampled_from(("", *GAMES)),
    st.lists(st.sampled_from(STATES), unique=True).map(tuple),
    st.booleans(),
)


Steps = Sequence[Try | Listen | Retire]


async def retired(journal: Journal, model: Model, step: Retire) -> None:
    last = len(model.streams[step.stream]) + step.off
    try:
        await journal.retire(step.stream, last)
    except SequenceConflict:
        done = False
    else:
        done = True
    assert done is model.retire(step.stream, last)


async def appended(journal: Journal, batch: Append) -> bool:
    try:
        await journal.append(batch)
    except SequenceConflict:
        return False
    return True


async def same_history(journal: Journal, steps: Steps, where: RowFilter, now: int) -> None:
    model = Model()
    told: list[tuple[Listen, int, Heard, Cancel]] = []
    for step in steps:
        last = len(model.streams[step.stream])
        if isinstance(step, Retire):
            for _, _, _, cancel in (one for one in told if one[0].stream == step.stream):
                cancel()  # who listens is gone by then
            told = [one for one in told if one[0].stream != step.stream]
            await retired(journal, model, step)
            continue
        if isinstance(step, Listen):
            heard, after = Heard(), max(last - step.back, 0)
            told.append((step, after, heard, await journal.listen(step.stream, after, heard)))
            continue
        batch = step.batch(last)
        assert await appended(journal, batch) is model.append(batch)
        for listen, after, heard, _ in told:
            assert heard.entries == model.heard_from(listen.stream, after)
    for stream in STREAMS:
        assert await journal.read(stream) == model.heard_from(stream, 0)
    assert await journal.due(now) == model.due(now)
    over = (one for one in model.over if one.at_ms <= now)
    assert await journal.finished(now) == sorted(over, key=lambda one: (one.at_ms, one.stream))
    assert await journal.page(where, None, 100) == model.page(where)
    for subject in SUBJECTS:
        assert await journal.rows_of(subject) == model.rows_of(subject)


@pytest.mark.parametrize("store", STORES)
@settings(max_examples=100, deadline=None)
@given(st.lists(tries | listens | retires, max_size=25), filters, st.integers(0, END_OF_TIME))
def test_it_does_as_the_model_does(store: str, steps: Steps, where: RowFilter, now: int) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            journal = await STORES[store](Path(folder))
            try:
                await same_history(journal, steps, where, now)
            finally:
                await journal.close()

    asyncio.run(run())
