"""Bearer tokens: who somebody is, signed.

The law of this file: a token says who its bearer is and nothing else decides it. It is a JWT
signed with HS256 under a key of the journal, so every replica takes the tokens of all others.
The newest key signs; older ones still verify until they are dropped. A token is a secret and
never in a log line, an error or an argument of a process.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import jwt

from croupier_server.caller import GUEST, HOUSE
from croupier_server.errors import Refusal, refuse
from croupier_server.journal.base import Journal

_JOURNAL_KEY: Final = "token-key"
_KEY_BYTES: Final = 32
_MOST_KEYS: Final = 3
_LONGEST: Final = 2048
_CLAIMS: Final = ("sub", "name", "role", "iat", "exp")
_LIFETIME_S: Final = {GUEST: 30 * 86_400, HOUSE: 86_400}
_RELOAD_EVERY_S: Final = 5.0


class Identity(NamedTuple):
    """What a verified token says; ``expires`` is Unix seconds."""

    player: str
    display_name: str
    role: str
    expires: int


class Issued(NamedTuple):
    """A new token and when it ends, in Unix seconds."""

    token: str
    expires: int


class _UnknownKey(Exception):
    """The token was signed with a key that is not known here (yet)."""


class Tokens:
    """Issues and verifies tokens. ``clock`` gives Unix seconds."""

    def __init__(
        self, journal: Journal, keys: bytes, *, cache_size: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._journal: Final = journal
        self._clock: Final = clock
        self._cache_size: Final = cache_size
        self._cache: dict[str, Identity] = {}
        self._keys = _by_id(keys)
        self._next_reload = 0.0

    @classmethod
    async def load(
        cls, journal: Journal, *, cache_size: int = 10_000, clock: Callable[[], float] = time.time
    ) -> Tokens:
        """With the journal's keys; the first one ever makes them."""
        return cls(journal, await _stored_keys(journal), cache_size=cache_size, clock=clock)

    def issue(self, player: str, display_name: str, role: str = GUEST) -> Issued:
        """A token for ``players/{id}``: 30 days, a day for the house."""
        now = int(self._clock())
        expires = now + _LIFETIME_S[role]
        claims = {"sub": player, "name": display_name, "role": role, "iat": now, "exp": expires}
        key_id, key = next(iter(self._keys.items()))
        return Issued(jwt.encode(claims, key, algorithm="HS256", headers={"kid": key_id}), expires)

    async def identify(self, token: str) -> Identity:
        """Whose token it is. Raises ``Refusal`` TOKEN_INVALID, TOKEN_EXPIRED.

        A key that another process has rotated in is looked up in the journal.
        """
        known = self._cache.get(token)
        if known is None:
            known = await self._verified(token)
            if len(self._cache) >= self._cache_size:
                del self._cache[next(iter(self._cache))]
        else:
            del self._cache[token]
        self._cache[token] = known
        if known.expires <= self._clock():
            del self._cache[token]
            raise refuse("TOKEN_EXPIRED", "the token's time is over; sign in again")
        return known

    async def _verified(self, token: str) -> Identity:
        try:
            return self._decoded(token)
        except _UnknownKey:
            if self._clock() >= self._next_reload:
                self._next_reload = self._clock() + _RELOAD_EVERY_S
                self._keys = _by_id(await _stored_keys(self._journal))
        try:
            return self._decoded(token)
        except _UnknownKey:
            raise _invalid() from None

    def _decoded(self, token: str) -> Identity:
        if len(token) > _LONGEST:
            raise _invalid()
        try:
            key = self._keys.get(str(jwt.get_unverified_header(token).get("kid")))
            if key is None:
                raise _UnknownKey
            options: Any = {"require": _CLAIMS, "verify_exp": False, "verify_iat": False}
            claims = jwt.decode(token, key, algorithms=["HS256"], options=options)
        except jwt.PyJWTError:
            raise _invalid() from None
        return Identity(claims["sub"], claims["name"], claims["role"], claims["exp"])


async def rotate(journal: Journal) -> None:
    """Sign with a fresh key from now on; tokens of the two keys before it still verify.

    Processes that are running go on signing with their key until they are started again.
    """
    old = await _stored_keys(journal)
    kept = old[: (_MOST_KEYS - 1) * _KEY_BYTES]
    await journal.key(_JOURNAL_KEY, secrets.token_bytes(_KEY_BYTES) + kept, replace=True)


async def _stored_keys(journal: Journal) -> bytes:
    return await journal.key(_JOURNAL_KEY, secrets.token_bytes(_KEY_BYTES))


def _by_id(keys: bytes) -> dict[str, bytes]:
    parts = [keys[i : i + _KEY_BYTES] for i in range(0, len(keys), _KEY_BYTES)]
    return {hashlib.sha256(part).hexdigest()[:8]: part for part in parts}


def _invalid() -> Refusal:
    return refuse("TOKEN_INVALID", "the bearer token is not one of this server's")
