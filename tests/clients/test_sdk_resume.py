"""Whatever happens to streams and servers, a reader gets the steps 1 to n, each once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import croupier
from clients.fake_server import TABLE, World, connect, serving

CODES = grpc.StatusCode


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as one:
        yield one


ACTIONS = st.lists(
    st.sampled_from(
        ["step", "step", "read", "read", "lost step", "repeat", "hint", "cut", "broken", "unknown", "ended"]
    ),
    min_size=5,
    max_size=40,
)
CUTS = {"cut": CODES.UNAVAILABLE, "broken": CODES.INTERNAL, "unknown": CODES.UNKNOWN, "ended": CODES.OK}


class Reading:
    """A reader of a table to which things happen."""

    def __init__(self, world: World, watch: croupier.Watch) -> None:
        self.world = world
        self.watch = watch
        self.got: list[int] = []
        self.sent = 0
        self.hole = False

    async def happen(self, action: str) -> None:
        """One thing goes on or goes wrong, on every stream that is open just then."""
        streams = [s for server in self.world.servers for s in server.streams if s.subscribed]
        if action == "step":
            self.sent = self.world.table.add()
        elif action == "lost step":
            self.world.table.add(lost=True)
            self.hole = True
        elif action == "read":
            await self.read_to(self.sent)
            self.hole = False
        for stream in streams:
            # Beyond a hole each repeat counts as the hole shown again: three, and a snapshot comes.
            if action == "repeat" and self.sent and not self.hole:
                stream.event(self.sent, seat=None)
            elif action == "hint":
                stream.hint()
            elif action in CUTS:
                stream.cut(CUTS[action])

    async def read_to(self, last: int) -> None:
        """Read until the step of that number has come."""
        while last and (not self.got or self.got[-1] < last):
            event = await anext(self.watch)
            assert isinstance(event, croupier.Step)
            self.got.append(event.seq)


async def read_through(actions: list[str], servers: int) -> tuple[list[int], int]:
    """The numbers that a reader got, and how many steps there were."""
    async with serving(servers=servers) as world, connect(world) as client:
        reading = Reading(world, await client.watch(TABLE, after_seq=0))
        for action in ["step", "read", *actions]:
            await reading.happen(action)
        world.table.end(1, 1, 1)
        await reading.read_to(len(world.table.events))
        return reading.got, len(world.table.events)


@settings(max_examples=80, deadline=None)
@given(actions=ACTIONS, servers=st.integers(1, 2))
def test_each_step_comes_once(runner: asyncio.Runner, actions: list[str], servers: int) -> None:
    got, last = runner.run(read_through(actions, servers))
    assert got == list(range(1, last + 1))


def accepts(world: World, moves: int) -> bool:
    """True once the server has accepted so many moves."""
    return len(world.accepted) >= moves


async def play_through(cuts: list[int]) -> tuple[list[str], list[str]]:
    """The texts that were asked to be played, and those that the table has; cut before and after answers."""
    async with serving() as world, connect(world) as client:
        seat = await client.join(TABLE, nonce=False)
        asked = []
        for number, cut in enumerate(cuts):
            text = f"play {number}"
            world.hold_results = cut == 2
            playing = asyncio.create_task(seat.play(text, expected_seq=0))
            if cut == 2:
                await world.until(partial(accepts, world, number + 1))
                world.hold_results = False
            for stream in world.servers[0].streams if cut else ():
                if stream.open:
                    stream.cut()
            await playing
            asked.append(text)
        return asked, [e.moved.text for e in world.table.events if e.HasField("moved")]


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 2), max_size=8))
def test_each_move_is_made_once(runner: asyncio.Runner, cuts: list[int]) -> None:
    asked, made = runner.run(play_through(cuts))
    assert made == asked
