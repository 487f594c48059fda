"""Bearer tokens: only ours, only in time, also from other replicas."""

from __future__ import annotations

import secrets

import jwt
import pytest

from croupier_server.caller import HOUSE
from croupier_server.errors import Refusal
from croupier_server.journal.memory import MemoryJournal
from croupier_server.tokens import Tokens, rotate

DAY = 86_400
START = 1_700_000_000.0


class Time:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


async def tokens_of(journal: MemoryJournal, clock: Time | None = None, cache_size: int = 10) -> Tokens:
    return await Tokens.load(journal, cache_size=cache_size, clock=clock or Time())


async def refused(tokens: Tokens, token: str) -> str:
    with pytest.raises(Refusal) as caught:
        await tokens.identify(token)
    assert not token or token not in str(caught.value)
    return caught.value.reason


async def test_a_token_says_who_its_bearer_is() -> None:
    tokens = await tokens_of(MemoryJournal())
    issued = tokens.issue("players/a", "Ann")
    assert issued.expires == START + 30 * DAY
    assert await tokens.identify(issued.token) == ("players/a", "Ann", "guest", issued.expires)


async def test_a_token_of_the_house_lasts_a_day() -> None:
    tokens = await tokens_of(MemoryJournal())
    issued = tokens.issue("players/house", "House", HOUSE)
    assert issued.expires == START + DAY
    assert (await tokens.identify(issued.token)).role == HOUSE


async def test_another_replica_takes_it() -> None:
    journal = MemoryJournal()
    issued = (await tokens_of(journal)).issue("players/a", "Ann")
    assert (await (await tokens_of(journal)).identify(issued.token)).player == "players/a"


async def test_another_server_does_not() -> None:
    issued = (await tokens_of(MemoryJournal())).issue("players/a", "Ann")
    assert await refused(await tokens_of(MemoryJournal()), issued.token) == "TOKEN_INVALID"


async def test_its_time_ends_although_it_is_remembered() -> None:
    clock = Time()
    tokens = await tokens_of(MemoryJournal(), clock)
    token = tokens.issue("players/a", "Ann").token
    clock.now = START + 30 * DAY - 1
    assert (await tokens.identify(token)).player == "players/a"
    clock.now += 1
    assert await refused(tokens, token) == "TOKEN_EXPIRED"
    assert await refused(tokens, token) == "TOKEN_EXPIRED"


async def test_what_was_changed_is_refused() -> None:
    tokens = await tokens_of(MemoryJournal())
    head, body, signature = tokens.issue("players/a", "Ann").token.split(".")
    other_body = tokens.issue("players/b", "Ann").token.split(".")[1]
    for forged in (
        f"{head}.{other_body}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        "x",
        "",
        "x" * 5000,
    ):
        assert await refused(tokens, forged) == "TOKEN_INVALID"


async def test_no_other_algorithm_is_taken() -> None:
    tokens = await tokens_of(MemoryJournal())
    token = tokens.issue("players/a", "Ann").token
    claims = jwt.decode(token, options={"verify_signature": False})
    kid = jwt.get_unverified_header(token)["kid"]
    unsigned = jwt.encode(claims, None, algorithm="none", headers={"kid": kid})
    assert await refused(tokens, unsigned) == "TOKEN_INVALID"


@pytest.mark.parametrize("claim", ["sub", "name", "role", "exp"])
async def test_a_token_without_a_claim_is_refused(claim: str) -> None:
    journal = MemoryJournal()
    tokens = await tokens_of(journal)
    key = await journal.key("token-key", b"")
    token = tokens.issue("players/a", "Ann").token
    claims = jwt.decode(token, key, algorithms=["HS256"], options={"verify_exp": False, "verify_iat": False})
    del claims[claim]
    kid = jwt.get_unverified_header(token)["kid"]
    assert await refused(tokens, jwt.encode(claims, key, headers={"kid": kid})) == "TOKEN_INVALID"


async def test_the_memory_of_tokens_is_bounded() -> None:
    tokens = await tokens_of(MemoryJournal(), cache_size=3)
    issued = [tokens.issue(f"players/{n}", "Ann").token for n in range(10)]
    for token in issued * 2:
        await tokens.identify(token)
    assert len(tokens._cache) == 3


async def test_after_a_rotation_old_tokens_still_verify_and_new_ones_do_everywhere() -> None:
    journal, clock = MemoryJournal(), Time()
    running = await tokens_of(journal, clock)
    old = running.issue("players/a", "Ann").token
    await rotate(journal)
    restarted = await tokens_of(journal, clock)
    new = restarted.issue("players/b", "Bob").token
    assert (await restarted.identify(old)).player == "players/a"
    assert (await running.identify(new)).player == "players/b"


async def test_a_key_is_dropped_in_the_end() -> None:
    journal = MemoryJournal()
    old = (await tokens_of(journal)).issue("players/a", "Ann").token
    for _ in range(3):
        await rotate(journal)
    assert await refused(await tokens_of(journal), old) == "TOKEN_INVALID"


async def test_unknown_keys_do_not_make_it_read_the_journal_each_time() -> None:
    journal, clock = MemoryJournal(), Time()
    tokens = await tokens_of(journal, clock)
    reads = 0
    stored = journal.key

    async def counted(*args, **kwargs) -> bytes:
        nonlocal reads
        reads += 1
        return await stored(*args, **kwargs)

    journal.key = counted
    forged = jwt.encode({"sub": "x"}, secrets.token_bytes(32), headers={"kid": "00000000"})
    for _ in range(20):
        assert await refused(tokens, forged) == "TOKEN_INVALID"
    assert reads == 1
