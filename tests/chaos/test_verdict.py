"""A verdict on a real game, and on what somebody did to its logs, its journal or its record."""

from __future__ import annotations

import asyncio
import json
import shutil
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chaos.history import Kind
from chaos.load import RECORDS
from chaos.log import Log, path_of
from chaos.players import Player, Sitting
from chaos.verdict import judge
from chaos.workload import Plan
from croupier.v1 import tables_pb2 as pb
from croupier_games.records import format_record
from croupier_server.journal import Row, Stored
from croupier_server.journal.sqlite import SqliteJournal
from system.processes import server_process


class Game(NamedTuple):
    """A game that was played: its name, the folder of its log and record, its journal's entries."""

    table: str
    folder: Path
    stored: Sequence[Stored]


class Journal:
    """What a verdict asks of a journal."""

    def __init__(self, stored: Sequence[Stored], tables: Sequence[str]) -> None:
        self._stored = stored
        self._tables = tables

    async def page(self, *_: object) -> list[Row]:
        return [Row(table, "doudizhu", "ENDED", 0, True, 0, (), b"") for table in self._tables]

    async def read(self, _: str) -> list[Stored]:
        return list(self._stored)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Game:
    """One deal of Dou Dizhu."""
    return asyncio.run(play(tmp_path_factory.mktemp("played")))


async def play(folder: Path) -> Game:
    url = f"sqlite:{folder / 'tables.sqlite'}"
    log = Log(folder)
    async with server_process(url) as server, AsyncExitStack() as seated:
        players = [Player(f"P{n}", server.address, log) for n in range(3)]
        for player in players:
            await seated.enter_async_context(player)
        table = await players[0].client.create_table("doudizhu")
        seats = [await player.client.join(table.name, after_seq=0) for player in players]
        sittings = [
            Sitting(p, Plan(0, "doudizhu", 3), s, lambda: None) for p, s in zip(players, seats, strict=True)
        ]
        await asyncio.gather(*(sitting.play() for sitting in sittings))
        record = await players[0].client.record(table.name)
    log.close()
    (folder / RECORDS).write_text(format_record(record) + "\n")
    journal = await SqliteJournal.open(str(folder / "tables.sqlite"))
    try:
        return Game(table.name, folder, await journal.read(table.name))
    finally:
        await journal.close()


@pytest.fixture
def game(played: Game, tmp_path: Path) -> Game:
    """A copy that may be harmed."""
    folder = tmp_path / "copy"
    shutil.copytree(played.folder, folder)
    return played._replace(folder=folder)


Line = list[Any]
Change = Callable[[list[Line]], None]


def change_log(game: Game, change: Change) -> None:
    path = path_of(game.folder, game.table)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def update_of(line: Line) -> pb.TableUpdate:
    return pb.TableUpdate.FromString(b64decode(line[3]))


def find(lines: list[Line], kind: str, event: str = "") -> int:
    """The first line of a kind, of updates the first of such an event."""
    return next(
        n
        for n, line in enumerate(lines)
        if line[1] == kind and (not event or update_of(line).event.WhichOneof("kind") == event)
    )


async def kinds(game: Game, stored: Sequence[Stored] | None = None, tables: Sequence[str] = ()) -> set[Kind]:
    verdict = await judge(
        game.folder, Journal(game.stored if stored is None else stored, tables or [game.table])
    )
    return {violation.kind for _, violation in verdict.violations}


async def test_a_game_that_was_left_alone_broke_no_promise(game: Game) -> None:
    verdict = await judge(game.folder, Journal(game.stored, [game.table]))
    assert verdict.violations == []
    assert verdict.acknowledged == verdict.moves > 10
    assert verdict.facts["Told"] == verdict.facts["Given"] == 3 * len(game.stored)
    assert (verdict.tables, verdict.records) == (1, 1)


def leave_out_an_update(lines: list[Line]) -> None:
    del lines[find(lines, "told", "moved")]


def tell_an_update_again(lines: list[Line]) -> None:
    n = find(lines, "told", "moved")
    lines.insert(n, lines[n])


def tell_of_another_move(lines: list[Line]) -> None:
    line = lines[find(lines, "told", "moved")]
    update = update_of(line)
    update.event.moved.text = "play 2C"
    line[3] = b64encode(update.SerializeToString()).decode()


def show_a_hand_to_another_seat(lines: list[Line]) -> None:
    line = lines[find(lines, "told", "dealt")]
    update = update_of(line)
    update.as_seat = (update.as_seat + 1) % 3
    line[3] = b64encode(update.SerializeToString()).decode()


def acknowledge_another_number(lines: list[Line]) -> None:
    lines[find(lines, "answered")][3] += 1


def leave_out_what_was_given(lines: list[Line]) -> None:
    del lines[find(lines, "given") + 5]


def leave_out_an_end(lines: list[Line]) -> None:
    del lines[find(lines, "over")]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (leave_out_an_update, Kind.GAP),
        (tell_an_update_again, Kind.REPEAT),
        (tell_of_another_move, Kind.DIFFERENT),
        (show_a_hand_to_another_seat, Kind.SEEN),
        (acknowledge_another_number, Kind.LOST),
        (leave_out_what_was_given, Kind.GAP),
        (leave_out_an_end, Kind.UNFINISHED),
    ],
)
async def test_a_log_that_was_changed_is_found_out(game: Game, change: Change, kind: Kind) -> None:
    change_log(game, change)
    assert kind in await kinds(game)


async def test_a_journal_that_lost_its_end_is_found_out(game: Game) -> None:
    assert await kinds(game, game.stored[:-3]) >= {Kind.LOST, Kind.UNKNOWN, Kind.UNFINISHED}


async def test_a_journal_with_a_move_twice_is_found_out(game: Game) -> None:
    move = next(n for n, stored in enumerate(game.stored) if b"bid" in stored.data or b"pass" in stored.data)
    entries = [*game.stored[: move + 1], *game.stored[move:]]
    numbered = [Stored(seq, each.data) for seq, each in enumerate(entries, 1)]
    assert await kinds(game, numbered) >= {Kind.TWICE, Kind.UNREADABLE}


async def test_a_record_that_does_not_hold_or_is_missing_is_found_out(game: Game) -> None:
    path = game.folder / RECORDS
    record = json.loads(path.read_text())
    del record["moves"][-1]
    path.write_text(format_record(record) + "\n")
    assert await kinds(game) == {Kind.RECORD}
    path.write_text("")
    assert await kinds(game) == {Kind.RECORD}


async def test_a_table_that_nobody_plays_at_is_found_out(game: Game) -> None:
    assert await kinds(game, tables=[game.table, "tables/another"]) == {Kind.STRAY}
