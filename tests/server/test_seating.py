"""Sitting down, standing up, inviting, and the nonces that players give to the deal."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_games import dealing, records
from croupier_server.caller import Caller
from croupier_server.errors import Refusal
from croupier_server.fold import Phase
from server.room import BOT, Room, guest, refused

NONCES = [bytes([n]) * 16 for n in range(1, 6)]


async def leave(room: Room, name: str, who: Caller, **fields: str) -> pb.LeaveTableResponse:
    return await room.service.leave_table(pb.LeaveTableRequest(name=name, **fields), who)


async def invite(room: Room, name: str, who: Caller, **fields: object) -> pb.InviteBotResponse:
    return await room.service.invite_bot(pb.InviteBotRequest(name=name, **fields), who)


def promise(name: str, seat: int) -> bytes:
    return dealing.nonce_commitment(name, seat, NONCES[seat])


async def promised(room: Room, *seats: int) -> str:
    """A table of three, just filled; these seats promised a nonce."""
    name = await room.create(players=3)
    for seat in range(3):
        given = promise(name, seat) if seat in seats else b""
        await room.join(name, guest(seat), seat=seat, nonce_commitment=given)
    return name


async def nonces_of_record(room: Room, name: str) -> list[str | None]:
    """Play to the end; the nonces of the record, which must verify."""
    await room.play_out(name, random.Random(1))
    line = (await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))).record_json
    assert records.verify(records.parse_record(line)).recomputed
    nonces: list[str | None] = json.loads(line)["nonces"]
    return nonces


@pytest.mark.parametrize(("game", "seats"), [("doudizhu", 3), ("hidden_unders", 5)])
async def test_a_storm_of_players_takes_exactly_the_seats(room: Room, game: str, seats: int) -> None:
    name = await room.create(game, players=seats)
    other = await room.replica()
    joins = [(room, other)[n % 2].join(name, guest(n)) for n in range(200)]
    outcomes = await asyncio.gather(*joins, return_exceptions=True)
    seated = [o.seat for o in outcomes if isinstance(o, pb.JoinTableResponse)]
    refusals = {o.reason for o in outcomes if isinstance(o, Refusal)}
    assert sorted(seated) == list(range(seats))
    assert refusals == {"TABLE_FULL"}
    players = [seat.player for seat in (await room.state(name)).seats]
    assert len(set(players)) == seats
    await other.tables.stop()


async def test_a_full_table_deals_at_once(room: Room) -> None:
    name = await room.create("doudizhu")
    answers = [await room.join(name, guest(n)) for n in range(3)]
    states = [answer.table.state for answer in answers]
    assert states == [pb.TABLE_STATE_OPEN, pb.TABLE_STATE_OPEN, pb.TABLE_STATE_PLAYING]


async def test_joining_again_changes_nothing(room: Room) -> None:
    name = await room.create(players=2)
    await room.join(name, guest(3), seat=1)
    before = len(await room.stored(name))
    assert (await room.join(name, guest(3))).seat == 1
    assert (await room.join(name, guest(3), seat=1)).seat == 1
    with refused("ALREADY_SEATED"):
        await room.join(name, guest(3), seat=0)
    assert len(await room.stored(name)) == before


async def test_seats_that_cannot_be_had(room: Room) -> None:
    name = await room.create(players=3)
    await room.join(name, guest(0), seat=1)
    with refused("SEAT_TAKEN"):
        await room.join(name, guest(1), seat=1)
    with refused("INVALID_FIELD"):
        await room.join(name, guest(1), seat=3)
    full = await room.deal("doudizhu")
    for seat in ({}, {"seat": 1}):
        with refused("TABLE_FULL"):
            await room.join(full, guest(9), **seat)


async def test_a_repeated_join_returns_the_first_answer_also_after_leaving(room: Room) -> None:
    name = await room.create(players=2)
    assert (await room.join(name, guest(1), seat=1, request_id="r")).seat == 1
    await leave(room, name, guest(1))
    again = await room.join(name, guest(1), seat=1, request_id="r")
    assert again.seat == 1
    assert again.table.seats[1].player == ""
    with refused("REQUEST_ID_REUSED"):
        await room.join(name, guest(1), seat=0, request_id="r")


async def test_leaving_frees_the_seat_and_a_repeat_does_not_leave_twice(room: Room) -> None:
    name = await room.create(players=2)
    await room.join(name, guest(1))
    await leave(room, name, guest(1), request_id="go")
    assert (await room.join(name, guest(2))).seat == 0
    with refused("NOT_SEATED"):
        await leave(room, name, guest(1))
    await leave(room, name, guest(1), request_id="go")
    assert (await room.state(name)).seats[0].player == guest(2).player


async def test_nobody_leaves_a_full_or_closed_table(room: Room) -> None:
    playing = await room.deal("doudizhu")
    with refused("GAME_STARTED"):
        await leave(room, playing, guest(0))
    await room.play_out(playing, random.Random(0))
    with refused("GAME_OVER"):
        await leave(room, playing, guest(0))
    with refused("GAME_OVER"):
        await room.join(playing, guest(9))
    with refused("GAME_OVER"):
        await invite(room, playing, guest(0))


async def test_seats_do_not_change_for_ever(room: Room) -> None:
    name = await room.create(players=2)
    with refused("NOT_ALLOWED"):
        for _ in range(1000):
            await room.join(name, guest(1))
            await leave(room, name, guest(1))
    assert len(await room.stored(name)) <= 1001
    await room.join(name, guest(2))


async def test_a_seat_is_kept_for_the_invited_player(room: Room) -> None:
    name = await room.create(players=2)
    answer = await invite(room, name, guest(0), player=guest(7).player, request_id="i")
    assert (answer.seat, answer.table.seats[1].invited_player) == (1, guest(7).player)
    with refused("NOT_INVITED"):
        await room.join(name, guest(1), seat=1)
    assert (await room.join(name, guest(1))).seat == 0
    assert (await room.join(name, guest(7))).seat == 1
    again = await invite(room, name, guest(0), player=guest(7).player, request_id="i")
    assert again.seat == 1


async def test_who_takes_another_seat_gives_up_the_one_that_was_kept(room: Room) -> None:
    name = await room.create(players=2)
    await invite(room, name, guest(0), player=guest(7).player, seat=1)
    assert (await room.join(name, guest(7), seat=0)).seat == 0
    assert (await room.join(name, guest(1))).seat == 1
    assert (await room.state(name)).phase is Phase.PLAYING


async def test_who_may_invite(room: Room) -> None:
    name = await room.create(players=3)
    with refused("NOT_ALLOWED"):
        await invite(room, name, guest(1))
    await room.join(name, guest(1))
    await invite(room, name, guest(1), level="random")
    with refused("INVALID_FIELD"):
        await invite(room, name, guest(1), level="godlike")
    with refused("INVALID_FIELD"):
        await invite(room, name, guest(1), player="players/x")
    with refused("SEAT_TAKEN"):
        await invite(room, name, guest(1), seat=0)
    with refused("ALREADY_SEATED"):
        await invite(room, name, guest(0), player=guest(1).player)
    with refused("INVALID_FIELD"):
        await invite(room, name, guest(0), seat=3)
    await invite(room, name, guest(0), player=guest(5).player)
    with refused("TABLE_FULL"):
        await invite(room, name, guest(0))


async def test_the_house_takes_offered_seats_alone(room: Room) -> None:
    name = await room.create(players=3)
    for seat in ({}, {"seat": 0}):
        with refused("NOT_INVITED"):
            await room.join(name, BOT, **seat)
    await invite(room, name, guest(0), seat=2, level="random")
    await invite(room, name, guest(0), seat=1)
    with refused("HOUSE_ONLY"):
        await room.join(name, guest(1), seat=2)
    with refused("NOT_INVITED"):
        await room.join(name, BOT, seat=0)
    assert (await room.join(name, BOT, seat=2, request_id="a")).seat == 2
    assert (await room.join(name, BOT, request_id="b")).seat == 1
    assert (await room.join(name, BOT, seat=2, request_id="a")).seat == 2
    with refused("NOT_INVITED"):
        await room.join(name, BOT)
    answer = await room.join(name, guest(1))
    assert [(s.bot_level, s.display_name) for s in answer.table.seats[1:]] == [
        ("easy", "Easy bot"),
        ("random", "Random bot"),
    ]
    assert answer.table.state == pb.TABLE_STATE_PLAYING


async def test_guests_never_take_a_seat_of_the_house(room: Room) -> None:
    name = await room.create(players=2)
    await invite(room, name, guest(0), seat=0)
    await invite(room, name, guest(0), seat=1)
    with refused("TABLE_FULL"):
        await room.join(name, guest(0))


async def test_the_deal_waits_for_promised_nonces(room: Room) -> None:
    name = await promised(room, 0, 2)
    table = (await room.service.get_table(pb.GetTableRequest(name=name), guest(0))).table
    assert table.state == pb.TABLE_STATE_FILLED
    await room.join(name, guest(2), nonce=NONCES[2])
    assert (await room.state(name)).phase is Phase.FILLED
    answer = await room.join(name, guest(0), nonce=NONCES[0])
    assert (answer.seat, answer.table.state) == (0, pb.TABLE_STATE_PLAYING)
    assert await nonces_of_record(room, name) == [NONCES[0].hex(), None, NONCES[2].hex()]


async def test_showing_a_nonce_again_changes_nothing(room: Room) -> None:
    name = await promised(room, 0, 1)
    await room.join(name, guest(0), nonce=NONCES[0], request_id="n")
    for request_id in ("", "n"):
        assert (await room.join(name, guest(0), nonce=NONCES[0], request_id=request_id)).seat == 0
    await room.join(name, guest(1), nonce=NONCES[1])
    before = len(await room.stored(name))
    assert (await room.join(name, guest(1), nonce=NONCES[1])).seat == 1
    assert len(await room.stored(name)) == before


async def test_a_nonce_that_was_not_promised(room: Room) -> None:
    name = await promised(room, 0)
    for wrong in (NONCES[1], NONCES[0] + b"x", b"short"):
        with refused("NONCE_INVALID"):
            await room.join(name, guest(0), nonce=wrong)
    with refused("NONCE_INVALID"):
        await room.join(name, guest(1), nonce=NONCES[1])
    with refused("NOT_SEATED"):
        await room.join(name, guest(9), nonce=NONCES[0])
    with refused("NOT_YOUR_SEAT"):
        await room.join(name, guest(0), seat=1, nonce=NONCES[0])
    assert (await room.state(name)).phase is Phase.FILLED
    await room.join(name, guest(0), nonce=NONCES[0])
    with refused("NONCE_INVALID"):
        await room.join(name, guest(0), nonce=NONCES[1])


async def test_a_promise_names_its_seat_and_has_32_bytes(room: Room) -> None:
    name = await room.create(players=2)
    with refused("NONCE_INVALID"):
        await room.join(name, guest(0), nonce_commitment=promise(name, 0))
    with refused("NONCE_INVALID"):
        await room.join(name, guest(0), seat=0, nonce_commitment=b"x" * 31)


async def test_a_nonce_is_shown_only_when_all_sit(room: Room) -> None:
    name = await room.create(players=2)
    await room.join(name, guest(0), seat=0, nonce_commitment=promise(name, 0))
    with refused("GAME_NOT_STARTED"):
        await room.join(name, guest(0), nonce=NONCES[0])


async def test_the_deal_goes_on_without_a_nonce_that_never_came(room: Room) -> None:
    name = await promised(room, 0, 1)
    await room.join(name, guest(1), nonce=NONCES[1])
    await room.pass_time(9)
    assert (await room.state(name)).phase is Phase.FILLED
    await room.pass_time(2)
    assert (await room.state(name)).phase is Phase.PLAYING
    with refused("GAME_STARTED"):
        await room.join(name, guest(0), nonce=NONCES[0])
    assert await nonces_of_record(room, name) == [None, NONCES[1].hex(), None]


async def test_who_sits_down_again_promises_anew(room: Room) -> None:
    name = await room.create(players=2)
    await room.join(name, guest(0), seat=0, nonce_commitment=promise(name, 0))
    await leave(room, name, guest(0))
    await room.join(name, guest(0), seat=0)
    await room.join(name, guest(1), seat=1)
    assert (await room.state(name)).phase is Phase.PLAYING
