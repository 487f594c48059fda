"""Makes ``play.svg``, the picture in the README, from the real program at a real terminal.

``python clients/picture.py`` plays the first moves of a practice game, whose cards follow from
its seed, and draws what the terminal showed. ``--check`` fails when the picture is not of today.
"""

from __future__ import annotations

import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).with_name("play.svg")
COMMAND = ["croupier", "play", "doudizhu", "--name", "Ada", "--seed", "readme"]
COMMAND += ["--speed", "instant", "--four-colour"]
ANSWERS = ["bid 3", "5c 5h 6d 7c 7h 8d", "4d 5c 6d 7c 8d 9d 10h jc qd kh ad", "3s", "quit"]
PROMPT = "> "


def terminal_text() -> str:
    """What a terminal of 80 columns shows of the game, colours included."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        program = str(Path(sys.executable).with_name("croupier"))
        os.execve(program, COMMAND, environment)  # noqa: S606 - our own program
    shown = b""
    answers = list(ANSWERS)
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
            if answers and shown.decode(errors="ignore").endswith(PROMPT):
                os.write(terminal, answers.pop(0).encode() + b"\n")
    except OSError:
        pass  # the program has gone, as a terminal tells it
    os.waitpid(pid, 0)
    return shown.decode().replace("\r\n", "\n")


def picture(text: str) -> str:
    """The text as an SVG of a terminal window."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=80, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(f"$ {' '.join(COMMAND)}\n{text.rstrip()}"))
        svg = console.export_svg(title="croupier", unique_id="croupier")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # a picture fetches nothing


def main() -> int:
    """Write the picture, or compare it with ``--check``; the exit code."""
    svg = picture(terminal_text())
    if "--check" in sys.argv[1:]:
        if PICTURE.read_text() == svg:
            return 0
        print("clients/play.svg is not what the program shows now; run: make picture", file=sys.stderr)
        return 1
    PICTURE.write_text(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
