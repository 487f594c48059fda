"""One call of any kind, with any bytes, and what came of it.

The law of this file: a call ends. It is read to its end, or cancelled after so many answers,
and what a client sees is kept: the answers, and the refusal if there was one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc

from server.fuzz_stage import METHODS, Metadata

_TIMEOUT_S = 60
"""A call that is not over by then ends with a status that no refusal has, and the test fails."""


@dataclass(frozen=True)
class Call:
    """A method's path, the messages that go up, and the metadata with them.

    ``reads``: hang up after so many answers; None: read to the end (what an open stream of the
    server has not).
    """

    path: str
    messages: tuple[bytes, ...]
    metadata: Metadata = ()
    reads: int | None = None

    def __repr__(self) -> str:
        shown = [m if len(m) < 200 else m[:200] + b"... %d bytes" % len(m) for m in self.messages]
        return f"Call({self.path!r}, {shown!r}, {self.metadata!r}, reads={self.reads})"


@dataclass
class Outcome:
    """What a client got: ``error`` is None after OK, or when it hung up."""

    call: Call
    answers: list[bytes] = field(default_factory=list)
    error: grpc.aio.AioRpcError | None = None


async def send(channel: grpc.aio.Channel, call: Call) -> Outcome:
    """Make a call."""
    outcome = Outcome(call)
    method = METHODS.get(call.path)
    try:
        if method is None or not method.server_streaming:
            (data,) = call.messages
            unary = channel.unary_unary(call.path)
            outcome.answers.append(await unary(data, metadata=call.metadata, timeout=_TIMEOUT_S))
        else:
            await _read(_stream(channel, call, method.client_streaming), call.reads, outcome.answers)
    except grpc.aio.AioRpcError as error:
        outcome.error = error
    return outcome


def _stream(channel: grpc.aio.Channel, call: Call, both_ways: bool) -> Any:
    options: dict[str, Any] = {"metadata": call.metadata, "timeout": _TIMEOUT_S}
    if both_ways:
        return channel.stream_stream(call.path)(_each(call.messages), **options)
    (data,) = call.messages
    return channel.unary_stream(call.path)(data, **options)


async def _each(messages: Sequence[bytes]) -> AsyncIterator[bytes]:
    for message in messages:
        yield message


async def _read(stream: Any, most: int | None, answers: list[bytes]) -> None:
    try:
        while most is None or len(answers) < most:
            answer = await stream.read()
            if answer is grpc.aio.EOF:
                return
            answers.append(answer)
    finally:
        stream.cancel()
