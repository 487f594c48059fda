"""Three replicas on one Redis: any request may go to any of them, and any of them may go."""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

import grpc
import pytest
import pytest_asyncio
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc

import croupier
from croupier.bots import make_bot
from croupier.v1 import tables_pb2, tables_pb2_grpc
from croupier_games import GAMES
from system.players import Ledger, check_all, clients, first_turn, play, play_game
from system.replicas import Replicas, replicas

pytestmark = pytest.mark.asyncio(loop_scope="module")

_IN_TURN = json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def group() -> AsyncIterator[Replicas]:
    async with replicas(house_bots=1) as started:
        yield started


def scattered(addresses: Sequence[str]) -> croupier.Transport:
    """Channels on which each call and each stream goes to the next replica."""
    target = f"ipv4:{','.join(addresses)}"
    return lambda _: grpc.aio.insecure_channel(target, options=[("grpc.service_config", _IN_TURN)])


@pytest.mark.parametrize("game", list(GAMES))
async def test_every_call_of_a_game_may_go_to_another_replica(group: Replicas, game: str) -> None:
    players = GAMES[game].players[-1]
    async with clients("all", players + 1, transport=scattered(group.addresses)) as crowd:
        *seated, onlooker = crowd
        await check_all(crowd, [await play_game(seated, game, spectators=[onlooker])])


async def test_invitations_reach_an_inbox_at_another_replica(group: Replicas) -> None:
    outcomes: asyncio.Queue[croupier.Outcome] = asyncio.Queue()
    async with AsyncExitStack() as opened:
        host, *guests = [(await opened.enter_async_context(clients(at, 1)))[0] for at in group.addresses]
        serving = [
            asyncio.create_task(
                croupier.serve_invitations(
                    guest,
                    lambda table, seat: make_bot(table.game, "easy", seat),
                    on_outcome=outcomes.put_nowait,
                )
            )
            for guest in guests
        ]
        table = await host.create_table("doudizhu")
        seat = await host.join(table.name, after_seq=0)
        for guest in guests:
            await host.invite(table.name, guest.player.name)
        ledger = Ledger(table.name, seat.number)
        await play(seat, ledger, make_bot("doudizhu", "easy", 1))
        assert {(await outcomes.get()).result for _ in guests} == {"finished"}
        for task in serving:
            task.cancel()
        await asyncio.wait(serving)
        await check_all([host], [[ledger]])


async def test_house_bots_of_all_replicas_do_not_get_in_each_others_way(group: Replicas) -> None:
    async with clients("all", 1, transport=scattered(group.addresses)) as [client]:
        for game in GAMES:
            table = await client.create_table(game, players=GAMES[game].players[-1])
            seat = await client.join(table.name, after_seq=0)
            for _ in range(len(table.seats) - 1):
                await client.invite_bot(table.name)
            ledger = Ledger(table.name, seat.number)
            await play(seat, ledger, make_bot(game, "easy", 1))
            await check_all([client], [[ledger]])


async def test_a_turn_clock_runs_out_whatever_replica_set_it(group: Replicas) -> None:
    async with clients("all", 3, transport=scattered(group.addresses)) as seated:
        table = await seated[0].create_table("doudizhu", move_seconds=5, options={"deals": 1})
        seats = [await client.join(table.name, after_seq=0) for client in seated]
        ledgers = [Ledger(table.name, seat.number) for seat in seats]

        async def late_once(seat: croupier.Seat, ledger: Ledger) -> None:
            bot = make_bot("doudizhu", "easy", seat.number)
            await play(seat, ledger, bot, leaves=lambda _: not ledger.moves())

        await asyncio.gather(*map(late_once, seats, ledgers))
        by = [by for _, _, by in ledgers[0].moves()]
        assert by == ["timeout", *[None] * (len(by) - 1)]
        await check_all(seated, [ledgers])


async def test_of_two_moves_sent_to_two_replicas_one_is_made(group: Replicas) -> None:
    """Every turn of a game is answered twice at once; a repeat of the answer at the third is the same."""
    chance = random.Random(3)
    async with AsyncExitStack() as opened:
        stubs = [
            tables_pb2_grpc.TableServiceStub(
                await opened.enter_async_context(grpc.aio.insecure_channel(address))
            )
            for address in group.addresses
        ]
        seated = await opened.enter_async_context(clients(group.addresses[0], 3))
        table = await seated[0].create_table("doudizhu", options={"deals": 1})
        seats = [await client.join(table.name, after_seq=0) for client in seated]
        ledgers = [Ledger(table.name, seat.number) for seat in seats]

        async def answer_twice(seat: croupier.Seat, ledger: Ledger) -> None:
            async for event in seat:
                ledger.note(event)
                if isinstance(event, croupier.Turn):
                    texts = [chance.choice(event.legal_moves) for _ in range(2)]
                    asked = [request(seat, event, text) for text in texts]
                    ledger.made.append(await made_once(chance.sample(stubs, 3), asked, seat.client.token))

        await asyncio.gather(*map(answer_twice, seats, ledgers))
        await check_all(seated, [ledgers])


def request(seat: croupier.Seat, turn: croupier.Turn, text: str) -> tables_pb2.MakeMoveRequest:
    return tables_pb2.MakeMoveRequest(
        table=seat.table,
        move={"text": text},
        seat=seat.number,
        expected_seq=turn.seq,
        request_id=f"{turn.seq} {text} {random.random()}",
    )


async def made_once(
    stubs: Sequence[Any], asked: Sequence[tables_pb2.MakeMoveRequest], token: str
) -> tuple[int, str]:
    """Send a move each to two replicas at once, and the one that was made to a third: number and text."""
    metadata = (("authorization", f"Bearer {token}"),)
    calls = [stub.MakeMove(move, metadata=metadata) for stub, move in zip(stubs, asked, strict=False)]
    codes = [await call.code() for call in calls]
    assert sorted(code.name for code in codes) == ["ABORTED", "OK"]
    made = codes.index(StatusCode.OK)
    seq = (await calls[made]).seq
    assert (await stubs[2].MakeMove(asked[made], metadata=metadata)).seq == seq
    return seq, asked[made].move.text


async def test_a_move_under_way_is_answered_before_its_replica_goes(group: Replicas) -> None:
    async with (
        replicas(1, drain_notice_s="0.1") as alone,
        clients(alone.addresses[0], 3) as seated,
        grpc.aio.insecure_channel(alone.addresses[0]) as channel,
    ):
        [server], store = alone.servers, alone.store.process
        assert store is not None
        table = await seated[0].create_table("doudizhu")
        seats = [await client.join(table.name) for client in seated]
        turn = await first_turn(seats)
        stub, health = tables_pb2_grpc.TableServiceStub(channel), health_pb2_grpc.HealthStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        store.send_signal(signal.SIGSTOP)
        metadata = (("authorization", f"Bearer {seats[turn.seat].client.token}"),)
        move = request(seats[turn.seat], turn, turn.legal_moves[0])
        call = stub.MakeMove(move, metadata=metadata, wait_for_ready=True)
        stopping = asyncio.create_task(server.stop())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        with suppress(grpc.aio.AioRpcError):
            while await watch.read() is not grpc.aio.EOF:
                pass  # the watch ends when no new calls are taken any more
        store.send_signal(signal.SIGCONT)
        seq = (await call).seq
        async with asyncio.timeout(10):
            assert await stopping == 0
        await server.start()
        assert (await seated[0].get_table(table.name)).seq >= seq > turn.seq
