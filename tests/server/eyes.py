"""What a client was shown, against what the rules let it know.

The law of this file: what a viewer may know is told by ``games.knowledge`` from the deals and
the public moves of the journal, never from a view; what it was shown is every card in every
message that it got.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from croupier.v1 import cards_pb2
from croupier.v1 import tables_pb2 as pb
from croupier_games.game import Plain
from croupier_server.fold import TableState
from croupier_server.journal import Stored
from games.knowledge import KNOWN
from games.playing import Moment

_CARD = cards_pb2.DESCRIPTOR.enum_types_by_name["Card"]
_TEXT = re.compile(r"\b(?:[2-9TJQKA][CDHS]|BJ|RJ)\b")
_NAME = re.compile(r"\b(?:players|tables)/[\w-]+")
"""A name's id is drawn: one in some thousands has a part that reads like a card."""


def cards_in(message: Message) -> set[str]:
    """Every card that a message names, as a value or in a text; face-down ones are none."""
    return set(_cards(message))


def _cards(message: Message) -> Iterator[str]:
    for descriptor, value in message.ListFields():
        values = value if descriptor.is_repeated else [value]
        for each in values:
            if isinstance(each, Message):
                yield from _cards(each)
            elif descriptor.enum_type is _CARD and each:
                yield _CARD.values_by_number[each].name.removeprefix("CARD_")
            elif isinstance(each, str):
                yield from _TEXT.findall(_NAME.sub("", each))


@dataclass
class History:
    """A table's stream, told by the rules: what each viewer may know at each number."""

    state: TableState
    deals: list[Plain] = field(default_factory=list)
    moments: list[list[Moment]] = field(default_factory=list)
    at: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each number the deal that was played and how many of its moments had been."""

    def known(self, seq: int, viewer: int | None) -> set[str]:
        """The cards that a viewer may know at a number, of this deal and the ones before it."""
        last, count = self.at[seq]
        known: set[str] = set()
        for deal in range(last + 1):
            moments = self.moments[deal][: count if deal == last else None]
            known |= KNOWN[self.state.rules.name](self.state.rules, self.deals[deal], moments, viewer)
        return known


def history(name: str, stored: Sequence[Stored]) -> History:
    """Fold a stream and keep what its deals and moves tell."""
    told = History(TableState(name))
    for entry in stored:
        step = told.state.fold(entry)
        if step.kind == "dealt":
            told.deals.append(json.loads(step.entry.dealt.deal_json))
            told.moments.append([Moment(step.game_state, step.entry.dealt.number)])
        elif step.kind == "moved":
            moved = step.entry.moved
            told.moments[-1].append(Moment(step.game_state, len(told.deals) - 1, moved.seat, moved.move))
        told.at[step.seq] = (len(told.deals) - 1, len(told.moments[-1]) if told.moments else 0)
    return told


def seq_of(update: pb.TableUpdate) -> int | None:
    """The number at which an update was true; None for those that tell nothing of the game."""
    inner: Any = getattr(update, str(update.WhichOneof("update")))
    return getattr(inner, "seq", None)
