"""The load generator: tables of Dou Dizhu played by the cheapest sensible policy, or bare echoes.

``python -m bench.load KIND ADDRESS --pid PID …`` prints a line as it begins to measure, then one JSON
object: moves, seconds, the CPU of the server for a move, and latencies from sending a move to its
result. KIND is ``croupier`` or ``echo``. With ``--rate`` moves are paced; without, each table moves as
soon as it can.

Several servers are given as ``ADDRESS,ADDRESS`` and ``PID,PID``: connections go to each in turn, so that
the seats of a table are at different ones, and their CPU is added up. ``--store`` and ``--balancer``
are pids whose CPU is told apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
import uvloop

from bench.processes import cpu_seconds, loopback_bytes
from croupier.v1 import games_pb2, players_pb2, tables_pb2

Send = Callable[[Any], None]
_TEXTS = [f"{r}{s}" for s in "CDHS" for r in "23456789TJQKA"] + ["BJ", "RJ"]


class Window:
    """Counts moves and latencies for so many ``seconds``, after ``warm`` of them.

    ``pids`` are the processes whose CPU is told under each name; ``interval`` is how many seconds a
    seat leaves between its moves at least.
    """

    def __init__(
        self,
        seconds: float = 0.0,
        warm: float = 0.0,
        interval: float = 0.0,
        pids: Mapping[str, list[int]] | None = None,
    ) -> None:
        self._pids = pids or {}
        self._warm, self._length = warm, seconds
        self.interval = interval
        self.moves = 0
        self.latencies: list[float] = []
        self.counting = False
        self.responses = 0
        self.up = self.down = 0

    async def run(self) -> dict[str, Any]:
        """Wait for the warm-up, then measure."""
        await asyncio.sleep(self._warm)
        print(json.dumps({"event": "measuring"}), flush=True)
        used, start, self.counting = self._used(), time.perf_counter(), True
        lines = loopback_bytes()
        await asyncio.sleep(self._length)
        self.counting = False
        seconds, lines = time.perf_counter() - start, loopback_bytes() - lines
        moves = max(self.moves, 1)
        cuts = statistics.quantiles(self.latencies, n=100) if len(self.latencies) > 1 else [0.0] * 99
        return {
            "moves": self.moves,
            "seconds": seconds,
            "out": self.responses / moves,
            **{name: (now - used[name]) / moves * 1e6 for name, now in self._used().items()},
            "p50_ms": cuts[49] * 1000,
            "p99_ms": cuts[98] * 1000,
            "up_bytes": self.up / moves,
            "down_bytes": self.down / moves,
            "line_bytes": lines / moves,
        }

    def _used(self) -> dict[str, float]:
        return {name: sum(map(cpu_seconds, pids)) for name, pids in self._pids.items()}

    def received(self, size: int = 0) -> None:
        """A message of so many bytes came down a stream."""
        if self.counting:
            self.responses += 1
            self.down += size

    def wrote(self, size: int) -> None:
        """A message of so many bytes went up a stream."""
        if self.counting:
            self.up += size

    def count(self, sent: float) -> None:
        """A move's result has come."""
        if self.counting:
            self.moves += 1
            self.latencies.append(time.perf_counter() - sent)


def strength(card: int) -> int:
    """How high a card ranks in Dou Dizhu, by its number in the API."""
    return card if card > 52 else ((card - 1) % 13 or 13)


class Seat:
    """One seat of one table: bids 3, leads its lowest single, else passes."""

    def __init__(self, table: str, seat: int, send: Send, window: Window) -> None:
        self.table, self.seat = table, seat
        self._send, self._window = send, window
        self._hand: list[int] = []
        self._landlord: int | None = None
        self._sent = self._number = 0.0

    def take(self, update: tables_pb2.TableUpdate) -> None:
        """Follow an event; move when the turn comes."""
        kind = update.WhichOneof("update")
        if kind == "event":
            for effect in update.event.effects:
                self._follow(effect.doudizhu)
        elif kind == "turn":
            self._move(update.turn.seq)

    def _follow(self, effect: Any) -> None:
        kind = effect.WhichOneof("effect")
        if kind == "dealt":
            self._hand = sorted(effect.dealt.hand, key=strength)
            self._landlord = None
        elif kind == "landlord":
            self._landlord = effect.landlord.seat
            if self._landlord == self.seat:
                self._hand = sorted([*self._hand, *effect.landlord.bottom], key=strength)

    def _move(self, seq: int) -> None:
        if self._landlord is None:
            text = "bid 3"
        elif self._landlord == self.seat:
            text = f"play {_TEXTS[self._hand.pop(0) - 1]}"
        else:
            text = "pass"
        wait = self._sent + self._window.interval - time.perf_counter() if self._window.interval else 0.0
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self._go, seq, text)
        else:
            self._go(seq, text)

    def _go(self, seq: int, text: str) -> None:
        self._sent = time.perf_counter()
        self._number += 1
        request = tables_pb2.MakeMoveRequest(
            table=self.table,
            move=games_pb2.Move(text=text),
            expected_seq=seq,
            request_id=f"{self.seat}-{int(self._number)}",
        )
        self._send(tables_pb2.PlayCommand(move=request))

    def done(self, result: tables_pb2.MoveResult) -> None:
        """The move's result."""
        if result.WhichOneof("result") != "seq":
            raise RuntimeError(f"refused: {result.refused.message}")
        self._window.count(self._sent)


class Player:
    """One player with one Play stream for all of its tables."""

    def __init__(self, channel: grpc.aio.Channel, name: str, window: Window) -> None:
        self.channel, self.name, self._window = channel, name, window
        self.metadata: tuple[tuple[str, str], ...] = ()
        self.seats: dict[str, Seat] = {}
        self._commands: list[tables_pb2.PlayCommand] = []
        self._wake = asyncio.Event()

    async def call(self, method: str, request: Any, response: Any) -> Any:
        """A unary call."""
        stub = self.channel.unary_unary(
            f"/croupier.v1.{method}", request_serializer=type(request).SerializeToString,
            response_deserializer=response.FromString,
        )  # fmt: skip
        return await stub(request, metadata=self.metadata)

    async def sign_in(self) -> None:
        """Get a token."""
        request = players_pb2.SignInRequest(display_name=self.name)
        answer = await self.call("PlayerService/SignIn", request, players_pb2.SignInResponse)
        self.metadata = (("authorization", f"Bearer {answer.token}"),)

    def send(self, command: tables_pb2.PlayCommand) -> None:
        """Queue a command; those of one loop turn go up together."""
        self._commands.append(command)
        self._wake.set()

    async def play(self) -> None:
        """Run the stream until cancelled."""
        stub = self.channel.stream_stream(
            "/croupier.v1.TableService/Play",
            request_serializer=tables_pb2.PlayRequest.SerializeToString,
            response_deserializer=tables_pb2.PlayResponse.FromString,
        )
        call = stub(metadata=self.metadata)
        writer = asyncio.create_task(self._write(call))
        try:
            async for response in call:
                self._window.received(response.ByteSize())
                for update in response.updates:
                    self.seats[update.table].take(update)
                for result in response.results:
                    self.seats[result.table].done(result)
        finally:
            writer.cancel()
            call.cancel()

    async def _write(self, call: Any) -> None:
        for table in self.seats:
            self.send(tables_pb2.PlayCommand(subscribe=tables_pb2.Subscription(table=table, after_seq=0)))
        while True:
            await self._wake.wait()
            self._wake.clear()
            commands, self._commands = self._commands, []
            request = tables_pb2.PlayRequest(commands=commands)
            self._window.wrote(request.ByteSize())
            await call.write(request)


async def seat_table(players: list[Player], window: Window, make: Callable[..., Seat] = Seat) -> None:
    """Open a table of many deals and seat three players."""
    options = games_pb2.GameOptions(doudizhu={"deals": 100})
    request = tables_pb2.CreateTableRequest(game="doudizhu", options=options)
    created = await players[0].call("TableService/CreateTable", request, tables_pb2.CreateTableResponse)
    for player in players:
        join = tables_pb2.JoinTableRequest(name=created.table.name)
        joined = await player.call("TableService/JoinTable", join, tables_pb2.JoinTableResponse)
        player.seats[created.table.name] = make(created.table.name, joined.seat, player.send, window)


async def croupier(arguments: argparse.Namespace) -> dict[str, Any]:
    """Groups of three players, each with ``--per-stream`` tables on one stream."""
    channels = _channels(arguments)
    groups = arguments.tables // arguments.per_stream
    window = _window(arguments)
    everyone: list[Player] = []
    for group in range(groups):
        players = [
            Player(channels[(group * 3 + n) % len(channels)], f"load {group}.{n}", window) for n in range(3)
        ]
        for player in players:
            await player.sign_in()
        for _ in range(arguments.per_stream):
            await seat_table(players, window)
        everyone += players
    streams = [asyncio.create_task(player.play()) for player in everyone]
    return await measured(window, streams, channels)


async def echo(arguments: argparse.Namespace) -> dict[str, Any]:
    """The same streams and messages against the bare echo: table t's members take turns."""
    channels = _channels(arguments)
    groups = arguments.tables // arguments.per_stream
    window = _window(arguments)
    streams = []
    for group in range(groups):
        names = [f"g{group}t{n}" for n in range(arguments.per_stream)]
        for n in range(3):
            channel = channels[(group * 3 + n) % len(channels)]
            streams.append(asyncio.create_task(EchoMember(channel, names, n, window).run()))
    return await measured(window, streams, channels)


class EchoMember:
    """One of three members of its tables: each sends when the member before it has sent."""

    def __init__(self, channel: grpc.aio.Channel, tables: list[str], member: int, window: Window) -> None:
        metadata = (("groups", ",".join(tables)),)
        self._call: Any = channel.stream_stream("/bench.Echo/Play")(metadata=metadata)
        self._tables, self._member, self._window = tables, member, window
        self._sent: dict[bytes, float] = {}
        self._due: list[bytes] = []
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Run the stream until cancelled."""
        writer = asyncio.create_task(self._write())
        try:
            await asyncio.sleep(1.0)  # all members have to be there before the first message
            if self._member == 0:
                for table in self._tables:
                    self._go(_echo_message(table, 0))
            async for data in self._call:
                self._window.received()
                for message in data.split(b"\n")[:-1]:
                    self._take(message)
        finally:
            writer.cancel()
            self._call.cancel()

    def _take(self, message: bytes) -> None:
        table, turn, _ = message.split(b"|", 2)
        if int(turn) == self._member:
            self._window.count(self._sent[table])
        elif (int(turn) + 1) % 3 == self._member:
            following = _echo_message(table.decode(), self._member)
            wait = 0.0
            if self._window.interval:
                wait = self._sent.get(table, 0.0) + self._window.interval - time.perf_counter()
            if wait > 0:
                asyncio.get_running_loop().call_later(wait, self._go, following)
            else:
                self._go(following)

    def _go(self, message: bytes) -> None:
        self._sent[message.split(b"|", 1)[0]] = time.perf_counter()
        self._due.append(message)
        self._wake.set()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            waiting, self._due = self._due, []
            for message in waiting:  # the bare server parses nothing, so one table a message
                await self._call.write(message)


def _echo_message(table: str, member: int) -> bytes:
    return f"{table}|{member}|".encode() + b"x" * 100 + b"\n"


def _window(arguments: argparse.Namespace) -> Window:
    interval = 3 * arguments.tables / arguments.rate if arguments.rate else 0.0  # each of three seats
    pids = {"cpu_us": arguments.pid, "store_us": arguments.store, "balancer_us": arguments.balancer}
    return Window(arguments.seconds, arguments.warm, interval, pids)


def _channels(arguments: argparse.Namespace) -> list[grpc.aio.Channel]:
    addresses = arguments.address.split(",")
    run = 3 if arguments.together else 1
    return [
        channel(addresses[n // run % len(addresses)], n, arguments.roots) for n in range(arguments.channels)
    ]


def channel(address: str, number: int, roots: Path | None = None) -> grpc.aio.Channel:
    """A connection of its own, with TLS where there are ``roots``."""
    options = (("grpc.use_local_subchannel_pool", 1), ("bench.n", number))
    if roots is None:
        return grpc.aio.insecure_channel(address, options=options)
    credentials = grpc.ssl_channel_credentials(roots.read_bytes())
    return grpc.aio.secure_channel(address, credentials, options=options)


async def measured(
    window: Window, streams: list[asyncio.Task[None]], channels: list[grpc.aio.Channel]
) -> dict[str, Any]:
    """What the window counted while the streams ran. Raises what ended one of them before."""
    measuring = asyncio.create_task(window.run())
    done, _ = await asyncio.wait({measuring, *streams}, return_when=asyncio.FIRST_COMPLETED)
    for stream in streams:
        stream.cancel()
    for task in done - {measuring}:
        task.result()
        raise RuntimeError("a stream ended before the measurement did")
    await asyncio.gather(*streams, return_exceptions=True)
    for channel in channels:
        await channel.close()
    return measuring.result()


def pids(text: str) -> list[int]:
    """``PID,PID``."""
    return [int(pid) for pid in text.split(",") if pid]


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("croupier", "echo"))
    parser.add_argument("address")
    parser.add_argument("--pid", type=pids, default=[])
    parser.add_argument("--store", type=pids, default=[])
    parser.add_argument("--balancer", type=pids, default=[])
    parser.add_argument("--roots", type=Path)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--per-stream", type=int, default=1)
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--together", action="store_true", help="the seats of a table at one address")
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--warm", type=float, default=2.0)
    arguments = parser.parse_args()
    kind = {"croupier": croupier, "echo": echo}[arguments.kind]
    print(json.dumps(uvloop.run(kind(arguments))))


if __name__ == "__main__":
    main()
