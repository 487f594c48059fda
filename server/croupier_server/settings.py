"""The bounds and times that a server process works by.

The law of this file: nothing is unbounded. Every limit that a client can meet is here, with
its unit; ``GetServerInfo`` tells clients those that they must keep. Each can be set by an
environment variable: ``CROUPIER_`` and its name in upper case.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

BOT_LEVELS: Final = ("random", "easy", "normal", "hard", "expert")
"""The levels that house bots play at, weakest first; those of ``croupier.bots``."""

_PREFIX: Final = "CROUPIER_"


class InvalidSetting(ValueError):
    """A setting that is no number or out of range; ``str()`` names it for people."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All limits. Seconds are floats, sizes bytes. Raises ``InvalidSetting`` for one below its least."""

    # messages and lists
    max_message_bytes: int = 256 * 1024
    """Largest message in either direction; MESSAGE_TOO_LARGE beyond."""
    max_record_bytes: int = 4 * 1024 * 1024 - 1024
    """Largest answer of GetRecord, which is the one larger message; a client's own default is 4 MiB."""
    max_page_size: int = 200
    default_page_size: int = 50
    max_legal_moves: int = 500
    """Legal moves sent with a turn; ListLegalMoves pages through more."""
    # one stream
    max_moves_in_flight: int = 64
    """Unanswered moves of one Play stream; TOO_MANY_MOVES beyond."""
    max_tables_per_stream: int = 1000
    """Subscriptions of one Play stream; TOO_MANY_SUBSCRIPTIONS beyond."""
    subscriber_queue_bytes: int = 512 * 1024
    """What may wait for one stream's client before its tables are resynced by snapshots."""
    heartbeat_s: float = 15.0
    """Longest silence on a healthy stream."""
    # one player, one process
    max_streams: int = 64
    """Open streams of one player; the house is bound by ``max_open_streams`` alone."""
    max_anonymous_streams: int = 1000
    """Open streams of all callers without a token together."""
    max_open_streams: int = 10_000
    """Open streams of the process."""
    max_calls: int = 2000
    """Unary calls at work at once; TOO_MANY_CALLS beyond."""
    max_open_tables: int = 200
    """Unfinished tables one player may have created or sit at; the house has no bound. Exact in one
    process; N that are asked in the same moment may let N - 1 more in."""
    unary_deadline_s: float = 20.0
    """The server's own deadline of a unary call; a shorter one of the client's counts too."""
    token_cache: int = 10_000
    """Verified tokens that are remembered."""
    # the lives of tables
    nonce_wait_s: float = 10.0
    """How long a full table waits for promised nonces."""
    open_table_ttl_s: float = 3600.0
    """After so long without a change an open table is closed."""
    idle_game_ttl_s: float = 86_400.0
    """After so long without a move, or half as long again, a game without a turn clock is abandoned."""
    archive_after_s: float = 600.0
    """How long after its end a table stays as it is; then it goes to the archive, if there is one."""
    archive_lease_s: float = 60.0
    """How long one process has an ended table to itself to archive it; then another may try."""
    evict_after_s: float = 60.0
    """After so long without use a table leaves memory."""
    # coming
    journal_wait_s: float = 60.0
    """How long a process that starts waits for a journal or an archive that is away; 0: not at all."""
    # going away
    drain_notice_s: float = 1.5
    """Between turning unhealthy and ending streams, so that balancers look elsewhere first."""
    drain_grace_s: float = 5.0
    """How long calls at work may take after that."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), 0.0 if field.name.endswith("_s") else 1
            if not least <= value < float("inf"):
                raise InvalidSetting(f"{field.name} is at least {least:g}, not {value}")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings with those that are set by ``CROUPIER_…``. Raises ``InvalidSetting``."""
        given: dict[str, float] = {}
        for field in fields(cls):
            text = environment.get(_PREFIX + field.name.upper())
            if text is None:
                continue
            try:
                given[field.name] = float(text) if field.name.endswith("_s") else int(text)
            except ValueError:
                raise InvalidSetting(f"{_PREFIX}{field.name.upper()} is a number, not {text!r}") from None
        return cls(**given)  # type: ignore[arg-type]  # ints where ints belong, by the suffix
