"""Ids of things: random, or derived so that a repeated request meets the same thing.

The law of this file: an id has 128 bits and 22 characters of base64url. A derived one follows
from the key and the parts alone, on every replica, and cannot be guessed without the key.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from typing import Final

_ID: Final = re.compile(r"[A-Za-z0-9_-]{22}")
_OPAQUE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BYTES: Final = 16


def random_id() -> str:
    """A fresh id."""
    return _text(secrets.token_bytes(_BYTES))


def is_name(name: str, collection: str) -> bool:
    """True for a resource name of ours: ``players/`` and an id."""
    head, _, tail = name.partition("/")
    return head == collection and _ID.fullmatch(tail) is not None


def may_be_looked_up(name: str, collection: str) -> bool:
    """True for a name that a client may ask about, ids being opaque to it: nothing needs to have it."""
    head, _, tail = name.partition("/")
    return head == collection and _OPAQUE.fullmatch(tail) is not None


class Ids:
    """Derives ids by HMAC-SHA256 under the journal's ``id-key``."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key: Final = key

    def derived(self, *parts: str) -> str:
        """The id of these parts, as in ``derived(caller.player, "CreateTable", request_id)``.

        Each part counts by itself: ``("a", "bc")`` and ``("ab", "c")`` differ.
        """
        message = b"croupier/id/v1\0"
        for part in parts:
            encoded = part.encode()
            message += len(encoded).to_bytes(4, "big") + encoded
        return _text(hmac.digest(self._key, message, "sha256")[:_BYTES])


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
