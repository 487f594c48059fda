"""A program at the table: one JSON object a line out, one line a turn in.

The law of this file: nothing is shortened and nothing waits for show. Every ``turn`` that is
written takes exactly one line; after a refusal, which is an ``error``, the ``turn`` is written
again while it still is one.
"""

from __future__ import annotations

from typing import Final

from croupier.cli.output import emit
from croupier.cli.playing.sitting import Plain, Refused, Sitting


class Program:
    """A ``Talk`` with a program. ``starved`` when its lines ended before the game."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting: Final = sitting
        self._turn: Plain | None = None
        self._asked: int | None = None
        self.ended: Plain | None = None
        self.starved = False

    @property
    def wants_line(self) -> bool:
        """True while the seat is to move."""
        return self._turn is not None

    async def heard(self, event: Plain) -> None:
        """Write it, but for a turn that was written and not answered yet: it comes again after a resync."""
        if event["event"] != "turn" or event["seq"] != self._asked:
            emit(event)
        match event["event"]:
            case "turn":
                self._turn, self._asked = event, event["seq"]
            case "moved" | "dealt":
                self._turn = self._asked = None
            case "snapshot":
                self._turn = None
                self.ended = event["table"] if event["table"]["result"] else None
            case "ended":
                self._turn, self.ended = None, event

    async def typed(self, line: str | None) -> bool:
        """Make the move that a line names."""
        turn = self._turn
        if line is None or turn is None:
            self.starved = True
            return False
        try:
            await self._sitting.play(_named(line.strip(), turn["legal"]), turn["seq"])
        except Refused as error:
            emit({"event": "error", "reason": error.reason, "message": str(error), "line": line.strip()})
            if error.still:
                emit(turn)
                return True
        self._turn = self._asked = None
        return True

    def leave(self) -> None:
        """Nothing is written of a game that is not over."""

    def close(self) -> None:
        """Write the last line."""
        ended = self.ended or {}
        emit({"event": "end", "scores": ended.get("scores") or [], "result": ended.get("result") or ""})


def _named(line: str, legal: list[str]) -> str:
    """The move that a line names: by its place from 1, or by its text. Raises ``Refused``."""
    if not line.lstrip("+-").isdigit():
        return line
    digits = line.lstrip("0")  # there may be thousands, more than int() takes
    is_short = line.isascii() and digits.isdigit() and len(digits) <= len(str(len(legal)))
    if not is_short or int(digits) > len(legal):
        message = f"{line[:40]} is no place in legal, which has 1 to {len(legal)}"
        raise Refused("NO_SUCH_MOVE", message, still=True)
    return legal[int(digits) - 1]
