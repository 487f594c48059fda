"""A server core in one process, without a transport, in a time that the test moves.

The law of this file: nothing here sleeps. A test waits for what is sent, or lets other tasks
have their turns; time passes when ``pass_time`` is called. Seeds, and so the cards, are the same
in every run.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar
from unittest import mock

import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_server.archive import Archive
from croupier_server.archiver import Archiver
from croupier_server.caller import Caller
from croupier_server.clock import JournalClock
from croupier_server.epoch import Epoch
from croupier_server.errors import Refusal
from croupier_server.feed import Feeds
from croupier_server.fold import HOUSE, TableState
from croupier_server.ids import Ids
from croupier_server.journal import Append, Journal, JournalUnavailable, MemoryJournal, Stored
from croupier_server.journal.local import Clock
from croupier_server.lobby import PageTokens
from croupier_server.metrics import Metrics
from croupier_server.rpc.streams import Streamed
from croupier_server.rpc.table_service import TableServicer
from croupier_server.settings import Settings
from croupier_server.table import Table
from croupier_server.tables import Tables

START_S = 1_700_000_000

SHORT: dict[str, dict[str, Any]] = {
    "hidden_unders": {"hidden_unders": {"turn_limit": 20}},
    "doudizhu": {"doudizhu": {"deals": 2}},
    "basic_rummy": {"basic_rummy": {"turn_limit": 20}},
}
"""Options by which games are soon over, of several deals where the game has them."""


def guest(number: int) -> Caller:
    """A guest; always the same one for a number."""
    return Caller(f"players/{number:022d}", f"Guest {number}", "guest")


BOT = Caller(HOUSE, "House", "house")
NOBODY = Caller()


class RoughJournal(MemoryJournal):
    """A journal in memory that can hold appends or their answers back, fail, or store without saying so."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.gate = asyncio.Event()
        self.gate.set()
        self.answers = asyncio.Event()
        self.answers.set()
        self.fails = False
        self.forgets_to_answer = False
        self.unreadable = False

    async def append(self, batch: Append) -> None:
        await self.gate.wait()
        if self.fails:
            raise JournalUnavailable("the disk is gone")
        await super().append(batch)
        if self.forgets_to_answer:
            raise JournalUnavailable("the answer was lost")
        await self.answers.wait()

    async def read(self, stream: str, after: int = 0, limit: int = 1 << 31) -> list[Stored]:
        if self.unreadable:
            raise JournalUnavailable("the disk is gone")
        return await super().read(stream, after, limit)

    def lose(self, stream: str, last: int) -> None:
        """Forget what was stored above ``last``, as a failover may, and say so to all who listen."""
        del self._streams[stream][last:]
        self._listeners.set_back(stream)

    def damage(self, stream: str, seq: int, data: bytes) -> None:
        """Replace a stored entry."""
        self._streams[stream][seq - 1] = data


class Replica:
    """One server process: its tables, feeds and service."""

    def __init__(
        self,
        journal: Journal,
        settings: Settings,
        steady: Callable[[], float],
        archive: Archive | None = None,
    ) -> None:
        self.clock = JournalClock(journal, steady)
        self.metrics = Metrics()
        self.epoch = Epoch(journal, "epoch-1")
        self.tables = Tables(journal, settings, self.clock, self.epoch, self.metrics, archive)
        if archive is not None:
            lease_s, retired = settings.archive_lease_s, self.tables.retired
            self.archiver = Archiver(journal, self.clock, archive, self.metrics, lease_s, retired)
        self.feeds = Feeds(
            limit_bytes=settings.subscriber_queue_bytes,
            heartbeat_seconds=settings.heartbeat_s,
            now_ms=self.clock.now_ms,
        )
        self.service = TableServicer(self.tables, self.feeds, settings, Ids(b"i" * 32), PageTokens(b"p" * 32))

    async def state(self, name: str) -> TableState:
        """A table's state in this process."""
        return (await self.tables.get(name)).state

    async def create(self, game: str = "hidden_unders", who: Caller | None = None, **fields: Any) -> str:
        """An open table: its name."""
        request = pb.CreateTableRequest(game=game, **fields)
        return (await self.service.create_table(request, who or guest(0))).table.name

    async def deal(self, game: str = "hidden_unders", players: int = 0, **fields: Any) -> str:
        """A table on which the game has begun; guest n holds seat n."""
        name = await self.create(game, players=players, **fields)
        code = (await self.state(name)).created.join_code
        for number in range(len((await self.state(name)).seats)):
            await self.join(name, guest(number), join_code=code)
        return name

    async def deal_short(self, game: str, players: int = 0) -> str:
        """A table on which a short game has begun."""
        return await self.deal(game, players, options=SHORT[game])

    async def join(self, name: str, who: Caller, **fields: Any) -> pb.JoinTableResponse:
        return await self.service.join_table(pb.JoinTableRequest(name=name, **fields), who)

    async def move(self, name: str, who: Caller, text: str, **fields: Any) -> int:
        request = pb.MakeMoveRequest(table=name, move={"text": text}, **fields)
        return (await self.service.make_move(request, who)).seq

    async def some_move(
        self, name: str, chance: random.Random | None = None, through: Replica | None = None, **fields: Any
    ) -> int:
        """A legal move of whoever is to act, the first or a random one; ``through`` another process."""
        table = await self.tables.get(name)
        seat, text = a_legal_move(table.state, chance)
        return await (through or self).move(name, holder(table, seat), text, **fields)

    async def play_out(self, name: str, chance: random.Random, moves: int = 1 << 30) -> None:
        """Random moves to the end of the game, or so many."""
        table = await self.tables.get(name)
        while table.state.to_act is not None and moves > 0:
            await self.some_move(name, chance)
            moves -= 1

    def watch(self, name: str, who: Caller = NOBODY, **fields: Any) -> Stream[pb.WatchTableResponse]:
        request = pb.WatchTableRequest(subscription=pb.Subscription(table=name, **fields))
        return Stream(self.service.watch_table(request, who), pb.WatchTableResponse)

    def play(self, who: Caller) -> PlayStream:
        return PlayStream(self, who)


class Room(Replica):
    """A replica with its journal and time; ``replica`` adds others on the same journal."""

    def __init__(self, archive: Archive | None = None, **settings: Any) -> None:
        self.now_s = 0
        self.archive = archive
        self._seeds = mock.patch("secrets.token_bytes", random.Random(0).randbytes)
        steady_ns = lambda: self.now_s * 1_000_000_000  # noqa: E731
        self.journal = RoughJournal(Clock(lambda: steady_ns() + START_S * 1_000_000_000, steady_ns))
        self.settings = Settings(**settings)
        super().__init__(self.journal, self.settings, lambda: self.now_s, archive)

    async def open(self) -> None:
        """Set the clock; deadlines fire when time passes, tables go when ``tables.evict`` is called."""
        self._seeds.start()
        await self.clock.refresh()

    async def close(self) -> None:
        """Let go of all."""
        self._seeds.stop()
        await self.tables.stop()
        self.feeds.stop()

    async def replica(self, journal: Journal | None = None) -> Replica:
        """Another process on the same journal; ``journal`` is its own access to it."""
        other = Replica(journal or self.journal, self.settings, lambda: self.now_s, self.archive)
        await other.clock.refresh()
        return other

    async def pass_time(self, seconds: int) -> None:
        """Let time pass, then fire what is due."""
        self.now_s += seconds
        await self.tables.sweeper.fire_due()

    async def stored(self, name: str) -> list[Stored]:
        return await self.journal.read(name)


Response = TypeVar("Response", pb.WatchTableResponse, pb.PlayResponse)


class Stream(Generic[Response]):
    """The client's end of a stream; reads only when asked to."""

    def __init__(self, stream: AsyncIterable[bytes], kind: type[Response]) -> None:
        self._stream = stream
        self._responses = aiter(stream)
        self._kind = kind
        self.raw: list[bytes] = []
        self.updates: list[pb.TableUpdate] = []

    async def next(self) -> Response:
        """The next response."""
        try:
            async with asyncio.timeout(10):
                data = await anext(self._responses)
        except BaseException:
            await self.close()
            raise
        self.raw.append(data)
        response = self._kind.FromString(data)
        self.updates += response.updates
        return response

    async def until(self, kind: str, seq: int = 0) -> pb.TableUpdate:
        """Read until an update of a kind, with at least that number, has come; the first such."""
        seen = 0
        while True:
            for update in self.updates[seen:]:
                seen += 1
                inner = getattr(update, kind)
                if update.WhichOneof("update") == kind and getattr(inner, "seq", seq) >= seq:
                    return update
            await self.next()

    async def rest(self) -> None:
        """Read to the end of the stream."""
        try:
            while True:
                await self.next()
        except StopAsyncIteration:
            return

    async def close(self) -> None:
        """Go away."""
        if isinstance(self._stream, Streamed):
            await self._stream.aclose()

    @property
    def seqs(self) -> list[int]:
        """The numbers of the events."""
        return [u.event.seq for u in self.updates if u.HasField("event")]

    def of(self, kind: str) -> list[Any]:
        """All updates of a kind."""
        return [getattr(u, kind) for u in self.updates if u.WhichOneof("update") == kind]

    def clear(self) -> None:
        """Forget what was read."""
        self.raw.clear()
        self.updates.clear()


class PlayStream(Stream[pb.PlayResponse]):
    """The client's end of a Play stream."""

    def __init__(self, replica: Replica, who: Caller) -> None:
        self._sent: asyncio.Queue[pb.PlayRequest | None] = asyncio.Queue()
        self.results: list[pb.MoveResult] = []
        super().__init__(replica.service.play(self._requests(), who), pb.PlayResponse)

    async def _requests(self) -> AsyncIterator[pb.PlayRequest]:
        while (request := await self._sent.get()) is not None:
            yield request

    async def next(self) -> pb.PlayResponse:
        response = await super().next()
        self.results += response.results
        return response

    async def result(self, request_id: str) -> pb.MoveResult:
        """Read until the result of a move has come."""
        while True:
            for result in self.results:
                if result.request_id == request_id:
                    return result
            await self.next()

    def subscribe(self, name: str, **fields: Any) -> None:
        self.send({"subscribe": {"table": name, **fields}})

    def unsubscribe(self, name: str, **fields: Any) -> None:
        self.send({"unsubscribe": {"table": name, **fields}})

    def move(self, name: str, text: str, request_id: str, **fields: Any) -> None:
        self.send({"move": {"table": name, "move": {"text": text}, "request_id": request_id, **fields}})

    def send(self, *commands: Any) -> None:
        self._sent.put_nowait(pb.PlayRequest(commands=commands))

    def half_close(self) -> None:
        """Send no more."""
        self._sent.put_nowait(None)


def a_legal_move(state: TableState, chance: random.Random | None = None) -> tuple[int, str]:
    """The seat to act and a move of it."""
    assert state.to_act is not None
    moves = state.rules.legal_moves(state.game_state)
    move = moves[chance.randrange(len(moves)) if chance else 0]
    return state.to_act, state.rules.format_move(move)


def holder(table: Table, seat: int) -> Caller:
    """Who holds a seat."""
    return Caller(table.state.seats[seat].player, role="guest")


@contextmanager
def refused(reason: str) -> Iterator[None]:
    """What happens inside is refused for this reason."""
    with pytest.raises(Refusal) as caught:
        yield
    assert caught.value.reason == reason


async def turns(count: int = 50) -> None:
    """Let all that can go on without news go on."""
    for _ in range(count):
        await asyncio.sleep(0)
