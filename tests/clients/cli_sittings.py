"""Tables in this process for tests of who sits at them, and lines to play by.

The law of this file: no server, no terminal, no clock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from croupier.cli.playing.lines import Lines
from croupier.cli.playing.practice import PracticeSitting
from croupier_games import GAMES


def practice(
    game: str, seed: str = "a test", players: int | None = None, **options: object
) -> PracticeSitting:
    rules = GAMES[game]
    seats = players or rules.default_players
    return PracticeSitting(rules, rules.options(seats, **options), ["easy"] * (seats - 1), seed, "Ann")


@contextmanager
def piped(text: str) -> Iterator[Lines]:
    """Lines of a pipe that holds ``text`` and no more."""
    reading, writing = os.pipe()
    try:
        os.write(writing, text.encode())
        os.close(writing)
        lines = Lines(reading)
        yield lines
        lines.close()
    finally:
        os.close(reading)
