"""Where the house's slow bots think: whatever happens there, every seat gets its move."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clients.fake_server import FakeTable, World, connect, serving
from clients.thinking_bots import GATE, Thought, gate
from croupier import house
from croupier.bots import UnknownBot
from croupier.thinkers import Pool, Seats
from croupier.thinkers.pool import BotFailed, Late, QueueFull, Worker, WorkerDied
from croupier.thinkers.seats import budget
from croupier.v1 import tables_pb2

TESTS = Path(__file__).resolve().parents[1]
GATED, COUNTING, BROKEN = (f"clients.thinking_bots:{name}" for name in ("Gated", "Counting", "Broken"))
AMPLE = 60.0
"""Seconds; a bound for what hangs."""


@pytest.fixture
async def thoughts(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Queue[Thought]]:
    """The thoughts of ``Gated`` bots, as they begin."""
    async with gate() as (port, begun):
        monkeypatch.setenv(GATE, str(port))
        monkeypatch.setenv("PYTHONPATH", str(TESTS))
        yield begun


@pytest.fixture
async def pool_of(thoughts: object) -> AsyncIterator[Callable[..., Pool]]:
    """Makes pools that end with the test."""
    pools: list[Pool] = []

    def make(workers: int = 1, **more: Any) -> Pool:
        pools.append(Pool(workers, **more))
        return pools[-1]

    yield make
    for pool in pools:
        await pool.close()


def thought(player: str, *legal_moves: str, bot: int | str = "") -> dict[str, Any]:
    made = {"bot": bot or player, "game": "doudizhu", "player": player, "seed": 1}
    return {**made, "view": {}, "legal_moves": legal_moves or ("pass",)}


def ask(worker: Worker, asked: dict[str, Any], seconds: float = AMPLE) -> asyncio.Task[dict[str, Any]]:
    return asyncio.create_task(worker.ask(asked, seconds))


async def settled(*tasks: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*tasks, return_exceptions=True)


# --- the pool --------------------------------------------------------------------------------


async def test_a_bot_remembers_its_game_until_it_is_forgotten(pool_of: Callable[..., Pool]) -> None:
    (worker,) = pool_of().workers
    asked = [thought(COUNTING, bot=bot) for bot in (1, 1, 2)]
    assert [(await worker.ask(each, AMPLE))["move"] for each in asked] == ["1", "2", "1"]
    worker.forget(1)
    assert (await worker.ask(asked[0], AMPLE))["move"] == "1"


async def test_thoughts_wait_in_order_and_one_too_many_is_refused(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    (worker,) = pool_of(queue=2).workers
    asking = [ask(worker, thought(GATED, "first"))]
    begun = await thoughts.get()
    asking += [ask(worker, thought(GATED, move)) for move in ("second", "third")]
    await asyncio.sleep(0)
    assert worker.waiting == 2
    with pytest.raises(QueueFull):
        await worker.ask(thought(GATED, "fourth"), AMPLE)
    for _ in asking[1:]:
        begun.answer(begun.legal_moves[0])
        begun = await thoughts.get()
    begun.answer(begun.legal_moves[0])
    assert [said["move"] for said in await settled(*asking)] == ["first", "second", "third"]


async def test_a_worker_that_is_killed_is_replaced(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    (worker,) = pool_of().workers
    asking = [ask(worker, thought(GATED)) for _ in range(2)]
    killed = await thoughts.get()
    os.kill(killed.pid, 9)
    after = await thoughts.get()
    after.answer("pass")
    died, said = await settled(*asking)
    assert isinstance(died, WorkerDied)
    assert (said["move"], after.pid != killed.pid) == ("pass", True)


async def test_a_worker_that_died_while_nobody_asked_costs_no_thought(pool_of: Callable[..., Pool]) -> None:
    (worker,) = pool_of().workers
    await worker.ask(thought(COUNTING), AMPLE)
    before = worker.pid
    assert before is not None
    os.kill(before, 9)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it was killed
    assert (await worker.ask(thought(COUNTING), AMPLE))["move"] == "1"
    assert worker.pid not in (None, before)


async def test_a_thought_that_hangs_is_ended_with_its_worker(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    (worker,) = pool_of().workers
    await worker.ask(thought(COUNTING), AMPLE)
    before, worker._hang = worker.pid, 0.1
    assert isinstance((await settled(ask(worker, thought(GATED))))[0], WorkerDied)
    assert before is not None
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    worker._hang = AMPLE
    assert (await worker.ask(thought(COUNTING), AMPLE))["move"] == "1"


async def test_a_late_thought_is_given_up_and_its_worker_kept(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    (worker,) = pool_of().workers
    await worker.ask(thought(COUNTING), AMPLE)  # it has begun, so the thought itself is what is late
    thinking, waiting = (ask(worker, thought(GATED, move), 0.1) for move in ("thinking", "waiting"))
    late = await thoughts.get()
    assert [type(error) for error in await settled(thinking, waiting)] == [Late, Late]
    assert worker.waiting == 0
    late.answer("too late")
    asking = ask(worker, thought(GATED, "next"))
    begun = await thoughts.get()
    begun.answer("in time")
    assert (await asking)["move"] == "in time"
    assert (begun.legal_moves, begun.pid) == (["next"], late.pid)


@pytest.mark.parametrize(
    ("move", "said"), [("raise", "RuntimeError: a bug"), ("number", "answered 7, which is no text")]
)
async def test_a_bot_that_fails_says_why(pool_of: Callable[..., Pool], move: str, said: str) -> None:
    (worker,) = pool_of().workers
    with pytest.raises(BotFailed, match=said):
        await worker.ask(thought(BROKEN, move), AMPLE)
    assert (await worker.ask(thought(COUNTING, bot=1), AMPLE))["move"] == "1"


async def test_closing_amid_a_thought_leaves_no_process(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    pool = pool_of(2)
    asking = [ask(worker, thought(GATED)) for worker in pool.workers]
    begun = [await thoughts.get() for _ in asking]
    for task in asking:
        task.cancel()
    await settled(*asking)
    await pool.close()
    for each in begun:
        with pytest.raises(ProcessLookupError):
            os.kill(each.pid, 0)


HOUSE = """
import asyncio, sys
from croupier.thinkers import Pool

async def main():
    bot = {"bot": 0, "game": "doudizhu", "player": sys.argv[1], "seed": 1}
    await Pool(1).workers[0].ask({**bot, "view": {}, "legal_moves": ["pass"]}, 60)

asyncio.run(main())
"""


async def test_workers_end_with_a_house_that_is_killed(thoughts: asyncio.Queue[Thought]) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", HOUSE, GATED)
    begun = await thoughts.get()
    process.kill()
    assert await begun.gone()
    await process.wait()


# --- the seats -------------------------------------------------------------------------------


def table_of(*levels: str, **more: Any) -> tables_pb2.Table:
    seats = [tables_pb2.Seat(seat=seat, bot_level=level) for seat, level in enumerate(levels)]
    return tables_pb2.Table(game="doudizhu", seats=seats, **more)


def test_a_thought_takes_less_than_the_clock_gives() -> None:
    assert [budget(seconds) for seconds in (5, 12, 86_400, 0)] == [2.5, 6.0, 10.0, 10.0]


@pytest.mark.parametrize("game", ["hidden_unders", "doudizhu", "basic_rummy"])
def test_bot_of_the_level_that_is_offered(game: str) -> None:
    table = table_of("random", "no such", "")
    table.game = game
    seats = Seats(Pool(1))
    assert callable(seats(table, 0).choose)
    with pytest.raises(UnknownBot):
        seats(table, 1)
    seats(table, 2)
    assert [seats.load.levels[level].seats for level in ("random", "easy")] == [1, 1]


async def test_seats_are_spread_over_the_workers_and_leave_them(pool_of: Callable[..., Pool]) -> None:
    pool = pool_of(2)
    seats = Seats(pool, {"hard": COUNTING})
    bots = [seats(table_of("hard"), 0) for _ in range(3)]
    assert [worker.seats for worker in pool.workers] == [2, 1]
    for bot in bots:
        bot.close()  # type: ignore[attr-defined]
    assert [worker.seats for worker in pool.workers] == [0, 0]
    assert seats.load.levels["hard"].seats == 0


@pytest.mark.parametrize(("move", "end"), [("raise", "failed"), ("number", "failed"), ("die", "died")])
async def test_easy_moves_for_a_bot_that_breaks(
    pool_of: Callable[..., Pool], move: str, end: str, caplog: pytest.LogCaptureFixture
) -> None:
    seats = Seats(pool_of(), {"hard": BROKEN})
    bot = seats(table_of("hard"), 0)
    caplog.set_level("INFO", "croupier.house")
    assert await bot.choose(BIDDING, [move, "pass"]) == "pass"  # type: ignore[misc]
    assert seats.load.as_plain()["levels"]["hard"][end] == 1
    assert f"easy plays for {BROKEN}: {end}: " in caplog.text
    line, stood_in = seats.load.news()  # type: ignore[misc]
    assert (f'"{end}": 1' in line, stood_in, seats.load.news()) == (True, True, None)


async def test_easy_moves_for_a_thought_that_finds_no_room_or_takes_too_long(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    pool = pool_of(queue=1)
    await pool.workers[0].ask(thought(COUNTING), AMPLE)
    patient, hasty = (Seats(pool, {"hard": GATED}, longest) for longest in (AMPLE, 0.05))
    bots = [patient(table_of("hard"), 0) for _ in range(3)]
    thinking = asyncio.create_task(bots[0].choose(BIDDING, ["bid 1"]))
    begun = await thoughts.get()
    assert await hasty(table_of("hard"), 0).choose(BIDDING, ["pass"]) == "pass"  # type: ignore[misc]
    waiting = asyncio.create_task(bots[1].choose(BIDDING, ["bid 2"]))
    await asyncio.sleep(0)
    assert await bots[2].choose(BIDDING, ["pass"]) == "pass"  # type: ignore[misc]
    begun.answer("bid 1")
    (await thoughts.get()).answer("bid 2")
    assert await settled(thinking, waiting) == ["bid 1", "bid 2"]
    assert hasty.load.levels["hard"].ends["late"] == 1
    assert patient.load.as_plain()["levels"]["hard"] | {"seconds": 0} == {
        "seats": 3,
        "thoughts": 3,
        "seconds": 0,
        "answered": 2,
        "overflow": 1,
    }


BIDDING = {"phase": "bidding", "hand": ["3C"], "to_act": 0}


# --- the house -------------------------------------------------------------------------------


async def test_a_slow_bot_does_not_delay_an_easy_one(
    pool_of: Callable[..., Pool], thoughts: asyncio.Queue[Thought]
) -> None:
    seats = Seats(pool_of(), {"random": "random", "expert": GATED})
    async with serving() as world, connect(world, token="house", sign_in=False) as client:
        playing = asyncio.create_task(house.serve(client, 0, 1, 10, seats))
        slow = await taken(world, "tables/slow", "expert", turns=1)
        begun = await thoughts.get()
        quick = await taken(world, "tables/quick", "random", turns=20)
        await world.until(lambda: quick.ended)
        assert not slow.ended
        begun.answer("bid 1")
        await world.until(lambda: slow.ended)
        assert slow.events[1].moved.text == "bid 1"
        playing.cancel()
        await asyncio.wait([playing])
    told = seats.load.as_plain()["levels"]
    assert {level: (load["seats"], load["answered"]) for level, load in told.items()} == {
        "expert": (0, 1),
        "random": (0, 20),
    }


async def taken(world: World, name: str, level: str, turns: int) -> FakeTable:
    """A table whose seat 0 is a bot's, with so many turns for it."""
    table = world.new_table(name)
    table.info.seats[0].bot_level = level
    world.offer(table, invited=(0,))
    await world.until(lambda: table.info.seats[0].player)
    table.moves_left = turns
    table.give_turn(0, "pass", "bid 1")
    return table
