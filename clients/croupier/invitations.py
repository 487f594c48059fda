"""Taking invitations: any number of bots on one client, until stopped.

The law of this file: every seat that the inbox shows is played once at a time, seats held
already (from before a restart) before new ones, and never more than ``concurrency`` of them at
once; the others wait. What goes wrong at one table does not touch the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Iterable
from concurrent.futures import Executor
from contextlib import aclosing
from typing import Final

from croupier.client import Client, Table
from croupier.errors import Error, LimitReached
from croupier.inbox import InboxItem
from croupier.runner import Bot, Outcome, Thinking, play_bot
from croupier.v1 import tables_pb2

log = logging.getLogger("croupier")

Factory = Callable[[Table, int], Bot]
"""Makes the bot for a seat of a table; ``table.seats[seat].bot_level`` is a house bot's level."""

Accept = Callable[[Table, int], bool]
"""Says whether to play that seat of that table."""

_Place = tuple[str, int]


async def serve_invitations(
    client: Client,
    factory: Factory,
    *,
    games: Container[str] | None = None,
    accept: Accept = lambda _table, _seat: True,
    concurrency: int = 32,
    nonce: bool = True,
    threads: bool | None = None,
    executor: Executor | None = None,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> None:
    """Play every seat that this player is invited to, or holds already, until cancelled.

    ``factory`` makes a bot for each; one with a method ``close`` hears by it that its seat was left,
    or not taken. ``games`` (None: all) and ``accept`` say which seats to
    take; at most ``concurrency`` are played at once. ``nonce`` is as in ``Client.join``,
    ``threads`` and ``executor`` as in ``play_bot``. ``on_outcome`` is told of each table's end.
    Connections are retried without bound; a seat that cannot be taken is left alone until the
    inbox shows something new of its table.

    Raises the ``Error`` by which the server refused the inbox.
    """

    thinking = Thinking(threads, executor)

    def wanted(table: Table, seat: int) -> bool:
        return (games is None or table.game in games) and accept(table, seat)

    async def play(table: Table, number: int, held: bool) -> None:
        bot = factory(table, number)
        try:
            if held:
                seat = await client.resume(table.name, seat=number)
            else:
                seat = await client.join(table.name, seat=number, nonce=nonce)
            on_outcome(await play_bot(seat, bot, thinking=thinking))
        finally:
            if callable(close := getattr(bot, "close", None)):
                close()

    service = _Service(play, wanted, concurrency)
    with client.connection.without_bound():
        try:
            async with aclosing(client.inbox()) as inbox:
                async for item in inbox:
                    service.note(item)
        finally:
            await service.stop()


class _Service:
    """Which seats wait, and which are being played. ``play`` plays one: ``(table, seat, held)``."""

    def __init__(
        self, play: Callable[[Table, int, bool], Awaitable[None]], wanted: Accept, concurrency: int
    ) -> None:
        self._play: Final = play
        self._wanted: Final = wanted
        self._concurrency = concurrency
        self._items: dict[str, InboxItem] = {}
        self._held: dict[_Place, InboxItem] = {}
        self._offered: dict[_Place, InboxItem] = {}
        self._no_room: set[_Place] = set()
        self._playing: dict[_Place, asyncio.Task[None]] = {}
        self._over: set[_Place] = set()
        self._filling: asyncio.Handle | None = None

    def note(self, item: InboxItem) -> None:
        """Take up what the inbox says of one table now."""
        name = item.table.name
        before = self._items.pop(name, None)
        if before is not None:
            self._drop(before)
        if item.table.state == tables_pb2.TABLE_STATE_ENDED or not (item.seats or item.invited_seats):
            self._over = {place for place in self._over if place[0] != name}
            return
        self._items[name] = item
        self._wait(self._held, item, item.seats)
        self._wait(self._offered, item, item.invited_seats)
        if self._filling is None:  # once all that came along is noted: seats held come first
            self._filling = asyncio.get_running_loop().call_soon(self._fill)

    async def stop(self) -> None:
        """Stop playing; the seats stay held."""
        self._concurrency = 0
        tasks = list(self._playing.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _drop(self, item: InboxItem) -> None:
        for seat in (*item.seats, *item.invited_seats):
            place = item.table.name, seat
            self._held.pop(place, None)
            self._offered.pop(place, None)
            self._no_room.discard(place)

    def _wait(self, queue: dict[_Place, InboxItem], item: InboxItem, seats: Iterable[int]) -> None:
        for seat in seats:
            place = item.table.name, seat
            if place not in self._playing and place not in self._over and self._wanted(item.table, seat):
                queue[place] = item

    def _fill(self) -> None:
        """Begin to play what waits, as far as there is room."""
        self._filling = None
        for queue in (self._held, self._offered):
            for place in [p for p in queue if p not in self._no_room]:
                if len(self._playing) >= self._concurrency:
                    return
                item = queue.pop(place)
                task = asyncio.get_running_loop().create_task(self._run(place, item, queue))
                self._playing[place] = task

    async def _run(self, place: _Place, item: InboxItem, queue: dict[_Place, InboxItem]) -> None:
        name, seat = place
        try:
            await self._play(item.table, seat, queue is self._held)
            self._over.add(place)
            self._no_room.clear()
        except LimitReached as error:
            log.info("%s seat %d waits: %s", name, seat, error)
            self._no_room.add(place)
            queue[place] = item
        except Error as error:
            log.warning("%s seat %d: %s", name, seat, error)
            if error.transient:
                queue[place] = item
        except Exception:  # one bot's mistake must not end the others
            log.exception("%s seat %d: the bot could not be played", name, seat)
        finally:
            self._playing.pop(place, None)
        self._fill()
