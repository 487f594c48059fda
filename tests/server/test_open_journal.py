"""Which journal a URL opens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from croupier_server.journal import MemoryJournal, SqliteJournal, open_journal


async def test_memory() -> None:
    assert isinstance(await open_journal("memory:"), MemoryJournal)


async def test_sqlite(tmp_path: Path) -> None:
    journal = await open_journal(f"sqlite:{tmp_path}/j.db")
    assert isinstance(journal, SqliteJournal)
    assert (tmp_path / "j.db").exists()
    await journal.close()


async def test_sqlite_knows_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    await (await open_journal("sqlite:~/j.db")).close()
    assert (tmp_path / "j.db").exists()


@pytest.mark.parametrize("url", ["", "memory", "memory:x", "sqlite:", "sqlite", "file.db", "postgres://x"])
async def test_a_url_that_names_none_is_told_what_does(url: str) -> None:
    with pytest.raises(ValueError, match=r"memory: .* sqlite:PATH"):
        await open_journal(url)


async def test_memory_in_sqlite_is_pointed_to_memory() -> None:
    with pytest.raises(ValueError, match="is memory:"):
        await open_journal("sqlite::memory:")


def test_redis_without_its_parser_is_told_what_to_install() -> None:
    program = """
import asyncio, sys
sys.modules["hiredis"] = None
from croupier_server.journal import open_journal
try:
    asyncio.run(open_journal("redis://localhost"))
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'croupier[redis]'" in done.stdout
