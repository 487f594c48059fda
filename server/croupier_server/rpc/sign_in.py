"""SignIn: from a name to a token.

The law of this file: signing in writes nothing. A player is who a token says; the id of a
repeatable sign-in follows from its request_id and name, so a repeat on any replica is the same
player, and whoever does not know the request_id cannot become that player.
"""

from __future__ import annotations

from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.v1 import players_pb2
from croupier_server import checks, fold
from croupier_server.caller import HOUSE, Caller
from croupier_server.ids import Ids, random_id
from croupier_server.tokens import Issued, Tokens

LONGEST_NAME: Final = 40
"""Characters of a display name."""

_HOUSE_NAME: Final = "House"


class SignIn:
    """The sign-in half of PlayerService."""

    def __init__(self, tokens: Tokens, ids: Ids) -> None:
        self._tokens: Final = tokens
        self._ids: Final = ids

    async def sign_in(self, request: players_pb2.SignInRequest, caller: Caller) -> players_pb2.SignInResponse:
        """A token for a new guest; for a caller with a live token, a new one for the same player.

        Raises ``Refusal`` MISSING_FIELD or INVALID_FIELD.
        """
        name = checks.text_for_people(
            "display_name", request.display_name, LONGEST_NAME, required=not caller.player
        )
        request_id = checks.random_uuid("request_id", request.request_id)
        if caller.player:
            player, name, role = caller.player, name or caller.display_name, caller.role
            return _answer(player, name, self._tokens.issue(player, name, role))
        player_id = self._ids.derived("SignIn", request_id, name) if request_id else random_id()
        player = f"players/{player_id}"
        return _answer(player, name, self._tokens.issue(player, name))


def house_token(tokens: Tokens) -> str:
    """A token for the house, which is one player whatever processes play for it."""
    return tokens.issue(fold.HOUSE, _HOUSE_NAME, HOUSE).token


def _answer(player: str, name: str, issued: Issued) -> players_pb2.SignInResponse:
    return players_pb2.SignInResponse(
        player=players_pb2.Player(name=player, display_name=name),
        token=issued.token,
        expire_time=Timestamp(seconds=issued.expires),
    )
