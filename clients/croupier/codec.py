"""Plain data to messages and back, for every game alike.

The law of this file: plain data (dicts, lists, strings, ints, bools, None) has the field names
of the messages as keys. A card is its text (``"TD"``; ``"??"`` is CARD_UNSPECIFIED), another
enum value its lower-case name without the prefix, an unset optional field None. Of a oneof only
the set field is there. Both directions follow the descriptors, so a new game needs no code here
beyond its names in ``GAME_MESSAGES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from croupier.v1 import basic_rummy_pb2, cards_pb2, doudizhu_pb2, games_pb2, hidden_unders_pb2

Plain = dict[str, Any]

GAME_MESSAGES: Final = {
    "hidden_unders": hidden_unders_pb2,
    "doudizhu": doudizhu_pb2,
    "basic_rummy": basic_rummy_pb2,
}
"""The module of each game's messages, by the game's key (also its field in every oneof)."""

_CARD: Final = cards_pb2.DESCRIPTOR.enum_types_by_name["Card"]
_CARD_TEXTS: Final = {v.number: v.name.removeprefix("CARD_") if v.number else "??" for v in _CARD.values}
_CARD_NUMBERS: Final = {text: number for number, text in _CARD_TEXTS.items()}


def _enum_prefix(enum: EnumDescriptor) -> str:
    """The part that all values share: the zero value's name without UNSPECIFIED."""
    return enum.values_by_number[0].name.removesuffix("UNSPECIFIED")


@cache
def _enum_names(enum: EnumDescriptor) -> dict[int, str]:
    if enum is _CARD:
        return _CARD_TEXTS
    prefix = _enum_prefix(enum)
    return {v.number: v.name.removeprefix(prefix).lower() for v in enum.values}


@cache
def _enum_numbers(enum: EnumDescriptor) -> dict[str, int]:
    if enum is _CARD:
        return _CARD_NUMBERS
    return {name: number for number, name in _enum_names(enum).items()}


def _is_real_oneof(field: FieldDescriptor) -> bool:
    oneof = field.containing_oneof
    return oneof is not None and not oneof.name.startswith("_")


Encode = Callable[[Any], Any]


def _value_encoder(field: FieldDescriptor) -> Encode | None:
    """Makes a field's value fit for a message constructor; None: it does already."""
    if field.message_type is not None:
        nested = field.message_type
        return lambda value: fields_of(nested, value)
    if field.enum_type is not None:
        return _enum_numbers(field.enum_type).__getitem__
    return None


@cache
def _encoders(descriptor: Descriptor) -> dict[str, tuple[bool, Encode | None]]:
    return {f.name: (f.is_repeated, _value_encoder(f)) for f in descriptor.fields}


def fields_of(descriptor: Descriptor, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data as keyword arguments for the message's constructor, nested ones as dicts.

    Raises ``KeyError`` for a key that is no field or a text that is no value of its enum.
    """
    encoders = _encoders(descriptor)
    fields = {}
    for key, value in plain.items():
        repeated, encode = encoders[key]
        if value is None:
            continue
        if encode is not None:
            value = [encode(v) for v in value] if repeated else encode(value)
        fields[key] = value
    return fields


class _Reader(NamedTuple):
    """How one field is read: ``read`` makes a value plain (None: it is already)."""

    name: str
    repeated: bool
    read: Callable[[Any], Any] | None
    presence: bool
    real_oneof: bool


@cache
def _readers(descriptor: Descriptor) -> tuple[_Reader, ...]:
    fields = cast("list[FieldDescriptor]", descriptor.fields)
    return tuple(
        _Reader(f.name, f.is_repeated, _value_reader(f), f.has_presence, _is_real_oneof(f)) for f in fields
    )


def _value_reader(field: FieldDescriptor) -> Callable[[Any], Any] | None:
    if field.message_type is not None:
        return to_plain
    if field.enum_type is not None:
        names = _enum_names(field.enum_type)
        return lambda value: names.get(value, "unspecified")
    return None


def to_plain(message: Message) -> Plain:
    """A message as plain data, with every field there (of a oneof, only the set one)."""
    plain: Plain = {}
    for name, repeated, read, presence, real_oneof in _readers(message.DESCRIPTOR):
        if presence and not message.HasField(name):
            if not real_oneof:
                plain[name] = None
            continue
        value = getattr(message, name)
        if repeated:
            plain[name] = list(value) if read is None else [read(v) for v in value]
        else:
            plain[name] = value if read is None else read(value)
    return plain


def view_message(game: str, view: Mapping[str, Any]) -> games_pb2.GameView:
    """A game's ``view`` as a message."""
    return games_pb2.GameView(**_wrapped(games_pb2.GameView.DESCRIPTOR, game, view))


def plain_view(view: games_pb2.GameView) -> Plain | None:
    """The plain data of a view; None when it holds none (no cards were dealt yet)."""
    which = view.WhichOneof("view")
    return None if which is None else to_plain(getattr(view, which))


def effect_message(game: str, effect: Mapping[str, Any]) -> games_pb2.GameEffect:
    """One effect of ``happened`` as a message."""
    return games_pb2.GameEffect(**_wrapped(games_pb2.GameEffect.DESCRIPTOR, game, effect))


def plain_effect(effect: games_pb2.GameEffect) -> Plain:
    """The plain data of an effect: one key, its kind; empty for a kind that is not known here."""
    which = effect.WhichOneof("effect")
    return {} if which is None else to_plain(getattr(effect, which))


def options_message(game: str, options: Mapping[str, Any]) -> games_pb2.GameOptions:
    """A game's options as a message."""
    return games_pb2.GameOptions(**_wrapped(games_pb2.GameOptions.DESCRIPTOR, game, options))


def plain_options(options: games_pb2.GameOptions) -> tuple[str | None, Plain]:
    """The game of an options message (None: unset) and the options that are set in it."""
    which = options.WhichOneof("options")
    if which is None:
        return None, {}
    set_ones = {k: v for k, v in to_plain(getattr(options, which)).items() if v is not None}
    return which, set_ones


def _wrapped(outer: Descriptor, game: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    nested = outer.fields_by_name[game].message_type
    assert nested is not None
    return {game: fields_of(nested, plain)}
