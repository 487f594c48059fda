"""What this process counts, for Prometheus.

The law of this file: counting never fails and never blocks; labels come from short fixed sets,
never from what a client wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, start_http_server
from prometheus_client.process_collector import ProcessCollector

_CALL_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_APPEND_SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class Metrics:
    """The counters of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry: Final = CollectorRegistry()
        kept = self.registry
        ProcessCollector(registry=kept)  # CPU above all: one event loop is one core at most
        self._calls: Final = Counter("croupier_calls", "Calls ended.", ["method", "code"], registry=kept)
        self._seconds: Final = Histogram(
            "croupier_call_seconds", "Time of unary calls, of streams their life.", ["method"],
            buckets=_CALL_SECONDS, registry=kept,
        )  # fmt: skip
        self._streams: Final = Gauge("croupier_open_streams", "Streams open.", ["method"], registry=kept)
        self._moves: Final = Counter("croupier_moves", "Moves stored.", ["game", "by"], registry=kept)
        self._overflows: Final = Counter(
            "croupier_queue_overflows", "Subscribers whose queue was full.", registry=kept
        )
        self._appends: Final = Histogram(
            "croupier_append_seconds",
            "Time of appends to the journal.",
            buckets=_APPEND_SECONDS,
            registry=kept,
        )
        self._failed_appends: Final = Counter(
            "croupier_failed_appends", "Appends that failed.", ["error"], registry=kept
        )
        self._archived: Final = Counter(
            "croupier_archived", "Ended tables moved to the archive.", registry=kept
        )
        self._failed_archivings: Final = Counter(
            "croupier_failed_archivings",
            "Tables, or sweeps for tables, that were not archived.",
            ["error"],
            registry=kept,
        )
        self._set_backs: Final = Counter(
            "croupier_tables_set_back", "Tables of which the journal lost entries.", registry=kept
        )
        Info("croupier_build", "The release.", registry=kept).info({"version": release()})
        self._called: Final[dict[tuple[str, str], Callable[[float], None]]] = {}
        self._moved: Final[dict[tuple[str, str], Callable[[], None]]] = {}

    def called(self, method: str, code: str, seconds: float) -> None:
        """A call ended with a status code."""
        count = self._called.get((method, code))
        if count is None:
            count = self._called[method, code] = self._call_counter(method, code)
        count(seconds)

    def _call_counter(self, method: str, code: str) -> Callable[[float], None]:
        count, observe = self._calls.labels(method, code).inc, self._seconds.labels(method).observe

        def called(seconds: float) -> None:
            count()
            observe(seconds)

        return called

    @contextmanager
    def open_stream(self, method: str) -> Iterator[None]:
        """A stream is open."""
        gauge = self._streams.labels(method)
        gauge.inc()
        try:
            yield
        finally:
            gauge.dec()

    def moved(self, game: str, by: str) -> None:
        """A move was stored; ``by`` is ``player``, ``timeout`` or ``takeover``."""
        count = self._moved.get((game, by))
        if count is None:
            count = self._moved[game, by] = self._moves.labels(game, by).inc
        count()

    def overflowed(self) -> None:
        """A subscriber's queue was full; its tables are resynced."""
        self._overflows.inc()

    def appended(self, seconds: float) -> None:
        """An append was stored."""
        self._appends.observe(seconds)

    def append_failed(self, error: Exception) -> None:
        """An append was not stored, or nobody knows."""
        self._failed_appends.labels(type(error).__name__).inc()

    def archived(self) -> None:
        """An ended table was moved to the archive."""
        self._archived.inc()

    def archive_failed(self, error: Exception) -> None:
        """A table was not archived, or was not found in an archive that cannot be reached."""
        self._failed_archivings.labels(type(error).__name__).inc()

    def set_back(self) -> None:
        """The journal has lost entries of a table that was in memory."""
        self._set_backs.inc()

    def watch(self, name: str, description: str, read: Callable[[], float]) -> None:
        """A gauge ``croupier_{name}`` that is read when somebody asks."""
        Gauge(f"croupier_{name}", description, registry=self.registry).set_function(read)

    def serve(self, host: str, port: int) -> tuple[int, Callable[[], None]]:
        """Serve them over HTTP from a thread: the port, and how to stop. Raises ``OSError``."""
        server, thread = start_http_server(port, host, registry=self.registry)

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return server.server_port, stop


def release() -> str:
    """The version of the distribution, ``0+unknown`` when it is not installed."""
    try:
        return metadata.version("croupier")
    except metadata.PackageNotFoundError:
        return "0+unknown"
