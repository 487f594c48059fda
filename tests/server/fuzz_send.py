"""One call of any kind, with any bytes, and what came of it.

The law of this file: a call ends. It is read to its end, or cancelled after so many answers,
and what a client sees is kept: the answers, and the refusal if there was one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import grpc

from server.fuzz_stage import METHODS, Metadata, Stage

_TIMEOUT_S = 60
"""A call that is not over by then ends with a status that no refusal has, and the test fails."""


@dataclass(frozen=True, repr=False)
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
        shown = [m if len(m) < 90 else m[:90] + b"... %d bytes" % len(m) for m in self.messages]
        return f"Call({self.path!r}, {shown}, {str(self.metadata)[:90]}, reads={self.reads})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would write out all the bytes


@dataclass
class Outcome:
    """What a client got: ``error`` is None after OK, or when it hung up."""

    call: Call
    answers: list[bytes] = field(default_factory=list)
    error: Any = None
    """A ``grpc.RpcError`` with code, details and trailing metadata."""


async def send(stage: Stage, call: Call) -> Outcome:
    """Make a call."""
    outcome = Outcome(call)
    method = METHODS.get(call.path)
    options: dict[str, Any] = {"metadata": call.metadata, "timeout": _TIMEOUT_S}
    try:
        if len(call.messages) != 1:
            await asyncio.to_thread(_exchange, stage.blocking, call, options, outcome.answers)
        elif method is None or not method.server_streaming:
            unary = stage.channel.unary_unary(call.path)
            outcome.answers.append(await unary(call.messages[0], **options))
        else:
            # The one message goes up with the end of all messages, also where more could follow.
            stream = stage.channel.unary_stream(call.path)(call.messages[0], **options)
            await _read(stream, call.reads, outcome.answers)
    except grpc.RpcError as error:
        outcome.error = error
    return outcome


async def _read(stream: Any, most: int | None, answers: list[bytes]) -> None:
    try:
        while most is None or len(answers) < most:
            answer = await stream.read()
            if answer is grpc.aio.EOF:
                return
            answers.append(answer)
    finally:
        stream.cancel()


def _exchange(channel: grpc.Channel, call: Call, options: dict[str, Any], answers: list[bytes]) -> None:
    """No message, or several, on a stream of both ways.

    Blocking: a client of grpc.aio whose write meets the end of the stream makes up a status of
    its own (INTERNAL) and never shows the server's.
    """
    stream = channel.stream_stream(call.path)(iter(call.messages), **options)
    for answer in stream:
        answers.append(answer)
        if call.reads is not None and len(answers) >= call.reads:
            stream.cancel()
            return
