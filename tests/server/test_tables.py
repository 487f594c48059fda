"""Creating, finding and listing tables, and their records."""

from __future__ import annotations

import asyncio
import random

import pytest

from croupier.v1 import games_pb2
from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES, records
from croupier_server.errors import Refusal
from croupier_server.fold import UnreadableTable
from server.room import NOBODY, START_S, Room, guest, refused

OPTIONS = games_pb2.GameOptions(basic_rummy={"points": 300, "turn_limit": 40})


async def listed(room: Room, **fields: object) -> list[str]:
    """The names on all pages, each page asked for with the token of the one before."""
    names: list[str] = []
    token = ""
    while True:
        request = pb.ListTablesRequest(page_token=token, **fields)
        page = await room.service.list_tables(request, NOBODY)
        names += [table.name for table in page.tables]
        token = page.next_page_token
        if not token:
            return names


@pytest.mark.parametrize("game", GAMES)
async def test_a_table_opens_with_the_games_defaults(room: Room, game: str) -> None:
    answer = await room.service.create_table(pb.CreateTableRequest(game=game), guest(0))
    table = answer.table
    assert len(table.seats) == GAMES[game].default_players
    assert (table.state, table.seq, table.creator) == (pb.TABLE_STATE_OPEN, 1, guest(0).player)
    assert table.create_time.seconds == START_S
    assert (len(table.commitment), table.server_seed) == (32, b"")


async def test_options_come_back_resolved(room: Room) -> None:
    request = pb.CreateTableRequest(game="basic_rummy", players=3, options=OPTIONS, title=" Tea ")
    table = (await room.service.create_table(request, guest(0))).table
    assert table.title == "Tea"
    resolved = games_pb2.GameOptions(
        basic_rummy={"points": 300, "turn_limit": 40, "double_with_discard": True}
    )
    assert table.options == resolved


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"game": ""}, "MISSING_FIELD"),
        ({"game": "poker"}, "UNKNOWN_GAME"),
        ({"game": "doudizhu", "players": 4}, "INVALID_OPTIONS"),
        ({"game": "doudizhu", "options": OPTIONS}, "WRONG_GAME"),
        ({"game": "basic_rummy", "options": {"basic_rummy": {"points": 200}}}, "INVALID_OPTIONS"),
        ({"game": "basic_rummy", "move_seconds": 4}, "INVALID_FIELD"),
        ({"game": "basic_rummy", "move_seconds": 86_401}, "INVALID_FIELD"),
        ({"game": "basic_rummy", "title": "x" * 81}, "INVALID_FIELD"),
        ({"game": "basic_rummy", "request_id": "x" * 65}, "INVALID_FIELD"),
    ],
)
async def test_what_cannot_be_created(room: Room, fields: dict[str, object], reason: str) -> None:
    with refused(reason):
        await room.service.create_table(pb.CreateTableRequest(**fields), guest(0))
    assert await listed(room) == []


async def test_a_repeat_returns_the_same_table_on_every_replica(room: Room) -> None:
    name = await room.create(request_id="r1", title="Tea")
    other = await room.replica()
    request = pb.CreateTableRequest(game="hidden_unders", request_id="r1", title="Tea")
    assert (await other.service.create_table(request, guest(0))).table.name == name
    assert await room.create(request_id="r1", title="Tea", who=guest(1)) != name
    assert len(await room.stored(name)) == 1
    await other.tables.stop()


async def test_a_request_id_belongs_to_one_payload(room: Room) -> None:
    await room.create(request_id="r1", title="Tea")
    with refused("REQUEST_ID_REUSED"):
        await room.create(request_id="r1", title="Coffee")


async def test_without_a_request_id_every_call_opens_a_table(room: Room) -> None:
    assert await room.create() != await room.create()


async def test_one_player_has_so_many_tables_and_a_repeat_is_no_new_one() -> None:
    room = Room(max_open_tables=2)
    await room.open()
    names = [await room.create(request_id=f"r{n}") for n in range(2)]
    with refused("TOO_MANY_TABLES"):
        await room.create(request_id="r2")
    assert await room.create(request_id="r1") == names[1]
    await room.create(who=guest(1))
    await room.close()


async def test_calls_side_by_side_do_not_open_more_tables_than_one_player_may() -> None:
    room = Room(max_open_tables=5)
    await room.open()
    creates = [room.create(request_id=f"r{n % 10}") for n in range(20)]
    outcomes = await asyncio.gather(*creates, room.create(who=guest(1)), return_exceptions=True)
    opened = {outcome for outcome in outcomes[:-1] if isinstance(outcome, str)}
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, Refusal)}
    assert (len(opened), reasons) == (5, {"TOO_MANY_TABLES"})
    assert isinstance(outcomes[-1], str)
    assert await room.tables.count_of(f"created-by:{guest(0).player}") == 5
    await room.close()


async def test_calls_side_by_side_do_not_take_more_seats_than_one_player_may() -> None:
    room = Room(max_open_tables=3)
    await room.open()
    names = [await room.create(who=guest(n)) for n in range(1, 11)]
    outcomes = await asyncio.gather(*(room.join(name, guest(0)) for name in names), return_exceptions=True)
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Refusal)]
    assert reasons == ["TOO_MANY_TABLES"] * 7
    await room.close()


async def test_one_player_sits_at_so_many_tables_and_invitations_do_not_count() -> None:
    room = Room(max_open_tables=2)
    await room.open()
    names = [await room.create(who=guest(n)) for n in range(1, 5)]
    for number, name in enumerate(names[2:], 3):
        invitation = pb.InviteBotRequest(name=name, player=guest(0).player)
        await room.service.invite_bot(invitation, guest(number))
    for name in names[:2]:
        await room.join(name, guest(0), request_id="sit")
    with refused("TOO_MANY_TABLES"):
        await room.join(names[2], guest(0))
    assert (await room.join(names[1], guest(0), request_id="sit")).seat == 0
    await room.close()


async def test_get_table(room: Room) -> None:
    name = await room.create()
    assert (await room.service.get_table(pb.GetTableRequest(name=name), NOBODY)).table.name == name
    with refused("TABLE_NOT_FOUND"):
        await room.service.get_table(pb.GetTableRequest(name="tables/" + "x" * 22), NOBODY)
    with refused("TABLE_NOT_FOUND"):
        await room.service.get_table(pb.GetTableRequest(name="tables/x"), NOBODY)
    with refused("INVALID_FIELD"):
        await room.service.get_table(pb.GetTableRequest(name="tables/x/y"), NOBODY)


async def test_a_private_table_is_found_by_name_and_entered_by_code(room: Room) -> None:
    answer = await room.service.create_table(pb.CreateTableRequest(game="doudizhu", private=True), guest(0))
    name, code = answer.table.name, answer.table.join_code
    assert len(code) == 12
    assert await listed(room) == []
    for wrong in ("", "x" * 12, code[:-1]):
        with refused("WRONG_JOIN_CODE"):
            await room.join(name, guest(1), join_code=wrong)
    assert (await room.join(name, guest(1), join_code=code)).table.join_code == code
    seen = {
        who.player: (await room.service.get_table(pb.GetTableRequest(name=name), who)).table.join_code
        for who in (guest(0), guest(1), guest(2), NOBODY)
    }
    assert seen == {guest(0).player: code, guest(1).player: code, guest(2).player: "", "": ""}


async def test_an_invitation_opens_a_private_table(room: Room) -> None:
    name = await room.create("doudizhu", private=True)
    await room.service.invite_bot(pb.InviteBotRequest(name=name, player=guest(5).player), guest(0))
    assert (await room.join(name, guest(5))).seat == 2


async def test_pages_hold_still_while_tables_come_and_go(room: Room) -> None:
    names = [await room.create(who=guest(n)) for n in range(6)]
    first = await room.service.list_tables(pb.ListTablesRequest(page_size=2), NOBODY)
    room.now_s += 1
    await room.create(who=guest(7))
    await room.join(names[0], guest(1))
    again = pb.ListTablesRequest(page_size=2, page_token=first.next_page_token)
    second = await room.service.list_tables(again, NOBODY)
    third = await room.service.list_tables(
        pb.ListTablesRequest(page_size=2, page_token=second.next_page_token), NOBODY
    )
    pages = [table.name for page in (first, second, third) for table in page.tables]
    assert sorted(pages) == sorted(names)
    assert third.next_page_token == ""


async def test_filters(room: Room) -> None:
    rummy, played = await room.create("basic_rummy", players=2), await room.deal(players=2)
    await room.play_out(played, random.Random(0))
    running = await room.deal(players=2)
    assert sorted(await listed(room)) == sorted([rummy, running])
    assert await listed(room, game="basic_rummy") == [rummy]
    assert await listed(room, states=[pb.TABLE_STATE_PLAYING]) == [running]
    assert await listed(room, states=[pb.TABLE_STATE_ENDED]) == [played]
    assert await listed(room, with_free_seats=True) == [rummy]
    with refused("UNKNOWN_GAME"):
        await listed(room, game="poker")
    with refused("INVALID_FIELD"):
        await listed(room, states=[9])


async def test_a_page_token_belongs_to_its_filter(room: Room) -> None:
    for _ in range(3):
        await room.create()
    token = (await room.service.list_tables(pb.ListTablesRequest(page_size=1), NOBODY)).next_page_token
    with refused("INVALID_PAGE_TOKEN"):
        await room.service.list_tables(pb.ListTablesRequest(page_token=token, game="doudizhu"), NOBODY)
    assert len(await listed(room, page_size=1)) == 3


@pytest.mark.parametrize("token", ["x", "=", "AAAA" * 10, "é", "a" * 5000])
async def test_forged_page_tokens(room: Room, token: str) -> None:
    with refused("INVALID_PAGE_TOKEN"):
        await room.service.list_tables(pb.ListTablesRequest(page_token=token), NOBODY)


async def test_page_sizes(room: Room) -> None:
    for number in range(55):
        await room.create(who=guest(number))
    sizes = {}
    for size in (0, 1, 200, 10_000):
        page = await room.service.list_tables(pb.ListTablesRequest(page_size=size), NOBODY)
        sizes[size] = len(page.tables)
    assert sizes == {0: 50, 1: 1, 200: 55, 10_000: 55}
    with refused("INVALID_FIELD"):
        await room.service.list_tables(pb.ListTablesRequest(page_size=-1), NOBODY)


async def test_the_record_of_a_private_table_needs_its_code(room: Room) -> None:
    name = await room.deal("doudizhu", private=True)
    await room.play_out(name, random.Random(1))
    code = (await room.service.get_table(pb.GetTableRequest(name=name), guest(0))).table.join_code
    for wrong in ("", code[:-1]):
        with refused("WRONG_JOIN_CODE"):
            await room.service.get_record(pb.GetRecordRequest(table=name, join_code=wrong), NOBODY)
    shown = await room.service.get_record(pb.GetRecordRequest(table=name, join_code=code), NOBODY)
    assert shown == await room.service.get_record(pb.GetRecordRequest(table=name), guest(1))


@pytest.mark.parametrize("game", GAMES)
async def test_the_record_of_an_ended_table_verifies(room: Room, game: str) -> None:
    name = await room.deal(game, private=True)
    with refused("TABLE_NOT_ENDED"):
        await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))
    await room.play_out(name, random.Random(game))
    line = (await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))).record_json
    verified = records.verify(records.parse_record(line))
    assert (verified.recomputed, verified.committed) == (True, True)
    state = await room.state(name)
    assert state.ended is not None
    assert verified.scores == tuple(state.ended.scores)
    assert state.created.join_code not in line


async def test_a_record_that_cannot_be_read_is_a_table_that_cannot(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> str:
        raise UnreadableTable("written by a later release")

    name = await room.deal("doudizhu")
    await room.play_out(name, random.Random(1))
    monkeypatch.setattr("croupier_server.rpc.table_service.record_line", unreadable)
    with refused("TABLE_UNREADABLE"):
        await room.service.get_record(pb.GetRecordRequest(table=name), NOBODY)


async def test_a_creation_whose_answer_was_lost_is_found(room: Room) -> None:
    room.journal.forgets_to_answer = True
    name = await room.create()
    assert len(await room.stored(name)) == 1


async def test_a_creation_that_failed_is_refused(room: Room) -> None:
    room.journal.fails = True
    with refused("JOURNAL_UNAVAILABLE"):
        await room.create(request_id="r1")
    room.journal.unreadable = True
    with refused("OUTCOME_UNKNOWN"):
        await room.create(request_id="r1")
    room.journal.fails = room.journal.unreadable = False
    await room.create(request_id="r1")
