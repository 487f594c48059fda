"""What journals do in their own process: time, turns and delivery."""

from __future__ import annotations

import asyncio

import pytest

from croupier_server.journal import MemoryJournal, Stored
from croupier_server.journal.local import Clock, Listeners
from server.journal_contract import Heard, batch

SECOND_NS = 10**9


class Times:
    """A wall clock and a steady clock to set."""

    def __init__(self) -> None:
        self.wall_ns = 1000 * SECOND_NS
        self.steady_ns = 5 * SECOND_NS

    def clock(self) -> Clock:
        return Clock(lambda: self.wall_ns, lambda: self.steady_ns)

    def pass_by(self, seconds: int) -> None:
        self.wall_ns += seconds * SECOND_NS
        self.steady_ns += seconds * SECOND_NS


def test_the_clock_is_the_wall_clock() -> None:
    times = Times()
    clock = times.clock()
    times.pass_by(2)
    assert clock.now_ms() == 1_002_000


def test_set_back_it_goes_on_at_its_pace() -> None:
    times = Times()
    clock = times.clock()
    times.wall_ns -= 3600 * SECOND_NS
    assert clock.now_ms() == 1_000_000
    times.pass_by(2)
    assert clock.now_ms() == 1_002_000


def test_set_forward_it_follows() -> None:
    times = Times()
    clock = times.clock()
    times.wall_ns += 3600 * SECOND_NS
    assert clock.now_ms() == 4_600_000


@pytest.mark.parametrize(("stored_ms", "now_ms"), [(1_500_000, 1_501_000), (900_000, 1_001_000)])
def test_it_goes_on_from_a_later_time_only(stored_ms: int, now_ms: int) -> None:
    times = Times()
    clock = times.clock()
    clock.not_before(stored_ms)
    times.pass_by(1)
    assert clock.now_ms() == now_ms


async def test_a_call_in_memory_lets_others_run() -> None:
    journal, ran = MemoryJournal(), list[str]()
    asyncio.get_running_loop().call_soon(ran.append, "another")
    await journal.append(batch("t", 0))
    assert ran == ["another"]


async def test_who_cannot_catch_up_is_no_listener() -> None:
    async def read(stream: str, after: int) -> list[Stored]:
        raise ConnectionError

    listeners = Listeners()
    with pytest.raises(ConnectionError):
        await listeners.listen("t", 0, Heard(), read)
    assert "t" not in listeners._streams
