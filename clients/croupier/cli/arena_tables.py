"""What came of an arena, as tables in a terminal.

The law of this file: every figure is the result's own; here it is only laid out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from croupier.arena import ArenaResult, Sprt
from croupier.cli.look.pen import cells
from croupier.cli.output import note, say, width

_SHOWN_FORFEITS: Final = 5


def show(result: ArenaResult) -> None:
    """Write the tables to stdout and the first forfeits to stderr."""
    say(f"{result.game}, seed {result.seed}: {result.boards} boards, {result.games} games")
    for rows in (result.to_rows(), result.to_cross_table(), result.to_rating_rows()):
        if rows:
            say()
            say(in_columns(rows, width(sys.stdout)))
    if result.sprt is not None:
        say()
        say(_verdict(result.sprt, result.standings[0].player))
    for forfeit in result.forfeits[:_SHOWN_FORFEITS]:
        note(f"{forfeit.board}: {forfeit.player} forfeits at move {forfeit.move}: {forfeit.message}")
    if len(result.forfeits) > _SHOWN_FORFEITS:
        note(f"and {len(result.forfeits) - _SHOWN_FORFEITS} more forfeits")


def _verdict(sprt: Sprt, player: str) -> str:
    low, high = sprt.bounds
    found = f"log-likelihood ratio {sprt.llr:+.2f} ({low:+.2f} to {high:+.2f}) after {sprt.deals} deals"
    if sprt.accepted is None:
        return f"{player} is {sprt.elo0:g} or {sprt.elo1:g} Elo stronger: not known yet; {found}"
    elo = sprt.elo0 if sprt.accepted == "elo0" else sprt.elo1
    return f"{player} is {elo:g} rather than {sprt.elo0 + sprt.elo1 - elo:g} Elo stronger; {found}"


def in_columns(rows: Sequence[Sequence[str]], wide: int) -> list[str]:
    """Rows of texts as lines with their columns below each other; turned by 90° where that fits better."""
    lines = _aligned(rows)
    if max(map(cells, lines)) > wide:
        turned = _aligned(list(zip(*rows, strict=True)))
        if max(map(cells, turned)) <= wide:
            return turned
    return lines


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell + " " * (wide - cells(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
