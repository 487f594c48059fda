"""Did a table keep its word? What its clients saw, held to what its journal has.

The law of this file: no I/O, no clock, no protobuf, nothing of the server. A history is the facts of
one table in the order in which they happened, all noted by one process; a violation names the
promise that was broken and the fact that shows it. The promises:

- what was acknowledged is in the journal: once, under the number that was told, as it was sent,
  and behind all that anybody had been told before it was sent (``LOST``, ``TWICE``, ``ALTERED``,
  ``OUT_OF_ORDER``); a repeat gets the same answer (``CHANGED_ANSWER``);
- what was refused for good is not there (``REFUSED_BUT_MADE``);
- a move answers the turn that it was made for (``STALE``);
- a stream tells every number once and in order from where it was asked to begin (``GAP``,
  ``REPEAT``), and so does the client library (the same, and ``SNAPSHOT`` for what it passed over);
- everybody is told the same of a number, always, and it is what the journal has (``DIFFERENT``,
  ``UNKNOWN``);
- nobody is shown a card that the rules hide from that seat then (``SEEN``);
- the table ends, and all who follow it are told to the end (``UNFINISHED``).

The last three kinds are the verdict's, which has the rules at hand: the journal folds, the record
holds, and there are no other tables (``UNREADABLE``, ``RECORD``, ``STRAY``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

Seat = int | None
"""A seat; None: a spectator."""

Cards = frozenset[str]


class Entry(NamedTuple):
    """An entry of the journal; its number is its place, from 1.

    ``told`` is what everybody may know of it; ``move`` the seat and text of a player's move.
    """

    told: Hashable
    actor: str = ""
    request: str = ""
    move: tuple[int, str] | None = None
    changes_game: bool = False
    ends: bool = False


class Sent(NamedTuple):
    """A move went out, perhaps again: for the turn at number ``turn``."""

    request: str
    player: str
    seat: int
    text: str
    turn: int | None = None


class Answered(NamedTuple):
    """A move was said to be stored at a number."""

    request: str
    seq: int


class Refused(NamedTuple):
    """A move was refused; ``final`` when the refusal says that it was not made."""

    request: str
    final: bool


class Asked(NamedTuple):
    """A stream was asked for all after a number (None: for a snapshot)."""

    stream: str
    seat: Seat
    after: int | None


class Told(NamedTuple):
    """A stream told of a number: ``public`` as ``Entry.told``, ``whole`` all of it."""

    stream: str
    seat: Seat
    seq: int
    public: Hashable
    whole: Hashable
    cards: Cards = frozenset()


class Snapshot(NamedTuple):
    """A stream showed the table as it was at a number; ``reset``: other than it had been told."""

    stream: str
    seat: Seat
    seq: int
    reset: bool = False
    cards: Cards = frozenset()


class Shown(NamedTuple):
    """A seat was shown cards with a turn, as it was at a number."""

    stream: str
    seat: Seat
    seq: int
    cards: Cards


class Given(NamedTuple):
    """The client library gave its player a step (None: a snapshot in place of steps)."""

    reader: str
    seq: int | None


class Over(NamedTuple):
    """The client library's iteration ended; ``error`` when it did not by the table's end."""

    reader: str
    error: str = ""


Fact = Sent | Answered | Refused | Asked | Told | Snapshot | Shown | Given | Over

Known = Callable[[int, Seat], set[str]]
"""The cards that the rules let a seat know at a number."""


class Kind(Enum):
    """Which promise was broken."""

    LOST = "acknowledged, but not in the journal"
    TWICE = "in the journal more than once"
    ALTERED = "in the journal with another seat, player or text"
    OUT_OF_ORDER = "stored before what had been told when it was sent"
    CHANGED_ANSWER = "answered in two ways"
    REFUSED_BUT_MADE = "refused for good, but in the journal"
    STALE = "accepted for a turn that was over"
    GAP = "numbers were left out"
    REPEAT = "a number came again"
    SNAPSHOT = "the client was given a snapshot for steps"
    RESET = "a stream took back what it had told"
    DIFFERENT = "told differently"
    UNKNOWN = "told, but not in the journal"
    SEEN = "a card was shown that the rules hide"
    UNFINISHED = "not played or told to the end"
    UNREADABLE = "the journal does not fold"
    RECORD = "the record does not hold"
    STRAY = "a table that nobody plays at"


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise and what shows it."""

    kind: Kind
    what: str

    def __str__(self) -> str:
        return f"{self.kind.name} ({self.kind.value}): {self.what}"


def check(
    journal: Sequence[Entry],
    facts: Iterable[Fact],
    known: Known | None = None,
    *,
    finished: bool = True,
) -> list[Violation]:
    """Every promise that a table broke; [] when it kept all.

    ``known`` None: nothing is said of cards. ``finished`` False: the table may still be going on.
    """
    checker = _Checker(journal, known)
    for fact in facts:
        checker.take(fact)
    checker.conclude(finished=finished)
    return checker.violations


class _Request:
    """A move through all its sendings: ``floor`` is the highest number told before the first."""

    def __init__(self, sent: Sent, floor: int) -> None:
        self.sent = sent
        self.floor = floor
        self.answer: int | None = None
        self.refused = False


class _Position:
    """How far one stream, or one reader, has come; ``asked`` are beginnings not yet met."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.asked: list[int | None] = []


class _Checker:
    def __init__(self, journal: Sequence[Entry], known: Known | None) -> None:
        self.violations: list[Violation] = []
        self._journal = journal
        self._known = known
        self._requests: dict[str, _Request] = {}
        self._streams: dict[tuple[str, Seat], _Position] = defaultdict(_Position)
        self._readers: dict[str, int] = {}
        self._over: set[str] = set()
        self._whole: dict[tuple[int, Seat], Hashable] = {}
        self._told = 0
        self._cards: dict[tuple[int, Seat], set[str]] = {}
        self._made: dict[str, list[int]] = defaultdict(list)
        for seq, entry in enumerate(journal, 1):
            if entry.request:
                self._made[entry.request].append(seq)

    def take(self, fact: Fact) -> None:
        _TAKE[type(fact)](self, fact)

    def _violated(self, kind: Kind, what: object) -> None:
        self.violations.append(Violation(kind, str(what)))

    def _entry(self, seq: int) -> Entry | None:
        return self._journal[seq - 1] if 1 <= seq <= len(self._journal) else None

    # --- moves ----------------------------------------------------------------------------------

    def sent(self, fact: Sent) -> None:
        request = self._requests.get(fact.request)
        if request is None:
            self._requests[fact.request] = _Request(fact, self._told)
        else:
            assert request.sent == fact, f"{fact} is no repeat of {request.sent}"

    def answered(self, fact: Answered) -> None:
        request = self._requests[fact.request]
        if request.answer is not None:
            if request.answer != fact.seq:
                self._violated(Kind.CHANGED_ANSWER, f"{request.sent}: {request.answer}, then {fact.seq}")
            return
        if request.refused:
            self._violated(Kind.CHANGED_ANSWER, f"{request.sent}: refused, then {fact.seq}")
        request.answer = fact.seq
        self._told = max(self._told, fact.seq)
        self._hold_to_journal(request, fact.seq)

    def _hold_to_journal(self, request: _Request, seq: int) -> None:
        sent, entry = request.sent, self._entry(seq)
        if entry is None or entry.request != sent.request:
            self._violated(Kind.LOST, f"{sent} at {seq}, where the journal has {entry}")
            return
        if (entry.actor, entry.move) != (sent.player, (sent.seat, sent.text)):
            self._violated(Kind.ALTERED, f"{sent} at {seq} is {entry}")
        if seq <= request.floor:
            self._violated(Kind.OUT_OF_ORDER, f"{sent} at {seq}, but {request.floor} had been told before")
        if sent.turn is not None and any(e.changes_game for e in self._journal[sent.turn : seq - 1]):
            self._violated(Kind.STALE, f"{sent} at {seq}")

    def refused(self, fact: Refused) -> None:
        request = self._requests[fact.request]
        if not fact.final:
            return
        request.refused = True
        if request.answer is not None:
            self._violated(Kind.CHANGED_ANSWER, f"{request.sent}: {request.answer}, then refused")

    # --- streams --------------------------------------------------------------------------------

    def asked(self, fact: Asked) -> None:
        self._streams[fact.stream, fact.seat].asked.append(fact.after)

    def told(self, fact: Told) -> None:
        where = f"{fact.stream} seat {fact.seat} at {fact.seq}"
        position = self._streams[fact.stream, fact.seat]
        if position.at is None or fact.seq != position.at + 1:
            self._jump(position, fact.seq, where)
        position.at = fact.seq
        self._told = max(self._told, fact.seq)
        entry = self._entry(fact.seq)
        if entry is None:
            self._violated(Kind.UNKNOWN, f"{where}: {fact.public}")
        elif entry.told != fact.public:
            self._violated(Kind.DIFFERENT, f"{where}: {fact.public}, where the journal has {entry.told}")
        if self._whole.setdefault((fact.seq, fact.seat), fact.whole) != fact.whole:
            self._violated(Kind.DIFFERENT, f"{where}: not as told before through this seat")
        self._saw(fact.seat, fact.seq, fact.cards, where)

    def _jump(self, position: _Position, seq: int, where: str) -> None:
        """Another number than the next: only where a beginning was asked for that is not yet met."""
        if seq - 1 in position.asked:
            del position.asked[: position.asked.index(seq - 1) + 1]
        elif position.at is not None and seq <= position.at:
            self._violated(Kind.REPEAT, f"{where} after {position.at}")
        else:
            self._violated(Kind.GAP, f"{where} after {position.at}, asked for {position.asked}")

    def snapshot(self, fact: Snapshot) -> None:
        where = f"{fact.stream} seat {fact.seat} at {fact.seq}"
        position = self._streams[fact.stream, fact.seat]
        if fact.reset:
            self._violated(Kind.RESET, where)
        elif position.at is not None and fact.seq < position.at and None not in position.asked:
            self._violated(Kind.REPEAT, f"{where}: a snapshot after {position.at}")
        if self._entry(fact.seq) is None:
            self._violated(Kind.UNKNOWN, f"{where}: a snapshot")
        position.at = fact.seq
        self._told = max(self._told, fact.seq)
        self._saw(fact.seat, fact.seq, fact.cards, where)

    def shown(self, fact: Shown) -> None:
        self._saw(fact.seat, fact.seq, fact.cards, f"{fact.stream} seat {fact.seat}, turn at {fact.seq}")

    def _saw(self, seat: Seat, seq: int, cards: Cards, where: str) -> None:
        if not cards or self._known is None or self._entry(seq) is None:
            return
        if (seq, seat) not in self._cards:
            self._cards[seq, seat] = self._known(seq, seat)
        if hidden := cards - self._cards[seq, seat]:
            self._violated(Kind.SEEN, f"{where}: {' '.join(sorted(hidden))}")

    # --- readers --------------------------------------------------------------------------------

    def given(self, fact: Given) -> None:
        at = self._readers.get(fact.reader, 0)
        if fact.seq is None:
            self._violated(Kind.SNAPSHOT, f"{fact.reader} after {at}")
            return
        if fact.seq != at + 1:
            kind = Kind.REPEAT if fact.seq <= at else Kind.GAP
            self._violated(kind, f"{fact.reader} was given {fact.seq} after {at}")
        self._readers[fact.reader] = fact.seq

    def over(self, fact: Over) -> None:
        self._over.add(fact.reader)
        if fact.error:
            self._violated(Kind.UNFINISHED, f"{fact.reader}: {fact.error}")
            return
        if (at := self._readers.get(fact.reader, 0)) != len(self._journal):
            self._violated(Kind.UNFINISHED, f"{fact.reader} ended at {at} of {len(self._journal)}")

    # --- the end --------------------------------------------------------------------------------

    def conclude(self, *, finished: bool) -> None:
        for name, seqs in self._made.items():
            if len(seqs) > 1:
                self._violated(Kind.TWICE, f"request {name} at {seqs}")
        for request in self._requests.values():
            if request.refused and request.sent.request in self._made:
                at = self._made[request.sent.request]
                self._violated(Kind.REFUSED_BUT_MADE, f"{request.sent} at {at}")
        if not finished:
            return
        if not self._journal or not self._journal[-1].ends:
            self._violated(Kind.UNFINISHED, f"the journal stops at {len(self._journal)}")
        for reader in self._readers.keys() - self._over:
            self._violated(Kind.UNFINISHED, f"{reader} waits at {self._readers[reader]}")


_TAKE: dict[type, Callable[[_Checker, Any], None]] = {
    Sent: _Checker.sent,
    Answered: _Checker.answered,
    Refused: _Checker.refused,
    Asked: _Checker.asked,
    Told: _Checker.told,
    Snapshot: _Checker.snapshot,
    Shown: _Checker.shown,
    Given: _Checker.given,
    Over: _Checker.over,
}
