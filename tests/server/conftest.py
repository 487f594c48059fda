"""Fixtures that many suites of the server share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from server.room import Room


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    """A server core over a journal in memory, whose time passes only when told to."""
    room = Room()
    await room.open()
    yield room
    await room.close()
