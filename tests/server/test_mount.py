"""Services on grpc.aio: whatever a client sends, it gets one typed refusal or an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
import structlog

from croupier_server.journal.memory import MemoryJournal
from croupier_server.metrics import Metrics
from croupier_server.rpc.admission import Admission
from croupier_server.rpc.mount import Mount
from croupier_server.settings import Settings
from croupier_server.tokens import Tokens
from server.echo_service import ACCESS, SERVICE, Client, Echo, Text, echoing
from server.refusals import seen

HELLO = Text(value="hello").SerializeToString()
NOT_UTF8 = b"\x0a\x02\xff\xfe"
GARBAGE = b"\xff\xff\xff\xff"


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with echoing() as served:
        yield served


async def failure(awaitable) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await awaitable
    return caught.value


async def test_messages_and_bytes_come_through(client: Client) -> None:
    assert await client.say("hello") == "hello"
    assert await client.say("bytes") == "as bytes"


async def test_a_refusal_arrives_with_its_details_in_the_callers_language(client: Client) -> None:
    error = await failure(client.say("refuse", accept_language="de-CH, en;q=0.5"))
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert seen(error)[:2] == ("SEAT_TAKEN", {"seat": "2"})
    assert seen(error).locale == "de"


@pytest.mark.parametrize("what", ["fault", "timeout"])
async def test_a_mistake_of_ours_is_logged_and_shows_nothing_but_an_incident(
    client: Client, what: str
) -> None:
    with structlog.testing.capture_logs() as lines:
        error = await failure(client.say(what))
    details = seen(error)
    assert (error.code(), details.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVER_FAULT")
    assert "secret" not in str(error.trailing_metadata()) + str(error.details())
    (line,) = lines
    assert (line["log_level"], line["incident"]) == ("error", details.facts["incident"])


async def test_a_store_that_is_away_is_said(client: Client) -> None:
    assert seen(await failure(client.say("journal"))).reason == "JOURNAL_UNAVAILABLE"


@pytest.mark.parametrize("data", [NOT_UTF8, GARBAGE])
@pytest.mark.parametrize("method", ["Echo", "Count", "Talk"])
async def test_bytes_that_are_no_request(client: Client, method: str, data: bytes) -> None:
    call = client.call(method)
    error = await failure(call(data)) if method == "Echo" else await _stream_failure(call, method, data)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert seen(error).reason == "MALFORMED_REQUEST"


async def _stream_failure(call, method: str, data: bytes) -> grpc.aio.AioRpcError:
    if method == "Count":
        return await failure(call(data).read())
    talk = call()
    await talk.write(HELLO)
    assert await talk.read() == HELLO
    await talk.write(data)
    return await failure(talk.read())


async def test_too_much_at_once_is_refused_both_ways(client: Client) -> None:
    for what in ("x" * 270_000, "huge"):
        error = await failure(client.say(what))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert seen(error).reason == "MESSAGE_TOO_LARGE"
    assert len(await client.say("x" * 260_000)) == 260_000


async def test_a_method_that_is_not_there(client: Client) -> None:
    for path in (f"/{SERVICE.full_name}/Nope", "/croupier.v9.Nothing/Nope"):
        error = await failure(client.channel.unary_unary(path)(HELLO))
        assert error.code() is grpc.StatusCode.UNIMPLEMENTED
        assert seen(error)[:2] == ("METHOD_NOT_FOUND", {"method": path})


async def test_a_token_is_asked_for_where_it_is_needed(client: Client) -> None:
    assert seen(await failure(client.say("", "Mine"))).reason == "TOKEN_MISSING"
    mine = await client.say("", "Mine", authorization=client.authorization(), accept_language="fr")
    assert mine == "players/a Ann guest ('fr',)"


@pytest.mark.parametrize("method", ["Echo", "Mine"])
@pytest.mark.parametrize("value", ["Bearer nonsense", "Basic YTpi", "bearer", "x"])
async def test_a_bad_token_is_refused_even_where_none_is_needed(
    client: Client, method: str, value: str
) -> None:
    error = await failure(client.say("", method, authorization=value))
    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    assert seen(error).reason == "TOKEN_INVALID"


async def test_the_word_bearer_is_taken_in_any_case(client: Client) -> None:
    token = client.authorization().removeprefix("Bearer ")
    assert (await client.say("", "Mine", authorization=f"bEARER {token}")).startswith("players/a ")


async def test_a_trace_is_carried_on_or_begun(client: Client) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    assert await client.say("trace", traceparent=f"00-{trace}-b7ad6b7169203331-01") == trace
    fresh = [await client.say("trace", traceparent=bad) for bad in ("", f"00-{trace}", "x" * 55)]
    assert len({trace, *fresh}) == 4
    assert all(len(one) == 32 for one in fresh)


async def test_a_stream_of_answers_ends_well(client: Client) -> None:
    answers = [Text.FromString(data).value async for data in client.count("second")]
    assert answers == ["first", "second"]
    assert await client.echo.ended.get() == "end"


@pytest.mark.parametrize(
    ("what", "reason"), [("refuse", "SEAT_TAKEN"), ("fault", "SERVER_FAULT"), ("huge", "MESSAGE_TOO_LARGE")]
)
async def test_a_stream_may_end_with_a_refusal_after_answers(client: Client, what: str, reason: str) -> None:
    call = client.count(what)
    assert Text.FromString(await call.read()).value == "first"
    assert seen(await failure(call.read())).reason == reason


async def test_a_stream_that_its_client_cancels_is_ended_here_too(client: Client) -> None:
    call = client.count("wait", authorization=client.authorization())
    await call.read()
    assert client.admission.open_streams == 1
    call.cancel()
    assert await client.echo.ended.get() == "CancelledError"
    await _until(lambda: client.admission.open_streams == 0)


async def test_a_client_that_goes_away_ends_its_stream(client: Client) -> None:
    talk = client.talk()
    await talk.write(HELLO)
    await talk.read()
    await client.channel.close()
    assert await client.echo.ended.get() in ("CancelledError", "end")
    await _until(lambda: client.admission.open_streams == 0)


async def test_talk_goes_both_ways_until_the_client_is_done(client: Client) -> None:
    talk = client.talk()
    for word in ("one", "two"):
        await talk.write(Text(value=word).SerializeToString())
        assert Text.FromString(await talk.read()).value == word
    await talk.done_writing()
    assert await talk.read() is grpc.aio.EOF
    assert await talk.code() is grpc.StatusCode.OK
    assert await client.echo.ended.get() == "end"


async def test_one_player_may_hold_so_many_streams() -> None:
    async with echoing(Settings(max_streams=2)) as client:
        mine = client.authorization()
        open_ones = [client.count("wait", authorization=mine) for _ in range(2)]
        for call in open_ones:
            await call.read()
        error = await failure(client.count("wait", authorization=mine).read())
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert seen(error)[:2] == ("TOO_MANY_STREAMS", {"scope": "player", "limit": "2"})
        other = client.count("wait", authorization=client.authorization("players/b"))
        assert Text.FromString(await other.read()).value == "first"
        open_ones[0].cancel()
        await client.echo.ended.get()
        await _until(lambda: client.admission.open_streams == 2)
        assert Text.FromString(await client.count("wait", authorization=mine).read()).value == "first"


@pytest.mark.parametrize(
    ("settings", "scope"),
    [(Settings(max_open_streams=1), "server"), (Settings(max_anonymous_streams=1), "anonymous")],
)
async def test_the_process_and_the_nameless_may_hold_so_many_streams(settings: Settings, scope: str) -> None:
    async with echoing(settings) as client:
        first = client.count("wait")
        await first.read()
        error = await failure(client.count("wait").read())
        assert seen(error).facts["scope"] == scope


async def test_so_many_calls_are_worked_on_at_once() -> None:
    async with echoing(Settings(max_calls=1)) as client:
        first = asyncio.ensure_future(client.say("wait"))
        await _until(lambda: client.admission.calls == 1)
        assert seen(await failure(client.say("hello"))).reason == "TOO_MANY_CALLS"
        client.echo.forever.set()
        assert await first == "wait"
        assert await client.say("hello") == "hello"


async def test_a_call_that_takes_too_long_is_ended_by_the_server() -> None:
    async with echoing(Settings(unary_deadline_s=0.05)) as client:
        error = await failure(client.say("wait"))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert seen(error).reason == "DEADLINE_EXCEEDED"
        assert client.admission.calls == 0


async def test_a_refused_call_makes_one_line_and_a_good_one_none(client: Client) -> None:
    with structlog.testing.capture_logs() as lines:
        await failure(client.say("refuse"))
        await client.say("hello")
    (line,) = lines
    assert (line["event"], line["code"], line["reason"]) == (
        "call.refused",
        "FAILED_PRECONDITION",
        "SEAT_TAKEN",
    )


async def test_a_servicer_without_a_method_is_not_mounted() -> None:
    settings = Settings()
    admission = Admission(settings, await Tokens.load(MemoryJournal()))
    server = grpc.aio.server()
    with pytest.raises(TypeError, match="object has no method echo"):
        Mount(server, settings, admission, Metrics(), ACCESS).add(SERVICE, object())
    with pytest.raises(TypeError, match="Echo has no access"):
        Mount(server, settings, admission, Metrics(), {}).add(SERVICE, Echo())


async def _until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - a plain number has no event
            await asyncio.sleep(0)
