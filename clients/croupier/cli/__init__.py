"""The command line: ``croupier serve``, ``play``, ``arena`` and the others.

The law of this package: what a program may read goes to stdout, one JSON object a line with
``--json``; everything else to stderr. The exit code is 0 when all went well, 1 when what was asked
failed, 2 when it was asked wrongly, 130 when it was interrupted. Nothing here is known to the rest
of the project.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

_NEEDED = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (None: the process's own) and give its exit code."""
    missing = [module for module in _NEEDED if importlib.util.find_spec(module) is None]
    if missing:
        sys.stderr.write(f"croupier: {' and '.join(missing)} missing; pip install 'croupier[cli]'\n")
        return 1
    # Before gRPC is imported: its core writes to stderr, and minds forks that are none of its business.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    from croupier.cli.app import run  # only now: it needs what is asked for above

    return run(sys.argv[1:] if arguments is None else arguments)
