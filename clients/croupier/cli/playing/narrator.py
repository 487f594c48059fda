"""What happens at a table, told in words.

The law of this file: text only ever goes on at the end; nothing is drawn over, nothing moves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from croupier.cli.look import LOOKS, Cast, Look, Pen
from croupier.cli.output import Failed, say
from croupier.cli.playing.sitting import Plain

_ENDS: Final = {"abandoned": "The game was abandoned.", "void": "The game is void.", "forfeit": "Forfeit."}


class Narrator:
    """Tells events to whoever looks on. ``pause`` is in seconds, before each of the others' moves."""

    def __init__(self, pen: Pen, *, pause: float = 0.0) -> None:
        self.pen: Final = pen
        self.ended: Plain | None = None
        self._pause: Final = pause
        self._look: Look | None = None
        self.table: Plain = {}
        self.own: int | None = None

    @property
    def look(self) -> Look:
        """How the game looks to this reader; there is none before the first snapshot."""
        assert self._look is not None, "a snapshot comes first"
        return self._look

    def say(self, lines: Iterable[str]) -> None:
        """Write lines."""
        for line in lines:
            say(line)

    async def heard(self, event: Plain) -> None:
        """Tell an event (see ``sitting``); those of other kinds are passed over. Raises ``Failed``."""
        match event["event"]:
            case "snapshot":
                self._snapshot(event)
            case "created":
                self._meet(event["table"])
            case "seat_changed":
                self._seat_changed(event)
            case "dealt":
                self.say([*self.look.told(event["effects"]), *self._dealt_hand(event["effects"])])
            case "moved":
                await self._moved(event)
            case "presence":
                self._presence(event)
            case "ended":
                self._end(event)

    def _meet(self, table: Plain) -> None:
        if table["game"] not in LOOKS:
            raise Failed(f"this version cannot show the game {table['game']}; use --json")
        self.table = table
        self._recast()

    def _recast(self) -> None:
        names = [seat["name"] or "free seat" for seat in self.table["seats"]]
        self._look = LOOKS[self.table["game"]](self.pen, Cast(names, self.own, self.pen))

    def _snapshot(self, event: Plain) -> None:
        self.own = event["seat"]
        self._meet(event["table"])
        if event.get("missed"):
            self.say(["Some moves were missed; this is how it stands now."])
        self.say(self.pen.fill(self._who(), f"Table {self.table['name']}: ", between=" "))
        if self.table.get("join_code"):
            self.say([f"Join code for the others: {self.table['join_code']}"])
        if self.table["result"]:
            self._end(self.table)
        elif event["view"] is not None and event.get("to_act") != self.own:
            self.say(self.look.table(event["view"]))

    def _who(self) -> list[str]:
        cast, last = self.look.cast, len(self.table["seats"]) - 1
        return [
            (cast.name(place) if seat["name"] or place == self.own else _awaited(seat)) + ".,"[place < last]
            for place, seat in enumerate(self.table["seats"])
        ]

    def _seat_changed(self, event: Plain) -> None:
        seat, now = event["seat"], event["now"]
        before, self.table["seats"][seat] = self.table["seats"][seat], now
        self._recast()
        if now["name"] and not before["name"] and seat != self.own:
            self.say([f"{self.look.cast.does(seat, 'sit')} down."])

    def _dealt_hand(self, effects: Iterable[Plain]) -> list[str]:
        hands = [each["dealt"]["hand"] for each in effects if "dealt" in each]
        return self.look.hand(hands[0]) if hands and hands[0] else []

    async def _moved(self, event: Plain) -> None:
        if event["seat"] != self.own and self._pause:
            await asyncio.sleep(self._pause)
        self.say(self.look.moved(event["seat"], event["move"], event["effects"], event["by"]))

    def _presence(self, event: Plain) -> None:
        seat = self.table["seats"][event["seat"]]
        if event["seat"] != self.own and seat["name"] and not seat["level"]:
            here = "here" if event["connected"] else "away"
            self.say([f"{self.look.cast.does(event['seat'], 'are')} {here}."])

    def _end(self, event: Plain) -> None:
        self.ended = event
        self.say(["", *filter(None, [_ENDS.get(event["result"])])])
        if event["scores"]:
            self.say(self.look.outcome(event["scores"]))


def _awaited(seat: Plain) -> str:
    if seat["level"]:
        return f"a bot ({seat['level']}) is coming"
    return "somebody was invited" if seat["invited"] else "a free seat"
