"""Dealing that anyone can check with SHA-256 and HMAC alone.

The law of this file: a deal follows from the board, the server's seed, the deal's number and
the players' nonces, and from nothing else; the seed and the nonces are promised before the
first card. So the same inputs give the same deal on every machine and in every version: a
change here that moves one card breaks every published commitment.

``board`` is a text that names where the deal comes from: a table's resource name, or the
tournament board that the table replays. All texts are UTF-8; ``\\0`` is a byte of zero.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier_games.game import Game, GameError, Plain

SEED_BYTES: Final = 32
NONCE_BYTES: Final = range(16, 33)
"""The lengths that a player's nonce may have."""

Nonces = Sequence[bytes | None]
"""One entry a seat, None where the seat gave no nonce; or empty when no seat gave one."""

_WORD: Final = 1 << 32


class InvalidDealing(GameError):
    """A board, seed, nonce, number or seat that no deal can be made from."""


def commitment(board: str, seed: bytes) -> bytes:
    """The 32 bytes published when a table is created: SHA-256 over board and seed.

    Raises ``InvalidDealing`` for a seed that is not 32 bytes or a board with a NUL.
    """
    return hashlib.sha256(b"croupier/commit/v1\0" + _board(board) + b"\0" + _seed(seed)).digest()


def nonce_commitment(board: str, seat: int, nonce: bytes) -> bytes:
    """The 32 bytes by which ``seat`` promises its nonce (16 to 32 bytes) when it joins.

    Raises ``InvalidDealing`` for a nonce, seat or board that cannot be.
    """
    promise = _board(board) + b"\0" + _seat(seat) + _nonce(nonce)
    return hashlib.sha256(b"croupier/nonce/v1\0" + promise).digest()


def deal_key(board: str, seed: bytes, number: int, nonces: Nonces = ()) -> bytes:
    """The key of deal ``number`` (from 0; redeals count): HMAC-SHA256 under the server's seed.

    Raises ``InvalidDealing`` for values that cannot be.
    """
    if isinstance(number, bool) or not 0 <= number < _WORD:
        raise InvalidDealing("INVALID_DEAL_NUMBER", f"a deal's number is 0 to {_WORD - 1}, not {number!r}")
    checked = [(seat, _nonce(nonce)) for seat, nonce in enumerate(nonces) if nonce is not None]
    given = b"".join(_seat(seat) + bytes([len(nonce)]) + nonce for seat, nonce in checked)
    message = b"croupier/deal/v1\0" + _board(board) + b"\0" + number.to_bytes(4, "big") + given
    return hmac.digest(_seed(seed), message, "sha256")


class ByteStream:
    """The endless bytes of one deal: HMAC-SHA256(key, i) for i = 0, 1, 2, … as 64 bits.

    The one mutable thing in dealing; it lives no longer than the deal that it makes.
    """

    __slots__ = ("_block", "_key", "_left")

    def __init__(self, key: bytes) -> None:
        self._key: Final = key
        self._block = 0
        self._left = b""

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        while len(self._left) < count:
            self._left += hmac.digest(self._key, self._block.to_bytes(8, "big"), "sha256")
            self._block += 1
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def below(self, n: int) -> int:
        """A number from 0 to ``n - 1``, each equally likely; ``n`` is 1 to 2**32.

        Words of four bytes that would favour the small numbers are skipped. Raises
        ``ValueError`` for another ``n``.
        """
        if not 0 < n <= _WORD:
            raise ValueError(f"below() takes 1 to {_WORD}, not {n}")
        fair = _WORD // n * n
        while True:
            word = int.from_bytes(self.take(4), "big")
            if word < fair:
                return word % n


def shuffled(cards: Sequence[int], stream: ByteStream) -> list[int]:
    """The cards in the order that ``stream`` puts them in (Fisher and Yates, from the last down)."""
    order = list(cards)
    for last in range(len(order) - 1, 0, -1):
        other = stream.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def deal(
    game: Game[Any, Any],
    options: Mapping[str, Any],
    players: int,
    board: str,
    seed: bytes,
    number: int,
    nonces: Nonces = (),
    first: int | None = None,
) -> Plain:
    """Deal ``number`` of a game as plain data, ready for ``load_deal`` or ``next_deal``.

    ``options`` are resolved ones. ``first`` is the first seat where the rules fix it
    (``game.next_first(state)``); None, as for the first deal of every game, draws it from the
    same stream after the shuffle. Raises ``InvalidDealing`` for values that cannot be, also
    when ``nonces`` is neither empty nor one entry a seat.
    """
    if len(nonces) not in (0, players):
        raise InvalidDealing("INVALID_NONCE", f"{len(nonces)} nonces for {players} seats")
    if first is not None and first not in range(players):
        raise InvalidDealing("INVALID_SEAT", f"the first seat is 0 to {players - 1}, not {first}")
    stream = ByteStream(deal_key(board, seed, number, nonces))
    cards = shuffled(game.deck(players, options), stream)
    return game.deal_from(cards, stream.below(players) if first is None else first, players)


def _board(board: str) -> bytes:
    try:
        encoded = board.encode()
    except UnicodeEncodeError as error:
        raise InvalidDealing("INVALID_BOARD", f"the board {board!r} is no text") from error
    if b"\0" in encoded:
        raise InvalidDealing("INVALID_BOARD", f"the board {board!r} contains a NUL")
    return encoded


def _seed(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise InvalidDealing("INVALID_SEED", f"a seed is {SEED_BYTES} bytes, not {len(seed)}")
    return seed


def _nonce(nonce: bytes) -> bytes:
    if len(nonce) not in NONCE_BYTES:
        raise InvalidDealing("INVALID_NONCE", f"a nonce is 16 to 32 bytes, not {len(nonce)}")
    return nonce


def _seat(seat: int) -> bytes:
    if isinstance(seat, bool) or not 0 <= seat < 256:
        raise InvalidDealing("INVALID_SEAT", f"a seat is 0 to 255, not {seat!r}")
    return bytes([seat])
