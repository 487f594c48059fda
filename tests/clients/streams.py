"""What tests of streams share: finding a stream, reading what is due."""

from __future__ import annotations

import croupier
from clients.fake_server import FakeStream, World


async def stream_of(world: World, number: int = 0, server: int = 0) -> FakeStream:
    """A server's Play call of that number, as soon as it is open and subscribed."""
    streams = world.servers[server].streams
    await world.until(lambda: len(streams) > number and streams[number].subscribed)
    return streams[number]


async def read(watch: croupier.Watch, *seqs: int) -> None:
    """The next events are steps of these numbers."""
    got = [await anext(watch) for _ in seqs]
    assert [getattr(event, "seq", None) for event in got] == list(seqs)


async def drain(watch: croupier.Watch) -> None:
    """Read to the end."""
    async for _ in watch:
        pass
