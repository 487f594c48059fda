"""A person at the table: a hand, numbered moves, and lines typed in.

The law of this file: a line that is no command is a move, and a move is made only when it can be
meant in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from croupier.cli.look import Menu, NotUnderstood, Pen, read_move
from croupier.cli.look.base import counted
from croupier.cli.output import say, write
from croupier.cli.playing.narrator import Narrator
from croupier.cli.playing.sitting import Plain, Refused, Sitting

SPEEDS: Final = {"slow": 2.0, "normal": 0.8, "fast": 0.3, "instant": 0.0}
"""Seconds before each of the others' moves is shown, by the name of the speed."""

_HELP: Final = (
    "Type the number of a move, or the move itself: `play 3C 3D`, or just `3c 3d`.",
    "10 may be written for T. Other words:",
    "  more KIND  all moves of a kind that is shown shortened",
    "  moves      the legal moves again",
    "  hand       your cards",
    "  table      what lies on the table",
    "  rules      the rules of this game",
    "  quit       leave; the game can be taken up again",
)
_PROMPT: Final = "> "


class Person(Narrator):
    """A ``Talk`` with a person; ``starved`` when the lines ended before the game.

    ``prompt`` is True where somebody types, False where the lines are ready; ``rules`` shows the
    rules of a table.
    """

    def __init__(
        self, sitting: Sitting, pen: Pen, *, pause: float, prompt: bool, rules: Callable[[Plain], None]
    ) -> None:
        super().__init__(pen, pause=pause)
        self.starved = False
        self._sitting: Final = sitting
        self._prompt: Final = prompt
        self._rules: Final = rules
        self._turn: Plain | None = None
        self._menu: Menu | None = None
        self._prompted = False
        self._goes_on = False

    @property
    def wants_line(self) -> bool:
        """Always where somebody types; else only on one's turn, so that moves wait for it."""
        return self._prompt or self._turn is not None

    async def heard(self, event: Plain) -> None:
        """Tell an event, and ask for a move when it is one's turn."""
        match event["event"]:
            case "turn":
                self._open_turn(event)
            case "moved" | "dealt" | "ended" | "snapshot":
                self._turn = None
                self._goes_on = event["event"] == "moved" and event["seat"] == self.own
        await super().heard(event)
        self._ask()

    def _open_turn(self, turn: Plain) -> None:
        if self._turn is not None and self._turn["seq"] == turn["seq"]:
            return
        self._turn, self._menu = turn, Menu(self.look, turn["legal"])
        # What has not changed since one's own last move is not said again.
        table = [] if self._goes_on else ["", *self.look.table(turn["view"])]
        clock = [f"You have {counted(s, 'second')}."] if (s := self.table["move_seconds"]) else []
        self.say([*table, *self.look.hand(turn["view"]["hand"]), *self._menu.lines(), *clock])

    # --- what is typed --------------------------------------------------------------------------

    async def typed(self, line: str | None) -> bool:
        """A command, or a move. False to leave."""
        self._prompted = False
        if line is None:
            self.starved = True
            return False
        word, _, rest = line.strip().partition(" ")
        match word.lower():
            case "quit" | "exit" | "q":
                return False
            case "?" | "help":
                self.say(_HELP)
            case "rules":
                self._rules(self.table)
            case "hand" | "table" | "moves" | "more" | "":
                self.say(self._again(word.lower(), rest.strip()))
            case _:
                await self._move(line)
        self._ask()
        return True

    def _again(self, word: str, kind: str) -> list[str]:
        if self._turn is None or self._menu is None:
            return ["Wait for your turn; ? for help."]
        match word:
            case "hand":
                return self.look.hand(self._turn["view"]["hand"])
            case "table":
                return self.look.table(self._turn["view"])
            case "more":
                return self._menu.more(kind) or [f"There are no moves of a kind {kind}."]
        return self._menu.lines()

    async def _move(self, line: str) -> None:
        turn = self._turn
        if turn is None or self._menu is None:
            self.say(["It is not your turn; ? for help."])
            return
        try:
            await self._sitting.play(read_move(line, self._menu.moves, self.look), turn["seq"])
        except NotUnderstood as error:
            self.say(self.pen.wrap(_sentence(str(error))))
        except Refused as error:
            self.say(self.pen.wrap(_sentence(str(error))))
            if not error.still:
                self._turn = None
        else:
            self._turn = None

    def leave(self) -> None:
        """End the line of a prompt that is not answered any more."""
        self.say(())

    # --- writing --------------------------------------------------------------------------------

    def _ask(self) -> None:
        if self._prompt and self._turn is not None and not self._prompted:
            write(_PROMPT)
            self._prompted = True

    def say(self, lines: Iterable[str]) -> None:
        """Write lines, on a new one when a prompt stands there."""
        if self._prompted:
            say()
            self._prompted = False
        super().say(lines)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
