"""Many who want one thing at the same moment: each gets an answer, and one has it."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import croupier
from croupier.v1 import tables_pb2
from system.players import clients
from system.processes import server_process


async def test_of_a_hundred_who_join_at_once_six_sit_down(tmp_path: Path) -> None:
    async with (
        server_process(f"sqlite:{tmp_path / 'tables.sqlite'}") as server,
        clients(server.address, 100) as crowd,
    ):
        table = await crowd[0].create_table("hidden_unders", players=6)
        answers = await asyncio.gather(*(client.join(table.name) for client in crowd), return_exceptions=True)
        seated = {a.number: a.client.player.name for a in answers if isinstance(a, croupier.Seat)}
        assert sorted(seated) == list(range(6))
        assert Counter(map(type, answers)) == {croupier.Seat: 6, croupier.TableFull: 94}
        now = await crowd[0].get_table(table.name)
        assert {seat.seat: seat.player for seat in now.seats} == seated


async def test_one_player_who_joins_many_times_over_sits_once(tmp_path: Path) -> None:
    async with (
        server_process(f"sqlite:{tmp_path / 'tables.sqlite'}") as server,
        clients(server.address, 1) as [client],
    ):
        table = await client.create_table("hidden_unders", players=6)
        joins = [tables_pb2.JoinTableRequest(name=table.name, request_id=f"join {n % 5}") for n in range(50)]
        answers = await asyncio.gather(
            *(client.connection.call(lambda r: r.tables.JoinTable, join) for join in joins)
        )
        assert {answer.seat for answer in answers} == {0}
        assert [s.player for s in (await client.get_table(table.name)).seats if s.player] == [
            client.player.name
        ]


async def test_repeats_of_one_creation_open_one_table(tmp_path: Path) -> None:
    create = tables_pb2.CreateTableRequest(game="doudizhu", request_id="the same")
    async with (
        server_process(f"sqlite:{tmp_path / 'tables.sqlite'}") as server,
        clients(server.address, 20) as crowd,
    ):
        answers = await asyncio.gather(
            *(
                client.connection.call(lambda r: r.tables.CreateTable, create)
                for client in crowd
                for _ in range(10)
            )
        )
        opened = {(answer.table.creator, answer.table.name) for answer in answers}
        assert {creator for creator, _ in opened} == {client.player.name for client in crowd}
        assert len(opened) == len(crowd)
        assert {table.name async for table in crowd[0].tables()} == {name for _, name in opened}
