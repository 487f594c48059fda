"""Log lines: JSON for programs, colours for people, never a secret.

The law of this file: lines go to stderr, one event each; every line passes the masking of
``secrecy``. What a call is about (method, player, trace, table) is set once by ``about`` and
put on a line only when one is written, so a call that logs nothing pays next to nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, Processor

from croupier_server.secrecy import MASK, is_secret, masked

_LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

_ABOUT: ContextVar[Mapping[str, Any]] = ContextVar("croupier_log_about", default={})  # noqa: B039 - never written to

debug_on = False
"""True when debug lines are written: ask before making one on a hot path."""


def configure(level: str = "info", *, json: bool | None = None, stream: TextIO | None = None) -> None:
    """Set the process's logging up. ``json`` None: JSON unless ``stream`` (stderr) is a terminal.

    Lines of the standard library's loggers (grpc's, asyncio's) from warnings up come out the
    same way. Raises ``ValueError`` for an unknown level.
    """
    global debug_on
    if level not in _LEVELS:
        raise ValueError(f"the level of logging is one of {', '.join(_LEVELS)}, not {level!r}")
    out = sys.stderr if stream is None else stream
    as_json = not out.isatty() if json is None else json
    debug_on = level == "debug"
    before = _processors()
    structlog.configure(
        processors=[*before, *_rendering(as_json)],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: _Lines(out),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering(as_json)],
        )
    )
    handler.addFilter(_is_worth_a_line)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


class _Lines:
    """Writes lines. A stream that is gone takes none, and no task ends for the want of a log line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: Final = stream

    def msg(self, line: str) -> None:
        """Write a line, if it can be written."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()

    debug = info = warning = error = critical = exception = log = msg


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """False for gRPC's complaint about a client that cancelled its call before it began."""
    error = record.exc_info[1] if record.exc_info else None
    return not (record.name.startswith("grpc") and isinstance(error, asyncio.CancelledError))


def about(**facts: Any) -> None:
    """From here on in this task, lines carry these facts: ``about(table=…, seat=…)``."""
    _ABOUT.set({**_ABOUT.get(), **facts})


def _processors() -> list[Processor]:
    return [
        _what_it_is_about,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        mask_secrets,
    ]


def _rendering(as_json: bool) -> list[Processor]:
    if as_json:
        return [
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(default=_written),
        ]
    return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]


def _what_it_is_about(logger: Any, method: str, event: EventDict) -> EventDict:
    del logger, method
    for key, value in _ABOUT.get().items():
        event.setdefault(key, value)
    return event


def mask_secrets(logger: Any, method: str, event: EventDict) -> EventDict:
    """Masks values under keys that name secrets, at any depth, and tokens inside texts."""
    del logger, method
    masked_event: MutableMapping[str, Any] = _masked(event)
    return masked_event


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: MASK if is_secret(str(k)) else _masked(v) for k, v in value.items()}
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, (list, tuple)):
        return [_masked(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes"
    return value


def _written(value: Any) -> str:
    return masked(repr(value))
