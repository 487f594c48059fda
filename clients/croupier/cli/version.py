"""``croupier version``.

The law of this file: the version is the installed distribution's; it is written nowhere else.
"""

from __future__ import annotations

import platform
from importlib import metadata

from croupier.cli.output import emit, say
from croupier.cli.server import JsonFlag
from croupier_games import GAMES


def release() -> str:
    """The version of the installed distribution; ``0+unknown`` when it is not installed."""
    try:
        return metadata.version("croupier")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def version(json: JsonFlag = False) -> int:
    """Say which version this is."""
    rules = {name: game.rules_version for name, game in GAMES.items()}
    parts = {"grpcio": metadata.version("grpcio"), "protobuf": metadata.version("protobuf")}
    if json:
        python = platform.python_version()
        emit({"event": "version", "croupier": release(), "python": python, **parts, "rules": rules})
    else:
        say(f"croupier {release()} (Python {platform.python_version()}, grpcio {parts['grpcio']})")
    return 0
