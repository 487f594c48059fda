"""Bad requests, one by one: each has its code and its reason, and changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from croupier.v1 import tables_pb2 as pb
from croupier_server import checks
from croupier_server.errors import REASONS, Refusal
from croupier_server.secrecy import masked
from croupier_server.settings import Settings
from server.fuzz_refusals import BAD_REQUESTS, COMBINING, LIKE_TOKENS, MOVES, TO_ACT, WAITING, Bad
from server.fuzz_send import Call, Outcome, send
from server.fuzz_stage import METHODS, Served, path_of, serving_stage
from server.refusals import seen, seen_in

NEVER_SENT_BY_ONE = {
    *("SERVER_FAULT", "JOURNAL_UNAVAILABLE", "OUTCOME_UNKNOWN", "TABLE_UNREADABLE", "DEADLINE_EXCEEDED"),
    *("SERVER_BUSY", "SERVER_DRAINING", "TOO_MANY_CALLS", "TOO_MANY_STREAMS"),
    *("TOO_MANY_TABLES", "TOO_MANY_MOVES", "TOO_MANY_SUBSCRIPTIONS"),
}
"""Reasons that no single request brings about: the server is not well, or there are too many."""

ENDS_THE_STREAM = {
    "TOKEN_MISSING",
    "TOKEN_INVALID",
    "TOKEN_EXPIRED",
    "MESSAGE_TOO_LARGE",
    "MALFORMED_REQUEST",
}
BAD_MOVES = [bad for bad in MOVES if bad.method == "MakeMove" and bad.reason not in ENDS_THE_STREAM]

on_stage = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def served() -> AsyncIterator[Served]:
    async with serving_stage(Settings(nonce_wait_s=3600, drain_grace_s=0.1)) as served:
        yield served


async def sent_by(served: Served, who: str) -> str:
    """The guest that a bad request's sender stands for."""
    if who not in (TO_ACT, WAITING):
        return who
    acting, _ = await served.stage.to_act("doudizhu")
    return acting if who == TO_ACT else next(name for name in ("ann", "bob") if name != acting)


async def ask(served: Served, bad: Bad) -> Outcome:
    path = path_of(bad.method)
    metadata = served.stage.metadata(await sent_by(served, bad.who))
    return await send(served.stage, Call(path, (served.stage.encoded(path, bad.request),), metadata, 5))


def label(bad: Bad) -> str:
    return f"{bad.method[-20:]}-{bad.reason}-{str(bad.request)[:40]}"


@on_stage
@pytest.mark.parametrize("bad", BAD_REQUESTS, ids=label)
async def test_a_bad_request_is_refused_and_changes_nothing(served: Served, bad: Bad) -> None:
    before = served.stored()
    outcome = await ask(served, bad)
    assert outcome.error is not None, f"accepted: {outcome.answers}"
    assert (outcome.error.code(), seen(outcome.error).reason) == (bad.code, bad.reason)
    assert outcome.answers == []
    assert served.stored() == before


@on_stage
@pytest.mark.parametrize("bad", BAD_MOVES, ids=label)
async def test_play_refuses_a_move_in_band_and_lives_on(served: Served, bad: Bad) -> None:
    before = served.stored()
    answers = await play(
        served, bad.who, [{"move": bad.request}], [{"unsubscribe": {}}], [{"move": bad.request}]
    )
    results = [result for answer in answers for result in answer.results]
    assert len(results) == 2
    for result in results:
        assert (result.refused.code, seen_in(result.refused).reason) == (bad.code.value[0], bad.reason)
    assert served.stored() == before


async def play(served: Served, who: str, *messages: list[dict[str, Any]]) -> list[pb.PlayResponse]:
    """What comes down a Play stream on which messages of these commands went up, until it ends."""
    path = path_of("Play")
    sent = tuple(served.stage.encoded(path, {"commands": commands}) for commands in messages)
    metadata = served.stage.metadata(await sent_by(served, who))
    outcome = await send(served.stage, Call(path, sent, metadata))
    assert outcome.error is None
    return [pb.PlayResponse.FromString(answer) for answer in outcome.answers]


@on_stage
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({}, "MISSING_FIELD"),
        ({"table": "tables/1"}, "TABLE_NOT_FOUND"),
        ({"table": "tables/../1"}, "INVALID_FIELD"),
        ({"table": "tables/" + "x" * 22}, "TABLE_NOT_FOUND"),
        ({"table": "@doudizhu", "seat": 1}, "NOT_YOUR_SEAT"),
        ({"table": "@private", "join_code": "wrong"}, "WRONG_JOIN_CODE"),
        ({"table": "x" * 200_000}, "INVALID_FIELD"),
    ],
)
async def test_play_refuses_a_subscription_in_band(
    served: Served, asked: dict[str, Any], reason: str
) -> None:
    answers = await play(served, "zoe", [{"subscribe": asked}])
    (update,) = [update for answer in answers for update in answer.updates]
    assert seen_in(update.ended).reason == reason
    assert len(update.table) <= 80


@on_stage
async def test_moves_that_are_too_many_are_refused_each(served: Served) -> None:
    moves = [{"move": {"table": "@doudizhu", "move": {"text": "play ZZ"}}}] * 100
    answers = await play(served, "ann", moves)
    reasons = [seen_in(result.refused).reason for answer in answers for result in answer.results]
    assert sorted(reasons) == ["MALFORMED_MOVE"] * 64 + ["TOO_MANY_MOVES"] * 36


async def test_subscriptions_that_are_too_many_are_refused() -> None:
    async with serving_stage(Settings(max_tables_per_stream=2, drain_grace_s=0.1)) as few:
        labels = ["doudizhu", "basic_rummy", "hidden_unders"]
        answers = await play(few, "zoe", [{"subscribe": {"table": f"@{name}"}} for name in labels])
    refused = [u.ended for answer in answers for u in answer.updates if u.HasField("ended")]
    assert [seen_in(status).reason for status in refused] == ["TOO_MANY_SUBSCRIPTIONS"]


@on_stage
async def test_a_page_token_leads_on_in_its_own_list_alone(served: Served) -> None:
    stage = served.stage
    first = await stage.ask("ListTables", "nobody", {"page_size": 1})
    token = first.next_page_token
    second = await stage.ask("ListTables", "nobody", {"page_size": 1, "page_token": token})
    assert second.tables[0].name != first.tables[0].name
    name, legal = await stage.to_act("hidden_unders")
    place = {"table": "@hidden_unders", "page_size": 1}
    other = (await stage.ask("ListLegalMoves", name, place)).next_page_token
    assert other
    assert legal.total_size > 1
    foreign = [
        Bad("ListTables", "nobody", {"page_token": token, "game": "doudizhu"}, *INVALID_TOKEN),
        Bad("ListTables", "nobody", {"page_token": token, "states": [4]}, *INVALID_TOKEN),
        Bad("ListTables", "nobody", {"page_token": token[:-1]}, *INVALID_TOKEN),
        Bad("ListTables", "nobody", {"page_token": token + token}, *INVALID_TOKEN),
        Bad("ListTables", "nobody", {"page_token": other}, *INVALID_TOKEN),
        Bad("ListLegalMoves", name, {**place, "page_token": token}, *INVALID_TOKEN),
        Bad("ListLegalMoves", name, {**place, "page_token": other[1:]}, *INVALID_TOKEN),
    ]
    for bad in foreign:
        error = (await ask(served, bad)).error
        assert error is not None
        assert (error.code(), seen(error).reason) == (bad.code, bad.reason)


INVALID_TOKEN = (REASONS["INVALID_PAGE_TOKEN"].code, "INVALID_PAGE_TOKEN")


@on_stage
async def test_a_request_id_is_good_for_one_request(served: Served) -> None:
    invite = {"name": "@kept", "seat": 2, "request_id": "once"}
    await served.stage.ask("InviteBot", "ann", invite)
    before = served.stored()
    await served.stage.ask("InviteBot", "ann", invite)
    for method, request in (
        ("InviteBot", {**invite, "seat": 0}),
        ("LeaveTable", {"name": "@kept", "request_id": "once"}),
        ("JoinTable", {"name": "@kept", "request_id": "once"}),
    ):
        error = (await ask(served, Bad(method, "ann", request, *INVALID_TOKEN))).error
        assert error is not None
        assert seen(error).reason == "REQUEST_ID_REUSED"
    assert served.stored() == before


@pytest.mark.timeout(30)
def test_no_text_keeps_the_server_busy() -> None:
    """Both took a time that grows with the square of the length: minutes, for these."""
    assert masked(LIKE_TOKENS) == LIKE_TOKENS
    with pytest.raises(Refusal, match="at most 80"):
        checks.text_for_people("title", COMBINING * 5, 80)


def test_every_reason_that_one_request_can_bring_about_is_brought_about() -> None:
    assert set(REASONS) - {bad.reason for bad in BAD_REQUESTS} == NEVER_SENT_BY_ONE


def test_every_method_has_its_bad_requests() -> None:
    assert set(METHODS) <= {path_of(bad.method) for bad in BAD_REQUESTS}
