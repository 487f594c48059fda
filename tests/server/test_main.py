"""A server process from its ready line to the end of its drain."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from structlog.testing import capture_logs

from croupier.v1 import games_pb2, games_pb2_grpc, players_pb2, players_pb2_grpc
from croupier_server.main import CannotServe, serving
from croupier_server.rpc.server import Tls, reachable_from_here
from croupier_server.settings import Settings
from server.redis_server import shared_server
from server.refusals import seen
from server.serve_process import serve_process, start

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def signed_in(channel: grpc.aio.Channel) -> tuple[tuple[str, str], ...]:
    stub = players_pb2_grpc.PlayerServiceStub(channel)
    answer = await stub.SignIn(players_pb2.SignInRequest(display_name="Ann"))
    return (("authorization", f"Bearer {answer.token}"),)


async def test_the_ready_line_says_where_it_listens() -> None:
    async with serve_process(metrics="127.0.0.1:0") as served:
        assert served.ready["event"] == "ready"
        async with grpc.aio.insecure_channel(served.address) as channel:
            listed = await games_pb2_grpc.GameServiceStub(channel).ListGames(games_pb2.ListGamesRequest())
        assert len(listed.games) >= 3
        page = await asyncio.to_thread(urllib.request.urlopen, f"http://{served.ready['metrics']}/metrics")
        assert b'croupier_calls_total{code="OK",method="GameService/ListGames"} 1.0' in page.read()
        served.send(signal.SIGTERM)
        assert (await served.ended())[0] == 0


async def test_a_drain_ends_streams_with_a_hint_and_then_the_process() -> None:
    async with serve_process() as served, grpc.aio.insecure_channel(served.address) as channel:
        metadata = await signed_in(channel)
        stub = players_pb2_grpc.PlayerServiceStub(channel)
        inbox = stub.WatchInbox(players_pb2.WatchInboxRequest(), metadata=metadata)
        assert (await inbox.read()).replayed
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == SERVING
        served.send(signal.SIGTERM)
        assert (await watch.read()).status == NOT_SERVING
        assert (await inbox.read()).HasField("reconnect")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await inbox.read()
        assert seen(caught.value).reason == "SERVER_DRAINING"
        code, log = await served.ended()
        assert code == 0
        assert [json.loads(line)["message"] for line in log.splitlines()][-1] == "ended"


async def test_an_interrupt_drains_too_and_a_second_signal_does_not_wait() -> None:
    async with serve_process({"CROUPIER_DRAIN_NOTICE_S": "3600"}) as served:
        served.send(signal.SIGINT)
        await served.until_logged("draining")
        served.send(signal.SIGTERM)
        assert (await served.ended())[0] == 130


async def test_an_address_that_is_taken_is_refused() -> None:
    async with serve_process() as served:
        code, log = await (await start(listen=served.address)).ended()
        assert code == 1
        assert f"cannot listen on {served.address}" in log
        assert "Traceback" not in log


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"listen": "nonsense"}, "HOST:PORT"),
        ({"listen": "127.0.0.1:99999"}, "65535"),
        ({"listen": "::1:80"}, "brackets"),
        ({"journal_url": "paper:"}, "no journal is called"),
        ({"journal_url": "sqlite:/no/such/folder/x.sqlite"}, "cannot be opened"),
        ({"archive_url": "paper:"}, "no archive is called"),
        ({"archive_url": "sqlite:/no/such/folder/x.sqlite"}, "cannot be opened"),
        ({"archive_url": "postgresql://me:secret@127.0.0.1:1/x"}, r"postgresql://127.0.0.1:1/x cannot be"),
        ({"archive_url": "postgresql://127.0.0.1:1/x?user=me&password=secret"}, "1:1/x cannot be"),
        ({"archive_url": "postgresql://127.0.0.1:1/x?password=se@secret"}, "postgresql: cannot be"),
        ({"archive_url": "postgresql://me:se?secret@127.0.0.1:1/x"}, "postgresql: cannot be"),
        ({"metrics_listen": "nonsense"}, "HOST:PORT"),
    ],
)
async def test_what_cannot_be_served_is_said(given: dict[str, str], why: str) -> None:
    with pytest.raises(CannotServe, match=why) as said:
        async with serving(Settings(journal_wait_s=0), **given):
            pytest.fail("it serves")
    assert "secret" not in str(said.value)


async def test_beside_a_file_of_tables_lies_the_one_of_ended_tables(tmp_path: Path) -> None:
    async with serving(Settings(), journal_url=f"sqlite:{tmp_path}/tables.sqlite"):
        assert (tmp_path / "tables-archive.sqlite").exists()
    async with serving(Settings(), journal_url=f"sqlite:{tmp_path}/more.sqlite", archive_url="none"):
        assert not (tmp_path / "more-archive.sqlite").exists()


async def test_a_shared_journal_without_an_archive_that_is_shared_is_warned_of(tmp_path: Path) -> None:
    warned = {}
    for url in (None, f"sqlite:{tmp_path}/a.sqlite", f"dir:{tmp_path}/a"):
        with capture_logs() as logs:
            async with serving(Settings(), journal_url=shared_server().url, archive_url=url):
                warned[url] = [line["event"] for line in logs if line["event"].startswith("archive.")]
    assert list(warned.values()) == [["archive.none"], ["archive.local"], []]


async def test_two_processes_do_not_share_one_file(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'tables.sqlite'}"
    async with serve_process(journal_url=url):
        code, log = await (await start(journal_url=url)).ended()
    assert (code, "Traceback" in log) == (1, False)


async def test_a_token_outlives_the_process(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'tables.sqlite'}"
    async with (
        serving(Settings(), journal_url=url) as first,
        grpc.aio.insecure_channel(first.address) as channel,
    ):
        metadata = await signed_in(channel)
    async with (
        serving(Settings(), journal_url=url) as second,
        grpc.aio.insecure_channel(second.address) as channel,
    ):
        renewed = await players_pb2_grpc.PlayerServiceStub(channel).SignIn(
            players_pb2.SignInRequest(), metadata=metadata
        )
    assert renewed.player.display_name == "Ann"


async def test_health_is_known_of_each_service() -> None:
    async with serving(Settings()) as served, grpc.aio.insecure_channel(served.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in (
            "",
            "croupier.v1.GameService",
            "croupier.v1.PlayerService",
            "croupier.v1.TableService",
        ):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == SERVING
        served.turn_unhealthy()
        assert (await stub.Check(health_pb2.HealthCheckRequest())).status == NOT_SERVING
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Check(health_pb2.HealthCheckRequest(service="nope"))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    "name", ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"]
)
async def test_reflection_answers_under_both_names(name: str) -> None:
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="croupier.v1.TableService"),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=name),
    ]
    async with serving(Settings()) as served, grpc.aio.insecure_channel(served.address) as channel:
        call = channel.stream_stream(
            f"/{name}/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )(iter(asked))
        services, tables, itself = [answer async for answer in call]
    assert {"croupier.v1.TableService", name} <= {s.name for s in services.list_services_response.service}
    assert b"croupier/v1/tables.proto" in b"".join(tables.file_descriptor_response.file_descriptor_proto)
    assert itself.HasField("file_descriptor_response")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    pair = Tls(*(tmp_path_factory.mktemp("tls") / name for name in ("certificate.pem", "key.pem")))
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    made = (
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-out",
        pair.certificate,
        "-keyout",
        pair.key,
    )
    subprocess.run([openssl, "req", *made, *names], check=True, capture_output=True)
    return pair


async def test_with_a_certificate_it_speaks_tls_alone(certificate: Tls) -> None:
    async with serving(Settings(), tls=certificate) as served:
        trusted = grpc.ssl_channel_credentials(certificate.certificate.read_bytes())
        async with grpc.aio.secure_channel(served.address, trusted) as channel:
            assert await signed_in(channel)
        async with grpc.aio.insecure_channel(served.address) as channel:
            with pytest.raises(grpc.aio.AioRpcError):
                await signed_in(channel)


async def test_a_certificate_that_is_not_there_is_said(certificate: Tls, tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="certificate or its key cannot be read"):
        async with serving(Settings(), tls=Tls(tmp_path / "nothing.pem", certificate.key)):
            pytest.fail("it serves")


@pytest.mark.parametrize(
    ("address", "reached"),
    [
        ("0.0.0.0:80", "127.0.0.1:80"),
        ("[::]:80", "127.0.0.1:80"),
        (":80", "127.0.0.1:80"),
        ("10.0.0.7:80", "10.0.0.7:80"),
    ],
)
def test_the_house_reaches_the_server_by_loopback(address: str, reached: str) -> None:
    assert reachable_from_here(address) == reached


async def test_a_restored_journal_begins_a_new_epoch(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'tables.sqlite'}"
    epochs = []
    for restored in (False, False, True, False):
        async with (
            serving(Settings(), journal_url=url, restored=restored) as served,
            grpc.aio.insecure_channel(served.address) as channel,
        ):
            info = await games_pb2_grpc.GameServiceStub(channel).GetServerInfo(
                games_pb2.GetServerInfoRequest()
            )
            epochs.append(info.epoch)
    first, second, third, fourth = epochs
    assert first == second != third == fourth
