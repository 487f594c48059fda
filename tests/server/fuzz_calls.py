"""Generated calls of every method: valid-looking, mutated, and plain garbage.

The law of this file: requests are built from the descriptors, so a new field or method is
generated without a change here; ``known`` gives the values that make a request look right.
A guest who sits at a game in progress makes only moves there that must be refused.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES
from croupier_games.cards import CARD_TEXTS
from croupier_server.settings import BOT_LEVELS
from server.fuzz_refusals import COMBINING, LIKE_TOKENS, NOWHERE
from server.fuzz_send import Call
from server.fuzz_stage import METHODS, NONCE, Metadata, Stage, path_of

Draw = Callable[[st.SearchStrategy[Any]], Any]
Known = Mapping[str, Sequence[Any]]
Ints = st.SearchStrategy[int]
Choice = st.SearchStrategy[FieldDescriptor]

SEATED = ("ann", "bob", "cat")
"""Who sits at the games in progress."""
PLAYING = ("zoe", "yan", "xia")
"""Who may do as they like, also at their own games."""
ODD = ("house", "expired", "forged", "garbled")

_MOVING = frozenset({path_of("MakeMove"), path_of("Play")})
_NEVER_LEFT_OUT = frozenset({"name", "table", "subscription", "commands", "move", "game"})
"""Fields without which a request is refused at once; seldom left out."""

_ODD_TEXTS = (
    *("", " ", "\0", "\n", "x" * 65, "x" * 2000, "é" * 80, "\u202e", "\u200d", "🂡", "null", "../..", "²"),
    *("tables/", "players/", "tables/../players/x", "%s%n{0}", "eyJ0.eyJ0.eyJ0", "-1", "'; drop", "☃"),
)
_ODD_INTS = st.sampled_from([4, 5, 7, 20, 50, 200, 201, 500, 10_000, 86_401, 2**16, 2**31 - 1])
_MOVE_TEXTS = (
    *("pass", "bid 1", "bid 2", "bid 3", "bid 4", "done", "flip 0", "flip 3", "flip 4", "draw stock"),
    *("draw discard", "draw", "play", "play ??", "overs 2C 2D 2H 2S", "layoff 0 3C", "meld 2C 3C 4C"),
    *("PASS", " pass ", "play\u00a03C", "bid １", "layoff 99999999999 3C", "discard BJ", "play RJ BJ"),
)
_TAILS = (
    b"\x0a\x02\xff\xfe",  # a text that is not UTF-8, or half a message
    b"\xc0\x3e\x01",  # an unknown field: a number
    b"\xc2\x3e\x03abc",  # an unknown field: bytes
    b"\xc5\x3e\x01\x02\x03\x04",  # an unknown field: 32 bits
    b"\xc3\x3e\xc4\x3e",  # an unknown group
    b"\xc3\x3e" * 200 + b"\xc4\x3e" * 200,  # groups in groups
    b"\xc3\x3e",  # a group without an end
    b"\x0a\xff\xff\xff\xff\x0f",  # a length beyond all bounds
    b"\x00",  # no field has the number 0
    b"\xff" * 11,  # a number that never ends
)


def known(stage: Stage, page_tokens: Sequence[str]) -> Known:
    """What is known of a stage, by the names of fields."""
    tables = [*stage.tables.values(), NOWHERE]
    players = [guest.name for guest in stage.guests.values()]
    codes = [code for label, code in stage.codes.items() if code and label != "hidden"]
    return {
        "name": tables,
        "table": tables,
        "player": players,
        "game": [*GAMES, "snap"],
        "level": BOT_LEVELS,
        "join_code": ["", *codes],
        "request_id": ["again", "open", "mv-1", "mv-2", "123e4567-e89b-42d3-a456-426614174000"],
        "page_token": [*page_tokens, *(token[:-2] for token in page_tokens), *(t[::-1] for t in page_tokens)],
        "language": ["en", "de-CH", "tlh", "zh-Hans"],
        "display_name": ["Zoe", "Ann", "x" * 40],
        "title": ["Friday", "x" * 80, COMBINING, LIKE_TOKENS],
        "nonce": [NONCE, NONCE[:-1], NONCE * 3],
        "nonce_commitment": [b"x" * 32, b"x" * 31],
        "epoch": ["0", "epoch-1"],
        "service": [path.split("/")[1] for path in METHODS],
        "file_by_filename": ["croupier/v1/tables.proto", "google/rpc/status.proto"],
        "file_containing_symbol": ["croupier.v1.Table", "croupier.v1.TableService.Play", "grpc"],
        "containing_type": ["croupier.v1.Table", "google.protobuf.FieldOptions"],
        "all_extension_numbers_of_type": ["google.protobuf.FieldOptions", "croupier.v1.Table"],
    }


class Requests:
    """Makes requests of any type, knowing a stage."""

    def __init__(self, facts: Known) -> None:
        self._known = facts
        self._values: dict[str, st.SearchStrategy[Any]] = {}

    def message(self, draw: Draw, descriptor: Descriptor) -> Message:
        """A message of a type, its fields filled in or left out at random."""
        kind, fields, present, choices = _plan(descriptor)
        built = kind()
        chosen = draw(present)
        for place, field in enumerate(fields):
            if chosen >> place & 1 or (field.name in _NEVER_LEFT_OUT and draw(_MOSTLY)):
                self._fill(draw, built, field)
        for choice in choices:
            if draw(_MOSTLY):
                self._fill(draw, built, draw(choice))
        return built

    def _fill(self, draw: Draw, built: Message, field: FieldDescriptor) -> None:
        if field.is_repeated:
            count = draw(_COUNTS)
            values = [self._value(draw, field) for _ in range(min(count, 3))]
            getattr(built, field.name).extend(values * (1 if count <= 3 else count // 3))
        elif field.message_type is not None:
            getattr(built, field.name).CopyFrom(self.message(draw, field.message_type))
        else:
            setattr(built, field.name, self._value(draw, field))

    def _value(self, draw: Draw, field: FieldDescriptor) -> Any:
        if field.message_type is not None:
            return self.message(draw, field.message_type)
        strategy = self._values.get(field.full_name)
        if strategy is None:
            strategy = self._values[field.full_name] = self._scalar(field)
        return draw(strategy)

    def _scalar(self, field: FieldDescriptor) -> st.SearchStrategy[Any]:
        values = self._known.get(field.name, ())
        if field.full_name == "croupier.v1.Move.text":
            return _MOVES
        if field.type == FieldDescriptor.TYPE_STRING:
            odd = st.one_of(st.sampled_from(_ODD_TEXTS), st.text(max_size=12))
            return _mostly(st.sampled_from(values), odd) if values else odd
        if field.type == FieldDescriptor.TYPE_BYTES:
            return st.one_of(*[st.sampled_from(values)] * bool(values), st.binary(max_size=70))
        if field.enum_type is not None:
            numbers = [value.number for value in field.enum_type.values]
            return st.sampled_from([*numbers * 3, -1, 99, 2**31 - 1, -(2**31)])
        if field.type == FieldDescriptor.TYPE_BOOL:
            return st.booleans()
        lowest, highest = _RANGES.get(field.type, (0, 2**32 - 1))
        return _mostly(st.integers(0, 3), st.one_of(_ODD_INTS, st.integers(lowest, highest)))

    def data(self, draw: Draw, descriptor: Descriptor) -> bytes:
        """The bytes of a request: encoded, then now and then damaged; or no message at all."""
        damage = draw(_DAMAGE)
        if damage == "garbage":
            return bytes(draw(st.binary(max_size=60)))
        if damage == "another":
            descriptor = METHODS[draw(st.sampled_from(list(METHODS)))].input_type
        data = self.message(draw, descriptor).SerializeToString()
        return _damaged(draw, data, damage)


def _damaged(draw: Draw, data: bytes, damage: str) -> bytes:
    if damage == "cut":
        return data[: draw(st.integers(0, len(data)))]
    if damage == "spoilt" and data:
        place = draw(st.integers(0, len(data) - 1))
        return data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
    if damage == "tail":
        return data + draw(st.sampled_from(_TAILS))
    if damage == "twice":
        return data + data
    if damage == "nested":
        for _ in range(draw(st.sampled_from([1, 5, 99, 101, 300]))):
            data = b"\x0a" + _length(len(data)) + data
    if damage == "huge":
        return data + b"\xc2\x3e" + _length(300_000) + bytes(300_000)
    return data


def _length(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _length(rest) if rest else bytes([low])


@cache
def _plan(descriptor: Descriptor) -> tuple[type[Message], list[FieldDescriptor], Ints, list[Choice]]:
    """How a message is filled: its class, its fields by themselves, which of them, and its oneofs."""
    choices = [list(oneof.fields) for oneof in descriptor.oneofs if len(oneof.fields) > 1]
    fields = [field for field in descriptor.fields if not any(field in choice for choice in choices)]
    present = st.integers(0, (1 << len(fields)) - 1)
    return GetMessageClass(descriptor), fields, present, [st.sampled_from(choice) for choice in choices]


def _mostly(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nine times of ten as usual."""
    return st.sampled_from([usual] * 9 + [odd]).flatmap(lambda chosen: chosen)


_MOSTLY = st.sampled_from([True] * 9 + [False])
_COUNTS = st.sampled_from([0, 1, 1, 1, 2, 2, 3, 3, 3, 600])
_DAMAGE = st.sampled_from(
    ["none"] * 24
    + ["garbage", "another", "cut", "spoilt", "spoilt", "tail", "tail", "twice", "nested"]
    # seldom, since it costs much:
    + ["none"] * 24
    + ["garbage", "another", "cut", "spoilt", "spoilt", "tail", "tail", "twice", "nested", "huge"]
)
_RANGES = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_SINT32: (-(2**31), 2**31 - 1),
}
_CARDS = st.lists(st.sampled_from(CARD_TEXTS), max_size=6).map(" ".join)
_MOVES = st.one_of(
    st.sampled_from(_MOVE_TEXTS),
    st.sampled_from(_MOVE_TEXTS),
    st.builds("{} {}".format, st.sampled_from(["play", "discard", "meld", "overs", "layoff 0"]), _CARDS),
    st.text(max_size=20),
)
_ODD_METADATA: tuple[Metadata, ...] = (
    *[()] * 6,
    (("accept-language", "de"),),
    (("accept-language", ",;q=x" * 90),),
    (("traceparent", "00-" + "0" * 32),),
    (("croupier-table", "tables/x"), ("x-odd-bin", b"\xff\0")),
)
_ODD_AUTHORIZATIONS = (
    *("", "Bearer", "Bearer x", "Basic YTpi", "Bearer " + "x" * 4000, "bearer eyJ.eyJ.eyJ"),
    "Bearer " + base64.urlsafe_b64encode(b"[" * 1500).decode() + ".e30.AA",
    "Bearer " + base64.urlsafe_b64encode(b'{"alg":"none","kid":[{}]}').decode() + ".e30.AA",
)


@st.composite
def metadata(draw: Draw, stage: Stage, path: str) -> Metadata:
    """Who calls, and what else comes along."""
    names = (*PLAYING * 6, *ODD * 2) if path in _MOVING else (*PLAYING * 6, *ODD * 2, *SEATED)
    callers: list[Metadata] = [stage.guests[name].metadata for name in names]
    callers += [(), (), (("authorization", draw(st.sampled_from(_ODD_AUTHORIZATIONS))),)]
    own: Metadata = draw(st.sampled_from(callers))
    more: Metadata = draw(st.sampled_from(_ODD_METADATA))
    return own + more


@st.composite
def any_calls(draw: Draw, stage: Stage, requests: Requests) -> Call:
    """A call of any method."""
    path = draw(st.sampled_from(_WEIGHED))
    method = METHODS[path]
    messages: tuple[bytes, ...] = ()
    reads = None
    for _ in range(draw(st.integers(0, 3)) if method.client_streaming else 1):
        messages += (requests.data(draw, method.input_type),)
    if method.server_streaming:
        reads = draw(st.sampled_from(_READS.get(method.name, [1])))
    if draw(st.integers(0, 60)) == 60:
        path = draw(st.sampled_from(["/croupier.v1.TableService/Nope", "/x", "/croupier.v1.Play/"]))
        messages, reads = messages[:1] or (b"",), None
    return Call(path, messages, draw(metadata(stage, path)), reads)


_WEIGHED = [*METHODS, *[path for path in METHODS if "TableService" in path] * 3]
_READS: Mapping[str, list[int | None]] = {
    "WatchInbox": [1, 2],
    "WatchTable": [0, 1, 2],
    "Play": [None, None, None, 1],
    "ServerReflectionInfo": [None],
}
"""How many answers are read, if not one; only Play and reflection end when their client has said all."""


@st.composite
def intrusions(draw: Draw, stage: Stage, labels: Sequence[str]) -> Call:
    """A move at a game in progress by a guest who sits there, wrong in one way that must be seen."""
    table = stage.tables[draw(st.sampled_from(labels))]
    wrong: dict[str, Any] = draw(st.sampled_from(_WRONG))
    move = pb.MakeMoveRequest(table=table, **{"request_id": draw(_IDS), "move": {"text": "pass"}, **wrong})
    who = stage.guests[draw(st.sampled_from(SEATED))].metadata
    if draw(st.booleans()):
        return Call(path_of("MakeMove"), (move.SerializeToString(),), who)
    asked = pb.Subscription(table=table, legal_moves=True, views=True)
    commands = [pb.PlayCommand(subscribe=asked), *[pb.PlayCommand(move=move)] * 2]
    play = pb.PlayRequest(commands=commands)
    return Call(path_of("Play"), (play.SerializeToString(),), who)


_IDS = st.sampled_from(["", "mine", "mv-3", "mv-4"])
_WRONG: list[dict[str, Any]] = [
    {"seat": 3},
    {"seat": 2**32 - 1},
    {"expected_seq": 0},
    {"expected_seq": 2**32 - 1},
    {"move": {}},
    {"move": {"text": "play ZZ"}},
    {"move": {"text": "bid 99"}},
    {"move": {"text": "play 3C 3C 3C 3C 3C"}},
    {"move": {"doudizhu": {"play": {"cards": [0]}}}},
    {"move": {"hidden_unders": {"play": {"cards": [99]}}}},
    {"move": {"basic_rummy": {"lay_off": {"meld": 2**32 - 1, "cards": [1]}}}},
    {"move": {"basic_rummy": {}}},
]


@dataclass(frozen=True)
class Turn:
    """A legal move at a game of PLAYING, by its number; which one that is shows when it is made."""

    label: str
    number: int


def batches(
    stage: Stage, labels: Sequence[str], facts: Known, size: int
) -> st.SearchStrategy[list[Call | Turn]]:
    """So many calls at once, seldom fewer; some are moves at games in progress, wrong ones and right ones."""
    usual = any_calls(stage, Requests(facts))
    turns = st.builds(Turn, st.sampled_from([f"their {game}" for game in GAMES]), st.integers(0, 99))
    kinds: list[st.SearchStrategy[Any]] = [*[usual] * 8, intrusions(stage, labels), turns]
    call = st.sampled_from(kinds).flatmap(lambda kind: kind)
    # No two alike: hypothesis would also fill batches with copies of calls that it made before.
    sizes = st.sampled_from([2, *[size] * 19])
    return sizes.flatmap(lambda n: st.lists(call, min_size=n, max_size=n, unique=True))
