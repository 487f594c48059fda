"""Writes the table of all refusals into ``protos/README.md``.

``python protos/errors_table.py`` writes it between its markers; with ``--check`` it fails when
what stands there is not what the server's table says.
"""

from __future__ import annotations

import sys
from pathlib import Path

from croupier_server.errors import REASONS

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- errors: begin -->", "<!-- errors: end -->"


def table() -> str:
    """The reasons as a Markdown table, grouped by status code in the order of the server's table."""
    codes = dict.fromkeys(reason.code for reason in REASONS.values())
    rows = ["| code | reason | when it comes | what to do |", "|---|---|---|---|"]
    for code in codes:
        for name, reason in REASONS.items():
            if reason.code is code:
                rows.append(f"| `{code.name}` | `{name}` | {reason.comes} | {reason.do} |")
    return "\n".join(rows)


def written(readme: str) -> str:
    """The README with the table between its markers. Raises ``ValueError`` without markers."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"there are no markers {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main() -> int:
    """Write, or check with ``--check``; the exit code."""
    there = README.read_text(encoding="utf-8")
    fresh = written(there)
    if "--check" in sys.argv[1:]:
        if there != fresh:
            sys.stderr.write(
                "protos/README.md: the errors are not the server's; run protos/errors_table.py\n"
            )
        return int(there != fresh)
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
