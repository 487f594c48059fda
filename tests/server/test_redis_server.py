"""Which Redis can hold a journal, what one refuses, and what its settings are worth."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop
from structlog.testing import capture_logs

from croupier_server.journal import (
    Deadline,
    JournalError,
    JournalRefused,
    JournalUnavailable,
    Stored,
    open_journal,
)
from croupier_server.journal.base import NotWritten
from croupier_server.journal.redis import RedisJournal
from croupier_server.journal.redis_names import Names
from croupier_server.journal.redis_url import Address, parse_url
from croupier_server.journal.redis_wire import Confirm, NotConfirmed, Wire, refusal
from croupier_server.settings import Settings
from server.journal_contract import Heard, batch, lobby_row
from server.redis_cluster import RedisCluster, shared_cluster
from server.redis_server import (
    RedisServer,
    append_at_last,
    certificate_for_loopback,
    free_port,
    opened,
    shared_server,
    until,
)
from server.room import Replica, holder, refused

ENTRIES_OF_T = Names(0).entries("t")
RIGHTS = "~croupier* &croupier* +@read +@write +@pubsub +@scripting +@connection -@dangerous +info +time"
"""What ``server/README.md`` says that the journal needs."""


@pytest.fixture
def server() -> RedisServer:
    """The session's server, emptied."""
    server = shared_server()
    server.command("FLUSHALL")
    return server


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server for a test that kills or sets it."""
    with RedisServer() as server:
        yield server


@pytest.fixture
async def journal(server: RedisServer) -> AsyncIterator[RedisJournal]:
    async with opened(server) as journal:
        yield journal


class TestRefused:
    async def test_out_of_memory_nothing_is_written_and_it_goes_on_later(
        self, own_server: RedisServer
    ) -> None:
        async with opened(own_server) as journal:
            await journal.append(batch("t", 0, b"a", deadline_ms=1, row=lobby_row("t")))
            own_server.command("CONFIG", "SET", "maxmemory", 1)
            with capture_logs() as logs:
                for _ in range(3):
                    with pytest.raises(NotWritten, match="memory"):
                        await journal.append(batch("t", 1, b"secret", deadline_ms=9))
                assert await journal.read("t") == [Stored(1, b"a")]
                assert await journal.due(9) == [Deadline("t", 1, 1)]
                assert await journal.clock_ms() > 0
                own_server.command("CONFIG", "SET", "maxmemory", 0)
                await journal.append(batch("t", 1))
        assert [log["event"] for log in logs] == ["journal.write_failed", "journal.write_recovered"]
        assert "secret" not in str(logs)

    async def test_a_primary_that_became_a_replica_is_left_until_there_is_one(
        self, own_server: RedisServer
    ) -> None:
        async with opened(own_server) as journal:
            own_server.command("REPLICAOF", "127.0.0.1", 1)
            with pytest.raises(NotWritten, match="replica"):
                await journal.append(batch("t", 0))
            own_server.command("REPLICAOF", "NO", "ONE")
            await append_at_last(journal, "t")
            assert await journal.last_seq("t") == 1

    @pytest.mark.parametrize(
        "taken", ["deadlines", "bound", "rows", "of:house", "in:all", "in:state/waiting"]
    )
    async def test_a_key_that_holds_something_else_leaves_nothing_half_written(
        self, server: RedisServer, journal: RedisJournal, taken: str
    ) -> None:
        server.command("SET", Names(0).shard("t") + taken, "taken")
        before = server.command("DBSIZE")
        with pytest.raises(NotWritten, match="something else"):
            await journal.append(batch("t", 0, deadline_ms=5, row=lobby_row("t", subjects=["house"])))
        assert server.command("DBSIZE") == before

    async def test_a_stream_that_is_something_else_is_refused(
        self, server: RedisServer, journal: RedisJournal
    ) -> None:
        server.command("SET", ENTRIES_OF_T, "taken")
        with pytest.raises(NotWritten, match="something else"):
            await journal.append(batch("t", 0))
        with pytest.raises(JournalUnavailable, match="something else"):
            await journal.read("t")

    async def test_a_deadline_that_is_no_exact_score_is_an_overflow(self, journal: RedisJournal) -> None:
        with pytest.raises(OverflowError):
            await journal.append(batch("t", 0, deadline_ms=(1 << 53) + 1))
        await journal.append(batch("t", 0, deadline_ms=1 << 53))
        assert await journal.due(1 << 53) == [Deadline("t", 1, 1 << 53)]


class TestReplicas:
    async def test_an_append_waits_for_those_it_was_told_to(self, own_server: RedisServer) -> None:
        with RedisServer(replicaof=f"127.0.0.1 {own_server.port}") as replica:
            async with opened(own_server, "?wait=1") as journal:
                await until(lambda: b"master_link_status:up" in replica.command("INFO"))
                await append_at_last(journal, "t")
                last = await journal.last_seq("t")
                assert replica.command("LLEN", ENTRIES_OF_T) == last

    async def test_too_few_leave_the_outcome_open(self, own_server: RedisServer) -> None:
        async with opened(own_server, "?wait=1") as journal:
            with pytest.raises(NotConfirmed, match="0 of 1"):
                await journal.append(batch("t", 0, b"a"))
            assert await journal.read("t") == [Stored(1, b"a")]

    async def test_what_is_not_confirmed_yet_is_not_shown_where_it_was_appended(
        self, own_server: RedisServer
    ) -> None:
        here, there = Heard(), Heard()
        async with opened(own_server, "?wait=1") as journal, opened(own_server) as other:
            await journal.listen("t", 0, here)
            await other.listen("t", 0, there)
            append = asyncio.ensure_future(journal.append(batch("t", 0, b"a")))
            await until(lambda: there.seqs == [1])
            with pytest.raises(NotConfirmed):
                await append
            assert here.seqs == []
            await until(lambda: here.seqs == [1])  # it is stored, for all that

    async def test_what_was_found_by_reading_is_confirmed_as_well(self, own_server: RedisServer) -> None:
        async with opened(own_server, "?wait=1") as journal:
            with pytest.raises(NotConfirmed):
                await journal.append(batch("t", 0, b"a"))
            with pytest.raises(NotConfirmed):
                await journal.confirm("t")
            with RedisServer(replicaof=f"127.0.0.1 {own_server.port}") as replica:
                await until(lambda: b"master_link_status:up" in replica.command("INFO"))
                await until(lambda: b"state=online" in own_server.command("INFO"))
                await journal.confirm("t")
                assert replica.command("LLEN", ENTRIES_OF_T) == 1

    async def test_a_move_that_no_replica_has_is_not_said_to_be_made(self, own_server: RedisServer) -> None:
        journal = await RedisJournal.open(f"{own_server.url}?wait=1")
        replica = Replica(journal, Settings(), time.monotonic)
        with RedisServer(replicaof=f"127.0.0.1 {own_server.port}") as copy:
            await until(lambda: b"master_link_status:up" in copy.command("INFO"))
            await until(lambda: b"state=online" in own_server.command("INFO"))
            await replica.clock.refresh()
            name = await replica.deal("doudizhu")
            copy.command("REPLICAOF", "NO", "ONE")
            own_server.command("CLIENT", "KILL", "TYPE", "replica")
            table = await replica.tables.get(name)
            who, seq = holder(table, table.state.to_act or 0), table.state.seq
            for _ in range(2):
                with refused("OUTCOME_UNKNOWN"):
                    await replica.move(name, who, "bid 1", request_id="r")
            copy.command("REPLICAOF", "127.0.0.1", own_server.port)
            await until(lambda: b"master_link_status:up" in copy.command("INFO"))
            await until(lambda: b"state=online" in own_server.command("INFO"))
            assert await replica.move(name, who, "bid 1", request_id="r") == seq + 1
        await replica.tables.stop()
        await journal.close()

    async def test_a_replica_may_have_to_sync_it_to_its_disk(self, own_server: RedisServer) -> None:
        if not release(own_server) >= (7, 2):
            with pytest.raises(JournalError, match=r"7\.2"):
                await RedisJournal.open(f"{own_server.url}?waitaof=1")
            return
        with RedisServer(replicaof=f"127.0.0.1 {own_server.port}") as replica:
            async with opened(own_server, "?waitaof=1") as journal:
                await until(lambda: b"master_link_status:up" in replica.command("INFO"))
                await append_at_last(journal, "t")
                replica.command("CONFIG", "SET", "appendonly", "no")
                with pytest.raises(NotConfirmed, match="0 of 1"):
                    await journal.append(batch("t", await journal.last_seq("t")))

    @pytest.mark.parametrize(
        ("on_disk", "reply", "problem"),
        [
            (False, 2, ""),
            (False, 1, "1 of 2"),
            (True, [1, 2], ""),
            (True, [1, 0], "0 of 2"),
            (True, [0, 2], "its disk"),
        ],
    )
    def test_what_the_answer_to_waiting_means(self, on_disk: bool, reply: object, problem: str) -> None:
        said = Confirm(2, on_disk=on_disk).problem(reply)
        assert problem in said
        assert bool(said) == bool(problem)


def release(server: RedisServer) -> tuple[int, ...]:
    """Which version it is (compatible with)."""
    line = next(line for line in server.command("INFO").split(b"\r\n") if line.startswith(b"redis_version:"))
    return tuple(map(int, line.partition(b":")[2].split(b".")[:2]))


class TestOpen:
    async def test_what_can_lose_moves_is_told(self) -> None:
        settings = {"appendfsync": "everysec", "maxmemory_policy": "allkeys-lru", "maxmemory": 0}
        with RedisServer(**settings) as server, capture_logs() as logs:
            async with opened(server, "?wait=2") as journal:
                told = await journal.durability_warnings()
        problems = [log["problem"] for log in logs if log["event"] == "journal.durability"]
        assert problems == told
        for word in ("appendfsync", "maxmemory-policy", "maxmemory is not set", "wait=2"):
            assert any(word in warning for warning in told), word

    async def test_a_file_that_is_not_synced_while_it_is_rewritten_is_told(self) -> None:
        with RedisServer(no_appendfsync_on_rewrite="yes") as server:
            async with opened(server) as journal:
                (warning,) = await journal.durability_warnings()
        assert "no-appendfsync-on-rewrite" in warning

    async def test_each_node_of_a_cluster_is_told_of(self) -> None:
        cluster = shared_cluster()
        cluster.nodes[1].command("CONFIG", "SET", "appendfsync", "everysec")
        journal = await RedisJournal.open(cluster.url)
        (warning,) = await journal.durability_warnings()
        assert warning.startswith(f"127.0.0.1:{cluster.nodes[1].port}: appendfsync")
        await journal.close()
        cluster.nodes[1].command("CONFIG", "SET", "appendfsync", "always")

    async def test_no_append_only_file_is_told(self) -> None:
        with RedisServer(appendonly="no") as server:
            async with opened(server) as journal:
                assert any("appendonly" in warning for warning in await journal.durability_warnings())

    async def test_a_default_user_with_whose_rights_nothing_is_replayed_is_told(
        self, own_server: RedisServer
    ) -> None:
        url = f"redis://croupier:p%40ss@127.0.0.1:{own_server.port}"
        own_server.command("ACL", "SETUSER", "croupier", "on", ">p@ss", *RIGHTS.split(), "+config|get")
        journal = await RedisJournal.open(url)
        try:
            (warning,) = await journal.durability_warnings()
            assert "ACL DRYRUN" in warning
            own_server.command("ACL", "SETUSER", "croupier", "+acl|dryrun")
            assert await journal.durability_warnings() == []
            own_server.command("ACL", "SETUSER", "default", "-rpush")
            (warning,) = await journal.durability_warnings()
            assert "default lacks rights" in warning
        finally:
            await journal.close()

    async def test_a_server_set_as_advised_is_no_cause_for_warnings(self, journal: RedisJournal) -> None:
        assert await journal.durability_warnings() == []

    async def test_a_user_needs_few_rights(self, own_server: RedisServer) -> None:
        own_server.command("ACL", "SETUSER", "croupier", "on", ">p@ss", *RIGHTS.split())
        url = f"redis://croupier:p%40ss@127.0.0.1:{own_server.port}"
        waiting = await open_journal(f"{url}?wait=1")
        with pytest.raises(NotConfirmed):
            await waiting.append(batch("u", 0))
        await waiting.close()
        journal = await open_journal(url)
        heard = Heard()
        await journal.listen("t", 0, heard)
        await journal.append(batch("t", 0, deadline_ms=5, row=lobby_row("t", subjects=["house"])))
        assert (await journal.rows_of("house"), heard.seqs) == ([lobby_row("t", subjects=["house"])], [1])
        assert await journal.clock_ms() > 0
        await journal.close()
        with pytest.raises(JournalRefused, match="password") as refused:
            await open_journal(url.replace("p%40ss", "wrong"))
        assert "wrong" not in str(refused.value)

    async def test_missing_rights_show_at_once(self, own_server: RedisServer) -> None:
        own_server.command("ACL", "SETUSER", "croupier", "on", "nopass", "~croupier*", "+@all")
        with pytest.raises(JournalRefused, match="rights"):
            await open_journal(f"redis://croupier:any@127.0.0.1:{own_server.port}")

    async def test_a_unix_socket(self, server: RedisServer, journal: RedisJournal) -> None:
        await journal.append(batch("t", 0))
        there = await open_journal(f"redis+unix://{server.socket}")
        assert await there.last_seq("t") == 1
        await there.close()

    async def test_nobody_there(self, own_server: RedisServer) -> None:
        own_server.kill()
        with pytest.raises(JournalUnavailable, match=f"127.0.0.1:{own_server.port}"):
            await RedisJournal.open(own_server.url)

    @pytest.mark.parametrize(("scheme", "why"), [("redis", "protocol"), ("rediss", "(?i)ssl")])
    async def test_somebody_else_there(self, scheme: str, why: str) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            with suppress(OSError):  # over TLS the connection is reset
                await reader.read()
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as stranger:
            port = stranger.sockets[0].getsockname()[1]
            with pytest.raises(JournalRefused, match=why):
                await RedisJournal.open(f"{scheme}://127.0.0.1:{port}")

    async def test_one_that_has_all_the_clients_it_takes_may_take_us_later(
        self, own_server: RedisServer
    ) -> None:
        async with opened(own_server):
            own_server.command("CONFIG", "SET", "maxclients", 1)
            with pytest.raises(JournalUnavailable) as full:
                await RedisJournal.open(own_server.url)
            assert not isinstance(full.value, JournalRefused)

    def test_being_cancelled_while_a_connection_is_made_leaves_nothing_to_wait_for(
        self, server: RedisServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = Wire.connection_made

        async def cancelled_at_once() -> None:
            opening = asyncio.create_task(RedisJournal.open(server.url))

            def made_and_cancelled(wire: Wire, transport: asyncio.BaseTransport) -> None:
                made(wire, transport)
                opening.cancel()

            monkeypatch.setattr(Wire, "connection_made", made_and_cancelled)
            with pytest.raises(asyncio.CancelledError):
                async with asyncio.timeout(10):
                    await opening

        uvloop.run(cancelled_at_once())  # the loop that servers run in

    async def test_a_replica_is_refused(self, own_server: RedisServer) -> None:
        own_server.command("REPLICAOF", "127.0.0.1", 1)
        with pytest.raises(NotWritten, match="replica"):
            await RedisJournal.open(own_server.url)

    async def test_a_cluster_is_opened_as_such_and_nothing_else_is(self, server: RedisServer) -> None:
        with pytest.raises(JournalError, match="add cluster=true"):
            await RedisJournal.open(shared_cluster().nodes[0].url)
        with pytest.raises(JournalError, match="cluster"):
            await RedisJournal.open(f"{server.url}?cluster=true")

    async def test_a_cluster_of_which_a_part_is_missing(self) -> None:
        with RedisServer(cluster_enabled="yes", cluster_port=free_port()) as node:
            node.command("CLUSTER", "ADDSLOTSRANGE", 0, 100)
            with pytest.raises(JournalUnavailable, match="sees all of it"):
                await RedisJournal.open(f"{node.url}?cluster=true")

    async def test_tls_is_checked_and_a_user_with_few_rights_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        certificate, key = certificate_for_loopback(tmp_path)
        port = free_port()
        settings = {"tls_port": port, "tls_cert_file": certificate, "tls_key_file": key}
        with RedisServer(f"user croupier on >p@ss {RIGHTS}", **settings, tls_auth_clients="no"):
            url = f"rediss://croupier:p%40ss@127.0.0.1:{port}"
            with pytest.raises(JournalRefused, match=r"(?i)certificate"):
                await open_journal(url)
            monkeypatch.setenv("SSL_CERT_FILE", certificate)
            journal = await open_journal(url)
            heard = Heard()
            await journal.listen("t", 0, heard)
            await journal.append(batch("t", 0, row=lobby_row("t")))
            assert (heard.seqs, await journal.row("t")) == ([1], lobby_row("t"))
            await journal.close()
            with pytest.raises(JournalUnavailable, match="password"):
                await open_journal(url.replace("p%40ss", "wrong"))

    async def test_a_cluster_over_tls_by_a_user_with_few_rights(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = certificate_for_loopback(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", files[0])
        users = f"user croupier on >p@ss {RIGHTS} +cluster|slots +cluster|info"
        with RedisCluster(users, certificate=files) as cluster:
            journal = await open_journal(f"rediss://croupier:p%40ss@{cluster.places}?cluster=true")
            heard = Heard()
            await journal.listen("t0", 0, heard)
            for n in range(9):
                await journal.append(batch(f"t{n}", 0, deadline_ms=n, row=lobby_row(f"t{n}", subjects=["a"])))
            assert (heard.seqs, len(await journal.rows_of("a")), len(await journal.due(9))) == ([1], 9, 9)
            await journal.close()


class TestUrl:
    @pytest.mark.parametrize(
        ("url", "address"),
        [
            ("redis://", Address()),
            ("redis://db.example:7000/3?wait=2", Address("db.example", 7000, database=3, wait=2)),
            ("rediss://u:p%2F@h", Address("h", tls=True, user="u", password="p/")),
            ("redis://:secret@[::1]:1", Address("::1", 1, password="secret")),
            ("valkey://h", Address("h")),
            ("redis://h?waitaof=1&cluster=false", Address("h", waitaof=1)),
            (
                "rediss://u:p@a:1,[::1]:2,c?cluster=true&wait=1",
                Address("a", 1, "", True, "u", "p", 0, 1, cluster=True, others=(("::1", 2), ("c", 6379))),
            ),
            (
                "redis+unix://u:p@/run/r.sock?db=4",
                Address(socket="/run/r.sock", user="u", password="p", database=4),
            ),
        ],
    )
    def test_forms(self, url: str, address: Address) -> None:
        assert parse_url(url) == address

    @pytest.mark.parametrize(
        "url",
        [
            "redis:h", "redis+cluster://h", "redis://h/x", "redis://h:0x1", "redis://h?wait=-1", "redis://h?wait=",
            "redis://a:1,b:2", "redis://a:1,b:x?cluster=true", "redis://h/2?cluster=true", "redis://h?cluster=1",
            "redis+unix:///run/r?cluster=true", "redis://h?wait=1&waitaof=1", "redis://h?timeout=5",
            "redis+unix://h/run/r", "redis+unix://", "redis://h#x", "redis://u:secret@h/x",
        ],
    )  # fmt: skip
    async def test_what_is_not_understood_is_refused_without_repeating_it(self, url: str) -> None:
        with pytest.raises(ValueError, match=r"journal|Unix|option|cluster") as refused:
            await open_journal(url)
        assert "secret" not in str(refused.value)

    def test_a_password_does_not_show(self) -> None:
        assert "secret" not in repr(parse_url("redis://u:secret@h"))
        quoted = "ERR unknown command 'AUTH', with args beginning with: 'ann' 'secret' "
        assert str(refusal(Exception(quoted))) == "Redis answers: ERR unknown command 'AUTH'"
