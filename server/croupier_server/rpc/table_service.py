"""TableService: check, call, answer.

The law of this file: a method checks its request, calls the table, and answers; it holds no
rule and no state. It knows nothing of gRPC: requests in, responses or encoded chunks out, a
``Refusal`` raised.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from google.protobuf.message import Message

from croupier.moves import move_text
from croupier.v1 import tables_pb2
from croupier_server import checks, seating
from croupier_server.caller import Caller
from croupier_server.drafts import Request, draft, request_digest
from croupier_server.errors import Refusal, missing_field, refuse, unavailable, wrong_field
from croupier_server.feed import Feed, Feeds
from croupier_server.fold import Draft, Phase, UnreadableTable
from croupier_server.follow import begin, subscription_for
from croupier_server.followers import Subscription
from croupier_server.ids import Ids, random_id
from croupier_server.journal.base import JournalError, RowFilter
from croupier_server.journal.v1 import entry_pb2
from croupier_server.lobby import PageTokens
from croupier_server.moves import AskedMove, seat_for
from croupier_server.record import record_line
from croupier_server.rpc.play_session import PlaySession
from croupier_server.rpc.streams import Streamed
from croupier_server.settings import BOT_LEVELS, Settings
from croupier_server.table import Landed, Table
from croupier_server.tables import Tables
from croupier_server.views import table_message, written_move

_MOVE_SECONDS: Final = range(5, 86_401)
_DEFAULT_STATES: Final = ("OPEN", "FILLED", "PLAYING")
_DEFAULT_LEVEL: Final = "easy"
_SITTING: Final = (entry_pb2.SeatTaken, entry_pb2.NonceShown)
"""What JoinTable makes of a seat."""

_Mutation = tables_pb2.JoinTableRequest | tables_pb2.LeaveTableRequest | tables_pb2.InviteBotRequest


class TableServicer:
    """TableService over the tables of this process."""

    def __init__(
        self, tables: Tables, feeds: Feeds, settings: Settings, ids: Ids, page_tokens: PageTokens
    ) -> None:
        self.tables: Final = tables
        self.settings: Final = settings
        self._feeds: Final = feeds
        self._ids: Final = ids
        self._page_tokens: Final = page_tokens

    # --- tables -------------------------------------------------------------------------------

    async def create_table(
        self, request: tables_pb2.CreateTableRequest, caller: Caller
    ) -> tables_pb2.CreateTableResponse:
        """Open a table."""
        created = self._created(request)
        request_id = checks.request_id(request.request_id)
        asked = Request(caller.player, request_id, request_digest(_payload(request)))
        table_id = self._ids.derived(caller.player, "CreateTable", request_id) if request_id else random_id()
        created.board = f"tables/{table_id}"
        async with self._counted(f"created-by:{caller.player}", caller) as count:
            if count >= self.settings.max_open_tables:
                repeated = request_id and await self.tables.exists(created.board)
                if not repeated:
                    raise self._too_many_tables()
            first = draft(self.tables.clock.now_ms(), asked, created=created)
            table = await self.tables.create(created.board, first)
        return tables_pb2.CreateTableResponse(table=table_message(table.state, with_code=True))

    def _created(self, request: tables_pb2.CreateTableRequest) -> entry_pb2.Created:
        game = checks.game("game", request.game)
        players = request.players or game.default_players
        options = checks.options(game, request.options, players)
        if request.move_seconds and request.move_seconds not in _MOVE_SECONDS:
            raise wrong_field("move_seconds", "is 0 for no clock, or 5 to 86,400")
        return entry_pb2.Created(
            game=game.name,
            players=players,
            options_json=json.dumps(options, separators=(",", ":")),
            rules_version=game.rules_version,
            server_seed=secrets.token_bytes(32),
            private=request.private,
            join_code=secrets.token_urlsafe(9) if request.private else "",
            move_seconds=request.move_seconds,
            title=checks.text_for_people("title", request.title, 80),
        )

    def _counted(self, subject: str, caller: Caller) -> AbstractAsyncContextManager[int]:
        """How many unfinished tables concern the caller as the subject says; those of the house do not count.

        It holds while the block lasts, as far as this process goes: servers side by side may let
        as many more in as there are other servers.
        """
        return nullcontext(0) if caller.is_house else self.tables.counted(subject)

    def _too_many_tables(self) -> Refusal:
        limit = self.settings.max_open_tables
        return refuse("TOO_MANY_TABLES", f"you have {limit} unfinished tables; finish or leave some first")

    async def get_table(
        self, request: tables_pb2.GetTableRequest, caller: Caller
    ) -> tables_pb2.GetTableResponse:
        """A table as it stands."""
        table = await self._fresh_table("name", request.name)
        return tables_pb2.GetTableResponse(table=_shown(table, caller))

    async def list_tables(
        self, request: tables_pb2.ListTablesRequest, _caller: Caller
    ) -> tables_pb2.ListTablesResponse:
        """A page of the lobby."""
        limit = checks.page_size(request.page_size, self.settings)
        if request.game:
            checks.game("game", request.game)
        where = RowFilter(request.game, _states(request), request.with_free_seats)
        after = self._page_tokens.rows_key(where, request.page_token)
        rows = await self.tables.page(where, after, limit + 1)
        return tables_pb2.ListTablesResponse(
            tables=[tables_pb2.Table.FromString(row.data) for row in rows[:limit]],
            next_page_token=self._page_tokens.next_rows(where, rows, limit),
        )

    # --- seats --------------------------------------------------------------------------------

    async def join_table(
        self, request: tables_pb2.JoinTableRequest, caller: Caller
    ) -> tables_pb2.JoinTableResponse:
        """Take a seat, or show the nonce that was promised with it."""
        table = await self._table("name", request.name)
        asked = _request(request, caller)
        seat = request.seat if request.HasField("seat") else None
        wanted = seating.Wanted(seat, request.join_code, request.nonce_commitment)

        def decide(now: int) -> list[Draft]:
            if request.nonce:
                return seating.show_nonce(table.state, caller, asked, wanted, request.nonce, now)
            return seating.join(table.state, caller, asked, wanted, now)

        newcomer = table.accepted(asked) is None and not table.state.seats_of(caller.player)
        if newcomer:
            async with self._counted(f"seated:{caller.player}", caller) as count:
                if count >= self.settings.max_open_tables:
                    raise self._too_many_tables()
                seq = await table.command(decide, asked)
        else:
            seq = await table.command(decide, asked)
        own = table.state.seats_of(caller.player)
        entry = await self._entry(table, seq)
        taken = getattr(entry, str(entry.WhichOneof("kind")))
        is_own = entry.actor == caller.player and isinstance(taken, _SITTING)
        return tables_pb2.JoinTableResponse(
            seat=taken.seat if is_own else own[0], table=_shown(table, caller)
        )

    async def leave_table(
        self, request: tables_pb2.LeaveTableRequest, caller: Caller
    ) -> tables_pb2.LeaveTableResponse:
        """Free a seat."""
        table = await self._table("name", request.name)
        asked = _request(request, caller)
        await table.command(lambda now: seating.leave(table.state, caller, asked, now), asked)
        return tables_pb2.LeaveTableResponse(table=_shown(table, caller))

    async def invite_bot(
        self, request: tables_pb2.InviteBotRequest, caller: Caller
    ) -> tables_pb2.InviteBotResponse:
        """Keep a seat for a house bot or a player."""
        table = await self._table("name", request.name)
        asked = _request(request, caller)
        level, player = "", ""
        if request.WhichOneof("invited") == "player":
            player = checks.player_name("player", request.player)
        else:
            level = request.level or _DEFAULT_LEVEL
            if level not in BOT_LEVELS:
                raise wrong_field("level", f"is one of {', '.join(BOT_LEVELS)}")
        seat = request.seat if request.HasField("seat") else None

        def decide(now: int) -> list[Draft]:
            return seating.invite(table.state, caller, asked, seat, level, player, now)

        seq = await table.command(decide, asked)
        kept = (await self._entry(table, seq)).seat_offered.seat
        return tables_pb2.InviteBotResponse(seat=kept, table=_shown(table, caller))

    async def _entry(self, table: Table, seq: int) -> entry_pb2.Entry:
        """The entry that answers a call, or answered it when it came for the first time."""
        for event in table.tail:
            if event.seq == seq:
                return event.step.entry
        try:
            stored = await self.tables.journal.read(table.name, seq - 1, 1)
        except JournalError as error:
            raise unavailable(error) from error
        if not stored:
            raise refuse("GAME_OVER", "this table has ended")
        return entry_pb2.Entry.FromString(stored[0].data)

    # --- playing ------------------------------------------------------------------------------

    async def make_move(
        self, request: tables_pb2.MakeMoveRequest, caller: Caller
    ) -> tables_pb2.MakeMoveResponse:
        """Make a move; answers once the journal has it."""
        table = self.tables.loaded(request.table) or await self._table("table", request.table)
        return tables_pb2.MakeMoveResponse(seq=await table.move(_asked_move(request, caller, table)))

    def begin_move(self, request: tables_pb2.MakeMoveRequest, caller: Caller, landed: Landed) -> bool:
        """Make a move at a table in memory where nothing is in its way; see ``Table.begin_move``."""
        table = self.tables.loaded(request.table)
        if table is None:
            return False
        try:
            return table.begin_move(_asked_move(request, caller, table), landed)
        except Refusal:
            return False

    async def list_legal_moves(
        self, request: tables_pb2.ListLegalMovesRequest, caller: Caller
    ) -> tables_pb2.ListLegalMovesResponse:
        """A page of the caller's legal moves."""
        table = await self._fresh_table("table", request.table)
        limit = checks.page_size(request.page_size, self.settings)
        state = table.state
        acting = seat_for(table.state, caller.player, request.seat if request.HasField("seat") else None)
        if state.to_act != acting:
            return tables_pb2.ListLegalMovesResponse(seq=state.seq)
        moves = state.rules.legal_moves(state.game_state)
        bound_to = f"moves {state.name} {acting} {state.game_seq}"
        start = int(self._page_tokens.place(bound_to, request.page_token)[0]) if request.page_token else 0
        end = min(start + limit, len(moves))
        return tables_pb2.ListLegalMovesResponse(
            moves=[written_move(state, moves[i], request.move_form) for i in range(start, end)],
            seq=state.seq,
            next_page_token=self._page_tokens.token(bound_to, [end]) if end < len(moves) else "",
            total_size=len(moves),
        )

    async def get_record(
        self, request: tables_pb2.GetRecordRequest, caller: Caller
    ) -> tables_pb2.GetRecordResponse:
        """The record of an ended table."""
        table = await self._fresh_table("table", request.table)
        if not table.state.is_inside(caller.player):
            seating.check_code(table.state, request.join_code)
        if table.state.phase is not Phase.ENDED:
            raise refuse("TABLE_NOT_ENDED", "a record is made when the table has ended")
        return tables_pb2.GetRecordResponse(record_json=await self._record(table))

    async def _record(self, table: Table) -> str:
        if table.archived is not None:
            return table.archived.record
        try:
            entries = await self.tables.journal.read(table.name)
            if entries:
                return await asyncio.to_thread(record_line, table.name, entries)
        except JournalError as error:
            raise unavailable(error) from error
        except UnreadableTable as error:
            raise refuse("TABLE_UNREADABLE", "this table can't be read by this server") from error
        table.gone = True  # it was archived just now
        return await self._record(await self.tables.get(table.name))

    # --- streams ------------------------------------------------------------------------------

    def watch_table(self, request: tables_pb2.WatchTableRequest, caller: Caller) -> Streamed:
        """Stream one table; ends with the table."""
        feed = self._feeds.open()
        watch = _Watch(self, feed)
        return Streamed(self._feeds, feed, watch.begin(request.subscription, caller), watch.close)

    def play(self, requests: AsyncIterator[tables_pb2.PlayRequest], caller: Caller) -> Streamed:
        """One stream for any number of tables."""
        feed = self._feeds.open()
        session = PlaySession(self, caller, feed)
        return Streamed(self._feeds, feed, session.read(requests), session.close)

    async def _table(self, field: str, name: str) -> Table:
        return await self.tables.get(checks.table_name(field, name))

    async def _fresh_table(self, field: str, name: str) -> Table:
        return await self.tables.fresh(checks.table_name(field, name))


class _Watch:
    """The one subscription of a WatchTable stream, which ends with it."""

    def __init__(self, service: TableServicer, feed: Feed) -> None:
        self._service: Final = service
        self._feed: Final = feed
        self._subscription: Subscription | None = None

    async def begin(self, asked: tables_pb2.Subscription, caller: Caller) -> None:
        """Bring the subscription up to date. Raises ``Refusal``."""
        name = checks.table_name("subscription.table", asked.table)
        table = await self._service.tables.get(name)
        most_legal = self._service.settings.max_legal_moves
        subscription = await subscription_for(table, self._feed, asked, caller.player, most_legal)
        self._subscription = subscription
        subscription.when_closed = self._feed.finish
        await begin(self._service.tables.journal, table, subscription, asked)

    def close(self) -> None:
        """The stream is over."""
        if self._subscription is not None:
            self._subscription.close()


def _request(request: _Mutation, caller: Caller) -> Request:
    request_id = checks.request_id(request.request_id)
    return Request(caller.player, request_id, request_digest(_payload(request)) if request_id else b"")


def _asked_move(request: tables_pb2.MakeMoveRequest, caller: Caller, table: Table) -> AskedMove:
    if request.move.WhichOneof("move") is None:
        raise missing_field("move")
    try:
        game, text = move_text(request.move)
    except ValueError as error:
        raise wrong_field("move", str(error)) from None
    if game is not None and game != table.state.created.game:
        raise refuse("WRONG_GAME", f"the move is one of {game}, but the table's game is another")
    seat = request.seat if request.HasField("seat") else None
    expected = request.expected_seq if request.HasField("expected_seq") else None
    request_id = request.request_id
    if not request_id:
        return AskedMove(Request(caller.player), seat, text, expected)
    checks.request_id(request_id)
    digest = request_digest(request.move.SerializeToString(), str(seat).encode())
    return AskedMove(Request(caller.player, request_id, digest), seat, text, expected)


def _payload(request: Message) -> bytes:
    """What a repeat must have in common with the first request: its kind and every field."""
    return request.DESCRIPTOR.name.encode() + b"\0" + request.SerializeToString(deterministic=True)


def _shown(table: Table, caller: Caller) -> tables_pb2.Table:
    state = table.state
    return table_message(state, with_code=state.is_inside(caller.player))


def _states(request: tables_pb2.ListTablesRequest) -> tuple[str, ...]:
    if not request.states:
        return _DEFAULT_STATES
    known = {int(phase): phase.name for phase in Phase}
    try:
        return tuple(sorted({known[state] for state in request.states}))
    except KeyError:
        raise wrong_field("states", "are OPEN, FILLED, PLAYING or ENDED") from None
