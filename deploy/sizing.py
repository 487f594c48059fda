"""Works SIZING.md's plan out from its figures: change one in the first table, run this, and the plan follows.

    python deploy/sizing.py [--check] [FILE]

``--check`` only says whether the plan is that of the figures (exit code 1 when not).
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_FIGURE = re.compile(r"^\| `(\w+)` \|[^|]*\| ([\d.,]+) ", re.MULTILINE)
_PLAN = re.compile(r"(<!-- plan -->\n).*?(<!-- end of plan -->)", re.DOTALL)
STEPS = ((10_000, 1), (100_000, 1), (1_000_000, 1), (1_000_000, 10))
"""Seated players, and among how many rooms they are divided: a room has servers and a Redis of its own."""

Figures = Mapping[str, float]


def figures(page: str) -> dict[str, float]:
    """The figures of the first table, by their symbols."""
    return {symbol: float(number.replace(",", "")) for symbol, number in _FIGURE.findall(page)}


def servers(f: Figures, moves: float, move_us: float) -> int | None:
    """How many servers carry so many moves a second; None when no number does."""
    games = moves / f["g"]
    busy = moves * move_us / 1e6 + games * (f["o"] + f["a"]) / 1000
    left = f["u"] / 100 - games * f["b"] / 1000
    return math.ceil(busy / left) + 1 if left > 0 else None  # one may be missing


def room(f: Figures, players: float) -> dict[str, float | None]:
    """What one room with so many seated players needs, by the plan's lines."""
    moves = players / f["t"]
    games, tables = moves / f["g"], players / f["p"]
    spread = servers(f, moves, f["c"])
    shards = None
    if spread is not None:
        shards = math.ceil((moves * f["r"] / 1e6 + spread * f["s"] / 1000) / (f["v"] / 100))
    ended = games * f["w"] * (f["q"] + f["g"] * f["k"] / 1024)
    return {
        "moves a second": moves,
        "tables opened a second": games,
        "servers, seats anywhere": spread,
        "servers, by table": servers(f, moves, f["d"]),
        "Redis primaries": shards,
        "Redis, cores": moves * f["r"] / 1e6 + (spread or 0) * f["s"] / 1000,
        "Redis, GiB": (tables * f["q"] + ended) / 2**20,
        "Redis writes, MB/s": moves * f["x"] / 1e6,
        "balancers, cores": math.ceil(moves * f["h"] / 1e6 / (f["u"] / 100)),
        "balancers, by connections": math.ceil(2 * players / f["n"]) + 1,
        "balancers, GiB": players * f["e"] / 2**20,
        "to and from players, Mbit/s": moves * f["l"] * 8 / 1e6,
        "archiving, cores": games * f["a"] / 1000,
    }


def plan(f: Figures) -> str:
    """The plan as a table."""
    return "\n".join(_lines(f))


def _lines(f: Figures) -> Iterator[str]:
    yield "| | " + " | ".join(_title(*step) for step in STEPS) + " |"
    yield "|---|" + "---:|" * len(STEPS)
    columns = [
        {name: None if n is None else n * rooms for name, n in room(f, players / rooms).items()}
        for players, rooms in STEPS
    ]
    for name in columns[0]:
        yield f"| {name} | " + " | ".join(_shown(column[name]) for column in columns) + " |"
    alone = f["t"] * f["u"] / 100 / (f["m"] / 1e6 + (f["o"] + f["a"]) / 1000 / f["g"])
    yield f"\nOne server on SQLite, and no Redis: {alone:,.0f} players, `t·u / (m + (o + a) / g)`."


def _title(players: int, rooms: int) -> str:
    return f"{players:,} players" + (f" in {rooms} rooms" if rooms > 1 else "")


def _shown(number: float | None) -> str:
    if number is None:
        return "no number does"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def main() -> int:
    """Write the plan, or hold it against the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_name("SIZING.md"))
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    page = given.file.read_text()
    worked_out = _PLAN.sub(lambda found: f"{found[1]}{plan(figures(page))}\n{found[2]}", page)
    if given.check:
        if worked_out != page:
            print(f"{given.file}: the plan is not that of the figures; run python deploy/sizing.py")
        return int(worked_out != page)
    given.file.write_text(worked_out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
