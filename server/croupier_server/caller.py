"""Who is calling.

The law of this file: a caller is what a verified token says, or nobody. Nothing in it was
taken from a request on trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from croupier_server.refusal_texts import spoken

GUEST: Final = "guest"
HOUSE: Final = "house"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of one call, and how to answer it.

    ``player`` is ``players/{id}``, empty without a token. ``role`` is ``guest``, ``house`` or
    empty. ``languages`` are BCP 47 tags in lower case, most wanted first. ``trace_id`` is 32 hex
    digits that log lines of the call carry.
    """

    player: str = ""
    display_name: str = ""
    role: str = ""
    languages: tuple[str, ...] = ()
    trace_id: str = ""

    @property
    def is_house(self) -> bool:
        """True for the house's bots."""
        return self.role == HOUSE

    @property
    def language(self) -> str:
        """The language of refusals: ``refusal.to_status(caller.language)``."""
        return spoken(self.languages)
