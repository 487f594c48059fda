"""Settings, drains, ids, languages and checks: the small parts that all others lean on."""

from __future__ import annotations

import asyncio

import pytest

from croupier_server import checks
from croupier_server.drain import Drain
from croupier_server.errors import Refusal
from croupier_server.ids import Ids, is_name, random_id
from croupier_server.languages import accepted, best
from croupier_server.settings import InvalidSetting, Settings


def test_settings_come_from_the_environment() -> None:
    settings = Settings.from_environment(
        {"CROUPIER_MAX_STREAMS": "3", "CROUPIER_HEARTBEAT_S": "0.5", "X": "y"}
    )
    assert (settings.max_streams, settings.heartbeat_s) == (3, 0.5)
    assert settings.max_calls == Settings().max_calls


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_STREAMS", "many"),
        ("MAX_STREAMS", "0"),
        ("MAX_STREAMS", "1.5"),
        ("HEARTBEAT_S", "-1"),
        ("HEARTBEAT_S", "nan"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=f"(?i){name}"):
        Settings.from_environment({f"CROUPIER_{name}": value})


async def test_a_drain_tells_everybody_once_and_latecomers_at_once() -> None:
    drain, told = Drain(), []
    waiting = asyncio.create_task(drain.wait())
    drain.add(lambda: told.append("first"))
    take_back = drain.add(lambda: told.append("not any more"))
    take_back()
    drain.begin()
    drain.begin()
    drain.add(lambda: told.append("late"))
    await waiting
    assert (told, drain.is_on) == (["first", "late"], True)


def test_derived_ids_follow_from_each_part_and_the_key() -> None:
    ids = Ids(b"k" * 32)
    assert ids.derived("a", "bc") == Ids(b"k" * 32).derived("a", "bc")
    assert (
        len(
            {
                ids.derived("a", "bc"),
                ids.derived("ab", "c"),
                ids.derived("abc"),
                Ids(b"o" * 32).derived("a", "bc"),
            }
        )
        == 4
    )


def test_ids_make_names() -> None:
    for name_id in (random_id(), Ids(b"k" * 32).derived("x")):
        assert is_name(f"tables/{name_id}", "tables")
        assert not is_name(f"tables/{name_id}", "players")
    assert not is_name("tables/x", "tables")
    assert not is_name("tables/" + "é" * 22, "tables")


@pytest.mark.parametrize(
    ("header", "languages"),
    [
        ("", ()),
        ("de", ("de",)),
        ("de-CH, en;q=0.5, fr;q=0.9, *;q=0.1", ("de-ch", "fr", "en")),
        ("en;q=0, de", ("de",)),
        ("en;q=x, ;;, ü", ()),
        (",".join(["aa"] * 99), ("aa",) * 10),
    ],
)
def test_accepted_languages_by_weight(header: str, languages: tuple[str, ...]) -> None:
    assert accepted(header) == languages


def test_the_best_language_is_the_first_that_is_there() -> None:
    assert best(("fr", "de-ch", "en"), {"en", "de"}) == "de"
    assert best(("fr",), {"en", "de"}) == "en"


@pytest.mark.parametrize(("asked", "given"), [(0, 50), (1, 1), (200, 200), (9999, 200)])
def test_page_sizes(asked: int, given: int) -> None:
    assert checks.page_size(asked, Settings()) == given


@pytest.mark.parametrize(
    "check",
    [
        lambda: checks.page_size(-1, Settings()),
        lambda: checks.request_id("x" * 65),
        lambda: checks.request_id("a\nb"),
        lambda: checks.table_name("name", ""),
        lambda: checks.table_name("name", "tables/x/y"),
        lambda: checks.player_name("player", ""),
        lambda: checks.player_name("player", "players/house"),
        lambda: checks.text_for_people("title", "x" * 81, 80),
    ],
)
def test_fields_that_are_refused_are_named(check) -> None:
    with pytest.raises(Refusal) as caught:
        check()
    assert caught.value.reason in ("INVALID_FIELD", "MISSING_FIELD")
    assert caught.value.fields


def test_fields_that_pass_come_back() -> None:
    name = f"tables/{random_id()}"
    assert checks.table_name("name", name) == name
    assert checks.request_id("é" * 64) == "é" * 64
    assert checks.text_for_people("title", " A table ", 80) == "A table"
