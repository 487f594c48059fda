"""What every refusal promises: one reason, one code, few bytes, no secret."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier_games.game import IllegalMove, InvalidOptions, MalformedMove
from croupier_server import errors
from croupier_server.errors import (
    MAX_STATUS_BYTES,
    REASONS,
    missing_field,
    refuse,
    refused_by_journal,
    refused_by_rules,
    wrong_field,
)
from croupier_server.journal.base import JournalLocked, JournalUnavailable, QueueFull
from croupier_server.refusal_texts import TRANSLATIONS
from server.refusals import seen_in

NEVER = {grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, grpc.StatusCode.CANCELLED}
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGF5ZXJzL3gifQ.c2lnbmF0dXJl"

text = st.text(max_size=3000)


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_says_when_it_comes_and_what_to_do(reason: str) -> None:
    entry = REASONS[reason]
    assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", reason)
    assert entry.code not in NEVER
    assert entry.comes.endswith(".")
    assert entry.do.endswith(".")


def test_every_reason_is_given_by_something() -> None:
    source = Path(errors.__file__).parent
    table = (source / "refusal_texts.py", source / "errors.py")
    text = "".join(file.read_text() for file in source.rglob("*.py") if file not in table)
    text += "".join(inspect.getsource(part) for part in (wrong_field, missing_field, refused_by_journal))
    text += inspect.getsource(refused_by_rules) + str(errors._SAME_IN_THE_RULES).replace("'", '"')
    assert [reason for reason in REASONS if f'"{reason}"' not in text] == []


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("STALE_SEQ", grpc.StatusCode.ABORTED),
        ("NOT_YOUR_TURN", grpc.StatusCode.FAILED_PRECONDITION),
        ("ILLEGAL_MOVE", grpc.StatusCode.FAILED_PRECONDITION),
        ("MALFORMED_MOVE", grpc.StatusCode.INVALID_ARGUMENT),
        ("REQUEST_ID_REUSED", grpc.StatusCode.INVALID_ARGUMENT),
        ("NOT_YOUR_SEAT", grpc.StatusCode.PERMISSION_DENIED),
        ("TOO_MANY_MOVES", grpc.StatusCode.RESOURCE_EXHAUSTED),
        ("TABLE_UNREADABLE", grpc.StatusCode.UNAVAILABLE),
    ],
)
def test_the_codes_that_are_promised(reason: str, code: grpc.StatusCode) -> None:
    assert refuse(reason, "so").code is code


def test_a_refusal_carries_its_reason_facts_and_fields() -> None:
    refusal = refuse("SEAT_TAKEN", "seat 2 is taken", fields=[("seat", "is taken")], seat=2, table=None)
    status = refusal.to_status()
    assert (status.code, status.message) == (9, "seat 2 is taken")
    assert seen_in(status) == ("SEAT_TAKEN", {"seat": "2"}, [("seat", "is taken")], "en", "seat 2 is taken")


def test_no_fields_means_no_bad_request() -> None:
    assert len(refuse("SEAT_TAKEN", "seat 2 is taken").to_status().details) == 2


def test_a_reason_that_is_not_in_the_table_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        refuse("BAD_LUCK", "so")


@given(
    message=text,
    fields=st.lists(st.tuples(text, text), max_size=40),
    facts=st.dictionaries(st.from_regex(r"[a-z]{1,30}", fullmatch=True), text, max_size=40),
)
def test_a_refusal_is_small_whatever_a_caller_sent(message, fields, facts) -> None:
    status = refuse(
        "INVALID_FIELD", message, fields=fields, **{f"x_{k}": v for k, v in facts.items()}
    ).to_status()
    assert status.ByteSize() <= MAX_STATUS_BYTES
    assert seen_in(status).reason == "INVALID_FIELD"


def test_secrets_are_masked_wherever_they_stand() -> None:
    refusal = refuse(
        "TOKEN_INVALID", f"no {TOKEN}", fields=[("a", f"Bearer {TOKEN}")], server_seed="beef", x=TOKEN
    )
    wire = refusal.to_status().SerializeToString()
    assert b"eyJ" not in wire
    assert b"beef" not in wire
    assert b"eyJ" not in str(refusal).encode()


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_every_reason_is_said_in_every_language(language: str) -> None:
    assert set(TRANSLATIONS[language]) == set(REASONS)


def test_the_localized_message_follows_the_language() -> None:
    refusal = refuse("SEAT_TAKEN", "seat 2 is taken")
    assert seen_in(refusal.to_status("de-AT"))[3:] == ("de", "Dieser Platz ist besetzt.")
    assert seen_in(refusal.to_status("tlh"))[3:] == ("en", "seat 2 is taken")
    assert refusal.to_status("de").message == "seat 2 is taken"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (IllegalMove("TOO_LOW", "7 does not go on 9"), "ILLEGAL_MOVE"),
        (IllegalMove("NOT_YOUR_TURN", "seat 1 is to move"), "NOT_YOUR_TURN"),
        (IllegalMove("GAME_OVER", "the game is over"), "GAME_OVER"),
        (IllegalMove("DEAL_DUE", "a deal is due"), "GAME_NOT_STARTED"),
        (MalformedMove("NO_CARDS", "name cards"), "MALFORMED_MOVE"),
        (InvalidOptions("INVALID_OPTION", "decks is 1 or 2"), "INVALID_OPTIONS"),
    ],
)
def test_what_the_rules_refuse_keeps_their_reason(error, reason: str) -> None:
    refusal = refused_by_rules(error, "move")
    assert refusal.reason == reason
    assert refusal.facts == {"rule_reason": error.reason}
    assert refusal.message == str(error)


def test_what_a_store_refuses() -> None:
    assert refused_by_journal(QueueFull("full")).reason == "SERVER_BUSY"
    assert refused_by_journal(JournalUnavailable("gone")).reason == "JOURNAL_UNAVAILABLE"
    assert refused_by_journal(JournalLocked("locked")) is None


def test_fields_that_are_wrong_or_missing_are_named() -> None:
    assert wrong_field("seat", "is 0 to 2").fields == (("seat", "is 0 to 2"),)
    assert missing_field("game").message == "game: is required"
