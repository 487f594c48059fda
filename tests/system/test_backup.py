"""A copy of a SQLite journal that is made while its server runs, as the runbook has it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import croupier
from system.players import Ledger, clients, play_game
from system.processes import server_process


def back_up(source: Path, target: Path) -> None:
    """What ``sqlite3 SOURCE ".backup TARGET"`` does."""
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)


async def test_a_server_on_the_copy_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    source, target = tmp_path / "tables.sqlite", tmp_path / "copy.sqlite"
    async with server_process(f"sqlite:{source}") as server, clients(server.address, 2) as players:
        ledgers: list[Ledger] = await play_game(players, "basic_rummy")
        token, record = players[0].token, await players[0].record(ledgers[0].table)
        back_up(source, target)
    async with (
        server_process(f"sqlite:{target}") as restored,
        croupier.connect(restored.address, token=token) as player,
    ):
        assert await player.record(ledgers[0].table) == record
