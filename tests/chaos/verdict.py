"""What a run comes to: every table's log held to its journal, and every record verified.

The law of this file: table by table, so that a long run needs no more memory than a short one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chaos.history import Answered, Entry, Given, Kind, Known, Sent, Violation, check
from chaos.journal import entries_of
from chaos.knowledge import Knowledge
from chaos.load import RECORDS
from chaos.log import Noted, path_of, read, tables_in
from croupier_games.records import verify_lines
from croupier_server.fold import UnreadableTable
from croupier_server.journal import Journal, RowFilter, Stored
from server.eyes import history

MOST_TABLES = 1 << 20


@dataclass
class Verdict:
    """What was found. Times are in seconds."""

    tables: int = 0
    moves: int = 0
    acknowledged: int = 0
    timeouts: int = 0
    records: int = 0
    facts: Counter[str] = field(default_factory=Counter)
    longest_answer: float = 0.0
    longest_delivery: float = 0.0
    violations: list[tuple[str, Violation]] = field(default_factory=list)


async def judge(folder: Path, journal: Journal, *, finished: bool = True) -> Verdict:
    """Check a run. ``finished`` False: it was broken off, so tables may be on their way."""
    verdict = Verdict()
    for table in tables_in(folder):
        stored, log = await journal.read(table), path_of(folder, table)
        await asyncio.to_thread(_judge_table, verdict, table, stored, log, finished)
    if finished:
        await asyncio.to_thread(_judge_records, verdict, folder / RECORDS)
        await _find_strays(verdict, journal, set(tables_in(folder)))
    return verdict


async def _find_strays(verdict: Verdict, journal: Journal, played: set[str]) -> None:
    """Every table that was opened is played at: none was opened twice over."""
    for row in await journal.page(RowFilter(), None, MOST_TABLES):
        if row.stream not in played:
            verdict.violations.append((row.stream, Violation(Kind.STRAY, row.state)))


def _judge_table(verdict: Verdict, table: str, stored: list[Stored], log: Path, finished: bool) -> None:
    entries = entries_of(stored)
    try:
        known: Known | None = Knowledge(history(table, stored)).at
    except UnreadableTable as error:
        known = None
        verdict.violations.append((table, Violation(Kind.UNREADABLE, str(error))))
    times = _Times(verdict, entries)
    facts = (noted.fact for noted in times.watch(read(log)))
    verdict.violations += ((table, found) for found in check(entries, facts, known, finished=finished))
    verdict.tables += 1
    verdict.moves += sum(entry.told[0] == "moved" for entry in entries)  # type: ignore[index]
    verdict.timeouts += sum(entry.told[-1] == "timeout" for entry in entries)  # type: ignore[index]


class _Times:
    """Notes how long players waited, while the facts pass by."""

    def __init__(self, verdict: Verdict, entries: list[Entry]) -> None:
        self._verdict = verdict
        self._entries = entries
        self._waiting: dict[str, float] = {}
        self._answered: set[str] = set()

    def watch(self, noted: Iterator[Noted]) -> Iterator[Noted]:
        """The same facts."""
        verdict = self._verdict
        for each in noted:
            fact = each.fact
            verdict.facts[type(fact).__name__] += 1
            if isinstance(fact, Sent):
                self._waiting.setdefault(fact.request, each.at)
            elif isinstance(fact, Answered) and fact.request not in self._answered:
                self._answered.add(fact.request)
                verdict.acknowledged += 1
                waited = each.at - self._waiting[fact.request]
                verdict.longest_answer = max(verdict.longest_answer, waited)
            elif isinstance(fact, Given) and not fact.reader.endswith("again"):
                self._given(each.at, fact)
            yield each

    def _given(self, at: float, fact: Given) -> None:
        if fact.seq is not None and fact.seq <= len(self._entries):
            stored_ms = self._entries[fact.seq - 1].told[1]  # type: ignore[index]
            self._verdict.longest_delivery = max(self._verdict.longest_delivery, at - stored_ms / 1000)


def _judge_records(verdict: Verdict, path: Path) -> None:
    with path.open() as lines:
        for found in verify_lines(lines):
            verdict.records += 1
            if found.error is not None:
                verdict.violations.append((f"line {found.line}", Violation(Kind.RECORD, str(found.error))))
    if verdict.records != verdict.tables:
        what = f"{verdict.records} of {verdict.tables} tables have one"
        verdict.violations.append(("records", Violation(Kind.RECORD, what)))
