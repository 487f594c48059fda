"""A journal in a Redis cluster whose slots move and whose primaries die while it is in use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from structlog.testing import capture_logs

from croupier_server.journal import (
    Deadline,
    Finished,
    JournalUnavailable,
    RowFilter,
)
from croupier_server.journal.base import NotWritten
from croupier_server.journal.redis import RedisJournal
from croupier_server.journal.redis_cluster import read_map
from croupier_server.journal.redis_names import Names, shard_of, shard_slot, slot_of
from server.journal_contract import Heard, batch, lobby_row
from server.redis_cluster import RedisCluster, shared_cluster
from server.redis_server import until
from server.redis_writers import Writers

NAMES = Names(0)
STREAM = "tables/t"
SLOT = shard_slot(shard_of(STREAM))
ROWS = NAMES.rows(shard_of(STREAM))


def a_stream_beside(stream: str, number: int = 0) -> str:
    """Another stream in the same shard."""
    names = (f"tables/{n}" for n in range(100_000))
    return [name for name in names if shard_of(name) == shard_of(stream)][number]


@pytest.fixture
def cluster() -> RedisCluster:
    """The session's cluster, emptied."""
    cluster = shared_cluster()
    cluster.flush()
    return cluster


@pytest.fixture
async def journal(cluster: RedisCluster) -> AsyncIterator[RedisJournal]:
    journal = await RedisJournal.open(cluster.url)
    yield journal
    await journal.close()


@pytest.fixture
async def other(cluster: RedisCluster) -> AsyncIterator[RedisJournal]:
    """Another process's journal, as far as the cluster can tell."""
    journal = await RedisJournal.open(cluster.url)
    yield journal
    await journal.close()


@pytest.fixture
def replicated() -> Iterator[RedisCluster]:
    """A cluster of one's own, in which a replica takes over soon."""
    with RedisCluster(replicas=True, node_timeout=500) as cluster:
        yield cluster


async def in_thread(call: Callable[[], object]) -> None:
    await asyncio.get_running_loop().run_in_executor(None, call)


class TestMovingSlots:
    async def test_under_appends_nothing_is_lost_doubled_or_refused(
        self, cluster: RedisCluster, journal: RedisJournal, other: RedisJournal
    ) -> None:
        streams = [STREAM, a_stream_beside(STREAM), *(f"tables/{n}" for n in range(6))]
        heard = {stream: Heard() for stream in streams}
        for stream, listener in heard.items():
            await other.listen(stream, 0, listener)
        rows: list[str] = []
        await other.listen_rows("house", lambda row: rows.append(row.state) if row.stream == STREAM else None)
        writers = Writers(journal, streams)
        for _ in range(3):
            await writers.go_on(20)
            await in_thread(lambda: cluster.move(SLOT))
            await writers.go_on(20)
        await writers.stop()
        await writers.check(other)
        assert writers.failures == 0
        for stream, seq in writers.acknowledged.items():
            await until(lambda stream=stream, seq=seq: len(heard[stream].seqs) >= seq)  # type: ignore[misc]
            assert heard[stream].seqs == list(range(1, seq + 1))
        await until(lambda: rows[-1] == str(writers.acknowledged[STREAM]))
        assert rows == sorted(set(rows), key=int)

    async def test_a_stream_that_has_gone_ahead_is_followed(
        self, cluster: RedisCluster, journal: RedisJournal
    ) -> None:
        row = lobby_row(STREAM, subjects=["house"])
        await journal.append(batch(STREAM, 0, row=row, deadline_ms=5))
        _, target = cluster.begin_to_move(SLOT)
        cluster.move_keys(SLOT, NAMES.entries(STREAM))
        heard = Heard()
        await journal.listen(STREAM, 0, heard)
        await journal.append(batch(STREAM, 1))
        assert (await journal.last_seq(STREAM), heard.seqs) == (2, [1, 2])
        cluster.move_keys(SLOT)
        cluster.end_move(SLOT, target)
        await journal.append(batch(STREAM, 2))
        assert heard.seqs == [1, 2, 3]
        assert await journal.due(5) == [Deadline(STREAM, 1, 5)]

    @pytest.mark.parametrize(
        "ahead", [[NAMES.entries(STREAM)], [ROWS], [NAMES.of(shard_of(STREAM), "house")]]
    )
    async def test_what_changes_a_shards_common_keys_waits_for_all_of_them(
        self, cluster: RedisCluster, journal: RedisJournal, ahead: list[str]
    ) -> None:
        before, after = (lobby_row(STREAM, state=state, subjects=["house"]) for state in ("a", "b"))
        beside = lobby_row(a_stream_beside(STREAM), 1, subjects=["house"])
        await journal.append(batch(STREAM, 0, row=before))
        await journal.append(batch(beside.stream, 0, row=beside))
        _, target = cluster.begin_to_move(SLOT)
        cluster.move_keys(SLOT, *ahead)
        append = asyncio.ensure_future(journal.append(batch(STREAM, 1, row=after)))
        assert await journal.rows_of("house") == [before, beside]
        assert await journal.last_seq(STREAM) == 1
        assert not append.done()
        await in_thread(lambda: cluster.move_keys(SLOT))
        await in_thread(lambda: cluster.end_move(SLOT, target))
        await append
        assert await journal.rows_of("house") == (await journal.page(RowFilter(), None, 5))[::-1]
        assert await journal.rows_of("house") == [after, beside]

    @pytest.mark.parametrize(
        "ahead", [[NAMES.entries(STREAM)], [ROWS], [NAMES.of(shard_of(STREAM), "house")]]
    )
    async def test_a_stream_is_retired_as_a_whole_or_not_yet(
        self, cluster: RedisCluster, journal: RedisJournal, ahead: list[str]
    ) -> None:
        stays = a_stream_beside(STREAM)
        for stream in (STREAM, stays):
            row = lobby_row(stream, subjects=["house"])
            await journal.append(batch(stream, 0, row=row, deadline_ms=None, retire_ms=5))
        _, target = cluster.begin_to_move(SLOT)
        cluster.move_keys(SLOT, *ahead)
        retire = asyncio.ensure_future(journal.retire(STREAM, 1))
        assert len(await journal.rows_of("house")) == 2
        assert await journal.last_seq(STREAM) == 1
        assert not retire.done()
        await in_thread(lambda: cluster.move_keys(SLOT))
        await in_thread(lambda: cluster.end_move(SLOT, target))
        await retire
        assert await journal.read(STREAM) == []
        assert [row.stream for row in await journal.rows_of("house")] == [stays]
        assert await journal.finished(5) == [Finished(stays, 5)]

    async def test_one_of_those_who_claim_an_ended_stream_gets_it_while_it_is_on_its_way(
        self, cluster: RedisCluster, journal: RedisJournal, other: RedisJournal
    ) -> None:
        await journal.append(batch(STREAM, 0, deadline_ms=None, retire_ms=5))
        _, target = cluster.begin_to_move(SLOT)
        claims = [each.put_off(Finished(STREAM, 5), 7) for each in (journal, other)]
        cluster.move_keys(SLOT)
        assert sorted(await asyncio.gather(*claims)) == [False, True]
        await in_thread(lambda: cluster.end_move(SLOT, target))
        await other.append(batch(STREAM, 1))  # by which it learns where that is
        assert await other.finished(9) == [Finished(STREAM, 7)]

    async def test_a_move_that_does_not_end_is_not_waited_for(
        self, cluster: RedisCluster, journal: RedisJournal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("croupier_server.journal.redis_cluster.ANSWER_SECONDS", 0.2)
        await journal.append(batch(STREAM, 0, row=lobby_row(STREAM)))
        _, target = cluster.begin_to_move(SLOT)
        cluster.move_keys(SLOT, ROWS)
        with capture_logs() as logs:
            for _ in range(2):
                with pytest.raises(NotWritten, match="rearranged"):
                    await journal.append(batch(STREAM, 1, row=lobby_row(STREAM)))
            cluster.move_keys(SLOT)
            cluster.end_move(SLOT, target)
            await journal.append(batch(STREAM, 1, row=lobby_row(STREAM)))
            for n in range(32):  # one of them is where the refusals came from
                await journal.append(batch(f"u{n}", 0))
        assert [log["event"] for log in logs] == ["journal.write_failed", "journal.write_recovered"]


class TestPrimaries:
    async def test_one_that_dies_loses_nothing_that_its_replica_confirmed(
        self, replicated: RedisCluster
    ) -> None:
        journal, other = [await RedisJournal.open(f"{replicated.url}&wait=1") for _ in range(2)]
        streams = [STREAM, *(f"tables/{n}" for n in range(8))]
        heard = Heard()
        await other.listen(STREAM, 0, heard)
        writers = Writers(journal, streams)
        await writers.go_on(20)
        primary = replicated.owner(SLOT)
        await in_thread(primary.kill)
        await until(lambda: replicated.owner(SLOT) is not primary)
        await in_thread(primary.start)  # as a replica, without which no append can be confirmed
        await writers.go_on(20)
        await writers.stop()
        assert writers.failures
        # Before it hears of the new primary, it may be told that the one it knows is away.
        await until(lambda: heard.seqs == list(range(1, writers.acknowledged[STREAM] + 1)))
        await writers.check(other)
        await journal.close()
        await other.close()

    async def test_a_planned_change_loses_and_refuses_nothing(self, replicated: RedisCluster) -> None:
        journal = await RedisJournal.open(replicated.url)
        heard = Heard()
        await journal.listen(STREAM, 0, heard)
        writers = Writers(journal, [STREAM, *(f"tables/{n}" for n in range(4))])
        await writers.go_on(20)
        before = replicated.owner(SLOT)
        replica = replicated.nodes[3 + replicated.nodes.index(before)]
        replica.command("CLUSTER", "FAILOVER")
        await until(lambda: replicated.owner(SLOT) is replica)
        await writers.go_on(20)
        await writers.stop()
        await writers.check(journal)
        assert heard.seqs == list(range(1, writers.acknowledged[STREAM] + 1))
        await journal.close()

    async def test_one_that_is_away_is_waited_for_and_the_others_go_on(self) -> None:
        with RedisCluster(node_timeout=60_000) as cluster:
            journal = await RedisJournal.open(cluster.url)
            gone = cluster.owner(SLOT)
            elsewhere = next(
                f"u{n}" for n in range(99) if cluster.owner(shard_slot(shard_of(f"u{n}"))) is not gone
            )
            await in_thread(gone.kill)
            with pytest.raises(JournalUnavailable):
                await journal.append(batch(STREAM, 0))
            await journal.append(batch(elsewhere, 0))
            await in_thread(gone.start)
            await until(lambda: not journal.failing)
            await journal.append(batch(STREAM, 0))
            await journal.close()

    async def test_one_that_is_away_at_the_opening_leaves_no_connection_to_the_others(self) -> None:
        with RedisCluster(node_timeout=60_000) as cluster:
            *others, gone = cluster.nodes
            await in_thread(gone.kill)
            with pytest.raises(JournalUnavailable):
                await RedisJournal.open(cluster.url)
            await until(lambda: not any(b"croupier-" in node.command("CLIENT", "LIST") for node in others))


class TestMap:
    @pytest.mark.parametrize(
        ("key", "slot"),
        [("foo", 12182), ("{s000}", 12300), ("a{foo}b", 12182), ("{}a", 15257), ("a{b", 13340)],
    )
    def test_slots_are_those_of_redis(self, cluster: RedisCluster, key: str, slot: int) -> None:
        assert slot_of(key) == cluster.nodes[0].command("CLUSTER", "KEYSLOT", key)
        assert slot_of("foo") == 12182

    def test_all_shards_are_served_by_three(self, cluster: RedisCluster) -> None:
        owners = [cluster.owner(shard_slot(shard)) for shard in range(0, 256, 16)]
        assert set(owners) == set(cluster.primaries)

    @pytest.mark.parametrize("host", [b"", None, b"?"])
    def test_a_node_that_does_not_know_its_address_is_where_it_was_asked(self, host: bytes | None) -> None:
        said = read_map(b"cluster_state:ok\r\ncluster_current_epoch:7\r\n", [[0, 9, [host, 1, b"id"]]], "h")
        assert said == (True, 7, [(0, 9, ("h", 1))])
