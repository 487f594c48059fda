"""The report of an arena: one HTML file with everything in it.

The law of this file: it needs no network and no script, and every name in it is escaped: names are
what somebody typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from typing import Final

from croupier.arena.game import Forfeit
from croupier.arena.intervals import method
from croupier.arena.result import ArenaResult

_SHOWN_FORFEITS: Final = 100
_STYLE: Final = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ccc; padding: .2em .8em .2em 0; text-align: left; white-space: nowrap; }
figure { margin: 1.5em 0; } svg { max-width: 100%; height: auto; }
pre { background: #f4f4f4; padding: .8em; overflow-x: auto; }
.wide { overflow-x: auto; }
"""


def can_report() -> bool:
    """Whether what draws the plots is installed (the extra ``arena``)."""
    return bool(find_spec("matplotlib"))


def to_html(result: ArenaResult) -> str:
    """The whole page."""
    from croupier.arena.plots import plots_of  # matplotlib takes a second to import

    title = escape(f"{result.game}: {', '.join(s.player for s in result.standings)}")
    parts = [
        f"<h1>{title}</h1>",
        _summary(result),
        _verdict(result),
        "<h2>Players</h2>",
        _table(result.to_rows()),
        "<h2>Each against each</h2>",
        _table(result.to_cross_table()),
        "<h2>Ratings</h2>",
        _table(result.to_rating_rows()),
        *(f"<figure>{svg}<figcaption>{escape(text)}</figcaption></figure>" for text, svg in plots_of(result)),
        _forfeits(result.forfeits),
    ]
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    body = "\n".join(part for part in parts if part)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _summary(result: ArenaResult) -> str:
    played = f"Seed {escape(result.seed)}, {result.boards} boards, {result.games} games"
    return f"<p>{played}; roles: {escape(result.roles)}. Intervals are of 95%, {method()} over deals.</p>"


def _verdict(result: ArenaResult) -> str:
    sprt = result.sprt
    if sprt is None:
        return ""
    low, high = sprt.bounds
    known = {"elo0": f"{sprt.elo0:g} accepted", "elo1": f"{sprt.elo1:g} accepted", None: "not known yet"}
    return (
        f"<p>Sequential test of {sprt.elo0:g} against {sprt.elo1:g} Elo: {known[sprt.accepted]} "
        f"(log-likelihood ratio {sprt.llr:+.2f}, bounds {low:+.2f} and {high:+.2f}, {sprt.deals} deals).</p>"
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "<p>None.</p>"
    head, *body = rows
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    inside = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<div class="wide"><table>\n{inside}</table></div>'


def _forfeits(forfeits: Sequence[Forfeit]) -> str:
    if not forfeits:
        return ""
    items = "".join(map(_forfeit, forfeits[:_SHOWN_FORFEITS]))
    more = len(forfeits) - _SHOWN_FORFEITS
    rest = f"<p>And {more} more.</p>" if more > 0 else ""
    return f"<h2>Forfeits</h2>\n{items}{rest}"


def _forfeit(forfeit: Forfeit) -> str:
    said = f"{forfeit.board}, seat {forfeit.seat}, move {forfeit.move}: {forfeit.player}: {forfeit.reason}: "
    trace = f"<pre>{escape(forfeit.traceback)}</pre>" if forfeit.traceback else ""
    return f"<details><summary>{escape(said + forfeit.message)}</summary>{trace}</details>\n"
