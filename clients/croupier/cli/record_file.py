"""Files of records, read for the commands that take one.

The law of this file: ``-`` is standard input; what cannot be read is a failure, in one line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from croupier.cli.output import Failed

RecordFile = Annotated[
    str, typer.Argument(metavar="FILE", help="Records, one game a line; - is standard input.")
]


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The lines of a file of records. Raises ``Failed``."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as file:
            yield file
    except OSError as error:
        raise Failed(f"{name} cannot be read: {error.strerror}") from None
