"""Moves: accepted once, refused for the right reason, answered when the journal has them."""

from __future__ import annotations

import asyncio
import random

import pytest

from croupier.moves import typed_move
from croupier.v1 import games_pb2
from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES
from croupier_server.caller import Caller
from croupier_server.fold import Phase
from croupier_server.table import Table
from server.room import NOBODY, PlayStream, Room, a_legal_move, guest, holder, refused, turns

DEALT = 6
"""The number of the deal at a table of three: opened, three sat down, filled, dealt."""
FIRST = DEALT + 1
"""The number of the first move."""


async def acting(room: Room, name: str) -> tuple[Table, int, str, Caller]:
    """The table, the seat to act, a legal move and who may make it."""
    table = await room.tables.get(name)
    seat, text = a_legal_move(table.state)
    return table, seat, text, holder(table, seat)


@pytest.mark.parametrize("game", GAMES)
async def test_every_game_can_be_played_to_its_end(room: Room, game: str) -> None:
    name = await room.deal(game)
    await room.play_out(name, random.Random(game))
    state = await room.state(name)
    assert state.ended is not None
    assert list(state.ended.scores) == state.rules.scores(state.game_state)
    with refused("GAME_OVER"):
        await room.move(name, guest(0), "pass")


async def test_the_answer_is_the_number_of_the_moves_entry(room: Room) -> None:
    name = await room.deal("doudizhu")
    seq = await room.some_move(name)
    assert seq == len(await room.stored(name)) == (await room.state(name)).seq


async def test_a_repeat_gets_the_first_answer_whatever_came_after(room: Room) -> None:
    name = await room.deal()
    table, _, text, who = await acting(room, name)
    first = await room.move(name, who, text, request_id="m")
    await room.play_out(name, random.Random(2), moves=40)
    assert await room.move(name, who, text, request_id="m") == first
    await room.play_out(name, random.Random(3))
    count = len(await room.stored(name))
    assert await room.move(name, who, text, request_id="m") == first
    other = await room.replica()
    assert await other.move(name, who, text, request_id="m") == first
    assert len(await room.stored(name)) == count
    assert table.state.phase is Phase.ENDED
    await other.tables.stop()


async def test_a_request_id_belongs_to_one_move(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, _, who = await acting(room, name)
    await room.move(name, who, "bid 1", request_id="m")
    with refused("REQUEST_ID_REUSED"):
        await room.move(name, who, "pass", request_id="m")
    _, _, _, another = await acting(room, name)
    await room.move(name, another, "bid 2", request_id="m")


async def test_a_request_id_that_was_refused_is_free_again(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, _, who = await acting(room, name)
    with refused("ILLEGAL_MOVE"):
        await room.move(name, who, "play 3C", request_id="m")
    await room.move(name, who, "bid 3", request_id="m")


async def test_what_is_refused_changes_nothing(room: Room) -> None:
    name = await room.deal("doudizhu")
    table, seat, text, who = await acting(room, name)
    other = holder(table, (seat + 1) % 3)
    before = await room.stored(name)
    state, seq = table.state.game_state, table.state.seq
    cases = [
        ("NOT_YOUR_TURN", other, text, {}),
        ("ILLEGAL_MOVE", who, "play 3C", {}),
        ("MALFORMED_MOVE", who, "bid 9", {}),
        ("MALFORMED_MOVE", who, "", {}),
        ("MALFORMED_MOVE", who, "play " + "3C " * 5000, {}),
        ("NOT_YOUR_SEAT", who, text, {"seat": (seat + 1) % 3}),
        ("NOT_YOUR_SEAT", who, text, {"seat": 9}),
        ("NOT_SEATED", guest(9), text, {}),
        ("NOT_SEATED", NOBODY, text, {}),
        ("STALE_SEQ", who, text, {"expected_seq": seq - 1}),
        ("STALE_SEQ", who, text, {"expected_seq": seq + 1}),
        ("INVALID_FIELD", who, text, {"request_id": "x" * 65}),
    ]
    for reason, caller, move, fields in cases:
        with refused(reason):
            await room.move(name, caller, move, **fields)
    assert await room.stored(name) == before
    assert table.state.game_state is state


async def test_a_move_is_required_and_of_the_tables_game(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, _, who = await acting(room, name)
    rummy = typed_move("basic_rummy", "draw stock")
    faceless = games_pb2.Move(doudizhu={"play": {"cards": [0]}})
    for move, reason in ((None, "MISSING_FIELD"), (faceless, "INVALID_FIELD"), (rummy, "WRONG_GAME")):
        with refused(reason):
            await room.service.make_move(pb.MakeMoveRequest(table=name, move=move), who)
    with refused("TABLE_NOT_FOUND"):
        await room.move("tables/" + "x" * 22, who, "pass")
    with refused("MISSING_FIELD"):
        await room.move("", who, "pass")


async def test_no_move_before_the_start(room: Room) -> None:
    name = await room.create("doudizhu")
    await room.join(name, guest(0))
    with refused("GAME_NOT_STARTED"):
        await room.move(name, guest(0), "pass")


async def test_a_stale_number_is_one_from_before_the_last_change_of_the_game(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, _, who = await acting(room, name)
    seq = await room.move(name, who, "bid 1", expected_seq=len(await room.stored(name)))
    table, _, _, who = await acting(room, name)
    with refused("STALE_SEQ"):
        await room.move(name, who, "bid 2", expected_seq=seq - 1)
    assert table.state.game_seq == seq
    await room.move(name, who, "bid 2", expected_seq=seq)


@pytest.mark.parametrize("game", GAMES)
async def test_typed_moves_and_texts_are_the_same_moves(room: Room, game: str) -> None:
    name, chance = await room.deal(game), random.Random(game)
    table = await room.tables.get(name)
    for number in range(60):
        if table.state.to_act is None:
            break
        seat, text = a_legal_move(table.state, chance)
        move = typed_move(game, text) if number % 2 else games_pb2.Move(text=text)
        await room.service.make_move(pb.MakeMoveRequest(table=name, move=move), holder(table, seat))
        entry = table.tail[-1].step.entry if table.tail[-1].step.kind == "moved" else None
        assert entry is None or entry.moved.move == text


async def test_nothing_is_answered_or_shown_before_the_journal_has_it(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, text, who = await acting(room, name)
    stream = room.watch(name, after_seq=DEALT - 1)
    await stream.until("event", DEALT)
    room.journal.gate.clear()
    answer = asyncio.create_task(room.move(name, who, text))
    news = asyncio.create_task(stream.until("event", FIRST))
    await turns()
    assert (answer.done(), news.done()) == (False, False)
    assert (await room.state(name)).seq == DEALT
    room.journal.gate.set()
    assert await answer == (await news).event.seq == FIRST
    await stream.close()


async def test_a_move_that_the_journal_did_not_take_is_refused(room: Room) -> None:
    name = await room.deal("doudizhu")
    table, _, text, who = await acting(room, name)
    room.journal.fails = True
    with refused("JOURNAL_UNAVAILABLE"):
        await room.move(name, who, text, request_id="m")
    room.journal.unreadable = True
    with refused("OUTCOME_UNKNOWN"):
        await room.move(name, who, text, request_id="m")
    assert table.state.seq == DEALT
    room.journal.fails = room.journal.unreadable = False
    assert await room.move(name, who, text, request_id="m") == FIRST


async def test_a_move_whose_answer_was_lost_is_found_in_the_journal(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, text, who = await acting(room, name)
    room.journal.forgets_to_answer = True
    assert await room.move(name, who, text, request_id="m") == FIRST
    assert await room.move(name, who, text, request_id="m") == FIRST
    assert len(await room.stored(name)) == FIRST


async def test_a_move_whose_outcome_stays_unknown_is_answered_when_it_is_repeated(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, text, who = await acting(room, name)
    room.journal.forgets_to_answer = room.journal.unreadable = True
    with refused("OUTCOME_UNKNOWN"):
        await room.move(name, who, text, request_id="m")
    room.journal.forgets_to_answer = room.journal.unreadable = False
    assert await room.move(name, who, text, request_id="m") == FIRST


async def test_a_cancelled_call_leaves_the_table_sound(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, text, who = await acting(room, name)
    room.journal.gate.clear()
    calls = [asyncio.create_task(room.move(name, who, text, request_id=str(n))) for n in range(3)]
    await turns()
    for call in calls[:2]:
        call.cancel()
    await turns()
    room.journal.gate.set()
    assert await calls[2] == FIRST
    assert len(await room.stored(name)) == FIRST


async def test_a_cancelled_call_may_have_been_stored(room: Room) -> None:
    name = await room.deal("doudizhu")
    table, _, text, who = await acting(room, name)
    room.journal.answers.clear()
    storing = asyncio.create_task(room.move(name, who, text, request_id="m"))
    await turns()
    assert table.state.seq == FIRST
    storing.cancel()
    await asyncio.wait((storing,))
    assert storing.cancelled()
    assert await room.move(name, who, text, request_id="m") == FIRST


async def test_moves_on_a_stream_are_answered_in_band(room: Room) -> None:
    name = await room.deal("doudizhu")
    _, _, text, who = await acting(room, name)
    stream: PlayStream = room.play(who)
    stream.move(name, "bid 9", "bad")
    stream.move(name, text, "good", expected_seq=DEALT)
    stream.move(name, text, "good", expected_seq=DEALT)
    assert (await stream.result("bad")).HasField("refused")
    assert (await stream.result("good")).seq == FIRST
    stream.half_close()
    await stream.rest()
    assert [r.request_id for r in stream.results] == ["bad", "good", "good"]


async def test_legal_moves_come_in_pages(room: Room) -> None:
    name = await room.deal("doudizhu")
    table, seat, _, who = await acting(room, name)
    texts: list[str] = []
    token = ""
    while True:
        request = pb.ListLegalMovesRequest(table=name, page_size=2, page_token=token)
        page = await room.service.list_legal_moves(request, who)
        texts += [move.text for move in page.moves]
        token = page.next_page_token
        if not token:
            break
    assert texts == ["pass", "bid 1", "bid 2", "bid 3"]
    assert (page.seq, page.total_size) == (table.state.seq, 4)
    waiting = holder(table, (seat + 1) % 3)
    assert not (await room.service.list_legal_moves(pb.ListLegalMovesRequest(table=name), waiting)).moves
    with refused("NOT_SEATED"):
        await room.service.list_legal_moves(pb.ListLegalMovesRequest(table=name), guest(9))


async def test_a_page_of_legal_moves_ends_with_the_turn(room: Room) -> None:
    name = await room.deal("doudizhu")
    table, seat, _, who = await acting(room, name)
    request = pb.ListLegalMovesRequest(table=name, page_size=2)
    token = (await room.service.list_legal_moves(request, who)).next_page_token
    for text in ("bid 1", "bid 2", "bid 3"):
        await room.move(name, holder(table, table.state.to_act or 0), text)
    assert table.state.to_act == (seat + 2) % 3
    for caller in (who, holder(table, table.state.to_act)):
        if caller.player != who.player:
            with refused("INVALID_PAGE_TOKEN"):
                again = pb.ListLegalMovesRequest(table=name, page_size=2, page_token=token)
                await room.service.list_legal_moves(again, caller)
