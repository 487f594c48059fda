"""Games that can be taken up again: who finds them, and when they are gone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from croupier.cli.playing.kept import Keeping, KeptGame, fresh_journal, take_up, token_left_at


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def left(table: str, server: str = "host:1") -> KeptGame:
    """A game that was begun and left."""
    kept = KeptGame("doudizhu", table, f"token of {table}", server=server)
    Keeping.begin(kept).close()
    return kept


def test_a_game_that_was_left_is_found_by_table_and_server() -> None:
    one, other = left("tables/one"), left("tables/other", "host:2")
    for kept in (one, other):
        keeping = take_up(kept.table)
        assert keeping is not None
        assert keeping.kept == kept
        keeping.close()
    assert take_up("tables/one", "host:2") is None
    assert take_up("tables/third") is None


def test_a_game_that_is_being_played_is_not_found_but_its_token_is() -> None:
    keeping = Keeping.begin(KeptGame("doudizhu", "tables/one", "secret", server="host:1"))
    assert take_up() is None
    assert token_left_at("tables/one", "host:1") == "secret"
    assert token_left_at("tables/one", "host:2") == ""
    keeping.close()


def test_a_game_that_is_over_is_gone_with_its_journal(home: Path) -> None:
    journal = fresh_journal()
    for part in ("", "-wal", "-shm", ".lock"):
        Path(f"{journal}{part}").touch()
    keeping = Keeping.begin(KeptGame("doudizhu", "tables/one", "secret", journal=str(journal)))
    keeping.over = True
    keeping.close()
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_files_are_their_owners_alone(home: Path) -> None:
    left("tables/one")
    fresh_journal()
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert modes[home / "state/croupier"] == modes[home / "data/croupier/games"] == 0o700


def test_what_is_no_kept_game_is_passed_over(home: Path) -> None:
    left("tables/one")
    folder = home / "state/croupier/games"
    (folder / "junk.json").write_text("{}")
    (folder / "more.json").write_text("nonsense")
    keeping = take_up()
    assert keeping is not None
    keeping.close()


def test_the_token_is_not_in_the_text_of_a_kept_game() -> None:
    assert "secret" not in repr(KeptGame("doudizhu", "tables/one", "secret"))
