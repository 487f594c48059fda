"""What the house has thought, and what waits to be.

The law of this file: levels and ends come from short fixed sets; every pair is there from the
start, so another thread may read while the house counts. Prometheus's client is needed for
``serve_metrics`` alone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, get_args
from wsgiref.simple_server import WSGIServer

from croupier.thinkers.pool import End, Pool

if TYPE_CHECKING:
    from prometheus_client.core import Metric

ENDS: Final[tuple[End, ...]] = get_args(End)


@dataclass(slots=True)
class LevelLoad:
    """One level: its seats now, its thoughts by how they ended, and the seconds that they took.

    A thought's seconds run from the question to the move that is made, waiting included.
    """

    seats: int = 0
    seconds: float = 0.0
    ends: dict[End, int] = field(default_factory=lambda: dict.fromkeys(ENDS, 0))

    @property
    def thoughts(self) -> int:
        """All of them."""
        return sum(self.ends.values())

    def thought(self, end: End, seconds: float) -> None:
        """Another one."""
        self.ends[end] += 1
        self.seconds += seconds


class Load:
    """The load of one house process."""

    def __init__(self, levels: Iterable[str], pool: Pool) -> None:
        self.levels: Final = {level: LevelLoad() for level in levels}
        self._pool: Final = pool
        self._reported: tuple[int, int] = (0, 0)

    @property
    def waiting(self) -> int:
        """How many thoughts wait before the workers."""
        return sum(worker.waiting for worker in self._pool.workers)

    def as_plain(self) -> dict[str, Any]:
        """``{"waiting": 0, "levels": {"hard": {"seats": 1, "thoughts": 2, "seconds": 0.1, "answered": 2}}}``.

        Only levels with thoughts or seats, only ends that there were; seconds are the mean.
        """
        told = {
            level: {
                "seats": load.seats,
                "thoughts": load.thoughts,
                "seconds": round(load.seconds / max(1, load.thoughts), 4),
                **{end: count for end, count in load.ends.items() if count},
            }
            for level, load in self.levels.items()
            if load.seats or load.thoughts
        }
        return {"waiting": self.waiting, "levels": told}

    def news(self) -> tuple[str, bool] | None:
        """The line to log now, and whether ``easy`` stood in since the last; None: no thoughts since."""
        thoughts = sum(load.thoughts for load in self.levels.values())
        stood_in = thoughts - sum(load.ends["answered"] for load in self.levels.values())
        before, self._reported = self._reported, (thoughts, stood_in)
        if thoughts == before[0]:
            return None
        return json.dumps(self.as_plain()), stood_in > before[1]

    def collect(self) -> Iterator[Metric]:
        """Its metrics, for a registry of Prometheus's client."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily

        seats = GaugeMetricFamily("croupier_house_seats", "Seats played now.", labels=["level"])
        ends = CounterMetricFamily("croupier_house_thoughts", "Thoughts ended.", labels=["level", "end"])
        took = SummaryMetricFamily(
            "croupier_house_thought_seconds", "From the question to the move.", labels=["level"]
        )
        for level, load in self.levels.items():
            seats.add_metric([level], load.seats)
            took.add_metric([level], load.thoughts, load.seconds)
            for end, count in load.ends.items():
                ends.add_metric([level, end], count)
        yield from (seats, ends, took)
        yield GaugeMetricFamily(
            "croupier_house_waiting", "Thoughts that wait for a worker.", value=self.waiting
        )


def serve_metrics(load: Load, host: str, port: int) -> tuple[WSGIServer, threading.Thread]:
    """Serve ``load`` at http://HOST:PORT/metrics.

    Raises ``ImportError`` without Prometheus's client, ``OSError`` when the address is taken.
    """
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(load)
    return start_http_server(port, host, registry)
