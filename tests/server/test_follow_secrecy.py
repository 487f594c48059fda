"""Following a table shows a seat what the rules let it see, and nobody a secret before its time."""

from __future__ import annotations

import asyncio
import random

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES
from croupier_server.caller import Caller
from croupier_server.fold import Phase
from server.eyes import cards_in, history, seq_of
from server.room import BOT, NOBODY, Room, guest, refused, turns


@pytest.mark.parametrize("game", GAMES)
async def test_nobody_is_shown_a_card_that_the_rules_hide(room: Room, game: str) -> None:
    name = await room.deal_short(game, players=3)
    asked = {"legal_moves": True, "views": True}
    viewers: dict[int | None, Caller] = {0: guest(0), 1: guest(1), 2: guest(2), None: NOBODY}
    played = {seat: room.watch(name, who, after_seq=0, **asked) for seat, who in viewers.items()}
    reading = [asyncio.create_task(stream.rest()) for stream in played.values()]
    glances = []
    table = await room.tables.get(name)
    while table.state.to_act is not None:
        await room.play_out(name, random.Random(table.state.seq), moves=7)
        for seat, who in viewers.items():
            glance = room.watch(name, who, **asked)
            await glance.until("snapshot")
            await glance.close()
            glances.append((seat, glance))
    await asyncio.gather(*reading)
    told = history(name, await room.stored(name))
    shown = 0
    for seat, stream in [*played.items(), *glances]:
        for update in stream.updates:
            seq, cards = seq_of(update), cards_in(update)
            assert seq is not None or not cards
            if seq is not None:
                assert cards <= told.known(seq, seat), f"seat {seat} at {seq}"
                shown += len(cards)
    assert shown > 500


async def test_the_oracle_would_find_a_leak(room: Room) -> None:
    name = await room.deal("doudizhu")
    stream = room.watch(name, guest(0))
    update = await stream.until("snapshot")
    told = history(name, await room.stored(name))
    assert cards_in(update) <= told.known(6, 0)
    assert not cards_in(update) <= told.known(6, 1)
    assert not cards_in(update) <= told.known(6, None)
    await stream.close()


def test_an_id_that_reads_like_a_card_is_none() -> None:
    moved = pb.TableMoved(seat=0, text="play AD 2C")
    seat = pb.Seat(player="players/ClmVWS3Kbp9rlaQU-AD-wA", display_name="Ann")
    table = pb.Table(name="tables/9H-dTqY0Zk_b1Wc2RxSuVA", title="of tables/2C-x and 3D")
    assert [cards_in(message) for message in (moved, seat, table)] == [{"AD", "2C"}, set(), {"3D"}]


async def test_no_stream_holds_the_seed_or_the_code_before_its_time(room: Room) -> None:
    created = pb.CreateTableRequest(game="doudizhu", private=True)
    answer = (await room.service.create_table(created, guest(9))).table
    name, code = answer.name, answer.join_code
    spectator = room.watch(name, after_seq=0, join_code=code)
    reading = asyncio.create_task(spectator.rest())
    for number in range(3):
        await room.join(name, guest(number), join_code=code)
    seated = room.watch(name, guest(0))
    assert (await seated.until("snapshot")).snapshot.table.join_code == code
    await room.play_out(name, random.Random(1))
    await reading
    seed = (await room.state(name)).created.server_seed
    last = (await room.state(name)).seq
    assert spectator.updates[-2].event.ended.server_seed == seed
    for update in spectator.updates:
        data = update.SerializeToString()
        assert code.encode() not in data
        assert update.event.seq == last or seed not in data
    await seated.close()


async def test_a_private_table_is_watched_by_those_inside(room: Room) -> None:
    name = await room.create("doudizhu", private=True)
    code = (await room.state(name)).created.join_code
    await room.join(name, guest(1), join_code=code)
    for who in (NOBODY, guest(2)):
        for wrong in ("", code[:-1]):
            with refused("WRONG_JOIN_CODE"):
                await room.watch(name, who, join_code=wrong).next()
    for who, given in ((guest(0), ""), (guest(1), ""), (NOBODY, code)):
        stream = room.watch(name, who, join_code=given)
        shown = (await stream.until("snapshot")).snapshot.table.join_code
        assert shown == (code if who == guest(1) else "")
        await stream.close()
    assert len((await room.tables.get(name)).followers) == 0


async def test_a_seat_is_seen_through_by_its_holder_alone(room: Room) -> None:
    name = await room.deal("doudizhu")
    for who, seat in ((guest(0), 1), (NOBODY, 0), (guest(9), 0), (guest(0), 7)):
        with refused("NOT_YOUR_SEAT"):
            await room.watch(name, who, seat=seat).next()
    with refused("TABLE_NOT_FOUND"):
        await room.watch("tables/" + "x" * 22).next()
    assert len(room.feeds) == 0


async def test_the_house_sees_through_each_of_its_seats(room: Room) -> None:
    name = await room.create("doudizhu")
    for seat in (1, 2):
        await room.service.invite_bot(pb.InviteBotRequest(name=name, seat=seat), guest(0))
        await room.join(name, BOT, seat=seat)
    await room.join(name, guest(0))
    stream = room.play(BOT)
    stream.subscribe(name, seat=1)
    stream.subscribe(name, seat=2)
    while len(stream.of("snapshot")) < 2:
        await stream.next()
    hands = {
        u.as_seat: tuple(u.snapshot.view.doudizhu.hand) for u in stream.updates if u.HasField("snapshot")
    }
    told = history(name, await room.stored(name))
    assert {seat: len(hand) for seat, hand in hands.items()} == {1: 17, 2: 17}
    assert hands[1] != hands[2]
    for update in stream.updates:
        assert cards_in(update) <= told.known(told.state.seq, update.as_seat)
    await stream.close()


async def test_who_left_a_seat_sees_through_it_no_more(room: Room) -> None:
    name = await room.create("doudizhu")
    await room.join(name, guest(0))
    stream = room.watch(name, guest(0), after_seq=0)
    await stream.until("event", 2)
    await room.service.leave_table(pb.LeaveTableRequest(name=name), guest(0))
    for number in range(1, 4):
        await room.join(name, guest(number))
    await stream.rest()
    assert stream.seqs == [1, 2, 3]
    assert stream.of("ended")[0].code == 7
    assert (await room.state(name)).phase is Phase.PLAYING


@pytest.mark.parametrize("changes", [0, 20])
async def test_who_leaves_while_the_stream_begins_sees_nothing_through_the_seat(
    room: Room, changes: int
) -> None:
    """However far the subscription has come when its player leaves: after that, nothing but the end."""
    told = 0
    for steps in range(12):
        name = await room.create("doudizhu", who=guest(steps))
        for _ in range(changes):
            await room.join(name, guest(5))
            await room.service.leave_table(pb.LeaveTableRequest(name=name), guest(5))
        left = (await room.join(name, guest(0))).table.seq + 1
        stream = room.play(guest(0))
        stream.subscribe(name, after_seq=0)
        opening = asyncio.create_task(stream.next())
        await turns(steps)
        await room.service.leave_table(pb.LeaveTableRequest(name=name), guest(0))
        for number in range(1, 4):
            await room.join(name, guest(number))
        stream.half_close()
        await opening
        await stream.rest()
        seated = [update for update in stream.updates if update.HasField("as_seat")]
        assert all(u.event.seq <= left and not u.HasField("snapshot") for u in seated)
        assert not seated or seated[-1].ended.code == 7
        told += bool(seated)
    assert told > 5
