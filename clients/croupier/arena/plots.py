"""The plots of a report, as SVG that stands in a page.

The law of this file: a plot draws what the result says and estimates nothing. No colour carries a
meaning alone: lines differ in dash, cells have their number written in them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from croupier.arena.result import ArenaResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS: Final = 500
"""Points of a line: more are not seen and make the page large."""
_DASHES: Final = ("-", "--", "-.", ":")
_NO_METADATA: Final[dict[Any, Any]] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "croupier",
    "text.parse_math": False,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plots_of(result: ArenaResult) -> Iterator[tuple[str, str]]:
    """Captions and SVG elements."""
    with mpl.rc_context(_SETTINGS):
        yield "Mean score over the deals so far.", _drawn(result, _score_by_deal)
        if result.ratings:
            yield (
                "Ratings in Elo; bars are 95% intervals.",
                _drawn(result, _ratings),
            )
        if any(standing.thinking for standing in result.standings):
            yield "Share of moves that took at most so many milliseconds.", _drawn(result, _time_per_move)
        yield "Win share of the row against the column.", _drawn(result, _heat_map)


def _drawn(result: ArenaResult, draw: Any) -> str:
    rows = len(result.standings)
    figure = Figure(figsize=(9, max(3.2, 0.6 * rows + 1.2)), layout="constrained")
    axes = figure.subplots()
    draw(result, axes)
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside right upper", frameon=False)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata=_NO_METADATA)
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)


def _score_by_deal(result: ArenaResult, axes: Axes) -> None:
    for standing, dash in zip(result.standings, cycle(_DASHES), strict=False):
        games = [*accumulate(standing.tally.games)]
        points = [*accumulate(standing.tally.points)]
        deals = _thinned(range(len(games)))
        means = [points[deal] / max(1, games[deal]) for deal in deals]
        axes.plot([deal + 1 for deal in deals], means, dash, label=standing.player)
    axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_xlabel("deals")
    axes.set_ylabel("points a game")


def _ratings(result: ArenaResult, axes: Axes) -> None:
    ratings = result.ratings[::-1]
    for place, rating in enumerate(ratings):
        if rating.interval is not None:
            axes.plot(rating.interval, [place, place], "-", color="0.3", linewidth=1.5)
        axes.plot([rating.elo], [place], "o", color="C0")
        axes.text(rating.elo, place + 0.15, f"{rating.elo:+.0f}", ha="center")
    axes.set_yticks(range(len(ratings)), [rating.player for rating in ratings])
    axes.set_ylim(-0.6, len(ratings) - 0.4)
    axes.set_xlabel("Elo")


def _time_per_move(result: ArenaResult, axes: Axes) -> None:
    for standing, dash in zip(result.standings, cycle(_DASHES), strict=False):
        times = sorted(standing.thinking)
        if times:
            ranks = _thinned(range(len(times)))
            shares = [(rank + 1) / len(times) for rank in ranks]
            axes.plot([times[rank] / 1e6 for rank in ranks], shares, dash, label=standing.player)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")  # the scale's own labels are formulas, which are switched off
    axes.set_xlabel("milliseconds")
    axes.set_ylabel("share of moves")


def _heat_map(result: ArenaResult, axes: Axes) -> None:
    names = [standing.player for standing in result.standings]
    shares = {(p.player, p.against): p.tally.share for p in result.pairings if any(p.tally.decided)}
    rows = [[shares.get((name, against), float("nan")) for against in names] for name in names]
    axes.pcolormesh(rows, cmap="PuOr", vmin=0, vmax=1, edgecolors="white", linewidth=2)
    for row, name in enumerate(names):
        for column, against in enumerate(names):
            share = shares.get((name, against))
            if share is not None:
                colour = "white" if abs(share - 0.5) > 0.3 else "black"
                axes.text(column + 0.5, row + 0.5, f"{share:.1%}", ha="center", va="center", color=colour)
    axes.set_xticks([place + 0.5 for place in range(len(names))], names)
    axes.set_yticks([place + 0.5 for place in range(len(names))], names)
    axes.invert_yaxis()


def _thinned(places: Sequence[int]) -> Sequence[int]:
    """At most about ``_MOST_POINTS`` of them, the last among them."""
    step = -(-len(places) // _MOST_POINTS)
    return places if step <= 1 else [*places[step - 1 :: step], *places[-1:]]
