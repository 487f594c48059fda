"""What an operator does to a journal while no server runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from croupier_server import operate
from croupier_server.house_main import JOURNAL_VARIABLE
from croupier_server.journal import open_journal
from croupier_server.tokens import Tokens


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A journal, which the environment names."""
    url = f"sqlite:{tmp_path / 'journal.sqlite'}"
    monkeypatch.setenv(JOURNAL_VARIABLE, url)
    return url


async def done(task: str) -> int:
    return await asyncio.to_thread(operate.main, [task])


async def test_a_key_is_rotated_and_tokens_of_the_old_one_still_count(url: str) -> None:
    before = await tokens_of(url)
    token = before.issue("players/a", "Ann").token
    assert await done("rotate-key") == 0
    after = await tokens_of(url)
    assert (await after.identify(token)).player == "players/a"
    assert after._keys.keys() > before._keys.keys()
    assert next(iter(after._keys)) not in before._keys


async def tokens_of(url: str) -> Tokens:
    journal = await open_journal(url)
    try:
        return await Tokens.load(journal)
    finally:
        await journal.close()


async def epoch_of(url: str) -> bytes:
    journal = await open_journal(url)
    try:
        return await journal.key("epoch", b"the first")
    finally:
        await journal.close()


async def test_a_restored_journal_begins_a_new_epoch(url: str) -> None:
    assert await epoch_of(url) == b"the first"
    assert await done("restored") == 0
    begun = await epoch_of(url)
    assert begun != b"the first"
    assert await epoch_of(url) == begun


async def test_a_journal_in_use_is_left_alone(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    journal = await open_journal(url)
    try:
        assert await done("restored") == 1
    finally:
        await journal.close()
    assert "the journal cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["flush"], ["restored"]])
def test_what_is_not_asked_for_rightly_is_not_done(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(JOURNAL_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as ended:
        operate.main(arguments)
    assert ended.value.code == 2
