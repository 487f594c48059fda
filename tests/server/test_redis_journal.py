"""What the journal in Redis promises beyond the contract: others share it, and it endures outages."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
from structlog.testing import capture_logs

from croupier_server.journal import (
    Append,
    Deadline,
    JournalUnavailable,
    PageKey,
    QueueFull,
    Row,
    RowFilter,
    SequenceConflict,
    Stored,
)
from croupier_server.journal import redis_wire as wire
from croupier_server.journal.redis import RedisJournal
from croupier_server.journal.redis_names import Names
from server.journal_contract import Heard, batch, lobby_row, put_rows
from server.redis_server import RedisServer, append_at_last, opened, shared_server, until

ENTRIES_OF_T = Names(0).entries("t")


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """The session's server, emptied."""
    server = shared_server()
    server.command("FLUSHALL")
    yield server
    server.command("CLIENT", "UNPAUSE")


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server for a test that kills or sets it."""
    with RedisServer() as server:
        yield server


@pytest.fixture
async def journal(server: RedisServer) -> AsyncIterator[RedisJournal]:
    async with opened(server) as journal:
        yield journal


@pytest.fixture
async def other(server: RedisServer) -> AsyncIterator[RedisJournal]:
    """Another process's journal, as far as Redis can tell."""
    async with opened(server) as journal:
        yield journal


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(wire, "_LOOK_SECONDS", 0.05)


def client_id(server: RedisServer, name: str) -> int:
    """Which connection that is."""
    clients = server.command("CLIENT", "LIST").decode()
    (line,) = [line for line in clients.splitlines() if f" name=croupier-{name} " in line]
    return int(line.split()[0].removeprefix("id="))


class TestKilled:
    async def test_nothing_acknowledged_is_lost_and_the_unknown_is_found_out(
        self, own_server: RedisServer
    ) -> None:
        acknowledged = dict.fromkeys((f"tables/{number}" for number in range(16)), 0)
        async with opened(own_server) as journal:

            async def play(stream: str) -> None:
                while True:
                    seq = acknowledged[stream]
                    texts = tuple(f"{stream}#{seq + more}".encode() for more in (1, 2))
                    await journal.append(Append(stream, seq, texts))
                    acknowledged[stream] = seq + 2

            players = [asyncio.ensure_future(play(stream)) for stream in acknowledged]
            await until(lambda: sum(acknowledged.values()) > 400)
            own_server.kill()
            outcomes = await asyncio.gather(*players, return_exceptions=True)
            assert {type(outcome) for outcome in outcomes} == {JournalUnavailable}
            own_server.start()
            await append_at_last(journal, "after")
            for stream, seq in acknowledged.items():
                entries = await journal.read(stream)
                assert len(entries) in {seq, seq + 2}, "an acknowledged batch is gone, or half of one"
                assert entries == [Stored(n, f"{stream}#{n}".encode()) for n in range(1, len(entries) + 1)]

    async def test_listeners_go_on_with_what_comes_after(self, own_server: RedisServer) -> None:
        heard = Heard()
        async with opened(own_server) as journal, opened(own_server) as other:
            await journal.listen("t", 0, heard)
            await other.append(batch("t", 0))
            own_server.kill()
            own_server.start()
            await append_at_last(other, "t")
            await until(lambda: heard.seqs == [1, 2])

    async def test_a_redis_that_lost_what_was_told_is_shown_up(self, own_server: RedisServer) -> None:
        async with opened(own_server) as journal:
            await journal.append(batch("t", 0, b"a", b"b"))
            await journal.listen("t", 0, Heard())
            own_server.command("RPOP", ENTRIES_OF_T)
            with capture_logs() as logs:
                own_server.command("CLIENT", "KILL", "TYPE", "pubsub")
                await until(lambda: any(log["event"] == "journal.went_back" for log in logs))

    async def test_an_outage_is_logged_once_and_so_is_its_end(self, own_server: RedisServer) -> None:
        async with opened(own_server) as journal:
            with capture_logs() as logs:
                own_server.kill()
                for _ in range(3):
                    with pytest.raises(JournalUnavailable):
                        await journal.append(batch("t", 0))
                own_server.start()
                await append_at_last(journal, "t")
                await until(lambda: len(logs) > 1)
        assert [log["event"] for log in logs] == ["journal.lost", "journal.found_again"]


class TestConnection:
    async def test_cut_under_an_append_the_outcome_is_unknown_and_it_is_made_again(
        self, server: RedisServer, journal: RedisJournal
    ) -> None:
        server.command("CLIENT", "PAUSE", 60_000, "WRITE")
        append = asyncio.ensure_future(journal.append(batch("t", 0)))
        await until(lambda: journal.waiting == 1)
        server.command("CLIENT", "KILL", "ID", client_id(server, "append"))
        with pytest.raises(JournalUnavailable, match="lost"):
            await append
        server.command("CLIENT", "UNPAUSE")
        await append_at_last(journal, "t")

    @pytest.mark.usefixtures("impatient")
    async def test_a_silent_server_is_not_waited_for(self, own_server: RedisServer) -> None:
        async with opened(own_server) as journal:
            assert own_server.process
            own_server.process.send_signal(signal.SIGSTOP)
            with pytest.raises(JournalUnavailable, match="not answered"):
                await journal.append(batch("t", 0, b"a"))
            own_server.process.send_signal(signal.SIGCONT)
            await append_at_last(journal, "u")
            assert await journal.read("t") in ([], [Stored(1, b"a")])

    @pytest.mark.usefixtures("impatient")
    async def test_silent_news_are_looked_into(self, own_server: RedisServer) -> None:
        async with opened(own_server) as journal:
            first = journal._servers.nodes[0].news._wire
            assert first
            assert own_server.process
            heard_at = first._heard_at
            await until(lambda: first._heard_at > heard_at + wire.ANSWER_SECONDS)
            assert not first.over
            own_server.process.send_signal(signal.SIGSTOP)
            await until(lambda: first.over)
            own_server.process.send_signal(signal.SIGCONT)
            await until(lambda: journal._servers.nodes[0].news._wire not in {first, None})

    async def test_an_append_given_up_may_go_in_and_is_heard_of(
        self, server: RedisServer, journal: RedisJournal
    ) -> None:
        heard = Heard()
        await journal.listen("t", 0, heard)
        server.command("CLIENT", "PAUSE", 60_000, "WRITE")
        append = asyncio.ensure_future(journal.append(batch("t", 0, b"a")))
        await until(lambda: journal.waiting == 1)
        append.cancel()
        server.command("CLIENT", "UNPAUSE")
        await until(lambda: heard.entries == [Stored(1, b"a")])
        assert append.cancelled()

    async def test_a_full_queue_refuses_and_recovers(self, server: RedisServer) -> None:
        async with opened(server, max_waiting=4) as journal:
            server.command("CLIENT", "PAUSE", 60_000, "WRITE")
            appends = [asyncio.ensure_future(journal.append(batch(f"t{n}", 0))) for n in range(4)]
            await until(lambda: journal.waiting == 4)
            with pytest.raises(QueueFull):
                await journal.append(batch("late", 0))
            server.command("CLIENT", "UNPAUSE")
            await asyncio.gather(*appends)
            await journal.append(batch("late", 0))

    async def test_forgotten_scripts_are_told_again(self, server: RedisServer, journal: RedisJournal) -> None:
        server.command("SCRIPT", "FLUSH")
        row = lobby_row("t", 1, subjects=["house"])
        await asyncio.gather(
            *(journal.append(batch("t", after, deadline_ms=5, row=row)) for after in range(3))
        )
        server.command("SCRIPT", "FLUSH")
        assert await journal.rows_of("house") == await journal.page(RowFilter(), None, 5) == [row]
        server.command("SCRIPT", "FLUSH")
        assert await journal.due(5) == [Deadline("t", 3, 5)]
        assert await journal.clock_ms() > 0


class TestNews:
    async def test_what_was_told_while_nobody_listened_is_read(
        self, server: RedisServer, journal: RedisJournal, other: RedisJournal
    ) -> None:
        heard = {f"t{number}": Heard() for number in range(8)}
        for stream, listener in heard.items():
            await other.listen(stream, 0, listener)
        for after in range(50):
            await asyncio.gather(*(journal.append(batch(stream, after)) for stream in heard))
            if after % 10 == 5:
                server.command("CLIENT", "KILL", "TYPE", "pubsub")
        for listener in heard.values():
            await until(lambda listener=listener: len(listener.seqs) >= 50)  # type: ignore[misc]
            assert listener.seqs == list(range(1, 51))

    async def test_a_gap_shows_and_is_read(
        self, server: RedisServer, journal: RedisJournal, other: RedisJournal
    ) -> None:
        heard = Heard()
        await other.listen("t", 0, heard)
        server.command("RPUSH", ENTRIES_OF_T, b"never told")
        await journal.append(batch("t", 1, b"told"))
        await until(lambda: heard.entries == [Stored(1, b"never told"), Stored(2, b"told")])

    async def test_an_append_is_delivered_behind_what_was_not_heard(
        self, server: RedisServer, journal: RedisJournal
    ) -> None:
        heard = Heard()
        await journal.listen("t", 0, heard)
        server.command("RPUSH", ENTRIES_OF_T, b"never told")
        await journal.append(batch("t", 1))
        assert heard.seqs == [1, 2]

    async def test_who_stopped_listening_may_listen_again(
        self, journal: RedisJournal, other: RedisJournal
    ) -> None:
        for after in range(5):
            heard = Heard()
            cancel = await other.listen("t", after, heard)
            await journal.append(batch("t", after))
            await until(lambda heard=heard, after=after: heard.seqs == [after + 1])  # type: ignore[misc]
            cancel()

    async def test_rows_that_changed_meanwhile_are_told_also_to_those_who_dropped_out(
        self,
        server: RedisServer,
        journal: RedisJournal,
        other: RedisJournal,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        heard: list[tuple[str, Row]] = []
        for who in ("a", "b", "c"):
            await other.listen_rows(who, lambda row, who=who: heard.append((who, row)))  # type: ignore[misc]
        await put_rows(journal, lobby_row("t", subjects=["a", "b"]), lobby_row("same", subjects=["a"]))
        await until(lambda: len(heard) == 3)
        heard.clear()
        later = lobby_row("t", state="playing", subjects=["b", "c"])
        unheard: list[object] = []
        with monkeypatch.context() as deaf:
            deaf.setattr(other._news._rows, "take", lambda *row: unheard.append(row))
            await journal.append(batch("t", 1, row=later))
            await until(lambda: bool(unheard))
        server.command("CLIENT", "KILL", "TYPE", "pubsub")
        await until(lambda: len(heard) >= 3)
        assert sorted(heard, key=lambda one: one[0]) == [("a", later), ("b", later), ("c", later)]


class TestTwoProcesses:
    async def test_only_the_next_number_goes_in(self, journal: RedisJournal, other: RedisJournal) -> None:
        await journal.append(batch("t", 0))
        for after in (0, 2, 6):
            with pytest.raises(SequenceConflict) as refused:
                await other.append(batch("t", after))
            assert refused.value.last == 1
        await other.append(batch("t", 1))

    async def test_both_hear_the_same(self, journal: RedisJournal, other: RedisJournal) -> None:
        heard = Heard(), Heard()
        await journal.listen("t", 0, heard[0])
        await other.listen("t", 0, heard[1])

        async def write(through: RedisJournal) -> None:
            for _ in range(50):
                try:
                    await through.append(batch("t", await through.last_seq("t")))
                except SequenceConflict:
                    continue

        await asyncio.gather(write(journal), write(other))
        last = await journal.last_seq("t")
        await until(lambda: len(heard[0].seqs) == len(heard[1].seqs) == last)
        assert heard[0].entries == heard[1].entries == await journal.read("t")

    async def test_rows_are_heard_once_and_in_order(self, journal: RedisJournal, other: RedisJournal) -> None:
        heard: tuple[list[str], list[str]] = ([], [])
        await journal.listen_rows("house", lambda row: heard[0].append(row.state))
        await other.listen_rows("house", lambda row: heard[1].append(row.state))
        for after in range(20):
            through = (journal, other)[after % 2]
            row = lobby_row("t", state=str(after), subjects=["house"])
            await through.append(batch("t", after, row=row))
        await until(lambda: heard[0][-1:] == heard[1][-1:] == ["19"])
        assert heard[0] == heard[1] == [str(after) for after in range(20)]

    async def test_keys_are_made_once(self, journal: RedisJournal, other: RedisJournal) -> None:
        asked = [
            through.key("ids", f"{number}".encode()) for number in range(20) for through in (journal, other)
        ]
        assert len(set(await asyncio.gather(*asked))) == 1

    async def test_deadlines_and_pages_are_those_of_both(
        self, journal: RedisJournal, other: RedisJournal
    ) -> None:
        await journal.append(batch("a", 0, deadline_ms=5, row=lobby_row("a", 1)))
        await other.append(batch("b", 0, deadline_ms=4, row=lobby_row("b", 2)))
        assert [deadline.stream for deadline in await journal.due(5)] == ["b", "a"]
        assert [row.stream for row in await other.page(RowFilter(), None, 5)] == ["b", "a"]

    async def test_databases_are_apart(self, server: RedisServer, journal: RedisJournal) -> None:
        heard = Heard()
        rows: list[Row] = []
        async with opened(server, "/2") as elsewhere:
            await elsewhere.listen("t", 0, heard)
            await elsewhere.listen_rows("house", rows.append)
            await journal.append(batch("t", 0, row=lobby_row("t", subjects=["house"])))
            assert await elsewhere.last_seq("t") == 0
            await elsewhere.append(batch("t", 0, b"b"))
        assert (heard.entries, rows) == ([Stored(1, b"b")], [])


class TestManyRows:
    """More than a first look at each slot finds."""

    @pytest.fixture
    async def rows(self, journal: RedisJournal) -> list[Row]:
        rows = [
            lobby_row(
                f"tables/{number:03}",
                number // 50,
                game=("doudizhu", "basic_rummy")[number % 2],
                state=("OPEN", "PLAYING", "ENDED")[number % 3],
                free_seats=number % 5 // 4,
                listed=number % 7 > 0,
                subjects=["house"],
            )
            for number in range(1500)
        ]
        await asyncio.gather(*(journal.append(batch(row.stream, 0, row=row)) for row in rows))
        rows.sort(key=lambda row: (row.created_ms, row.stream))
        return rows

    @pytest.mark.parametrize(
        "where",
        [
            RowFilter(),
            RowFilter("doudizhu"),
            RowFilter(states=("OPEN", "PLAYING", "OPEN")),
            RowFilter("basic_rummy", ("OPEN",), with_free_seats=True),
        ],
    )
    async def test_pages_find_all_of_them(
        self, journal: RedisJournal, rows: list[Row], where: RowFilter
    ) -> None:
        found: list[Row] = []
        after: PageKey | None = None
        while page := await journal.page(where, after, 99):
            found += page
            after = PageKey(page[-1].created_ms, page[-1].stream)
        wanted = [row for row in rows if row.listed and row.game == (where.game or row.game)]
        wanted = [row for row in wanted if row.state in (where.states or (row.state,))]
        wanted = [row for row in wanted if row.free_seats or not where.with_free_seats]
        assert found == wanted[::-1]

    async def test_a_subject_finds_all_of_them(self, journal: RedisJournal, rows: list[Row]) -> None:
        assert await journal.rows_of("house") == rows

    async def test_the_earliest_deadlines_are_found(self, journal: RedisJournal) -> None:
        deadlines = [Deadline(f"t{number:03}", 1, number // 100) for number in range(600)]
        await asyncio.gather(*(journal.append(batch(d.stream, 0, deadline_ms=d.at_ms)) for d in deadlines))
        assert await journal.due(4, 250) == deadlines[:250]
        assert await journal.due(4, 1000) == deadlines[:500]


class TestClock:
    async def test_set_back_time_goes_on_from_where_it_was(
        self, server: RedisServer, journal: RedisJournal
    ) -> None:
        ahead = await journal.clock_ms() + 3_600_000
        server.command("SET", Names(0).clock, ahead)
        assert await journal.clock_ms() == ahead
        assert journal._told
        journal._told = (journal._told[0], journal._told[1] - 5)
        assert await journal.clock_ms() >= ahead + 5_000

    async def test_all_processes_have_one(self, journal: RedisJournal, other: RedisJournal) -> None:
        times = [await through.clock_ms() for _ in range(50) for through in (journal, other)]
        assert times == sorted(times)
