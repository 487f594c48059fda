"""Who may call what, and how much at once.

The law of this file: every method has an access; a call gets in only as a verified caller,
within the limits of ``Settings``, and what it takes up is given back when it ends. Nothing
here knows the transport.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Final

from croupier_server.caller import Caller
from croupier_server.errors import refuse
from croupier_server.languages import accepted
from croupier_server.settings import Settings
from croupier_server.tokens import Tokens


class Access(Enum):
    """What a method asks of its caller."""

    PROBE = "for those who run the server: no token is looked at, no limit holds"
    OPEN = "no token is looked at"
    OPTIONAL = "a token is not needed, but has to be a good one"
    PLAYER = "a token is needed"


ACCESS: Final[Mapping[str, Access]] = {
    "croupier.v1.GameService.ListGames": Access.OPEN,
    "croupier.v1.GameService.GetRules": Access.OPEN,
    "croupier.v1.GameService.GetServerInfo": Access.OPEN,
    "croupier.v1.PlayerService.SignIn": Access.OPTIONAL,
    "croupier.v1.PlayerService.WatchInbox": Access.PLAYER,
    "croupier.v1.TableService.CreateTable": Access.PLAYER,
    "croupier.v1.TableService.GetTable": Access.OPTIONAL,
    "croupier.v1.TableService.ListTables": Access.OPTIONAL,
    "croupier.v1.TableService.JoinTable": Access.PLAYER,
    "croupier.v1.TableService.LeaveTable": Access.PLAYER,
    "croupier.v1.TableService.InviteBot": Access.PLAYER,
    "croupier.v1.TableService.WatchTable": Access.OPTIONAL,
    "croupier.v1.TableService.MakeMove": Access.PLAYER,
    "croupier.v1.TableService.ListLegalMoves": Access.PLAYER,
    "croupier.v1.TableService.Play": Access.PLAYER,
    "croupier.v1.TableService.GetRecord": Access.OPTIONAL,
    "grpc.health.v1.Health.Check": Access.PROBE,
    "grpc.health.v1.Health.List": Access.PROBE,
    "grpc.health.v1.Health.Watch": Access.PROBE,
    "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo": Access.OPEN,
}
"""By a method's full name."""

_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class Admission:
    """Lets calls in and counts what is open."""

    def __init__(self, settings: Settings, tokens: Tokens) -> None:
        self._settings: Final = settings
        self._tokens: Final = tokens
        self._streams: Final[dict[str, int]] = {}
        self.open_streams = 0
        """Streams that are open, probes not counted."""
        self.calls = 0
        """Unary calls at work, probes not counted."""

    async def caller(self, access: Access, metadata: Iterable[tuple[str, str | bytes]]) -> Caller:
        """Who calls, by its metadata.

        Raises ``Refusal`` TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED or JOURNAL_UNAVAILABLE.
        """
        languages, trace_id, authorization = _read(metadata)
        needs_token = access is Access.PLAYER
        if authorization is None or not (needs_token or access is Access.OPTIONAL):
            if needs_token:
                raise refuse("TOKEN_MISSING", "this call needs a bearer token; SignIn gives one")
            return Caller(languages=languages, trace_id=trace_id)
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise refuse("TOKEN_INVALID", "the authorization metadata is: Bearer and a token")
        who = await self._tokens.identify(token.strip())
        return Caller(who.player, who.display_name, who.role, languages, trace_id)

    def begin_call(self) -> None:
        """A unary call is at work until ``end_call``. Raises ``Refusal`` TOO_MANY_CALLS."""
        if self.calls >= self._settings.max_calls:
            raise refuse("TOO_MANY_CALLS", "the server has too much to do; try again in a moment")
        self.calls += 1

    def end_call(self) -> None:
        """A unary call that had begun is over."""
        self.calls -= 1

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """A stream that is open. Raises ``Refusal`` TOO_MANY_STREAMS; ``scope`` says whose bound it is."""
        settings, whose = self._settings, caller.player
        if self.open_streams >= settings.max_open_streams:
            raise refuse("TOO_MANY_STREAMS", "the server has too many streams open", scope="server")
        most = settings.max_streams if whose else settings.max_anonymous_streams
        held = self._streams.get(whose, 0)
        if held >= most and not caller.is_house:
            scope = "player" if whose else "anonymous"
            raise refuse("TOO_MANY_STREAMS", f"{held} streams are open already", scope=scope, limit=most)
        self._streams[whose] = held + 1
        self.open_streams += 1
        try:
            yield
        finally:
            self.open_streams -= 1
            left = self._streams[whose] - 1
            if left:
                self._streams[whose] = left
            else:
                del self._streams[whose]


def _read(metadata: Iterable[tuple[str, str | bytes]]) -> tuple[tuple[str, ...], str, str | None]:
    """The languages, the trace (a fresh one where none came) and the authorization of a call."""
    languages: tuple[str, ...] = ()
    trace_id = authorization = None
    for key, value in metadata:
        if isinstance(value, bytes):
            continue
        if key == "authorization":
            authorization = value
        elif key == "accept-language":
            languages = accepted(value)
        elif key == "traceparent" and (match := _TRACEPARENT.fullmatch(value)) is not None:
            trace_id = match[1]
    return languages, trace_id or os.urandom(16).hex(), authorization
