"""Log lines: JSON off a terminal, and never a secret."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from croupier_server import logs
from croupier_server.secrecy import MASK, is_secret, masked

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGF5ZXJzL3gifQ.c2lnbmF0dXJl"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level
    logs.debug_on = False


def lines(out: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_line_is_one_json_object_off_a_terminal() -> None:
    out = io.StringIO()
    logs.configure("info", stream=out)
    structlog.get_logger().info("call.refused", reason="SEAT_TAKEN", ms=1.5)
    (line,) = lines(out)
    assert line["message"] == "call.refused"
    assert (line["level"], line["reason"], line["ms"]) == ("info", "SEAT_TAKEN", 1.5)
    assert line["timestamp"].endswith("Z")


def test_a_line_is_for_people_on_a_terminal() -> None:
    out = Terminal()
    logs.configure("info", stream=out)
    structlog.get_logger().info("serving", listen="127.0.0.1:1")
    assert "serving" in out.getvalue()
    assert not out.getvalue().startswith("{")


def test_debug_is_written_only_when_asked_for() -> None:
    for level, expected in (("info", 0), ("debug", 1)):
        out = io.StringIO()
        logs.configure(level, stream=out)
        structlog.get_logger().debug("call.done")
        assert (len(lines(out)), logs.debug_on) == (expected, bool(expected))


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="debug, info, warning, error"):
        logs.configure("loud")


async def test_what_a_task_is_about_is_on_its_lines_alone() -> None:
    out = io.StringIO()
    logs.configure("info", stream=out)

    async def work(seat: int) -> None:
        logs.about(table="tables/x")
        logs.about(seat=seat)
        await asyncio.sleep(0)
        structlog.get_logger().info("worked")

    await asyncio.gather(*(asyncio.create_task(work(seat)) for seat in range(2)))
    structlog.get_logger().info("outside")
    assert [(line.get("table"), line.get("seat")) for line in lines(out)] == [
        ("tables/x", 0),
        ("tables/x", 1),
        (None, None),
    ]


def test_secrets_are_masked_at_any_depth() -> None:
    out = io.StringIO()
    logs.configure("info", stream=out)
    nested = {"deal": {"x": 1}, "list": [{"nonce": "n"}, f"Bearer {TOKEN}"], "fine": "fine"}
    structlog.get_logger().info(
        "x", server_seed="beef", hands=["3C"], join_code="abc", nested=nested, raw=b"1234"
    )
    (line,) = lines(out)
    assert [line[key] for key in ("server_seed", "hands", "join_code")] == [MASK] * 3
    assert line["nested"] == {"deal": MASK, "list": [{"nonce": MASK}, MASK], "fine": "fine"}
    assert line["raw"] == "4 bytes"


def test_a_token_in_a_traceback_is_masked() -> None:
    out = io.StringIO()
    logs.configure("info", stream=out)
    try:
        raise RuntimeError(f"could not send {TOKEN}")
    except RuntimeError:
        structlog.get_logger().exception("failed")
    (line,) = lines(out)
    assert "eyJ" not in out.getvalue()
    assert "RuntimeError: could not send" in line["exception"]


def test_lines_of_other_libraries_come_out_the_same_way() -> None:
    out = io.StringIO()
    logs.configure("info", stream=out)
    logging.getLogger("grpc").warning("token %s", TOKEN)
    logging.getLogger("grpc").info("not this")
    (line,) = lines(out)
    assert (line["message"], line["level"]) == (f"token {MASK}", "warning")


def test_a_cancelled_call_is_no_error_of_grpc() -> None:
    out = io.StringIO()
    logs.configure("info", stream=out)
    for error in (asyncio.CancelledError(), OSError("gone")):
        logging.getLogger("grpc.aio").error("not handled", exc_info=error)
    (line,) = lines(out)
    assert "OSError: gone" in line["exception"]


@pytest.mark.parametrize(
    "key", ["token", "Authorization", "server_seed", "nonces", "my_hand", "join-code", "deck"]
)
def test_names_of_secrets(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize(
    "key", ["code", "exit_code", "deal_number", "handler", "table", "seat", "decks", "stocked"]
)
def test_names_that_only_look_like_it(key: str) -> None:
    assert not is_secret(key)


def test_texts_without_a_token_stay_as_they_are() -> None:
    assert (
        masked("the bearer token is not one of this server's")
        == "the bearer token is not one of this server's"
    )


@pytest.mark.parametrize("error", [ValueError("I/O operation on closed file"), BrokenPipeError()])
def test_a_stream_that_is_gone_ends_nothing(error: Exception) -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            raise error

    logs.configure("info", stream=Gone())
    structlog.get_logger().error("journal.lost", part="appends")
