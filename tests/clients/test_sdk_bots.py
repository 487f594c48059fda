"""Bots on seats and invitations: whatever a bot does, its table goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import croupier
from clients.fake_server import TABLE, FakeTable, World, connect, serving, status
from croupier.v1 import games_pb2, players_pb2, tables_pb2

CODES = grpc.StatusCode


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


@pytest.fixture
async def client(world: World) -> AsyncIterator[croupier.Client]:
    async with connect(world) as opened:
        yield opened


class Scripted:
    """Answers with what it is told, in order, then with the last legal move; raises what is an error."""

    def __init__(self, *answers: Any) -> None:
        self.answers: list[Any] = list(answers)
        self.asked: list[tuple[dict[str, Any], list[str]]] = []
        self.threads: set[int] = set()

    def choose(self, view: dict[str, Any], legal_moves: Sequence[str]) -> str:
        self.asked.append((view, list(legal_moves)))
        self.threads.add(threading.get_ident())
        answer = self.answers.pop(0) if self.answers else legal_moves[-1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def begin(table: FakeTable, turns: int) -> None:
    """A table with so many turns for seat 0."""
    table.moves_left = turns
    table.give_turn(0, "pass", "bid 1")


def texts(table: FakeTable) -> list[str]:
    return [event.moved.text for event in table.events if event.HasField("moved")]


async def test_bot_plays_to_the_end(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    begin(world.table, 3)
    bot = Scripted()
    outcome = await croupier.play_bot(seat, bot)
    assert outcome == croupier.Outcome(TABLE, 0, "finished", (2, -1, -1), moves=3, faults=0)
    assert texts(world.table) == ["bid 1"] * 3
    views, legal = zip(*bot.asked, strict=True)
    assert [view["deal"] for view in views] == [1, 2, 3]
    assert legal == (["pass", "bid 1"],) * 3


async def test_bot_of_an_ended_table_has_its_outcome(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    world.table.end(0, 0, 0)
    outcome = await croupier.play_bot(seat, Scripted())
    assert (outcome.result, outcome.scores) == ("finished", (0, 0, 0))


@pytest.mark.parametrize("wrong", [RuntimeError("a bug"), None, 7], ids=["raises", "none", "no text"])
async def test_first_legal_move_stands_in_for_a_failing_bot(
    world: World, client: croupier.Client, wrong: object
) -> None:
    seat = await client.join(TABLE)
    begin(world.table, 2)
    outcome = await croupier.play_bot(seat, Scripted(wrong))
    assert texts(world.table) == ["pass", "bid 1"]
    assert outcome.faults == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [(CODES.FAILED_PRECONDITION, "ILLEGAL_MOVE"), (CODES.INVALID_ARGUMENT, "MALFORMED_MOVE")],
)
async def test_first_legal_move_stands_in_for_an_illegal_one(
    world: World, client: croupier.Client, code: grpc.StatusCode, reason: str
) -> None:
    seat = await client.join(TABLE)
    begin(world.table, 1)
    world.refuse_moves.append(status(code, reason))
    outcome = await croupier.play_bot(seat, Scripted("bid 9"))
    assert texts(world.table) == ["pass"]
    assert outcome.faults == 1


async def test_strict_shows_the_fault_to_the_author(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    begin(world.table, 1)
    mistake = RuntimeError("a bug")
    with pytest.raises(croupier.BotFault, match="a bug") as caught:
        await croupier.play_bot(seat, Scripted(mistake), strict=True)
    assert caught.value.__cause__ is mistake


@pytest.mark.parametrize(
    ("code", "reason"), [(CODES.ABORTED, "STALE_SEQ"), (CODES.FAILED_PRECONDITION, "NOT_YOUR_TURN")]
)
async def test_turn_that_was_over_is_no_fault(
    world: World, client: croupier.Client, code: grpc.StatusCode, reason: str
) -> None:
    seat = await client.join(TABLE)
    world.refuse_moves.append(status(code, reason))
    begin(world.table, 1)
    playing = asyncio.create_task(croupier.play_bot(seat, Scripted()))
    await world.until(lambda: not world.refuse_moves)
    world.table.add()
    world.table.give_turn(0, "pass", "bid 1")
    assert (await playing).faults == 0
    assert texts(world.table) == ["bid 1"]


async def test_turn_that_is_repeated_while_the_bot_thinks_is_answered_once(
    world: World, client: croupier.Client
) -> None:
    class Thoughtful(Scripted):
        async def choose(self, view: dict[str, Any], legal_moves: Sequence[str]) -> str:  # type: ignore[override]
            again = tables_pb2.Turn(seat=0, seq=1, legal_moves=[games_pb2.Move(text="pass")])
            again.deadline.FromSeconds(len(self.asked) + 1)
            world.servers[0].streams[0].update(0, turn=again)
            for _ in range(5):  # long enough for it to come
                await client.get_table(TABLE)
            return super().choose(view, legal_moves)

    seat = await client.join(TABLE)
    begin(world.table, 1)
    bot = Thoughtful()
    await croupier.play_bot(seat, bot)
    assert len(bot.asked) == 1


async def test_cut_list_of_legal_moves_is_completed(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    world.table.moves_left = 1
    world.table.give_turn(0, "pass", truncated=True)
    world.legal_pages = [["pass"], ["bid 1", "bid 2"]]
    bot = Scripted()
    await croupier.play_bot(seat, bot)
    assert bot.asked[0][1] == ["pass", "bid 1", "bid 2"]


async def test_async_bot(world: World, client: croupier.Client) -> None:
    class Patient:
        async def choose(self, view: dict[str, Any], legal_moves: Sequence[str]) -> str:
            await asyncio.sleep(0)
            return legal_moves[0]

    seat = await client.join(TABLE)
    begin(world.table, 1)
    assert (await croupier.play_bot(seat, Patient())).moves == 1


@pytest.mark.parametrize(("threads", "inline"), [(True, False), (False, True)])
async def test_where_a_bot_thinks(world: World, client: croupier.Client, threads: bool, inline: bool) -> None:
    seat = await client.join(TABLE)
    begin(world.table, 1)
    bot = Scripted()
    with ThreadPoolExecutor(1) as executor:
        await croupier.play_bot(seat, bot, threads=threads, executor=executor)
    assert (bot.threads == {threading.get_ident()}) is inline


async def test_bot_that_was_slow_once_thinks_in_a_thread(
    world: World, client: croupier.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.runner.QUICK", -1.0)
    seat = await client.join(TABLE)
    begin(world.table, 2)
    bot = Scripted()
    await croupier.play_bot(seat, bot)
    assert len(bot.threads) == 2


async def test_bot_outlives_any_outage(world: World) -> None:
    async with connect(world, retry_for=0) as client:
        seat = await client.join(TABLE)
        begin(world.table, 2)
        playing = asyncio.create_task(croupier.play_bot(seat, Scripted()))
        await world.until(lambda: texts(world.table))
        world.servers[0].streams[0].cut()
        assert (await playing).moves == 2


async def test_stopped_bot_lets_go_of_its_seat(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    playing = asyncio.create_task(croupier.play_bot(seat, Scripted()))
    await world.until(lambda: world.servers[0].streams and world.servers[0].streams[0].subscribed)
    playing.cancel()
    await asyncio.wait([playing])
    await world.until(lambda: not world.servers[0].streams[0].subscribed)


# --- invitations -----------------------------------------------------------------------------


def serve(client: croupier.Client, **more: Any) -> asyncio.Task[None]:
    outcomes: list[croupier.Outcome] = more.pop("outcomes", [])
    return asyncio.create_task(
        croupier.serve_invitations(
            client, more.pop("factory", lambda _table, _seat: Scripted()), on_outcome=outcomes.append, **more
        )
    )


async def stop(*tasks: Awaitable[None]) -> None:
    for task in map(asyncio.ensure_future, tasks):
        task.cancel()
        await asyncio.wait([task])


def joined(world: World) -> list[tuple[str, int]]:
    return [(join.name, join.seat) for join in world.calls_of(tables_pb2.JoinTableRequest)]


class Outcomes(list[croupier.Outcome]):
    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def append(self, outcome: croupier.Outcome) -> None:
        super().append(outcome)
        self.world.wake()


async def test_invitation_is_taken_and_played_out(world: World, client: croupier.Client) -> None:
    outcomes = Outcomes(world)
    serving_them = serve(client, outcomes=outcomes)
    world.offer(world.table, invited=(1,))
    await world.until(lambda: joined(world))
    world.table.end(1, 1, 1)
    await world.until(lambda: outcomes)
    await stop(serving_them)
    assert joined(world)[0] == (TABLE, 1)
    assert (outcomes[0].seat, outcomes[0].result) == (1, "finished")


async def test_seats_held_from_before_are_taken_up_first(world: World, client: croupier.Client) -> None:
    held = world.new_table("tables/held")
    world.offer(world.table, invited=(0,))
    world.offer(held, seats=(2,))
    serving_them = serve(client, concurrency=1)
    streams = world.servers[0].streams
    await world.until(lambda: streams and streams[0].subscribed)
    assert list(streams[0].subscribed) == [("tables/held", 2)]
    held.end(0, 0, 0)
    await world.until(lambda: joined(world))
    await stop(serving_them)


async def test_table_that_is_over_is_not_played_again(world: World, client: croupier.Client) -> None:
    outcomes = Outcomes(world)
    serving_them = serve(client, outcomes=outcomes)
    world.offer(world.table, invited=(1,))
    await world.until(lambda: joined(world))
    late = world.inbox[TABLE]
    world.table.end(1, 1, 1)
    await world.until(lambda: outcomes)
    world.servers[0].inboxes[0].put_nowait(
        players_pb2.WatchInboxResponse(items=[players_pb2.InboxItem(table=late.table, seats=[1])])
    )
    other = world.new_table("tables/other")
    world.offer(other, invited=(0,))
    stream = world.servers[0].streams[0]
    await world.until(lambda: len(stream.commands("subscribe")) == 2)
    await stop(serving_them)
    assert [asked.table for asked in stream.commands("subscribe")] == [TABLE, "tables/other"]


async def test_no_more_seats_than_wanted_at_once(world: World, client: croupier.Client) -> None:
    tables = [world.new_table(f"tables/{n}") for n in range(4)]
    outcomes = Outcomes(world)
    serving_them = serve(client, concurrency=2, outcomes=outcomes)
    for table in tables:
        world.offer(table, invited=(0,))
    await world.until(lambda: len(joined(world)) == 2)
    tables[1].end(0, 0, 0)
    await world.until(lambda: len(joined(world)) == 3)
    assert len(outcomes) == 1
    tables[0].end(0, 0, 0)
    await world.until(lambda: len(joined(world)) == 4)
    assert len(outcomes) == 2
    await stop(serving_them)


async def test_only_wanted_games_and_tables(world: World, client: croupier.Client) -> None:
    rummy, declined = world.new_table("tables/rummy"), world.new_table("tables/declined")
    rummy.info.game = "basic_rummy"
    serving_them = serve(client, games={"doudizhu"}, accept=lambda table, _: table.name != declined.info.name)
    for table in (rummy, declined, world.table):
        world.offer(table, invited=(0,))
    await world.until(lambda: joined(world))
    await stop(serving_them)
    assert joined(world) == [(TABLE, 0)]


async def test_table_that_goes_wrong_does_not_touch_the_others(world: World, client: croupier.Client) -> None:
    bad, worse = world.new_table("tables/bad"), world.new_table("tables/worse")

    def factory(table: croupier.Table, seat: int) -> Scripted:
        if table.name == worse.info.name:
            raise KeyError("no such bot")
        return Scripted()

    outcomes = Outcomes(world)
    world.refuse_calls["JoinTable"].append(status(CODES.FAILED_PRECONDITION, "SEAT_TAKEN"))
    serving_them = serve(client, factory=factory, outcomes=outcomes)
    for table in (bad, worse, world.table):
        world.offer(table, invited=(0,))
    await world.until(lambda: (TABLE, 0) in joined(world))
    world.table.end(0, 0, 0)
    await world.until(lambda: outcomes)
    await stop(serving_them)
    assert [outcome.table for outcome in outcomes] == [TABLE]


async def test_bot_hears_that_its_seat_was_left_or_not_taken(world: World, client: croupier.Client) -> None:
    closed: list[str] = []

    class Closing(Scripted):
        def __init__(self, table: str) -> None:
            super().__init__()
            self.table = table

        def close(self) -> None:
            closed.append(self.table)
            world.wake()

    serving_them = serve(client, factory=lambda table, _seat: Closing(table.name))
    world.refuse_calls["JoinTable"].append(status(CODES.FAILED_PRECONDITION, "SEAT_TAKEN"))
    world.offer(world.new_table("tables/taken"), invited=(0,))
    await world.until(lambda: closed)
    world.offer(world.table, invited=(0,))
    await world.until(lambda: world.table.info.seats[0].player)
    world.table.end(0, 0, 0)
    await world.until(lambda: len(closed) == 2)
    await stop(serving_them)
    assert closed == ["tables/taken", TABLE]


async def test_seat_for_which_there_was_no_room_is_taken_later(world: World, client: croupier.Client) -> None:
    first, second = world.new_table("tables/first"), world.new_table("tables/second")
    outcomes = Outcomes(world)
    serving_them = serve(client, outcomes=outcomes)
    world.offer(first, invited=(0,))
    await world.until(lambda: len(joined(world)) == 1)
    world.refuse_calls["JoinTable"].append(status(CODES.RESOURCE_EXHAUSTED, "TOO_MANY_TABLES"))
    world.offer(second, invited=(0,))
    await world.until(lambda: len(joined(world)) == 2)
    first.end(0, 0, 0)
    await world.until(lambda: len(joined(world)) == 3)
    await stop(serving_them)
    assert joined(world)[-1] == ("tables/second", 0)


async def test_several_seats_at_one_table(world: World, client: croupier.Client) -> None:
    outcomes = Outcomes(world)
    serving_them = serve(client, outcomes=outcomes)
    world.offer(world.table, invited=(1, 2))
    await world.until(lambda: len(joined(world)) == 2)
    world.table.end(0, 0, 0)
    await world.until(lambda: len(outcomes) == 2)
    await stop(serving_them)
    assert sorted(outcome.seat for outcome in outcomes) == [1, 2]


async def test_inbox_that_is_refused_ends_the_service(world: World, client: croupier.Client) -> None:
    world.refuse_calls["WatchInbox"].append(status(CODES.PERMISSION_DENIED, "NOT_ALLOWED"))
    with pytest.raises(croupier.PermissionDenied):
        await serve(client)
