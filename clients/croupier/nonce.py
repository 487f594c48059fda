"""Nonces: how a player makes sure that its cards were not chosen for it.

The law of this file: a nonce is random, promised before anybody can see it, and shown once no
seat is free any more; the promise and the check follow the published derivation of deals, so
SHA-256 alone is enough. After the end ``check`` holds a table's record to all that its player
saw: what does not agree raises ``BrokenPromise``.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from croupier.errors import BrokenPromise

if TYPE_CHECKING:
    from croupier_games.records import Verified

NONCE_BYTES: Final = 32


def fresh_nonce() -> bytes:
    """32 random bytes."""
    return secrets.token_bytes(NONCE_BYTES)


def nonce_commitment(board: str, seat: int, nonce: bytes) -> bytes:
    """The promise of a nonce: SHA-256 over board, seat and nonce, as JoinTable takes it."""
    return hashlib.sha256(b"croupier/nonce/v1\0" + board.encode() + b"\0" + bytes([seat]) + nonce).digest()


@dataclass(slots=True)
class Witness:
    """What one player saw of its table, to hold the record to.

    ``hands`` are the hands dealt to it, sorted texts by the deal's number; ``moves`` the texts
    of its own moves from the first one on (None once it may have missed one), all of them once
    it ``saw_end``.
    """

    board: str
    commitment: bytes
    seat: int
    nonce: bytes = b""
    shown: bool = False
    hands: dict[int, list[str]] = field(default_factory=dict)
    moves: list[str] | None = None
    saw_end: bool = False

    def check(self, record: Mapping[str, Any]) -> Verified:
        """Verify a record, and that it is the record of what this player saw.

        Raises ``BrokenPromise`` naming the first thing that does not hold.
        """
        from croupier_games.records import RecordError, verify  # only who checks needs the rules

        self._same("board", record.get("board"), self.board)
        self._same("commitment", record.get("commitment"), self.commitment.hex())
        if not record.get("server_seed"):
            raise BrokenPromise("the record has no seed, so its deals cannot be checked", reason="NO_SEED")
        if self.shown:
            nonces = record.get("nonces") or []
            mine = nonces[self.seat] if self.seat < len(nonces) else None
            self._same("nonce", mine, self.nonce.hex())
        self._check_cards(record.get("deals") or [])
        self._check_moves(record.get("moves") or [])
        try:
            return verify(dict(record))
        except RecordError as error:
            raise BrokenPromise(str(error), reason="RECORD_DOES_NOT_HOLD") from error

    def _check_cards(self, deals: Sequence[Mapping[str, Any]]) -> None:
        for number, hand in self.hands.items():
            recorded = deals[number]["hands"][self.seat] if number < len(deals) else None
            self._same(f"hand of deal {number}", recorded and sorted(recorded), hand)

    def _check_moves(self, moves: Sequence[Mapping[str, Any]]) -> None:
        if self.moves is not None:
            recorded = [m["m"] for m in moves if m["s"] == self.seat]
            self._same("moves", recorded if self.saw_end else recorded[: len(self.moves)], self.moves)

    def _same(self, what: str, recorded: object, seen: object) -> None:
        if recorded != seen:
            raise BrokenPromise(f"the record's {what} is not what was seen", reason="RECORD_DIFFERS")
