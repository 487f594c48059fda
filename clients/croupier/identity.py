"""Who a client is: signing in, and keeping the token alive.

The law of this file: the token is renewed well before it ends, so that no call meets an old
one. If one does end (after a long outage), the guest signs in again with the first sign-in's
``request_id``, by which the server knows the same player. That id and the token are secrets.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Final

from croupier.connection import Connection
from croupier.errors import Error, Unauthenticated
from croupier.v1 import players_pb2

log = logging.getLogger("croupier")

_RENEW_AFTER: Final = 0.7
"""The part of a token's life after which it is renewed."""
_SHORTEST_WAIT: Final = 1.0
"""Seconds between attempts, however little time is left."""


class Identity:
    """The player behind a connection. ``token`` given: that player, else a new guest ``name``."""

    def __init__(self, connection: Connection, name: str, token: str) -> None:
        self.player = players_pb2.Player()
        self._connection: Final = connection
        self._name: Final = name
        self._request_id: Final = "" if token else str(uuid.uuid4())
        self._lifetime = 0.0
        self._lock: Final = asyncio.Lock()
        self._renewing: asyncio.Task[None] | None = None
        connection.token = token

    async def sign_in(self) -> None:
        """Get a token and begin to keep it alive. Raises ``Error``."""
        if not self._connection.token:
            await self._sign_in_as_guest()
        else:
            await self._renew()
        self._connection.sign_in_again = self.sign_in_again
        self._renewing = asyncio.get_running_loop().create_task(self._keep_alive())

    async def sign_in_again(self, refused: str) -> None:
        """After the token ``refused`` was: get one, unless that was done. Raises ``Unauthenticated``."""
        async with self._lock:
            if self._connection.token != refused:
                return
            if not self._request_id:
                raise Unauthenticated("the token is not accepted any more", reason="TOKEN_EXPIRED")
            log.info("the token is not accepted any more; signing in again")
            await self._sign_in_as_guest()

    async def close(self) -> None:
        """Stop keeping the token alive."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait([self._renewing])

    async def _sign_in_as_guest(self) -> None:
        request = players_pb2.SignInRequest(display_name=self._name, request_id=self._request_id)
        self._accept(await self._connection.call(lambda r: r.players.SignIn, request, authorized=False))

    async def _renew(self) -> None:
        request = players_pb2.SignInRequest(request_id=str(uuid.uuid4()))
        self._accept(await self._connection.call(lambda r: r.players.SignIn, request))

    def _accept(self, response: players_pb2.SignInResponse) -> None:
        self.player = response.player
        self._connection.token = response.token
        left = response.expire_time.ToNanoseconds() / 1e9 - self._connection.server_time()
        self._lifetime = left if response.HasField("expire_time") else 0.0

    async def _keep_alive(self) -> None:
        while self._lifetime > 0:
            await asyncio.sleep(self._lifetime * _RENEW_AFTER)
            try:
                await self._renew()
            except Error as error:
                log.warning("the token could not be renewed: %s", error)
                self._lifetime = max(self._lifetime * (1 - _RENEW_AFTER), _SHORTEST_WAIT)
