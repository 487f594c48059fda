"""Whatever is sent, to any method: a typed refusal or an answer, and games in progress go on.

20,000 calls, many at once, against a whole server on a free loopback port, with games of every
kind in progress. Where the variable ``CI`` is set they are the same in every run;
``--hypothesis-seed`` gives others elsewhere, and ``FUZZ_CALLS`` more.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Flaky

from croupier_server import follow, logs, moves, seating
from croupier_server.fold import TableState
from croupier_server.journal import Stored
from croupier_server.settings import Settings
from server.fuzz_calls import PLAYING, Turn, batches, known
from server.fuzz_send import Call, send
from server.fuzz_stage import METHODS, PLAYERS, Served, path_of, serving_stage
from server.fuzz_watch import Games, check_outcome, check_refusal, refused_in_band
from server.refusals import seen_in

CALLS = int(os.environ.get("FUZZ_CALLS", "20000"))
AT_ONCE = 40

IN_PROGRESS = (*PLAYERS, "hidden")
"""The games that are watched; the last one is private."""

SETTINGS = Settings(nonce_wait_s=3600, drain_grace_s=0.1, heartbeat_s=0.02, evict_after_s=1)
"""Beats come often, so that whoever reads a stream never waits long; tables leave memory now and then."""


class Lines(io.StringIO):
    """Log lines, looked at as they are written: how many, the longest, and those that tell of a fault."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.longest = 0
        self.alarming: list[str] = []

    def write(self, text: str) -> int:
        for line in filter(None, text.splitlines()):
            self.count += 1
            self.longest = max(self.longest, len(line))
            if json.loads(line)["level"] not in ("debug", "info"):
                self.alarming.append(line)
        return len(text)


@pytest.fixture
def lines() -> Iterator[Lines]:
    root, written = logging.getLogger(), Lines()
    handlers, level = root.handlers[:], root.level
    logs.configure("debug", json=True, stream=written)
    structlog.configure(cache_logger_on_first_use=False)  # the next test writes elsewhere
    yield written
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level
    logs.debug_on = False


class Fuzz:
    """A server under fire, in a loop of its own."""

    def __init__(self, runner: asyncio.Runner, served: Served, lines: Lines) -> None:
        self.served = served
        self.games = Games(served, IN_PROGRESS)
        self.calls = 0
        self.seen: Counter[tuple[str, str]] = Counter()
        """How often each method was answered with OK or a reason, in-band ones included."""
        self._runner = runner
        self._lines = lines

    def fire(self, count: int, phases: Sequence[Phase] = tuple(Phase)) -> None:
        """So many generated calls."""
        stage = self.served.stage
        calls = batches(stage, IN_PROGRESS, known(stage, self._runner.run(page_tokens(self.served))), AT_ONCE)

        @settings(
            max_examples=count // (AT_ONCE - 3) + 10,  # some batches are small
            deadline=None,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(calls)
        def nothing_is_disturbed(calls: list[Call | Turn]) -> None:
            self._runner.run(self._send(calls))

        nothing_is_disturbed()

    async def _send(self, calls: list[Call | Turn]) -> None:
        """Make these calls at once, while those who play go on."""
        stage = self.served.stage
        sent = [send(stage, await self._move(c) if isinstance(c, Turn) else c) for c in calls]
        *outcomes, _ = await asyncio.gather(*sent, self.games.play_on(2))
        assert self._lines.alarming == []
        self.games.check()
        for outcome in outcomes:
            method = outcome.call.path.rpartition("/")[2]
            self.games.check_unseen(outcome)
            self.seen[method, check_outcome(outcome)] += 1
            for status in refused_in_band(outcome):
                check_refusal(status)
                self.seen[method, seen_in(status).reason] += 1
        self.calls += len(calls)

    async def _move(self, turn: Turn) -> Call:
        """The legal move that is meant; no move when the game is over."""
        stage = self.served.stage
        state = (await self.served.parts.tables.get(stage.tables[turn.label])).state
        seat = state.to_act or 0
        legal = state.rules.legal_moves(state.game_state)
        text = state.rules.format_move(legal[turn.number % len(legal)]) if legal else ""
        request = stage.encoded(
            path_of("MakeMove"), {"table": state.name, "seat": seat, "move": {"text": text}}
        )
        return Call(path_of("MakeMove"), (request,), stage.guests[PLAYING[seat]].metadata)

    def finish(self) -> None:
        """Play the games out; then every table that was made can be read from its journal."""
        self._runner.run(self.games.finish())
        for name, entries in self.served.journal._streams.items():
            state = TableState(name)
            for seq, data in enumerate(entries, 1):
                state.fold(Stored(seq, data))


@contextmanager
def under_fire(lines: Lines) -> Iterator[Fuzz]:
    with asyncio.Runner() as runner:
        serving = serving_stage(SETTINGS)
        served = runner.run(serving.__aenter__())
        try:
            runner.run(more_tables(served))
            yield Fuzz(runner, served, lines)
        finally:
            runner.run(serving.__aexit__(None, None, None))


async def more_tables(served: Served) -> None:
    """A private game in progress, and games of guests who may move as they like."""
    stage = served.stage
    await stage.start("hidden", "hidden_unders", ("ann", "bob", "cat"), private=True)
    await stage.sign_in("yan", "xia")
    for game in PLAYERS:
        await stage.start(f"their {game}", game, ("zoe", "yan", "xia"))


async def page_tokens(served: Served) -> list[str]:
    stage = served.stage
    asked = [{"page_size": 1}, {"page_size": 2, "game": "doudizhu"}, {"page_size": 1, "states": [3, 4]}]
    return [(await stage.ask("ListTables", "zoe", request)).next_page_token for request in asked]


@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_nothing_that_is_sent_disturbs_the_server(lines: Lines) -> None:
    with under_fire(lines) as fuzz:
        fuzz.fire(CALLS)
        fuzz.finish()
    assert fuzz.calls >= CALLS
    assert {method for method, _ in fuzz.seen} >= {path.rpartition("/")[2] for path in METHODS}
    assert len({reason for _, reason in fuzz.seen}) > 25
    assert lines.count > CALLS / 2
    assert lines.longest < 2000


def failing(*_: object) -> None:
    raise RuntimeError("a mistake")


def anybody(state: TableState, *_: object) -> int:
    return state.to_act or 0


def the_first_seat(*_: object) -> int:
    return 0


@pytest.mark.parametrize(
    ("owner", "name", "mistake"),
    [(seating, "leave", failing), (moves, "seat_for", anybody), (follow, "_audience", the_first_seat)],
)
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_a_mistake_would_be_found(
    lines: Lines, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, mistake: Any
) -> None:
    with under_fire(lines) as fuzz:
        monkeypatch.setattr(owner, name, mistake)
        with pytest.raises((AssertionError, Flaky)):  # found once, it may not come again
            fuzz.fire(2000, (Phase.generate,))
