"""SignIn: the same player again, and nobody else."""

from __future__ import annotations

import uuid

import pytest

from croupier.v1 import players_pb2
from croupier_server.caller import HOUSE, Caller
from croupier_server.errors import Refusal
from croupier_server.ids import Ids, is_name
from croupier_server.journal.memory import MemoryJournal
from croupier_server.rpc.sign_in import SignIn, house_token
from croupier_server.tokens import Tokens

NOBODY = Caller()


class Desk:
    """One journal's SignIn."""

    def __init__(self, tokens: Tokens, ids: Ids) -> None:
        self.tokens = tokens
        self.service = SignIn(tokens, ids)

    async def sign_in(
        self, name: str = "", request_id: str = "", caller: Caller = NOBODY
    ) -> players_pb2.SignInResponse:
        request = players_pb2.SignInRequest(display_name=name, request_id=request_id)
        return await self.service.sign_in(request, caller)


@pytest.fixture
async def desk() -> Desk:
    return Desk(await Tokens.load(MemoryJournal()), Ids(b"k" * 32))


async def test_a_guest_gets_a_name_and_a_token(desk: Desk) -> None:
    answer = await desk.sign_in("  Ann ")
    assert answer.player.display_name == "Ann"
    assert is_name(answer.player.name, "players")
    who = await desk.tokens.identify(answer.token)
    assert who[:3] == (answer.player.name, "Ann", "guest")
    assert answer.expire_time.seconds == who.expires


async def test_without_a_request_id_everybody_is_new(desk: Desk) -> None:
    assert (await desk.sign_in("Ann")).player.name != (await desk.sign_in("Ann")).player.name


async def test_a_repeat_is_the_same_player_whatever_the_case_of_the_uuid(desk: Desk) -> None:
    request_id = str(uuid.uuid4())
    first = await desk.sign_in("Ann", request_id)
    assert (await desk.sign_in("Ann", request_id.upper())).player == first.player
    assert (await desk.sign_in("Bob", request_id)).player.name != first.player.name


async def test_the_player_cannot_be_told_from_the_request_without_the_key(desk: Desk) -> None:
    request_id = str(uuid.uuid4())
    other = SignIn(desk.tokens, Ids(b"o" * 32))
    request = players_pb2.SignInRequest(display_name="Ann", request_id=request_id)
    elsewhere = await other.sign_in(request, NOBODY)
    assert elsewhere.player.name != (await desk.sign_in("Ann", request_id)).player.name


async def test_a_live_token_is_renewed_for_the_same_player(desk: Desk) -> None:
    ann = Caller("players/a", "Ann", HOUSE)
    kept, renamed = await desk.sign_in("", caller=ann), await desk.sign_in("Anna", caller=ann)
    assert (kept.player.name, kept.player.display_name) == ("players/a", "Ann")
    assert (renamed.player.name, renamed.player.display_name) == ("players/a", "Anna")
    assert (await desk.tokens.identify(renamed.token)).role == HOUSE


@pytest.mark.parametrize("name", ["", "  ", "\u200d", "x" * 41, "a\nb", "a\u202eb", "a\u0000b", "a\u2028b"])
async def test_names_that_are_refused(desk: Desk, name: str) -> None:
    with pytest.raises(Refusal) as caught:
        await desk.sign_in(name)
    assert caught.value.fields[0].field == "display_name"


@pytest.mark.parametrize("name", ["x" * 40, "小明", "Zoë", "👩‍🚀", "O'Neill"])
async def test_names_that_are_taken(desk: Desk, name: str) -> None:
    assert (await desk.sign_in(name)).player.display_name == name


@pytest.mark.parametrize(
    "request_id", ["1", "0" * 32, str(uuid.UUID(int=0)), "048b3176-ec6b-11f1-a2f1-02fc00000001", "x" * 36]
)
async def test_a_request_id_that_could_be_guessed_is_refused(desk: Desk, request_id: str) -> None:
    with pytest.raises(Refusal) as caught:
        await desk.sign_in("Ann", request_id)
    assert caught.value.fields[0].field == "request_id"


async def test_the_house_is_one_player_with_the_role(desk: Desk) -> None:
    who = await desk.tokens.identify(house_token(desk.tokens))
    assert (who.role, who.player) == (HOUSE, "players/house")
    assert not is_name(who.player, "players")
