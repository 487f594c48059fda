"""What every journal promises of streams and of those who listen to them."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence

import pytest

from croupier_server.journal import (
    Append,
    Cancel,
    Journal,
    JournalUnavailable,
    RowFilter,
    SequenceConflict,
    Stored,
)
from server.journal_contract import Heard, OnEachJournal, batch, lobby_row

WRITERS = 64


class TestStream(OnEachJournal):
    async def test_entries_are_numbered_from_one(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, b"a"))
        await journal.append(batch("t", 1, b"b", b"c"))
        assert await journal.read("t") == [Stored(1, b"a"), Stored(2, b"b"), Stored(3, b"c")]
        assert await journal.last_seq("t") == 3

    async def test_an_unknown_stream_is_empty(self, journal: Journal) -> None:
        await journal.append(batch("t", 0))
        assert await journal.read("u") == []
        assert await journal.last_seq("u") == 0

    async def test_streams_do_not_mix(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, b"a"))
        await journal.append(batch("t2", 0, b"b"))
        assert await journal.read("t") == [Stored(1, b"a")]

    @pytest.mark.parametrize("after", [0, 1, 3, 100, -1])
    async def test_only_the_next_number_goes_in(self, journal: Journal, after: int) -> None:
        await journal.append(batch("t", 0, b"a", b"b"))
        with pytest.raises(SequenceConflict) as refused:
            await journal.append(batch("t", after, b"x"))
        assert refused.value.last == 2
        assert await journal.read("t") == [Stored(1, b"a"), Stored(2, b"b")]

    async def test_a_new_stream_begins_at_one(self, journal: Journal) -> None:
        with pytest.raises(SequenceConflict) as refused:
            await journal.append(batch("t", 1))
        assert refused.value.last == 0
        assert await journal.last_seq("t") == 0

    async def test_a_refused_batch_leaves_nothing(self, journal: Journal) -> None:
        row = lobby_row("t", subjects=["players/a"])
        await journal.append(batch("t", 0, b"a", deadline_ms=10, row=row))
        heard = Heard()
        await journal.listen("t", 1, heard)
        late = lobby_row("t", subjects=["players/b"], state="ended")
        with pytest.raises(SequenceConflict):
            await journal.append(batch("t", 0, b"x", b"y", deadline_ms=None, row=late))
        assert (await journal.read("t"), heard.seqs) == ([Stored(1, b"a")], [])
        assert [deadline.at_ms for deadline in await journal.due(10)] == [10]
        assert await journal.row("t") == row
        assert await journal.rows_of("players/b") == []

    @pytest.mark.parametrize(
        "wrong",
        [
            Append("t", 0, ()),
            batch("t", 0, deadline_ms=-5),
            batch("t", 0, row=lobby_row("another")),
        ],
    )
    async def test_a_senseless_batch_is_a_value_error(self, journal: Journal, wrong: Append) -> None:
        with pytest.raises(ValueError, match=r"an append|a deadline"):
            await journal.append(wrong)
        assert await journal.last_seq("t") == 0

    async def test_read_begins_behind_and_stops_at_the_limit(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, b"a", b"b", b"c", b"d"))
        assert await journal.read("t", 1, 2) == [Stored(2, b"b"), Stored(3, b"c")]
        assert await journal.read("t", after=3) == [Stored(4, b"d")]
        assert await journal.read("t", after=4) == []
        assert await journal.read("t", after=99) == []
        assert await journal.read("t", limit=0) == []

    async def test_any_bytes_come_back(self, journal: Journal) -> None:
        entries = (b"", bytes(range(256)), b"\0", b"'; --", "牌".encode(), b",", b"")
        await journal.append(batch("t", 0, *entries))
        assert [entry.data for entry in await journal.read("t")] == list(entries)

    async def test_a_lone_empty_entry_is_an_entry(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, b""))
        assert await journal.read("t") == [Stored(1, b"")]

    async def test_large_entries_come_back(self, journal: Journal) -> None:
        entries = tuple(os.urandom(200_000) for _ in range(3))
        await journal.append(batch("t", 0, *entries))
        assert [entry.data for entry in await journal.read("t")] == list(entries)

    async def test_a_batch_may_be_long(self, journal: Journal) -> None:
        entries = tuple(str(number).encode() for number in range(1000))
        await journal.append(batch("t", 0, *entries, deadline_ms=7))
        assert [entry.data for entry in await journal.read("t")] == list(entries)
        assert [deadline.seq for deadline in await journal.due(7)] == [1000]


async def write_until_placed(journal: Journal, stream: str, name: str, times: int) -> list[int]:
    """Append a batch of two that many times, however often others are first; where they went."""
    placed: list[int] = []
    after = await journal.last_seq(stream)
    while len(placed) < times:
        text = f"{name}/{len(placed)}".encode()
        try:
            await journal.append(batch(stream, after, text, text))
        except SequenceConflict as conflict:
            after = conflict.last
        else:
            placed.append(after + 1)
            after += 2
    return placed


class TestRaces(OnEachJournal):
    async def test_exactly_one_writer_wins_each_number(self, journal: Journal) -> None:
        entries = [f"by {writer}".encode() for writer in range(WRITERS)]
        outcomes = await asyncio.gather(
            *(journal.append(batch("t", 0, entry)) for entry in entries), return_exceptions=True
        )
        won = [entry for entry, outcome in zip(entries, outcomes, strict=True) if outcome is None]
        lost = [outcome for outcome in outcomes if isinstance(outcome, SequenceConflict)]
        assert (len(won), len(lost)) == (1, WRITERS - 1)
        assert await journal.read("t") == [Stored(1, won[0])]

    async def test_writers_who_try_again_all_get_their_place(self, journal: Journal) -> None:
        placed = await asyncio.gather(
            *(write_until_placed(journal, "t", str(writer), 3) for writer in range(WRITERS))
        )
        stored = {entry.seq: entry.data for entry in await journal.read("t")}
        assert sorted(stored) == list(range(1, 2 * 3 * WRITERS + 1))
        for writer, firsts in enumerate(placed):
            for time, first in enumerate(firsts):
                assert stored[first] == stored[first + 1] == f"{writer}/{time}".encode()

    async def test_streams_do_not_hinder_each_other(self, journal: Journal) -> None:
        async def play(stream: str) -> None:
            for after in range(10):
                await journal.append(batch(stream, after))

        streams = [f"tables/{number}" for number in range(WRITERS)]
        await asyncio.gather(*(play(stream) for stream in streams))
        for stream in streams:
            expected = [Stored(seq, f"{stream}#{seq}".encode()) for seq in range(1, 11)]
            assert await journal.read(stream) == expected

    async def test_what_is_appended_can_be_read_at_once(self, journal: Journal) -> None:
        async def play(stream: str) -> None:
            for after in range(5):
                await journal.append(batch(stream, after))
                assert await journal.last_seq(stream) == after + 1

        await asyncio.gather(*(play(str(number)) for number in range(16)))


class TestListen(OnEachJournal):
    async def test_what_is_stored_comes_before_listen_returns(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, b"a", b"b", b"c"))
        heard = Heard()
        await journal.listen("t", 1, heard)
        assert heard.entries == [Stored(2, b"b"), Stored(3, b"c")]

    async def test_an_append_is_delivered_before_it_returns(self, journal: Journal) -> None:
        heard = Heard()
        await journal.listen("t", 0, heard)
        for after in range(5):
            await journal.append(batch("t", after))
            assert heard.seqs == list(range(1, after + 2))

    async def test_nothing_up_to_the_starting_point_is_delivered(self, journal: Journal) -> None:
        heard = Heard()
        await journal.listen("t", 2, heard)
        await journal.append(batch("t", 0))
        await journal.append(batch("t", 1, b"b", b"c"))
        assert heard.entries == [Stored(3, b"c")]

    async def test_others_streams_are_not_heard(self, journal: Journal) -> None:
        heard = Heard()
        await journal.listen("t", 0, heard)
        await journal.append(batch("t2", 0))
        assert heard.entries == []

    async def test_two_listeners_hear_the_same(self, journal: Journal) -> None:
        first, second = Heard(), Heard()
        await journal.listen("t", 0, first)
        await journal.append(batch("t", 0))
        await journal.listen("t", 0, second)
        await journal.append(batch("t", 1))
        assert first.seqs == second.seqs == [1, 2]

    async def test_one_callable_may_listen_twice(self, journal: Journal) -> None:
        heard = Heard()
        cancel = await journal.listen("t", 0, heard)
        await journal.listen("t", 0, heard)
        await journal.append(batch("t", 0))
        cancel()
        await journal.append(batch("t", 1))
        assert Counter(heard.seqs) == {1: 2, 2: 1}

    async def test_cancelled_it_hears_no_more(self, journal: Journal) -> None:
        heard, other = Heard(), Heard()
        cancel = await journal.listen("t", 0, heard)
        await journal.listen("t", 0, other)
        await journal.append(batch("t", 0))
        cancel()
        cancel()
        await journal.append(batch("t", 1))
        assert (heard.seqs, other.seqs) == ([1], [1, 2])

    async def test_a_listener_may_cancel_itself_when_told(self, journal: Journal) -> None:
        heard, after_it, cancels = Heard(), Heard(), list[Cancel]()

        def hear_once(entries: Sequence[Stored]) -> None:
            heard(entries)
            cancels[0]()

        cancels.append(await journal.listen("t", 0, hear_once))
        await journal.listen("t", 0, after_it)
        await journal.append(batch("t", 0))
        await journal.append(batch("t", 1))
        assert (heard.seqs, after_it.seqs) == ([1], [1, 2])

    async def test_a_listener_cancelled_by_another_hears_no_more(self, journal: Journal) -> None:
        heard, cancels = Heard(), list[Cancel]()
        await journal.listen("t", 0, lambda _: cancels[0]())
        cancels.append(await journal.listen("t", 0, heard))
        await journal.append(batch("t", 0))
        assert heard.seqs == []

    async def test_a_listener_that_raises_harms_nobody(self, journal: Journal) -> None:
        heard = Heard()
        await journal.listen("t", 0, lambda _: 1 // 0)  # type: ignore[arg-type]
        await journal.listen("t", 0, heard)
        await journal.append(batch("t", 0))
        assert heard.seqs == [1]

    async def test_joining_while_others_write_leaves_no_gap(self, journal: Journal) -> None:
        writers = [asyncio.ensure_future(write_until_placed(journal, "t", str(w), 5)) for w in range(8)]
        listeners: list[tuple[int, Heard]] = []
        while not all(writer.done() for writer in writers):
            after, heard = max(await journal.last_seq("t") - 3, 0), Heard()
            await journal.listen("t", after, heard)
            listeners.append((after, heard))
        last = await journal.last_seq("t")
        assert last == 2 * 5 * 8
        assert len(listeners) > 1
        for after, heard in listeners:
            assert heard.seqs == list(range(after + 1, last + 1))

    async def test_giving_up_while_catching_up_unsubscribes(self, journal: Journal) -> None:
        heard = Heard()
        listening = asyncio.ensure_future(journal.listen("t", 0, heard))
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await journal.append(batch("t", 0))
        assert heard.seqs == []


class TestClose(OnEachJournal):
    async def test_afterwards_all_is_refused(self, journal: Journal) -> None:
        await journal.append(batch("t", 0))
        await journal.close()

        async def append() -> None:
            await journal.append(batch("t", 1))

        calls = (
            append(),
            journal.read("t"),
            journal.last_seq("t"),
            journal.listen("t", 0, Heard()),
            journal.clock_ms(),
            journal.due(0),
            journal.page(RowFilter(), None, 1),
            journal.row("t"),
            journal.rows_of("players/a"),
            journal.listen_rows("players/a", lambda _: None),
            journal.key("k", b"k"),
        )
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, JournalUnavailable)

    async def test_what_is_queued_is_finished_and_delivered(self, journal: Journal) -> None:
        heard = Heard()
        await journal.listen("t", 0, heard)
        appends = [asyncio.ensure_future(journal.append(batch("t", after))) for after in range(20)]
        await asyncio.sleep(0)  # lets each of them queue up
        await journal.close()
        assert heard.seqs == list(range(1, 21))
        assert await asyncio.gather(*appends) == [None] * 20

    async def test_closing_again_does_nothing(self, journal: Journal) -> None:
        await asyncio.gather(journal.close(), journal.close())
        await journal.close()


class TestClock(OnEachJournal):
    async def test_it_never_runs_backwards(self, journal: Journal) -> None:
        times = [await journal.clock_ms() for _ in range(200)]
        assert times == sorted(times)
