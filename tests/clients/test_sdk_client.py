"""Calls, and who one is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

import croupier
from clients.fake_server import TABLE, World, connect, serving, status
from croupier.connection import network
from croupier.v1 import games_pb2, hidden_unders_pb2, players_pb2, tables_pb2

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


@pytest.mark.parametrize("tls", [False, True, b"no certificate"])
async def test_channels_are_plain_or_tls(tls: bool | bytes) -> None:
    channel = network(tls)("127.0.0.1:1")
    assert isinstance(channel, grpc.aio.Channel)
    await channel.close()


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


async def test_catalogue_and_rules(world: World, client: croupier.Client) -> None:
    assert [game.game for game in await client.games()] == ["doudizhu"]
    rules = await client.rules("doudizhu", language="de", options={"deals": 2}, players=3)
    assert rules.markdown == "# Rules"
    (asked,) = world.calls_of(games_pb2.GetRulesRequest)
    assert (asked.options.doudizhu.deals, asked.players, asked.language) == (2, 3, "de")


async def test_record_is_plain_data(world: World, client: croupier.Client) -> None:
    world.record = '{"game":"doudizhu","moves":[]}'
    assert await client.record(TABLE) == {"game": "doudizhu", "moves": []}


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


async def test_token_that_could_not_be_renewed_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.identity._SHORTEST_WAIT", 0.01)
    world.token_life = 0.05
    async with connect(world, retry_for=0):
        world.refuse_calls["SignIn"].append(status(CODES.UNAVAILABLE))
        await world.until(lambda: world.tokens >= 2)
    assert not world.refuse_calls["SignIn"]
