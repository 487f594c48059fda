"""``croupier serve``: a server in this process.

The law of this file: the server's packages are imported only here, when they are asked for; the
rest of the command line works without them.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from croupier.cli.output import Failed, Misused, emit, say
from croupier.cli.places import data_dir
from croupier.cli.server import DEFAULT_SERVER, JsonFlag

_STDIN: Final = 0
_CHUNK: Final = 4096
_LOG_LEVELS: Final = ("debug", "info", "warning", "error")


def serve(
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0 is any free one.")
    ] = DEFAULT_SERVER,
    journal: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where tables are kept: sqlite:PATH, memory: or redis://HOST:PORT. "
            "Default: croupier/croupier.sqlite in $XDG_DATA_HOME (~/.local/share).",
            show_default=False,
            envvar="CROUPIER_JOURNAL",
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where Prometheus reads metrics; default nowhere.")
    ] = None,
    house_bots: Annotated[int, typer.Option(min=0, help="Processes of house bots.")] = 1,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain (PEM); needs --tls-key.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None,
    log_level: Annotated[str, typer.Option(help=f"One of {', '.join(_LOG_LEVELS)}.")] = "info",
    restored: Annotated[
        bool,
        typer.Option("--restored", help="The journal comes from a backup: clients forget what it lacks."),
    ] = False,
    stop_with_stdin: Annotated[bool, typer.Option("--stop-with-stdin", hidden=True)] = False,
    json: JsonFlag = False,
) -> int:
    """Serve tables until SIGTERM or Ctrl-C, then drain.

    Logs go to stderr. With --json one line on stdout says when it serves, and where. Limits are
    set by CROUPIER_... variables of the environment.
    """
    if (tls_cert is None) != (tls_key is None):
        raise Misused("--tls-cert and --tls-key go together")
    if log_level not in _LOG_LEVELS:
        raise Misused(f"--log-level is one of {', '.join(_LOG_LEVELS)}, not {log_level}")
    server = _server()
    try:
        settings = server.Settings.from_environment()
        for address in filter(None, (listen, metrics)):
            server.split_address(address)
    except (server.InvalidSetting, server.CannotListen) as error:
        raise Misused(str(error)) from None
    server.configure(log_level)
    if stop_with_stdin:
        threading.Thread(target=_stop_at_end_of_input, daemon=True).start()
    code: int = server.run(
        settings,
        journal_url=journal or f"sqlite:{data_dir() / 'croupier.sqlite'}",
        listen=listen,
        metrics=metrics,
        house_bots=house_bots,
        ready=emit if json else _say_ready,
        tls=None if tls_cert is None else server.Tls(tls_cert, tls_key),
        restored=restored,
    )
    return code


def _server() -> Any:
    """What is needed of the server. Raises ``Failed`` when its packages are not there."""
    try:
        from croupier.cli import server_parts
    except ModuleNotFoundError as error:
        raise Failed(f"a server needs the package {error.name}; pip install 'croupier[server]'") from None
    return server_parts


def _say_ready(line: dict[str, Any]) -> None:
    say(f"Serving on {line['listen']}; Ctrl-C ends it.")


def _stop_at_end_of_input() -> None:
    """End this process when whoever holds the other end of its standard input has gone."""
    while os.read(_STDIN, _CHUNK):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
