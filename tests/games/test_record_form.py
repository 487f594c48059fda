"""The form of records: whatever comes in, a ``RecordError`` names it, and nothing else is raised."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier_games import GAMES
from croupier_games.game import Plain
from croupier_games.records import RecordError, format_record, parse_record, verify, verify_lines
from games.playing import Setup, play

SMALL = {name: play(Setup(name, 3)).record() for name in GAMES}
HUGE = 10**4000
ODD: list[Any] = [True, -1, 1.5, HUGE, 2**60, "x", "x" * 10**5, "\ud800\0", [[]], {}, {"": None}, [None]]

odd_json = st.recursive(
    st.sampled_from([None, [], *ODD]) | st.integers() | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def refusal(record: Any) -> str | None:
    """Why the record does not hold, or None; any other error than a ``RecordError`` is raised."""
    try:
        verify(record)
    except RecordError as error:
        return str(error)
    return None


def paths(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a record, of long lists only the first ones."""
    inner = list(part.items()) if isinstance(part, dict) else []
    inner += list(enumerate(part))[:3] if isinstance(part, list) else []
    return [path, *(found for key, each in inner for found in paths(each, (*path, key)))]


def replaced(record: Plain, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed: Any = copy.deepcopy(record)
    part = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return changed


@given(odd_json)
def test_no_odd_value_is_a_record(value: Any) -> None:
    assert refusal(value)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_an_odd_value_anywhere_is_refused_alike_in_a_line_and_in_plain_data(
    name: str, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(paths(SMALL[name])))
    record = replaced(SMALL[name], path, data.draw(odd_json))
    (verdict,) = verify_lines([format_record(record)])
    assert refusal(record) == (verdict.error and f"{verdict.error.where}: {verdict.error.why}")


@pytest.mark.parametrize("value", [*ODD, 10**5000], ids=range(len(ODD) + 1))
@pytest.mark.parametrize("field", ["game", "players", "deals", "moves", "result", "nonces", "server_seed"])
def test_an_odd_value_is_named_by_its_field(field: str, value: Any) -> None:
    with pytest.raises(RecordError) as error:
        verify(SMALL["doudizhu"] | {field: value})
    assert error.value.where.startswith(field.removesuffix("s"))


@pytest.mark.parametrize("field", ["game", "players", "options", "deals", "moves", "scores", "facts"])
def test_a_field_that_is_missing_is_named(field: str) -> None:
    record = {key: part for key, part in SMALL["doudizhu"].items() if key != field}
    with pytest.raises(RecordError, match=f"^{field}: (is|are) (missing|null)"):
        verify(record)


@pytest.mark.parametrize("key", ["d", "s", "m"])
def test_a_part_of_a_move_that_is_missing_is_named(key: str) -> None:
    record = copy.deepcopy(SMALL["doudizhu"])
    del record["moves"][7][key]
    with pytest.raises(RecordError, match=f"^move 7, {key}: is missing"):
        verify(record)


def test_fields_of_a_later_version_are_passed_over() -> None:
    record = copy.deepcopy(SMALL["doudizhu"]) | {"weather": {"is": [1.5, "fine"]}}
    record["moves"][0]["mood"] = None
    assert verify(record).recomputed


@pytest.mark.parametrize("name", ["self", "players", "given", "jokers", ""])
def test_an_option_cannot_be_anything_but_an_option(name: str) -> None:
    record = SMALL["doudizhu"]
    with pytest.raises(RecordError, match=r"^options: "):
        verify(record | {"options": record["options"] | {name: 3}})


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[" * 100_000,
        '{"game":' * 100_000,
        "1" * 5000,
        b"\xff\xfe",
        "\ufeff{}",
        '{"players": NaN}',
        '{"game": "doudizhu", "game": "doudizhu"}',
        "null",
        '"doudizhu"',
        "[]",
        "{}",
    ],
    ids=lambda line: str(line)[:12],
)
def test_a_line_that_is_no_record_is_named(line: str | bytes) -> None:
    with pytest.raises(RecordError, match=r"^line 3: (record|game): \S"):
        parse_record(line, 3)
    (verdict,) = verify_lines([line])
    assert verdict.error is not None
    assert verdict.error.line == 1


def test_deep_nesting_is_refused_wherever_rules_would_look_at_it() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    for field in ("facts", "options"):
        with pytest.raises(RecordError, match=f"^{field}: is nested"):
            verify(SMALL["doudizhu"] | {field: {"void": deep}})
    with pytest.raises(RecordError, match=r"^deal 0: is nested"):
        verify(SMALL["doudizhu"] | {"deals": [{"hands": deep}]})


def test_an_error_is_short_however_long_what_it_is_about() -> None:
    record = copy.deepcopy(SMALL["doudizhu"])
    record["deals"][0]["hands"] = [["x" * 10**6]] * 3
    with pytest.raises(RecordError) as error:
        verify({key: part for key, part in record.items() if key != "server_seed"})
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    "path", [("game",), ("moves", 2, "m"), ("facts", "\x1b[2J"), ("deals", 0, "hands", 0, 0)]
)
def test_an_error_is_safe_to_print(path: tuple[Any, ...]) -> None:
    unsigned = {key: part for key, part in SMALL["doudizhu"].items() if key != "server_seed"}
    reason = refusal(replaced(unsigned, path, "\x1b]0;\n"))
    assert reason is not None
    assert reason.isprintable()


def test_hex_is_lower_case_and_nothing_but_hex() -> None:
    record = SMALL["doudizhu"]
    seed = record["server_seed"]
    for odd in (seed.upper(), " " + seed[:-1], "0" * 62, "0" * 66, "zz" * 32):
        with pytest.raises(RecordError, match=r"^server_seed: "):
            verify(json.loads(format_record(record)) | {"server_seed": odd})
