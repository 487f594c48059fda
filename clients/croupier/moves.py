"""Moves as canonical text and as typed messages.

The law of this file: the canonical text and the typed message say the same; ``typed_move`` and
``move_text`` are each other's inverse. Whether a move is legal, or even possible, is not asked
here: the rules do that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from croupier.v1 import basic_rummy_pb2 as rummy
from croupier.v1 import cards_pb2, games_pb2

_CARDS: Final = {
    value.name.removeprefix("CARD_"): value.number
    for value in cards_pb2.DESCRIPTOR.enum_types_by_name["Card"].values
    if value.number
}
_TEXTS: Final = {number: text for text, number in _CARDS.items()}
_SOURCES: Final = {
    "stock": rummy.BASIC_RUMMY_SOURCE_STOCK,
    "discard": rummy.BASIC_RUMMY_SOURCE_DISCARD,
}
_SOURCE_TEXTS: Final[dict[int, str]] = {int(number): text for text, number in _SOURCES.items()}


def _cards(words: list[str]) -> list[int]:
    return [_CARDS[word] for word in words]


def _texts(cards: Any) -> str:
    return " ".join(_TEXTS[card] for card in cards)


_TO_FIELDS: Final[dict[tuple[str, str], Callable[[list[str]], dict[str, Any]]]] = {
    ("doudizhu", "pass"): lambda _: {"pass": {}},
    ("doudizhu", "bid"): lambda words: {"bid": {"amount": int(words[0])}},
    ("doudizhu", "play"): lambda words: {"play": {"cards": _cards(words)}},
    ("hidden_unders", "overs"): lambda words: {"overs": {"cards": _cards(words)}},
    ("hidden_unders", "play"): lambda words: {"play": {"cards": _cards(words)}},
    ("hidden_unders", "flip"): lambda words: {"flip": {"slot": int(words[0])}},
    ("hidden_unders", "done"): lambda _: {"done": {}},
    ("basic_rummy", "draw"): lambda words: {"draw": {"source": _SOURCES[words[0]]}},
    ("basic_rummy", "meld"): lambda words: {"meld": {"cards": _cards(words)}},
    ("basic_rummy", "layoff"): lambda words: {"lay_off": {"meld": int(words[0]), "cards": _cards(words[1:])}},
    ("basic_rummy", "discard"): lambda words: {"discard": {"card": _CARDS[words[0]]}},
}

_TO_TEXT: Final[dict[tuple[str, str], Callable[[Any], str]]] = {
    ("doudizhu", "pass"): lambda _: "pass",
    ("doudizhu", "bid"): lambda m: f"bid {m.amount}",
    ("doudizhu", "play"): lambda m: f"play {_texts(m.cards)}",
    ("hidden_unders", "overs"): lambda m: f"overs {_texts(m.cards)}",
    ("hidden_unders", "play"): lambda m: f"play {_texts(m.cards)}",
    ("hidden_unders", "flip"): lambda m: f"flip {m.slot}",
    ("hidden_unders", "done"): lambda _: "done",
    ("basic_rummy", "draw"): lambda m: f"draw {_SOURCE_TEXTS[m.source]}",
    ("basic_rummy", "meld"): lambda m: f"meld {_texts(m.cards)}",
    ("basic_rummy", "lay_off"): lambda m: f"layoff {m.meld} {_texts(m.cards)}",
    ("basic_rummy", "discard"): lambda m: f"discard {_TEXTS[m.card]}",
}


def typed_move(game: str, text: str) -> games_pb2.Move:
    """A canonical move text as a typed message."""
    word, *rest = text.split()
    fields: dict[str, Any] = {game: _TO_FIELDS[game, word](rest)}
    return games_pb2.Move(**fields)


def move_text(move: games_pb2.Move) -> tuple[str | None, str]:
    """A move's game (None when it came as text) and its text.

    Raises ``ValueError`` saying which part is missing or no card.
    """
    which = move.WhichOneof("move")
    if which is None:
        raise ValueError("move is not set; give its text or the game's own message")
    if which == "text":
        return None, move.text
    typed = getattr(move, which)
    kind = typed.WhichOneof("move")
    if kind is None:
        raise ValueError(f"{which}.move is not set")
    try:
        return which, _TO_TEXT[which, kind](getattr(typed, kind))
    except KeyError:
        raise ValueError(f"{which}.{kind} holds a value that is not allowed there") from None
