"""Who sits where, in words.

The law of this file: the reader is ``you``, everybody else goes by a name that no other seat of
the table has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from croupier.cli.look.pen import Pen

_THIRD_PERSON: Final = {"have": "has", "are": "is"}


class Cast:
    """The players of a table. ``names`` are one a seat, ``own`` the reader's seat (None: a spectator).

    >>> cast = Cast(["Ann", "Bob"], 1, Pen())
    >>> cast.does(0, "pass"), cast.does(1, "pass"), cast.of(0)
    ('Ann passes', 'You pass', "Ann's")
    """

    def __init__(self, names: Sequence[str], own: int | None, pen: Pen) -> None:
        self.own: Final = own
        shown = [pen.name(name) or f"seat {seat}" for seat, name in enumerate(names)]
        self._names: Final = [
            f"{name} (seat {seat})" if shown.count(name) > 1 or name.lower() == "you" else name
            for seat, name in enumerate(shown)
        ]

    def __len__(self) -> int:
        return len(self._names)

    def name(self, seat: int) -> str:
        """``you``, or the seat's name, inside a sentence."""
        return "you" if seat == self.own else self._names[seat]

    def title(self, seat: int) -> str:
        """The same at the beginning of a line."""
        return "You" if seat == self.own else self._names[seat]

    def of(self, seat: int) -> str:
        """``your`` or ``Ann's``."""
        return "your" if seat == self.own else f"{self._names[seat]}'s"

    def does(self, seat: int, verb: str) -> str:
        """The beginning of a sentence: ``You play``, ``Ann plays``. ``verb`` is as for you."""
        return f"{self.title(seat)} {verb if seat == self.own else _third_person(verb)}"

    def listed(self, values: Iterable[object]) -> str:
        """A value a seat: ``you 12, Ann 3``."""
        return ", ".join(f"{self.name(seat)} {value}" for seat, value in enumerate(values))


def _third_person(verb: str) -> str:
    head, space, tail = verb.partition(" ")
    ending = "es" if head.endswith(("s", "sh", "ch", "o")) else "s"
    return _THIRD_PERSON.get(head, head + ending) + space + tail
