"""The client: one player's connection to a server.

The law of this file: every mutation carries a ``request_id`` of its own and is repeated with it,
so nothing is done twice; every table of the client goes over its one stream.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, Self

from croupier.codec import GAME_MESSAGES, options_message
from croupier.connection import Connection, Metadata, Transport, network
from croupier.errors import InvalidRequest, PermissionDenied
from croupier.identity import Identity
from croupier.inbox import InboxItem, watch_inbox
from croupier.joining import sit_down
from croupier.moves import move_text
from croupier.retry import Backoff
from croupier.seat import Seat, Watch
from croupier.stream import Stream
from croupier.v1 import games_pb2, players_pb2, tables_pb2

Table = tables_pb2.Table
Game = games_pb2.Game

_PAGE: Final = 200


_LEAST_EVENTS: Final = 3
"""A snapshot, the turn behind it and one more: with less, a slow reader would never get on."""


def connect(
    server: str | Sequence[str],
    *,
    name: str = "Guest",
    token: str = "",
    sign_in: bool = True,
    tls: bool | bytes = False,
    language: str = "",
    metadata: Metadata = (),
    retry_for: float | None = 60.0,
    timeout: float = 10.0,
    event_limit: int = 1024,
    backoff: Backoff | None = None,
    transport: Transport | None = None,
) -> Client:
    """A client of ``server``, to be used as ``async with croupier.connect(…) as client:``.

    ``server`` is ``host:port``, or several of them (a list, or with commas) that are tried in
    turn. It signs in as the guest ``name``, or with ``token`` as the player whose it is, and
    keeps the token alive; with ``sign_in=False`` the token is used as it is, and without one the
    client may only look on. ``tls`` is True (the system's roots) or PEM roots. ``language`` is
    the BCP 47 tag of messages and rules. ``metadata`` goes with every call.

    ``retry_for`` is how many seconds failures are retried before ``ConnectionLost``, None:
    forever. ``timeout`` is the deadline of one attempt of a call, in seconds. ``event_limit`` is
    how many events of one table may wait to be read; beyond it they are dropped, and reading goes
    on with a ``Snapshot`` whose ``missed`` is true (at least 3, else ``ValueError``).
    ``transport`` makes the channels.
    """
    if event_limit < _LEAST_EVENTS:
        raise ValueError(f"event_limit is at least {_LEAST_EVENTS}, not {event_limit}")
    addresses = [a for part in ([server] if isinstance(server, str) else server) for a in part.split(",")]
    connection = Connection(
        [address.strip() for address in addresses if address.strip()],
        transport or network(tls),
        metadata=metadata,
        language=language,
        retry_for=retry_for,
        timeout=timeout,
        backoff=backoff,
    )
    identity = Identity(connection, name, token)
    return Client(connection, identity, sign_in=sign_in, event_limit=event_limit)


class Client:
    """One player on one server. Made by ``connect``; opened and closed by ``async with``.

    Every method raises the ``Error`` by which the server refused it; what is transient is
    repeated before, for as long as ``retry_for`` allows, and ends as ``ConnectionLost``.
    """

    def __init__(
        self, connection: Connection, identity: Identity, *, sign_in: bool, event_limit: int
    ) -> None:
        self.event_limit: Final = event_limit
        self.connection: Final = connection
        self.stream = Stream(connection)
        self._identity: Final = identity
        self._sign_in: Final = sign_in
        self._server_epoch = ""

    # --- opening and closing --------------------------------------------------------------------

    async def open(self) -> Self:
        """Reach the server and sign in. ``async with`` does it. Raises ``Error``; it is closed then."""
        try:
            info = await self.server_info()
            self.stream = Stream(self.connection, moves_in_flight=info.limits.max_moves_in_flight or 64)
            if self._sign_in:
                await self._identity.sign_in()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """End every stream and call; what waits for them gets ``ConnectionLost``."""
        await self._identity.close()
        self.connection.shut()
        await self.stream.close()
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def player(self) -> players_pb2.Player:
        """Who you are; without a name when not signed in."""
        return self._identity.player

    @property
    def token(self) -> str:
        """The bearer token of now. It is a secret: who has it plays for you."""
        return self.connection.token

    # --- the server -----------------------------------------------------------------------------

    async def games(self) -> list[Game]:
        """The games, their options and the levels of their bots."""
        response = await self.connection.call(lambda r: r.games.ListGames, games_pb2.ListGamesRequest())
        return list(response.games)

    async def rules(
        self, game: str, *, language: str = "", options: Mapping[str, Any] | None = None, players: int = 0
    ) -> games_pb2.GetRulesResponse:
        """The rules of a game as CommonMark, written for these options. Raises ``InvalidRequest``."""
        request = games_pb2.GetRulesRequest(
            game=game, language=language, options=_options(game, options), players=players
        )
        return await self.connection.call(lambda r: r.games.GetRules, request)

    async def server_info(self) -> games_pb2.GetServerInfoResponse:
        """Versions, limits and the heartbeat of the server."""
        request = games_pb2.GetServerInfoRequest()
        info = await self.connection.call(lambda r: r.games.GetServerInfo, request)
        self.connection.learn(info)
        self._server_epoch = info.epoch
        return info

    # --- tables ---------------------------------------------------------------------------------

    async def create_table(
        self,
        game: str,
        *,
        players: int = 0,
        options: Mapping[str, Any] | None = None,
        private: bool = False,
        move_seconds: int = 0,
        title: str = "",
    ) -> Table:
        """Open a table; nobody sits at it yet. ``players`` 0 is the game's default.

        Raises ``InvalidRequest`` for what the game does not allow, ``LimitReached`` for too many
        tables.
        """
        request = tables_pb2.CreateTableRequest(
            game=game,
            players=players,
            options=_options(game, options),
            private=private,
            move_seconds=move_seconds,
            title=title,
            request_id=_fresh_id(),
        )
        return (await self.connection.call(lambda r: r.tables.CreateTable, request)).table

    async def get_table(self, table: str) -> Table:
        """A table as it stands. Raises ``NotFound``."""
        request = tables_pb2.GetTableRequest(name=table)
        return (await self.connection.call(lambda r: r.tables.GetTable, request, table=table)).table

    async def tables(
        self, *, game: str = "", states: Iterable[str] = (), with_free_seats: bool = False, page_size: int = 0
    ) -> AsyncIterator[Table]:
        """The tables that are not private, newest first, page by page as they are read.

        ``states`` are ``open``, ``filled``, ``playing``, ``ended``; none: all but ``ended``.
        Raises ``InvalidRequest`` for another one.
        """
        request = tables_pb2.ListTablesRequest(
            page_size=page_size, game=game, states=map(_state, states), with_free_seats=with_free_seats
        )
        while True:
            page = await self.connection.call(lambda r: r.tables.ListTables, request)
            for table in page.tables:
                yield table
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def invite_bot(self, table: str, *, level: str = "easy", seat: int | None = None) -> int:
        """Keep a seat (None: the last free one) for a house bot, which sits down by itself; the seat.

        Raises ``TableFull``, ``InvalidRequest`` for a level that the game has not.
        """
        return await self._invite(tables_pb2.InviteBotRequest(name=table, seat=seat, level=level))

    async def invite(self, table: str, player: str, *, seat: int | None = None) -> int:
        """Keep a seat (None: the last free one) for ``players/{id}``, who finds it in the inbox; the seat.

        Raises ``TableFull``, ``NotFound`` for a player that there is not.
        """
        return await self._invite(tables_pb2.InviteBotRequest(name=table, seat=seat, player=player))

    async def _invite(self, request: tables_pb2.InviteBotRequest) -> int:
        request.request_id = _fresh_id()
        return (await self.connection.call(lambda r: r.tables.InviteBot, request, table=request.name)).seat

    async def leave(self, table: str) -> Table:
        """Free your seat; only before the table is full. Raises ``WrongState`` later."""
        request = tables_pb2.LeaveTableRequest(name=table, request_id=_fresh_id())
        return (await self.connection.call(lambda r: r.tables.LeaveTable, request, table=table)).table

    async def legal_moves(self, table: str, *, seat: int | None = None) -> list[str]:
        """All legal moves' texts of your seat; empty when it is not its turn."""
        request = tables_pb2.ListLegalMovesRequest(table=table, seat=seat, page_size=_PAGE)
        moves: list[str] = []
        while True:
            page = await self.connection.call(lambda r: r.tables.ListLegalMoves, request, table=table)
            moves += (move_text(move)[1] for move in page.moves)
            if not page.next_page_token:
                return moves
            request.page_token = page.next_page_token

    async def record(self, table: str, *, code: str = "") -> dict[str, Any]:
        """The record of an ended table, as plain data; ``Seat.check_deals`` checks it.

        ``code`` is the join code of a private table that you do not sit at. Raises ``WrongState``
        before the end and ``PermissionDenied`` for another code.
        """
        request = tables_pb2.GetRecordRequest(table=table, join_code=code)
        response = await self.connection.call(lambda r: r.tables.GetRecord, request, table=table)
        record: dict[str, Any] = json.loads(response.record_json)
        return record

    # --- playing and watching -------------------------------------------------------------------

    async def join(
        self,
        table: str,
        *,
        seat: int | None = None,
        code: str = "",
        nonce: bool = True,
        legal_moves: bool = True,
        views: bool = True,
        after_seq: int | None = None,
    ) -> Seat:
        """Sit down: on ``seat``, or on one kept for you, or on the first that is free.

        ``code`` is the join code of a private table. With ``nonce`` a random one is promised,
        and shown once the table is full, so that nobody can have chosen your cards.
        ``legal_moves`` and ``views`` come with each ``Turn``. Events begin with a ``Snapshot``,
        or with those after ``after_seq`` (0: all of them). A ``Watch`` of the same table ends.

        Raises ``TableFull``, ``SeatTaken``, ``AlreadySeated`` (see ``resume``), ``NotFound``,
        ``PermissionDenied`` (wrong code, or kept for another), ``LimitReached``.
        """
        seated = await sit_down(self.connection, self.player.name, table, seat=seat, code=code, nonce=nonce)
        wish = self._wish(table, seated.seat, legal_moves=legal_moves, views=views, after_seq=after_seq)
        return Seat(self, seated.table, wish, seated.nonce)

    async def resume(
        self,
        table: str,
        *,
        seat: int | None = None,
        nonce: bytes = b"",
        legal_moves: bool = True,
        views: bool = True,
        after_seq: int | None = None,
        epoch: str = "",
    ) -> Seat:
        """Go on in a seat that you hold (None: your first), after a restart say.

        ``nonce`` is the one promised for it, ``after_seq`` and ``epoch`` the ``position`` and
        ``epoch`` of the seat before; the rest is as in ``join``. Raises ``PermissionDenied``
        when you hold no such seat, ``NotFound``.
        """
        info = await self.get_table(table)
        own = [s.seat for s in info.seats if s.player and s.player == self.player.name]
        if seat is None and not own:
            raise PermissionDenied(f"you hold no seat at {table}", reason="NOT_SEATED")
        number = own[0] if seat is None else seat
        wish = self._wish(
            table, number, legal_moves=legal_moves, views=views, after_seq=after_seq, epoch=epoch
        )
        return Seat(self, info, wish, nonce)

    async def watch(
        self, table: str, *, code: str = "", after_seq: int | None = None, epoch: str = ""
    ) -> Watch:
        """Look on. Events begin with a ``Snapshot``, or with those after ``after_seq`` (0: all).

        An earlier ``Watch`` of the same table ends. Raises ``InvalidRequest`` when this client
        follows the table through a seat already, ``NotFound``; a wrong ``code`` of a private
        table is ``PermissionDenied`` when it is read.
        """
        if any(seat is not None for seat in self.stream.seats_at(table)):
            raise InvalidRequest(f"{table} is followed through your seat", reason="ALREADY_FOLLOWED")
        info = await self.get_table(table)
        wish = self._wish(table, None, after_seq=after_seq, epoch=epoch)
        wish.join_code = code
        return Watch(self, info, wish)

    def _wish(
        self,
        table: str,
        seat: int | None,
        *,
        legal_moves: bool = False,
        views: bool = False,
        after_seq: int | None = None,
        epoch: str = "",
    ) -> tables_pb2.Subscription:
        return tables_pb2.Subscription(
            table=table,
            seat=seat,
            after_seq=after_seq,
            epoch=epoch or (self._server_epoch if after_seq == 0 else ""),
            legal_moves=legal_moves,
            views=views,
            move_form=games_pb2.MOVE_FORM_TEXT,
        )

    # --- the inbox ------------------------------------------------------------------------------

    def inbox(self) -> AsyncGenerator[InboxItem]:
        """Invitations and tables to come back to: what stands, then what changes, without end.

        An item replaces the one of the same table before it; with neither ``invited_seats`` nor
        ``seats`` the table no longer concerns you. It reopens by itself, and what has not
        changed meanwhile does not come again.
        """
        return watch_inbox(self.connection)

    async def my_tables(self) -> list[InboxItem]:
        """What stands in the inbox now."""
        return [item async for item in watch_inbox(self.connection, once=True)]


_STATES: Final = {
    name.removeprefix("TABLE_STATE_").lower(): number
    for name, number in tables_pb2.TableState.items()
    if number
}


def _state(text: str) -> tables_pb2.TableState.ValueType:
    try:
        return _STATES[text]
    except KeyError:
        raise InvalidRequest(f"{text!r} is no state of a table, as {', '.join(_STATES)} are") from None


def _options(game: str, options: Mapping[str, Any] | None) -> games_pb2.GameOptions | None:
    """Options as a message; None where there are none. Raises ``InvalidRequest``."""
    if not options:
        return None
    if game not in GAME_MESSAGES:
        raise InvalidRequest(f"there is no game {game!r}", reason="UNKNOWN_GAME", fields={"game": "unknown"})
    try:
        return options_message(game, options)
    except KeyError as error:
        name = str(error.args[0])
        raise InvalidRequest(
            f"{game} has no option {name!r}", reason="INVALID_OPTIONS", fields={name: "unknown"}
        ) from None
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"{game}: {error}", reason="INVALID_OPTIONS") from None


def _fresh_id() -> str:
    return uuid.uuid4().hex
