"""The commands under one name, and what every way to end means.

The law of this file: ``_COMMANDS`` is the one list of commands; exit codes are decided here alone.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import typer

import croupier
from croupier.cli.arena import arena
from croupier.cli.bot import bot
from croupier.cli.groups import spread
from croupier.cli.health import healthcheck
from croupier.cli.output import Failed, Misused, note
from croupier.cli.play import play
from croupier.cli.replay import replay
from croupier.cli.rules import rules
from croupier.cli.serve import serve
from croupier.cli.tables import tables
from croupier.cli.token import token
from croupier.cli.verify import verify
from croupier.cli.version import version
from croupier.cli.watch import watch

_COMMANDS: Final[Sequence[Callable[..., int]]] = (
    *(serve, play, tables, watch, bot, arena),
    *(rules, replay, verify, token, healthcheck, version),
)

_FAILED, _MISUSED, _INTERRUPTED = 1, 2, 130


def _application() -> Any:
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: any terminal shows it, any screen reader reads it
        help="Card tables over gRPC: Hidden Unders, Dou Dizhu and Basic Rummy.",
    )
    for command in _COMMANDS:
        app.command()(spread(command))
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and give its exit code: 0, 1, 2 or 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = _application().main(list(arguments), prog_name="croupier", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except Misused as error:
        note(f"{error}\nTry 'croupier {arguments[0]} --help'.")
        return _MISUSED
    except typer.TyperException as error:
        _show(error)
        return error.exit_code
    except Failed as error:
        note(str(error))
        return _FAILED
    except croupier.Error as error:
        note(str(error))
        return _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read stdout has gone; so that the interpreter's last flush does not complain:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED


def _show(error: typer.TyperException) -> None:
    show = getattr(error, "show", None)
    if show is None:
        note(error.format_message())
    else:
        show()
