"""Whatever is sent, to any method: a typed refusal or an answer, and games in progress go on.

20,000 calls, several at once, against a whole server on a free loopback port, with games of
every kind in progress. With the variable ``CI`` set they are the same in every run;
``--hypothesis-seed`` gives others, ``FUZZ_CALLS`` more.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog
from hypothesis import HealthCheck, Phase, given, settings

from croupier_server import logs
from croupier_server.fold import TableState
from croupier_server.journal import Stored
from croupier_server.settings import Settings
from server.fuzz_calls import batches, known
from server.fuzz_send import Call, send
from server.fuzz_stage import METHODS, PLAYERS, Served, serving_stage
from server.fuzz_watch import Games, check_outcome

CALLS = int(os.environ.get("FUZZ_CALLS", "20000"))
AT_ONCE = 40

IN_PROGRESS = (*PLAYERS, "hidden")
"""The games that are watched; the last one is private."""

SETTINGS = Settings(nonce_wait_s=3600, drain_grace_s=0.1, heartbeat_s=0.02, evict_after_s=1)
"""Beats come often, so that whoever reads a stream never waits long; tables leave memory now and then."""


class Lines(io.StringIO):
    """Log lines, read as they are written: none tells of a mistake in the server."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.longest = 0

    def write(self, text: str) -> int:
        for line in filter(None, text.splitlines()):
            self.count += 1
            self.longest = max(self.longest, len(line))
            assert json.loads(line)["level"] in ("debug", "info"), line
        return len(text)


@pytest.fixture
def lines() -> Iterator[Lines]:
    written = Lines()
    logs.configure("debug", json=True, stream=written)
    structlog.configure(cache_logger_on_first_use=False)
    yield written
    structlog.reset_defaults()
    logs.debug_on = False


class Fuzz:
    """A server under fire, in a loop of its own."""

    def __init__(self, runner: asyncio.Runner, served: Served) -> None:
        self.served = served
        self.games = Games(served, IN_PROGRESS)
        self.seen: Counter[tuple[str, str]] = Counter()
        self._runner = runner

    def send(self, calls: list[Call]) -> None:
        """Make these calls at once, while those who play go on."""
        self._runner.run(self._send(calls))

    async def _send(self, calls: list[Call]) -> None:
        sent = [send(self.served.stage, call) for call in calls]
        *outcomes, _ = await asyncio.gather(*sent, self.games.play_on(2))
        self.games.check()
        for outcome in outcomes:
            self.games.check_unseen(outcome)
            self.seen[outcome.call.path.rpartition("/")[2], check_outcome(outcome)] += 1

    def finish(self) -> None:
        """Play the games out; then every table that was made can be read from its journal."""
        self._runner.run(self.games.finish())
        for name, entries in self.served.journal._streams.items():
            state = TableState(name)
            for seq, data in enumerate(entries, 1):
                state.fold(Stored(seq, data))


@contextmanager
def under_fire() -> Iterator[Fuzz]:
    with asyncio.Runner() as runner:
        serving = serving_stage(SETTINGS)
        served = runner.run(serving.__aenter__())
        try:
            runner.run(more_tables(served))
            fuzz = Fuzz(runner, served)
            fuzz.games.begin()
            yield fuzz
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
def test_nothing_that_is_sent_disturbs_the_server(lines: Lines) -> None:
    with under_fire() as fuzz:
        stage = fuzz.served.stage
        facts = known(stage, fuzz._runner.run(page_tokens(fuzz.served)))

        @settings(
            max_examples=CALLS // AT_ONCE,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(batches(stage, IN_PROGRESS, facts, AT_ONCE))
        def fire(calls: list[Call]) -> None:
            fuzz.send(calls)

        import time as _t; t0=_t.time()
        fire()
        t1=_t.time(); m=fuzz.games.moves
        fuzz.finish()
        print("fire", t1-t0, "moves",m,"finish", _t.time()-t1, fuzz.games.moves, lines.count, lines.longest, len(fuzz.served.journal._streams))
        for k,v in sorted(fuzz.seen.items()): print(k,v)
        print(Counter(r for (_,r),v in fuzz.seen.items() for _ in range(v)))
    assert fuzz.seen.total() >= CALLS
    assert {method for method, _ in fuzz.seen} >= {path.rpartition("/")[2] for path in METHODS}
    assert len({reason for _, reason in fuzz.seen}) > 30
    assert lines.count > CALLS / 2
    assert lines.longest < 2000
