"""What earlier releases wrote is read as it was meant; see ``golden/make.py``."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES, records
from croupier_server.fold import Phase, TableState, state_digest
from croupier_server.journal import Append
from croupier_server.journal.v1 import entry_pb2
from croupier_server.record import record_line
from server.room import Room, guest

FILES = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


def read(file: Path) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    """What must come out of a history, and its entries."""
    head, *entries = map(json.loads, file.read_text().splitlines())
    return head, tuple(map(base64.b64decode, entries))


def test_there_is_one_of_each_game_and_of_each_kind_of_entry() -> None:
    kinds, games, makers = set(), set(), set()
    for file in FILES:
        for data in read(file)[1]:
            entry = entry_pb2.Entry.FromString(data)
            kinds.add(entry.WhichOneof("kind"))
            games.add(entry.created.game)
            makers.add(entry.moved.by)
    assert kinds == {field.name for field in entry_pb2.Entry.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert games - {""} == set(GAMES)
    assert makers == {entry_pb2.MOVED_BY_UNSPECIFIED, entry_pb2.MOVED_BY_TIMEOUT}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_a_golden_history_replays(room: Room, file: Path) -> None:
    head, entries = read(file)
    name = head["table"]
    await room.journal.append(Append(name, 0, entries))
    state: TableState = await room.state(name)
    assert state.ended is not None
    assert (state.phase, state.seq) == (Phase.ENDED, len(entries))
    assert (state.ended.result, list(state.ended.scores)) == (head["result"], head["scores"])
    assert state_digest(state.rules, state.game_state).hex() == head["digest"]
    remembered = sorted([actor, key, made.seq] for (actor, key), made in state.requests.items())
    assert remembered == head["requests"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_a_golden_history_gives_its_record(room: Room, file: Path) -> None:
    head, entries = read(file)
    await room.journal.append(Append(head["table"], 0, entries))
    line = record_line(head["table"], await room.stored(head["table"]))
    assert json.loads(line) == head["record"]
    assert records.verify(records.parse_record(line)).recomputed


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_a_golden_history_can_be_watched(room: Room, file: Path) -> None:
    head, entries = read(file)
    await room.journal.append(Append(head["table"], 0, entries))
    code = entry_pb2.Entry.FromString(entries[0]).created.join_code
    stream = room.watch(head["table"], after_seq=0, join_code=code)
    await stream.rest()
    assert stream.seqs == list(range(1, len(entries) + 1))
    table = (await room.service.get_table(pb.GetTableRequest(name=head["table"]), guest(0))).table
    assert (table.seq, list(table.scores)) == (len(entries), head["scores"])
