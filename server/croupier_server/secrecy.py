"""What must never be shown: names of secrets, and secrets inside texts.

The law of this file: whatever leaves by a log line or an error passes here. It is the last
line of defence: the code that knows a secret must not hand it out in the first place.
"""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[secret]"

_SECRET_WORDS: Final = frozenset(
    {
        *("token", "tokens", "authorization", "bearer", "cookie", "credential", "credentials"),
        *("secret", "secrets", "password", "passwd", "code", "seed", "seeds", "nonce", "nonces"),
        *("hand", "hands", "deck", "stock", "unders", "bottom", "deal", "deals", "cards"),
    }
)
"""A key with one of these words in it names a secret."""
_HARMLESS: Final = frozenset(
    {
        "status_code",
        "exit_code",
        "hand_number",
        "deal_number",
        "hand_count",
        "deck_count",
        "stock_count",
        "code",
    }
)
"""Keys that only look like it."""
# A token begins where no letter of one is before it: so each text is gone through once only.
_TOKEN: Final = re.compile(r"(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]*){1,2}|(?i:\bbearer\s+)[\w.~+/=-]{16,}")


def is_secret(key: str) -> bool:
    """True for a key that names a secret: ``server_seed``, ``authorization``, ``hands``."""
    lowered = key.lower()
    return lowered not in _HARMLESS and not _SECRET_WORDS.isdisjoint(re.split(r"[^a-z]+", lowered))


def masked(text: str) -> str:
    """``text`` with every bearer token in it masked."""
    return _TOKEN.sub(MASK, text)
