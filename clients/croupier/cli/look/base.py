"""What every game's look has: sentences, the table, the hand, and legal moves by kind.

The law of this file: a look makes text of plain data (views, effects, move texts) and of nothing
else: no connection, no terminal, no state. What it is not told it does not show.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from croupier.cli.look.cast import Cast
from croupier.cli.look.pen import Pen

Plain = dict[str, Any]

_BY: Final = {"timeout": "Time is up. ", "takeover": "Somebody took the seat over. "}


@dataclass(frozen=True, slots=True)
class Fold:
    """Legal moves of one kind: ``title`` in the plural, canonical ``moves``, and each as it is ``shown``."""

    title: str
    moves: tuple[str, ...]
    shown: tuple[str, ...]


class Look(ABC):
    """One game as text, for one reader.

    ``verbs`` maps the first word of every move to whether anything follows it; ``suits_matter``
    is False where a card may be named by its rank alone.
    """

    verbs: ClassVar[Mapping[str, bool]]
    suits_matter: ClassVar[bool]
    card_verbs: ClassVar[tuple[str, ...]]
    """Those that cards alone stand for, the likeliest first."""

    def __init__(self, pen: Pen, cast: Cast) -> None:
        self.pen: Final = pen
        self.cast: Final = cast

    # --- what each game says ------------------------------------------------------------------

    @abstractmethod
    def effect(self, kind: str, effect: Plain) -> str:
        """One effect in a sentence; empty for one that says nothing new, or of an unknown kind."""

    def move(self, seat: int, text: str) -> str:  # noqa: ARG002 - where effects say it all
        """A move in a sentence; empty where the effects say all of it."""
        return ""

    @abstractmethod
    def table(self, view: Plain) -> list[str]:
        """What lies on the table, in lines; without the reader's own hand."""

    @abstractmethod
    def hand_order(self, cards: Sequence[str]) -> list[str]:
        """A hand as people sort it in this game."""

    @abstractmethod
    def kind(self, text: str) -> tuple[int, str]:
        """The kind of a legal move: its place among the kinds, and its title in the plural."""

    def shown(self, text: str) -> str:
        """A legal move in a list under its kind's title: its cards, or the move itself."""
        verb, _, rest = text.partition(" ")
        return self.pen.cards(rest.split()) if verb in self.card_verbs and rest else text

    def face_down(self, seat: int, view: Plain, deal: Plain) -> list[str]:  # noqa: ARG002 - most games have none
        """For a replay: the cards before ``seat`` that nobody sees, known from the deal."""
        return []

    # --- what is the same in all games --------------------------------------------------------

    def told(self, effects: Iterable[Plain]) -> list[str]:
        """Sentences for the effects of a deal."""
        said = [self.effect(kind, effect) for each in effects for kind, effect in each.items()]
        return self.pen.wrap(" ".join(filter(None, said)))

    def moved(self, seat: int, text: str, effects: Iterable[Plain], by: str = "player") -> list[str]:
        """Sentences for a move and all that followed. ``by`` is ``player``, ``timeout`` or ``takeover``."""
        said = [_BY.get(by, "") + self.move(seat, text)]
        said += [self.effect(kind, effect) for each in effects for kind, effect in each.items()]
        return self.pen.wrap(" ".join(filter(None, said)))

    def hand(self, cards: Sequence[str], whose: str = "Your hand") -> list[str]:
        """A hand, sorted, with its size."""
        shown = [self.pen.card(card) for card in self.hand_order(cards)]
        return self.pen.fill(shown or ["none"], f"{whose} ({len(cards)}): ", between=" ")

    def folds(self, legal: Sequence[str]) -> list[Fold]:
        """The legal moves by kind, the kinds in their order, the moves of each as they came."""
        kinds: dict[tuple[int, str], list[str]] = {}
        for text in legal:
            kinds.setdefault(self.kind(text), []).append(text)
        return [
            Fold(title, tuple(moves), tuple(map(self.shown, moves)))
            for (_, title), moves in sorted(kinds.items())
        ]

    def outcome(self, scores: Sequence[int]) -> list[str]:
        """Who has won the game, and the scores."""
        best = max(scores)
        winners = [seat for seat, score in enumerate(scores) if score == best]
        if len(winners) == len(scores):
            said = "Nobody wins."
        else:
            names = " and ".join(self.cast.name(seat) for seat in winners)
            verb = "win" if len(winners) > 1 or self.cast.own in winners else "wins"
            said = f"{names[0].upper()}{names[1:]} {verb} the game."
        return self.pen.wrap(f"{said} Score: {self.cast.listed(scores)}.")


def counted(number: int, thing: str) -> str:
    """``1 card``, ``2 cards``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
