"""What every journal promises of deadlines, lobby rows and keys."""

from __future__ import annotations

import asyncio

import pytest

from croupier_server.journal import Deadline, Journal, PageKey, Row, RowFilter
from server.journal_contract import OnEachJournal, batch, lobby_row, put_rows

EVERYTHING = RowFilter()


def names(rows: list[Row]) -> list[str]:
    return [row.stream for row in rows]


class TestDeadlines(OnEachJournal):
    async def test_it_is_bound_to_the_last_entry_of_its_batch(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, b"a", b"b", deadline_ms=50))
        assert await journal.due(50) == [Deadline("t", 2, 50)]

    async def test_it_is_due_from_its_time_on(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, deadline_ms=50))
        assert await journal.due(49) == []
        assert await journal.due(51) == await journal.due(50) == [Deadline("t", 1, 50)]

    async def test_an_append_keeps_it_unless_told(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, deadline_ms=50))
        await journal.append(batch("t", 1))
        assert await journal.due(50) == [Deadline("t", 1, 50)]

    @pytest.mark.parametrize("later", [60, 40])
    async def test_an_append_moves_it(self, journal: Journal, later: int) -> None:
        await journal.append(batch("t", 0, deadline_ms=50))
        await journal.append(batch("t", 1, deadline_ms=later))
        assert await journal.due(100) == [Deadline("t", 2, later)]

    async def test_an_append_clears_it(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, deadline_ms=50))
        await journal.append(batch("u", 0, deadline_ms=50))
        await journal.append(batch("t", 1, deadline_ms=None))
        assert await journal.due(100) == [Deadline("u", 1, 50)]

    async def test_there_need_be_none_to_clear(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, deadline_ms=None))
        assert await journal.due(100) == []

    async def test_time_zero_is_a_time(self, journal: Journal) -> None:
        await journal.append(batch("t", 0, deadline_ms=0))
        assert await journal.due(0) == [Deadline("t", 1, 0)]

    async def test_the_earliest_come_first_up_to_the_limit(self, journal: Journal) -> None:
        for number, at_ms in enumerate([30, 10, 40, 20]):
            await journal.append(batch(f"t{number}", 0, deadline_ms=at_ms))
        assert [deadline.at_ms for deadline in await journal.due(30)] == [10, 20, 30]
        assert [deadline.at_ms for deadline in await journal.due(100, limit=2)] == [10, 20]


class TestPages(OnEachJournal):
    async def test_the_newest_row_comes_first(self, journal: Journal) -> None:
        await put_rows(journal, lobby_row("b", 20), lobby_row("c", 30), lobby_row("a", 10))
        assert names(await journal.page(EVERYTHING, None, 10)) == ["c", "b", "a"]

    async def test_a_row_comes_back_whole(self, journal: Journal) -> None:
        row = Row("t/牌", "basic_rummy", "playing", 0, True, 1 << 41, ("players/ü", "house"), b"\0\xff")
        await put_rows(journal, row)
        assert await journal.row("t/牌") == row
        assert await journal.page(EVERYTHING, None, 10) == [row]
        assert await journal.rows_of("house") == [row]

    async def test_an_append_replaces_the_row_or_leaves_it(self, journal: Journal) -> None:
        await put_rows(journal, lobby_row("t", state="waiting"), lobby_row("t", state="playing"))
        await journal.append(batch("t", 2))
        assert await journal.page(EVERYTHING, None, 10) == [lobby_row("t", state="playing")]

    async def test_an_unlisted_row_is_in_no_page(self, journal: Journal) -> None:
        await put_rows(journal, lobby_row("t", 1), lobby_row("secret", 2, listed=False))
        assert names(await journal.page(EVERYTHING, None, 10)) == ["t"]
        await put_rows(journal, lobby_row("t", 1, listed=False))
        assert await journal.page(EVERYTHING, None, 10) == []
        assert await journal.row("secret") == lobby_row("secret", 2, listed=False)

    async def test_a_stream_without_row_has_none(self, journal: Journal) -> None:
        await journal.append(batch("t", 0))
        assert await journal.row("t") is None

    @pytest.mark.parametrize(
        ("where", "shown"),
        [
            (RowFilter(game="doudizhu"), ["full", "open"]),
            (RowFilter(game="basic_rummy"), ["rummy"]),
            (RowFilter(game="whist"), []),
            (RowFilter(states=("playing",)), ["full"]),
            (RowFilter(states=("playing", "waiting", "ended")), ["full", "rummy", "open"]),
            (RowFilter(with_free_seats=True), ["rummy", "open"]),
            (RowFilter("doudizhu", ("waiting",), with_free_seats=True), ["open"]),
        ],
    )
    async def test_filters(self, journal: Journal, where: RowFilter, shown: list[str]) -> None:
        await put_rows(
            journal,
            lobby_row("open", 1),
            lobby_row("rummy", 2, game="basic_rummy"),
            lobby_row("full", 3, state="playing", free_seats=0),
        )
        assert names(await journal.page(where, None, 10)) == shown

    async def test_pages_follow_on_each_other(self, journal: Journal) -> None:
        # Three rows to each moment, so that pages end within one.
        await put_rows(journal, *(lobby_row(f"t{number}", number // 3) for number in range(10)))
        shown: list[str] = []
        after: PageKey | None = None
        while page := await journal.page(EVERYTHING, after, 4):
            shown += names(page)
            after = PageKey(page[-1].created_ms, page[-1].stream)
        assert shown == [f"t{number}" for number in reversed(range(10))]

    async def test_rows_that_change_between_pages_move_no_other(self, journal: Journal) -> None:
        await put_rows(journal, *(lobby_row(f"t{number}", number) for number in range(6)))
        first = await journal.page(EVERYTHING, None, 3)
        await put_rows(
            journal, lobby_row("t9", 9), lobby_row("t4", 4, listed=False), lobby_row("t1", 1, state="ended")
        )
        second = await journal.page(EVERYTHING, PageKey(3, "t3"), 3)
        assert names(first) + names(second) == ["t5", "t4", "t3", "t2", "t1", "t0"]
        assert second[1].state == "ended"


class TestSubjects(OnEachJournal):
    async def test_a_subject_finds_its_rows_oldest_first(self, journal: Journal) -> None:
        await put_rows(
            journal,
            lobby_row("b", 2, subjects=["players/a", "players/b"]),
            lobby_row("a", 1, subjects=["players/a"], listed=False),
            lobby_row("c", 2, subjects=["players/a"]),
        )
        assert names(await journal.rows_of("players/a")) == ["a", "b", "c"]
        assert names(await journal.rows_of("players/b")) == ["b"]
        assert await journal.rows_of("players/c") == []

    async def test_subjects_are_replaced_with_the_row(self, journal: Journal) -> None:
        await put_rows(journal, lobby_row("t", subjects=["players/a", "players/b"]))
        await put_rows(journal, lobby_row("t", subjects=["players/b", "players/c"]))
        found = [names(await journal.rows_of(f"players/{who}")) for who in "abc"]
        assert found == [[], ["t"], ["t"]]

    async def test_each_subject_hears_once_of_a_change(self, journal: Journal) -> None:
        heard: list[Row] = []
        await journal.listen_rows("players/a", heard.append)
        mine = lobby_row("t", subjects=["players/b", "players/a"])
        await put_rows(journal, mine, lobby_row("u", subjects=["players/b"]))
        assert heard == [mine]

    async def test_who_drops_out_hears_of_that_and_no_more(self, journal: Journal) -> None:
        await put_rows(journal, lobby_row("t", subjects=["players/a"]))
        heard: list[Row] = []
        await journal.listen_rows("players/a", heard.append)
        without = lobby_row("t", subjects=["players/b"])
        await put_rows(journal, without, lobby_row("t", state="ended"))
        assert heard == [without]

    async def test_rows_are_heard_before_the_append_returns_and_in_order(self, journal: Journal) -> None:
        heard: list[str] = []
        await journal.listen_rows("house", lambda row: heard.append(row.state))
        rows = [lobby_row("t", state=str(number), subjects=["house"]) for number in range(9)]
        await asyncio.gather(*(journal.append(batch("t", after, row=row)) for after, row in enumerate(rows)))
        assert heard == [row.state for row in rows]

    async def test_a_change_without_row_is_not_heard(self, journal: Journal) -> None:
        heard: list[Row] = []
        await put_rows(journal, lobby_row("t", subjects=["house"]))
        await journal.listen_rows("house", heard.append)
        await journal.append(batch("t", 1))
        assert heard == []

    async def test_cancelled_it_hears_no_more(self, journal: Journal) -> None:
        heard: list[Row] = []
        cancel = await journal.listen_rows("house", heard.append)
        cancel()
        cancel()
        await put_rows(journal, lobby_row("t", subjects=["house"]))
        assert heard == []


class TestKeys(OnEachJournal):
    async def test_the_first_one_stays(self, journal: Journal) -> None:
        assert await journal.key("tokens", b"\0one") == b"\0one"
        assert await journal.key("tokens", b"two") == b"\0one"
        assert await journal.key("ids", b"three") == b"three"

    async def test_all_who_ask_at_once_get_the_same(self, journal: Journal) -> None:
        asked = [str(number).encode() for number in range(32)]
        given = await asyncio.gather(*(journal.key("tokens", fresh) for fresh in asked))
        assert len(set(given)) == 1
        assert given[0] in asked
        assert await journal.key("tokens", b"late") == given[0]

    async def test_replace_stores_over_it(self, journal: Journal) -> None:
        await journal.key("tokens", b"one")
        assert await journal.key("tokens", b"two", replace=True) == b"two"
        assert await journal.key("tokens", b"three") == b"two"
