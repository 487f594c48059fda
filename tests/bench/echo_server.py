"""The bare ceiling: grpc.aio alone, one message in, one out to each of the three of a group.

No rules, no journal, no views, no parsing: a stream names its group in metadata, and what one
member sends goes to all three as it is. The same coalescing as the real server's feeds: what is
due to a stream when it wakes goes out in one message.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import grpc
import uvloop


class Member:
    """One stream's outgoing queue."""

    def __init__(self) -> None:
        self.queue: list[bytes] = []
        self.wake: asyncio.Future[None] | None = None

    def push(self, data: bytes) -> None:
        """Queue a message and wake the writer."""
        self.queue.append(data)
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)


class Echo:
    """Groups of streams."""

    def __init__(self) -> None:
        self._groups: dict[str, list[Member]] = defaultdict(list)

    async def play(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        """One stream: its messages go to every member of its groups."""
        groups = next(v for k, v in context.invocation_metadata() if k == "groups").split(",")
        member = Member()
        for group in groups:
            self._groups[group].append(member)
        reader = asyncio.create_task(self._read(requests))
        loop = asyncio.get_running_loop()
        try:
            while True:
                if not member.queue:
                    member.wake = loop.create_future()
                    await member.wake
                queue, member.queue = member.queue, []
                yield b"".join(queue)
        finally:
            reader.cancel()
            for group in groups:
                self._groups[group].remove(member)

    async def _read(self, requests: AsyncIterator[bytes]) -> None:
        async for data in requests:
            group, _, _ = data.partition(b"|")
            for member in self._groups[group.decode()]:
                member.push(data)


async def main() -> None:
    """Serve on a free port until SIGTERM."""
    server = grpc.aio.server()
    handler = grpc.stream_stream_rpc_method_handler(Echo().play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Play": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(json.dumps({"event": "ready", "listen": f"127.0.0.1:{port}"}), flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await server.stop(0)


if __name__ == "__main__":
    uvloop.run(main())
