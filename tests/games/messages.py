"""Whether plain data has the fields of the API's messages, by their descriptors.

The law of this file: plain data and message agree when every field of the message is a key and
every key a field; enum values are lower-case names without the enum's prefix, cards are card
texts, and what may be absent is None.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from grpc_tools import protoc

from croupier_games.cards import CARD_NUMBERS, HIDDEN

PROTOS = Path(__file__).parents[2] / "protos"

_WHOLE = {FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1), FieldDescriptor.TYPE_SINT32: (-(2**31), 2**31 - 1)}


def pool_of_games(names: list[str], folder: Path) -> descriptor_pool.DescriptorPool:
    """The messages of the games' files, compiled into ``folder``."""
    found = folder / "games.binpb"
    files = [f"croupier/v1/{name}.proto" for name in names]
    status = protoc.main(
        ["protoc", f"-I{PROTOS}", "--include_imports", f"--descriptor_set_out={found}", *files]
    )
    assert status == 0, f"no messages for {', '.join(files)}"
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(found.read_bytes()).file:
        pool.Add(file)
    return pool


def mismatches(value: Any, message: Descriptor, where: str) -> list[str]:
    """Where plain data differs from a message; empty when it has exactly its fields."""
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no {message.name}"]
    fields = {field.name: field for field in message.fields}
    wrong = [f"{where}: {message.name} has no field {key}" for key in value if key not in fields]
    if any(
        not oneof.name.startswith("_") for oneof in message.oneofs
    ):  # protoc names optional fields' own so
        wrong += [] if len(value) == 1 else [f"{where}: one field of {message.name}, not {list(value)}"]
    else:
        wrong += [f"{where}: {name} is missing" for name in fields if name not in value]
    for key in value.keys() & fields.keys():
        wrong += _field(value[key], fields[key], f"{where}.{key}")
    return wrong


def _field(value: Any, field: FieldDescriptor, where: str) -> list[str]:
    if field.is_repeated:
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        return [wrong for i, each in enumerate(value) for wrong in _single(each, field, f"{where}[{i}]")]
    if value is None:
        return [] if field.has_presence else [f"{where}: None, but the field always has a value"]
    return _single(value, field, where)


def _single(value: Any, field: FieldDescriptor, where: str) -> list[str]:
    if field.message_type is not None:
        return mismatches(value, field.message_type, where)
    if field.enum_type is not None:
        return (
            [] if value in _names(field.enum_type) else [f"{where}: {value!r} is no {field.enum_type.name}"]
        )
    if field.type == FieldDescriptor.TYPE_BOOL:
        return [] if isinstance(value, bool) else [f"{where}: {value!r} is neither true nor false"]
    low, high = _WHOLE[field.type]
    fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    return [] if fits else [f"{where}: {value!r} is no whole number from {low} to {high}"]


def _names(enum: EnumDescriptor) -> set[str]:
    if enum.name == "Card":
        return {*CARD_NUMBERS, HIDDEN}
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.name).upper() + "_"
    return {value.name.removeprefix(prefix).lower() for value in enum.values}
