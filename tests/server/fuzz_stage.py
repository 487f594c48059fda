"""A real server on a free loopback port, with guests and tables in every state of their life.

The law of this file: the stage is set through the API alone; who is where follows from its
labels. The journal's keys are fixed, so names are the same in every run. A request written as
plain data may name a table by ``@label``, its join code by ``#label``, and a guest by ``&name``.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from croupier.v1 import tables_pb2 as pb
from croupier_games import dealing
from croupier_server.compose import Parts, compose
from croupier_server.drain import Drain
from croupier_server.journal import MemoryJournal
from croupier_server.metrics import Metrics
from croupier_server.rpc import reflection
from croupier_server.rpc.admission import ACCESS
from croupier_server.rpc.server import RpcServer
from croupier_server.rpc.sign_in import house_token
from croupier_server.settings import Settings
from croupier_server.tokens import Tokens

Metadata = tuple[tuple[str, str | bytes], ...]

KEYS = {name: hashlib.sha256(name.encode()).digest() for name in ("id-key", "page-key", "token-key")}
"""The journal's keys."""

NONCE = bytes(range(16))
"""What ann promised at the table ``awaiting``."""

PLAYERS = {"hidden_unders": 3, "doudizhu": 3, "basic_rummy": 2}
OPTIONS: dict[str, dict[str, Any]] = {
    "hidden_unders": {"hidden_unders": {"rounds": 8, "turn_limit": 60}},
    "doudizhu": {"doudizhu": {"deals": 20}},
    "basic_rummy": {"basic_rummy": {"points": 300, "turn_limit": 40}},
}
"""Long games of short deals."""


def _methods() -> dict[str, MethodDescriptor]:
    pool = descriptor_pool.Default()
    methods = [pool.FindMethodByName(name) for name in ACCESS]
    found = {f"/{m.containing_service.full_name}/{m.name}": m for m in methods}
    (talk,) = reflection.SERVICE.methods
    return {**found, f"/{reflection.V1_NAME}/{talk.name}": talk}


METHODS = _methods()
"""Every method of the server by its path."""


def path_of(name: str) -> str:
    """The path of a method's short name (``MakeMove``), or of a path itself."""
    return name if name.startswith("/") else next(path for path in METHODS if path.endswith(f"/{name}"))


@dataclass(frozen=True)
class Guest:
    """A player with a token."""

    name: str
    token: str

    @property
    def metadata(self) -> Metadata:
        return (("authorization", f"Bearer {self.token}"),)


@dataclass
class Stage:
    """The guests and tables of one server, over a channel to it."""

    channel: grpc.aio.Channel
    blocking: grpc.Channel
    """Another channel, for those who wait in threads."""
    guests: dict[str, Guest] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)

    # --- calls --------------------------------------------------------------------------------

    async def ask(self, method: str, who: str, data: bytes | Mapping[str, Any]) -> Any:
        """The answer of a unary method, as a message."""
        path = path_of(method)
        answer = await self.channel.unary_unary(path)(self.encoded(path, data), metadata=self.metadata(who))
        return GetMessageClass(METHODS[path].output_type).FromString(answer)

    def metadata(self, who: str) -> Metadata:
        """What a guest sends along; nothing for ``nobody``."""
        return () if who == "nobody" else self.guests[who].metadata

    def encoded(self, path: str, data: bytes | Mapping[str, Any]) -> bytes:
        """A request of a method as bytes, with labels replaced by what they stand for."""
        if isinstance(data, bytes) or not data:
            return bytes(data)
        message: Message = GetMessageClass(METHODS[path].input_type)(**self.meant(data))
        return message.SerializeToString()

    def meant(self, plain: Any) -> Any:
        """Plain data with labels replaced by what they stand for."""
        if isinstance(plain, Mapping):
            return {key: self.meant(value) for key, value in plain.items()}
        if isinstance(plain, list):
            return [self.meant(value) for value in plain]
        if isinstance(plain, str) and plain.startswith("@"):
            return self.tables[plain[1:]]
        if isinstance(plain, str) and plain.startswith("&"):
            return self.guests[plain[1:]].name
        if isinstance(plain, str) and plain.startswith("#"):
            return self.codes[plain[1:]]
        return plain

    # --- setting ------------------------------------------------------------------------------

    async def sign_in(self, *names: str) -> None:
        """Guests of these names, the same players in every run."""
        for name in names:
            request = {"display_name": name, "request_id": self.sign_in_id(name)}
            answer = await self.ask("SignIn", "nobody", request)
            self.guests[name] = Guest(answer.player.name, answer.token)

    @staticmethod
    def sign_in_id(name: str) -> str:
        """What a guest signs in with."""
        return str(uuid.UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))

    async def open(self, label: str, creator: str, game: str = "doudizhu", **fields: Any) -> None:
        """A table with free seats."""
        request = {"game": game, "request_id": label, **fields}
        table = (await self.ask("CreateTable", creator, request)).table
        self.tables[label] = table.name
        self.codes[label] = table.join_code

    async def start(self, label: str, game: str, names: Iterable[str], **fields: Any) -> None:
        """A table where these guests play a long game, in turn order."""
        seated = list(names)[: PLAYERS[game]]
        options = {"players": PLAYERS[game], "options": OPTIONS[game], **fields}
        await self.open(label, seated[0], game, **options)
        for name in seated:
            await self.ask("JoinTable", name, {"name": f"@{label}", "join_code": f"#{label}"})

    async def set(self) -> None:
        """Guests ann, bob and cat play a table of each game; zoe sits nowhere. And other tables."""
        await self.sign_in("ann", "bob", "cat", "zoe")
        for game in PLAYERS:
            await self.start(game, game, ("ann", "bob", "cat"))
        await self.open("open", "ann")
        await self.ask("JoinTable", "ann", {"name": "@open", "seat": 0})
        await self.ask("InviteBot", "ann", {"name": "@open", "seat": 2, "level": "easy"})
        await self.open("kept", "ann")
        await self.ask("InviteBot", "ann", {"name": "@kept", "seat": 1, "player": "&bob"})
        await self.open("private", "ann", private=True)
        await self._await_a_nonce()
        await self._end_one()

    async def _await_a_nonce(self) -> None:
        await self.open("awaiting", "ann")
        promise = dealing.nonce_commitment(self.tables["awaiting"], 0, NONCE)
        seat = {"name": "@awaiting", "seat": 0, "nonce_commitment": promise}
        for name, request in (("ann", seat), ("bob", {"name": "@awaiting"}), ("cat", {"name": "@awaiting"})):
            await self.ask("JoinTable", name, request)

    async def _end_one(self) -> None:
        """A game that nobody bids for is void at once (DDZ-3)."""
        await self.start("ended", "doudizhu", ("ann", "bob", "cat"), options={"doudizhu": {"max_redeals": 0}})
        for _ in range(3):
            name, _ = await self.to_act("ended")
            await self.ask("MakeMove", name, {"table": "@ended", "move": {"text": "pass"}})

    async def to_act(self, label: str) -> tuple[str, pb.ListLegalMovesResponse]:
        """The guest to move at a table, and the moves that are legal."""
        for name in self.guests:
            try:
                legal = await self.ask("ListLegalMoves", name, {"table": f"@{label}"})
            except grpc.aio.AioRpcError:
                continue  # sits elsewhere
            if legal.total_size:
                return name, legal
        raise LookupError(f"nobody is to move at {label}")


@dataclass
class Served:
    """A server in this process, open to its bones: what it is made of, and its stage."""

    stage: Stage
    journal: MemoryJournal
    parts: Parts

    def stored(self) -> dict[str, int]:
        """How many entries every stream has."""
        return {name: len(entries) for name, entries in self.journal._streams.items()}


async def with_odd_tokens(served: Served) -> None:
    """Guests whose tokens are not to be taken, and the house."""
    guests, ann = served.stage.guests, served.stage.guests["ann"]
    old = Tokens(served.journal, KEYS["token-key"], cache_size=1, clock=lambda: 0)
    foreign = Tokens(served.journal, b"f" * 32, cache_size=1)
    guests["expired"] = Guest(ann.name, old.issue(ann.name, "ann").token)
    guests["forged"] = Guest(ann.name, foreign.issue(ann.name, "ann").token)
    head, claims, signature = ann.token.split(".")
    guests["garbled"] = Guest(ann.name, f"{head}.{claims}.{signature[::-1]}")
    guests["house"] = Guest("players/house", house_token(served.parts.tokens))


@asynccontextmanager
async def serving_stage(settings: Settings) -> AsyncIterator[Served]:
    """The whole server over a journal in memory, and its stage, set."""
    journal = MemoryJournal()
    for name, key in KEYS.items():
        await journal.key(name, key)
    metrics = Metrics()
    parts = await compose(journal, settings, Drain(), metrics)
    server = RpcServer(parts.services, parts.tokens, settings, metrics)
    address = server.listen("127.0.0.1:0")
    await parts.start()
    await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            with grpc.insecure_channel(address) as blocking:
                served = Served(Stage(channel, blocking), journal, parts)
                await served.stage.set()
                await with_odd_tokens(served)
                yield served
    finally:
        await server.stop()
        await parts.stop()
