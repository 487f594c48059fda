"""``croupier play --json`` as a program uses it: JSON lines out of a pipe, lines into another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from croupier_games import GAMES
from system.commands import Command, command
from system.processes import server_process


async def events(running: Command) -> AsyncIterator[dict[str, Any]]:
    while (event := await running.event()) is not None:
        yield event


async def answered(running: Command) -> AsyncIterator[dict[str, Any]]:
    """Its events, while each turn is answered with the first legal move."""
    async for event in events(running):
        if event["event"] == "turn":
            running.write("1")
        yield event


async def verified(record: Path) -> tuple[int, list[dict[str, Any]]]:
    async with command("verify", str(record), "--json") as verify:
        lines = [line async for line in events(verify)]
        return (await verify.ended())[0], lines


@pytest.mark.parametrize("game", list(GAMES))
async def test_a_game_is_played_to_its_end_and_its_record_holds(game: str, tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    async with command("play", game, "--json", "--record", str(record)) as playing:
        told = [event async for event in answered(playing)]
        assert (await playing.ended())[0] == 0
    assert {"turn", "moved"} <= {event["event"] for event in told}
    assert "error" not in {event["event"] for event in told}
    end = told[-1]
    assert (end["event"], end["result"]) == ("end", "finished")
    code, [line] = await verified(record)
    assert (code, line["game"], line["scores"], line["committed"]) == (0, game, end["scores"], True)


@pytest.mark.parametrize("game", list(GAMES))
async def test_the_end_of_input_before_the_end_of_the_game_is_a_failure(game: str) -> None:
    async with command("play", game, "--json") as playing:
        playing.end_input()
        told = [event["event"] async for event in events(playing)]
        assert (await playing.ended())[0] == 1
    assert "end" not in told


async def test_a_game_goes_on_when_its_server_is_killed_and_comes_back(tmp_path: Path) -> None:
    record, turns, seqs = tmp_path / "game.jsonl", 0, []
    async with (
        server_process(f"sqlite:{tmp_path / 'tables.sqlite'}", house_bots=1) as server,
        command(
            "play", "basic_rummy", "--json", "--server", server.address, "--record", str(record)
        ) as playing,
    ):
        async for event in answered(playing):
            turns += event["event"] == "turn"
            if event["event"] in ("dealt", "moved", "ended"):
                seqs.append(event["seq"])
            if event["event"] == "turn" and turns in (5, 20):
                await server.restart()
        assert (await playing.ended())[0] == 0
    assert seqs == list(range(seqs[0], seqs[-1] + 1))
    assert (await verified(record))[0] == 0
