"""What is public, and what it needs."""

from __future__ import annotations

import subprocess
import sys

import croupier

PUBLIC = """
AlreadySeated Backoff Bot BotFault BrokenPromise Client ConnectionLost Created Dealt Ended Error Event Filled
Game GameOver IllegalMove InboxItem InvalidRequest LimitReached MalformedMove Moved NotFound NotYourTurn
Outcome PermissionDenied Presence Seat SeatChanged SeatTaken ServerFault Snapshot StaleMove Step Table
TableFull Turn Unauthenticated Unavailable Unseen Watch WrongState connect plain play_bot serve_invitations
""".split()  # noqa: SIM905 - read as a list of words


def test_public_names() -> None:
    assert sorted(croupier.__all__) == sorted(PUBLIC)
    assert all(hasattr(croupier, name) for name in PUBLIC)


def test_everything_public_is_described() -> None:
    messages = {"Game", "InboxItem", "Table"}  # described beside the protos
    described = {name for name in croupier.__all__ if (getattr(croupier, name).__doc__ or "").strip()}
    assert set(croupier.__all__) - described <= messages


def test_base_install_is_enough() -> None:
    """Neither the rules, nor the server, nor anything of the extras is imported."""
    asked = "import croupier, sys; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    extras = {"croupier_games", "croupier_server", "structlog", "uvloop", "typer", "rich", "jwt"}
    assert not extras & set(found.split())
