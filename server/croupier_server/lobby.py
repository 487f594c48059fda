"""Rows and pages of the lobby, and the tokens that lead from one page to the next.

The law of this file: a page token is opaque, signed, and bound to the filter that it was made
for; pages run from the newest table to the oldest, so what is created meanwhile shifts nothing.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hmac
import json
from collections.abc import Sequence
from typing import Any, Final

from croupier_server.errors import refuse
from croupier_server.fold import HOUSE, Draft, Phase, TableState
from croupier_server.journal.base import PageKey, Row, RowFilter, Stored
from croupier_server.views import row_data

_SIGNATURE: Final = 16


class PageTokens:
    """Makes and reads page tokens under a key kept with the journal."""

    def __init__(self, key: bytes) -> None:
        self._key: Final = key

    def token(self, bound_to: str, place: list[Any]) -> str:
        """A token for a place, valid with the same ``bound_to`` only."""
        body = json.dumps(place, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._sign(bound_to, body) + body).rstrip(b"=").decode()

    def place(self, bound_to: str, token: str) -> list[Any]:
        """The place of a token. Raises ``Refusal`` INVALID_PAGE_TOKEN."""
        try:
            raw = base64.urlsafe_b64decode(token.encode() + b"=" * (-len(token) % 4))
        except (binascii.Error, ValueError):
            raise _invalid() from None
        signature, body = raw[:_SIGNATURE], raw[_SIGNATURE:]
        if not hmac.compare_digest(signature, self._sign(bound_to, body)):
            raise _invalid()
        place: list[Any] = json.loads(body)
        return place

    def _sign(self, bound_to: str, body: bytes) -> bytes:
        message = b"croupier/page/v1\0" + bound_to.encode() + b"\0" + body
        return hmac.digest(self._key, message, "sha256")[:_SIGNATURE]

    def next_rows(self, where: RowFilter, rows: list[Row], limit: int) -> str:
        """The token for the page behind ``rows``; empty when they were the last."""
        if len(rows) <= limit:
            return ""
        last = rows[limit - 1]
        return self.token(f"tables {where!r}", [last.created_ms, last.stream])

    def rows_key(self, where: RowFilter, token: str) -> PageKey | None:
        """Where the page of a token begins; None for the first page. Raises ``Refusal``."""
        return PageKey(*self.place(f"tables {where!r}", token)) if token else None


def lobby_row(state: TableState) -> Row:
    """The row by which the lobby and inboxes know a table."""
    subjects: dict[str, None] = {}
    if state.phase is not Phase.ENDED:
        subjects[f"created-by:{state.creator}"] = None
        for seat in state.seats:
            subject = seat.player or seat.invited or (HOUSE if seat.level else "")
            if subject:
                subjects[subject] = None
            if seat.player:
                subjects[f"seated:{seat.player}"] = None
    return Row(
        stream=state.name,
        game=state.created.game,
        state=state.phase.name,
        free_seats=sum(seat.free for seat in state.seats) if state.phase is Phase.OPEN else 0,
        listed=not state.created.private,
        created_ms=state.created_ms,
        subjects=tuple(subjects),
        data=row_data(state),
    )


def row_after(state: TableState, datas: Sequence[bytes], drafts: Sequence[Draft]) -> Row:
    """The row of a table as it will be after a batch: the drafts, and the entries made of them."""
    after = copy.copy(state)
    after.requests = {}
    for data, own in zip(datas, drafts, strict=True):
        after.fold(Stored(after.seq + 1, data), own)
    return lobby_row(after)


def _invalid() -> Exception:
    return refuse("INVALID_PAGE_TOKEN", "page_token is not one of this list with this filter; start over")
