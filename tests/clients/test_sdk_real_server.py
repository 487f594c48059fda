"""The SDK and the real server: whole games, watched, checked, and through restarts of the server."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import croupier
from croupier.bots import make_bot
from croupier_server.main import serving
from croupier_server.settings import Settings

QUICK = Settings(drain_notice_s=0.01, drain_grace_s=0.1)
SOON = croupier.Backoff(0.01, 0.05)


async def play(address: str, table: croupier.Table, number: int) -> croupier.Seat:
    """One player's whole game, with a nonce, its record checked in the end."""
    async with croupier.connect(address, name=f"player {number}", backoff=SOON) as client:
        seat = await client.join(table.name, seat=number, after_seq=0)
        outcome = await croupier.play_bot(seat, make_bot(table.game, "random", number), strict=True)
        assert (outcome.result, outcome.faults) == ("finished", 0)
        assert (await seat.check_deals()).committed
        return seat


def play_all(address: str, table: croupier.Table) -> asyncio.Future[list[croupier.Seat]]:
    """A game with a player on every seat."""
    return asyncio.gather(*(play(address, table, number) for number in range(len(table.seats))))


@pytest.mark.parametrize(
    ("game", "options"),
    [("hidden_unders", {"turn_limit": 20}), ("doudizhu", {}), ("basic_rummy", {"turn_limit": 20})],
)
async def test_whole_game_with_nonces_that_its_record_proves(game: str, options: dict[str, int]) -> None:
    async with serving(QUICK) as server, croupier.connect(server.address) as client:
        seats = await play_all(server.address, await client.create_table(game, options=options))
        record = await client.record(seats[0].table)
    assert record["nonces"] == [seat.nonce.hex() for seat in seats]
    assert all(list(seat.info.scores) == record["scores"] for seat in seats)


async def test_game_and_its_watcher_go_on_through_restarts(tmp_path: Path) -> None:
    journal = f"sqlite:{tmp_path}/journal"
    async with AsyncExitStack() as running:
        address = (await running.enter_async_context(serving(QUICK, journal_url=journal))).address
        async with croupier.connect(address, backoff=SOON) as client:
            table = await client.create_table("doudizhu", options={"deals": 10})
            playing = play_all(address, table)
            watch = await client.watch(table.name, after_seq=0)
            events: list[croupier.Event] = []
            for _ in range(3):
                events += [await anext(watch) for _ in range(40)]
                await running.aclose()
                await running.enter_async_context(serving(QUICK, journal_url=journal, listen=address))
            events += [event async for event in watch]
            await playing
    seqs = [event.seq for event in events if isinstance(event, croupier.Step)]
    assert seqs == list(range(1, watch.info.seq + 1))
    assert not any(isinstance(event, croupier.Snapshot) for event in events)
