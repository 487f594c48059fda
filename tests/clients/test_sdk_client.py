"""Calls, signing in, sitting down, nonces, the inbox."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator

import grpc
import pytest
from clients.fake_server import TABLE, World, connect, serving, status
from google.protobuf import duration_pb2

import croupier
from croupier.v1 import games_pb2, hidden_unders_pb2, players_pb2, streams_pb2, tables_pb2

CODES = grpc.StatusCode
FLIP = hidden_unders_pb2.HiddenUndersMove(flip=hidden_unders_pb2.HiddenUndersFlip(slot=2))


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving() as running:
        yield running


@pytest.fixture
async def client(world: World) -> AsyncIterator[croupier.Client]:
    async with connect(world) as opened:
        yield opened


# --- calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [CODES.UNAVAILABLE, CODES.INTERNAL, CODES.UNKNOWN, CODES.DEADLINE_EXCEEDED])
async def test_mutation_is_repeated_with_the_same_request_id(
    world: World, client: croupier.Client, code: grpc.StatusCode
) -> None:
    world.refuse_calls["CreateTable"].append(status(code))
    await client.create_table("doudizhu", options={"deals": 2}, title="mine")
    first, again = world.calls_of(tables_pb2.CreateTableRequest)
    assert first == again
    assert len(first.request_id) == 32
    assert first.options.doudizhu.deals == 2


async def test_final_refusal_is_not_repeated(world: World, client: croupier.Client) -> None:
    with pytest.raises(croupier.NotFound) as caught:
        await client.get_table("tables/none")
    assert caught.value.reason == "TABLE_NOT_FOUND"
    assert len(world.calls_of(tables_pb2.GetTableRequest)) == 1


async def test_call_is_given_up_within_the_bound(world: World) -> None:
    async with connect(world, retry_for=0) as client:
        world.refuse_calls["GetTable"].append(status(CODES.UNAVAILABLE))
        with pytest.raises(croupier.ConnectionLost):
            await client.get_table(TABLE)


async def test_server_that_cannot_be_reached_is_given_up() -> None:
    with pytest.raises(croupier.ConnectionLost):
        async with croupier.connect("127.0.0.1:1", retry_for=0):
            pass


async def test_addresses_are_tried_in_turn(world: World) -> None:
    servers = f"127.0.0.1:1, {world.servers[0].address}"
    async with croupier.connect(servers, backoff=croupier.Backoff(0, 0)) as client:
        assert client.player.name == "players/me"


def test_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one address"):
        croupier.connect(" , ")


async def test_transport_is_handed_in(world: World) -> None:
    asked: list[str] = []

    def transport(address: str) -> grpc.aio.Channel:
        asked.append(address)
        return grpc.aio.insecure_channel(world.servers[0].address)

    async with croupier.connect("anywhere", transport=transport):
        pass
    assert asked == ["anywhere"]


async def test_metadata_language_token_and_routing_hint_go_along(world: World) -> None:
    async with connect(world, language="de", metadata=(("x-mine", "1"),)) as client:
        await client.get_table(TABLE)
    sent = world.metadata[-1]
    assert sent["authorization"] == "Bearer token-1"
    assert (sent["accept-language"], sent["x-mine"], sent["croupier-table"]) == ("de", "1", TABLE)


async def test_tables_come_page_by_page(world: World, client: croupier.Client) -> None:
    for name in ("tables/a", "tables/b"):
        world.new_table(name)
    names = [table.name async for table in client.tables(game="doudizhu", states=["open"])]
    assert names == [TABLE, "tables/a", "tables/b"]
    pages = world.calls_of(tables_pb2.ListTablesRequest)
    assert [page.page_token for page in pages] == ["", "1", "2"]
    assert {tuple(page.states) for page in pages} == {(tables_pb2.TABLE_STATE_OPEN,)}


async def test_unknown_state_is_refused_at_home(client: croupier.Client) -> None:
    with pytest.raises(croupier.InvalidRequest, match="open, filled, playing, ended"):
        _ = [table async for table in client.tables(states=["closed"])]


@pytest.mark.parametrize(
    ("game", "options"),
    [("whist", {"deals": 1}), ("doudizhu", {"rounds": 1}), ("doudizhu", {"deals": "two"})],
)
async def test_options_that_cannot_be_written_are_refused_at_home(
    client: croupier.Client, game: str, options: dict[str, object]
) -> None:
    with pytest.raises(croupier.InvalidRequest):
        await client.create_table(game, options=options)


async def test_legal_moves_come_whole(world: World, client: croupier.Client) -> None:
    world.legal_pages = [["pass", "bid 1"], ["bid 2"], ["bid 3"]]
    assert await client.legal_moves(TABLE) == ["pass", "bid 1", "bid 2", "bid 3"]


@pytest.mark.parametrize(
    ("move", "sent"),
    [
        ("done", games_pb2.Move(text="done")),
        (games_pb2.Move(text="done"), games_pb2.Move(text="done")),
        (
            FLIP,
            games_pb2.Move(hidden_unders=FLIP),
        ),
    ],
    ids=["text", "move", "typed"],
)
async def test_moves_are_taken_as_text_or_typed(
    world: World, client: croupier.Client, move: object, sent: games_pb2.Move
) -> None:
    seat = await client.join(TABLE)
    await seat.play(move)
    assert world.servers[0].streams[0].commands("move")[0].move == sent


async def test_what_is_no_move_is_refused_at_home(client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    with pytest.raises(croupier.InvalidRequest):
        await seat.play(7)


# --- who one is ------------------------------------------------------------------------------


async def test_guest_signs_in_by_name_and_a_secret_id(world: World, client: croupier.Client) -> None:
    (asked,) = world.calls_of(players_pb2.SignInRequest)
    assert (asked.display_name, len(asked.request_id)) == ("Ada", 36)
    assert (client.player.name, client.token) == ("players/me", "token-1")


async def test_token_is_renewed_before_it_ends(world: World) -> None:
    world.token_life = 0.05
    async with connect(world):
        await world.until(lambda: world.tokens >= 3)
    renewals = world.calls_of(players_pb2.SignInRequest)[1:]
    assert all(asked.display_name == "" for asked in renewals)
    signed_in_with = [
        m.get("authorization") for c, m in zip(world.calls, world.metadata, strict=True) if c in renewals
    ]
    assert signed_in_with[:2] == ["Bearer token-1", "Bearer token-2"]


async def test_given_token_is_renewed_and_keeps_its_player(world: World) -> None:
    async with connect(world, token="mine", name="") as client:
        assert client.token == "token-1"
    assert world.metadata[-1]["authorization"] == "Bearer mine"


async def test_without_signing_in_the_token_is_used_as_it_is(world: World) -> None:
    async with connect(world, token="house", sign_in=False) as client:
        await client.get_table(TABLE)
    assert world.metadata[-1]["authorization"] == "Bearer house"
    assert world.calls_of(players_pb2.SignInRequest) == []


async def test_call_with_a_token_that_ended_is_repeated_with_a_new_one(
    world: World, client: croupier.Client
) -> None:
    world.bad_tokens.add("token-1")
    await asyncio.gather(*(client.get_table(TABLE) for _ in range(5)))
    first, again = world.calls_of(players_pb2.SignInRequest)
    assert first == again
    assert client.token == "token-2"


async def test_given_token_that_ended_is_an_error(world: World) -> None:
    world.bad_tokens.add("old")
    with pytest.raises(croupier.Unauthenticated):
        async with connect(world, token="old"):
            pass


# --- sitting down ----------------------------------------------------------------------------


def promise(seat: int, nonce: bytes, board: str = TABLE) -> bytes:
    """As the contract of dealing has it."""
    return hashlib.sha256(b"croupier/nonce/v1\0" + board.encode() + b"\0" + bytes([seat]) + nonce).digest()


async def test_nonce_is_promised_for_the_seat_and_shown_when_the_table_is_full(
    world: World, client: croupier.Client
) -> None:
    seat = await client.join(TABLE)
    world.table.fill()
    await world.until(lambda: len(world.calls_of(tables_pb2.JoinTableRequest)) == 2)
    joined, shown = world.calls_of(tables_pb2.JoinTableRequest)
    assert (joined.seat, shown.seat, shown.nonce) == (0, 0, seat.nonce)
    assert joined.nonce_commitment == promise(0, shown.nonce)
    assert joined.nonce == b""
    assert len(shown.nonce) == 32


async def test_last_to_sit_down_shows_the_nonce_at_once(world: World, client: croupier.Client) -> None:
    world.table.info.state = tables_pb2.TABLE_STATE_FILLED
    seat = await client.join(TABLE)
    await world.until(lambda: world.table.info.seats[0].nonce)
    assert world.table.info.seats[0].nonce == seat.nonce


async def test_nonce_that_came_too_late_harms_nothing(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    world.refuse_calls["JoinTable"].append(status(CODES.FAILED_PRECONDITION, "GAME_STARTED"))
    world.table.fill()
    await world.until(lambda: not world.refuse_calls["JoinTable"])
    world.table.end(1, 1, 1)
    assert [type(event) for event in [e async for e in seat]][-1] in (croupier.Ended, croupier.Snapshot)


async def test_no_nonce_when_not_wanted_or_on_a_tournament_board(
    world: World, client: croupier.Client
) -> None:
    await client.join(TABLE, nonce=False)
    world.new_table("tables/board").info.board = "tournaments/t/boards/1"
    assert (await client.join("tables/board")).nonce == b""
    joins = world.calls_of(tables_pb2.JoinTableRequest)
    assert [(join.HasField("seat"), join.nonce_commitment) for join in joins] == [(False, b"")] * 2


async def test_seat_kept_for_one_comes_before_free_ones(world: World, client: croupier.Client) -> None:
    world.table.info.seats[2].invited_player = "players/me"
    assert (await client.join(TABLE)).number == 2


async def test_other_seats_are_tried_when_one_was_just_taken(world: World, client: croupier.Client) -> None:
    world.refuse_calls["JoinTable"].append(status(CODES.FAILED_PRECONDITION, "SEAT_TAKEN"))
    world.refuse_calls["JoinTable"].append(status(CODES.PERMISSION_DENIED, "NOT_INVITED"))
    seat = await client.join(TABLE)
    joins = world.calls_of(tables_pb2.JoinTableRequest)
    assert [join.seat for join in joins] == [0, 1, 2]
    assert len({join.request_id for join in joins}) == 3
    assert joins[-1].nonce_commitment == promise(2, seat.nonce)


async def test_seat_asked_for_is_not_exchanged_for_another(world: World, client: croupier.Client) -> None:
    world.table.info.seats[1].player = "players/other"
    with pytest.raises(croupier.SeatTaken):
        await client.join(TABLE, seat=1)


@pytest.mark.parametrize("nonce", [True, False])
async def test_who_sits_already_is_told_so(world: World, client: croupier.Client, nonce: bool) -> None:
    world.table.info.seats[1].player = "players/me"
    with pytest.raises(croupier.AlreadySeated):
        await client.join(TABLE, nonce=nonce)


async def test_promise_that_was_not_taken_is_not_kept(world: World, client: croupier.Client) -> None:
    world.take_promises = False
    assert (await client.join(TABLE)).nonce == b""


async def test_leaving_ends_the_iteration(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    await anext(seat)
    unseated = status(CODES.PERMISSION_DENIED, "NOT_SEATED")
    world.before_leaving = lambda: world.servers[0].streams[0].update(0, ended=unseated)
    await seat.leave()
    with pytest.raises(StopAsyncIteration):
        await anext(seat)


async def test_seat_that_may_not_be_left_is_kept(world: World, client: croupier.Client) -> None:
    seat = await client.join(TABLE)
    world.refuse_calls["LeaveTable"].append(status(CODES.FAILED_PRECONDITION, "GAME_STARTED"))
    with pytest.raises(croupier.WrongState):
        await seat.leave()
    world.servers[0].streams[0].update(0, ended=status(CODES.PERMISSION_DENIED, "NOT_SEATED"))
    await anext(seat)
    with pytest.raises(croupier.PermissionDenied):
        await anext(seat)


async def test_full_table(world: World, client: croupier.Client) -> None:
    for seat in world.table.info.seats:
        seat.player = "players/other"
    with pytest.raises(croupier.TableFull):
        await client.join(TABLE)


async def test_commitment_may_not_change_while_sitting_down(world: World, client: croupier.Client) -> None:
    world.before_joining = lambda: setattr(world.table.info, "commitment", b"another")
    with pytest.raises(croupier.BrokenPromise):
        await client.join(TABLE)


async def test_seat_is_taken_up_again(world: World, client: croupier.Client) -> None:
    world.table.info.seats[1].player = "players/me"
    world.table.add()
    world.table.add()
    seat = await client.resume(TABLE, after_seq=1, epoch="first life")
    assert seat.number == 1
    assert (await anext(seat)).seq == 2  # type: ignore[attr-defined]


async def test_no_seat_to_take_up_again(client: croupier.Client) -> None:
    with pytest.raises(croupier.PermissionDenied):
        await client.resume(TABLE)


async def test_table_is_kept_up_to_date(world: World, client: croupier.Client) -> None:
    watch = await client.watch(TABLE)
    await anext(watch)
    sat = tables_pb2.Seat(seat=1, player="players/bob", display_name="Bob")
    world.table.add(seat_changed=tables_pb2.SeatChanged(seat=sat))
    world.table.fill()
    await anext(watch)
    await anext(watch)
    assert watch.info.seats[1].display_name == "Bob"
    assert (watch.info.state, watch.info.seq) == (tables_pb2.TABLE_STATE_FILLED, 2)


async def test_inviting(world: World, client: croupier.Client) -> None:
    await client.invite_bot(TABLE, level="hard", seat=1)
    await client.invite(TABLE, "players/bob")
    bot, friend = world.calls_of(tables_pb2.InviteBotRequest)
    assert (bot.level, bot.seat) == ("hard", 1)
    assert (friend.player, friend.HasField("seat")) == ("players/bob", False)


# --- the inbox -------------------------------------------------------------------------------


async def test_inbox_gives_what_stands_and_what_comes(world: World, client: croupier.Client) -> None:
    world.offer(world.table, invited=(1,))
    inbox = client.inbox()
    assert list((await anext(inbox)).invited_seats) == [1]
    world.offer(world.table, seats=(1,))
    assert list((await anext(inbox)).seats) == [1]
    await inbox.aclose()
    await world.until(lambda: not world.servers[0].inboxes)


async def test_reopened_inbox_gives_only_what_has_changed(world: World, client: croupier.Client) -> None:
    gone, kept = world.new_table("tables/gone"), world.new_table("tables/kept")
    world.offer(gone, invited=(0,))
    world.offer(kept, invited=(0,))
    inbox = client.inbox()
    await anext(inbox)
    await anext(inbox)
    del world.inbox["tables/gone"]
    world.servers[0].inboxes[0].put_nowait(status(CODES.UNAVAILABLE))
    item = await anext(inbox)
    assert (item.table.name, list(item.invited_seats), list(item.seats)) == ("tables/gone", [], [])
    world.offer(kept, seats=(0,))
    assert (await anext(inbox)).table.name == "tables/kept"
    await inbox.aclose()


async def test_inbox_is_opened_elsewhere_on_a_hint(world: World, client: croupier.Client) -> None:
    world.offer(world.table, invited=(1,))
    inbox = client.inbox()
    await anext(inbox)
    reading = asyncio.ensure_future(anext(inbox))
    hint = streams_pb2.Reconnect(within=duration_pb2.Duration(seconds=1))
    world.servers[0].inboxes[0].put_nowait(players_pb2.WatchInboxResponse(reconnect=hint))
    await world.until(lambda: len(world.calls_of(players_pb2.WatchInboxRequest)) == 2)
    world.offer(world.table)
    assert not (await reading).invited_seats
    await inbox.aclose()


async def test_silent_inbox_is_opened_again(world: World) -> None:
    world.heartbeat = 0.02
    async with connect(world) as client:
        reading = asyncio.ensure_future(anext(client.inbox()))
        await world.until(lambda: len(world.calls_of(players_pb2.WatchInboxRequest)) >= 2)
        reading.cancel()
        await asyncio.wait([reading])


async def test_my_tables_are_what_stands_now(world: World, client: croupier.Client) -> None:
    assert await client.my_tables() == []
    world.offer(world.table, seats=(2,))
    (item,) = await client.my_tables()
    assert list(item.seats) == [2]


async def test_closing_the_client_ends_the_inbox(world: World) -> None:
    client = await connect(world).open()
    reading = asyncio.ensure_future(anext(client.inbox()))
    await world.until(lambda: world.servers[0].inboxes)
    await client.close()
    with pytest.raises(croupier.ConnectionLost):
        await reading
