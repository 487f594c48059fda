"""Basic Rummy as text.

The law of this file: every effect of ``BasicRummyEffect`` has its sentence here, and the table
shows all of ``BasicRummyView`` but the hand. Melds go by the number that a lay-off names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from croupier.cli.look.base import Look, Plain, counted
from croupier_games.cards import HIDDEN

_RANKS: Final = "A23456789TJQK"
_SHOWN_OF_PILE: Final = 6
_SHOWN_OF_STOCK: Final = 3
_KINDS: Final = {
    "draw": (0, "draws"),
    "meld": (1, "melds"),
    "layoff": (2, "lay-offs"),
    "discard": (3, "discards"),
}


class BasicRummyLook(Look):
    """See ``Look``; rules RUM-1 to RUM-19."""

    verbs: ClassVar[Mapping[str, bool]] = {"draw": True, "meld": True, "layoff": True, "discard": True}
    suits_matter: ClassVar[bool] = True
    card_verbs: ClassVar[tuple[str, ...]] = ("discard", "meld")

    def effect(self, kind: str, effect: Plain) -> str:
        """One effect in a sentence."""
        match kind:
            case "dealt":
                up, starts = self.pen.card(effect["discard"]), self.cast.does(effect["start"], "start")
                return f"Hand {effect['hand_number'] + 1} is dealt; {up} is turned up. {starts}."
            case "turned_over":
                return f"The discard pile becomes the stock: {counted(effect['stock_count'], 'card')}."
            case "drew":
                return self._drew(effect)
            case "melded":
                cards = self.pen.cards(effect["cards"])
                return f"{self.cast.does(effect['seat'], 'lay')} meld {effect['meld']}: {cards}."
            case "laid_off":
                cards = self.pen.cards(effect["cards"])
                return f"{self.cast.does(effect['seat'], 'lay')} off {cards} on meld {effect['meld']}."
            case "discarded":
                return f"{self.cast.does(effect['seat'], 'discard')} {self.pen.card(effect['card'])}."
            case "hand_over":
                return self._hand_over(effect)
        return ""

    def _drew(self, drew: Plain) -> str:
        seat, card = drew["seat"], self.pen.card(drew["card"])
        if drew["source"] == "discard":
            return f"{self.cast.does(seat, 'take')} {card} from the discard pile."
        return f"{self.cast.does(seat, 'draw')} {'a card' if card == HIDDEN else card} from the stock."

    def _hand_over(self, over: Plain) -> str:
        values = f"Left in hand: {self.cast.listed(over['values'])}."
        totals = f"Score: {self.cast.listed(over['totals'])}."
        winner = over["winner"]
        if winner is None:
            return f"The hand is counted: a tie, nobody scores. {values} {totals}"
        points = counted(over["points"][winner], "point") + (", doubled" if over["doubled"] else "")
        if over["went_out"]:
            scores = "score" if winner == self.cast.own else "scores"
            return f"{self.cast.does(winner, 'go out')} and {scores} {points}. {values} {totals}"
        won = self.cast.does(winner, "have")
        return f"The hand is counted: {won} the lowest and {points}. {values} {totals}"

    def table(self, view: Plain) -> list[str]:
        """Score, stock, discard pile, melds and each seat."""
        lines = self.pen.wrap(
            f"Hand {view['hand_number'] + 1}. Score: {self.cast.listed(view['scores'])}. {self._stock(view)}"
        )
        lines += self._pile(view["discard_pile"])
        for number, meld in enumerate(view["melds"]):
            lines += self.pen.wrap(
                f"Meld {number} ({self.cast.name(meld['seat'])}): {self.pen.cards(meld['cards'])}"
            )
        for seat, public in enumerate(view["seats"]):
            lines += self.pen.wrap(f"{self.cast.title(seat)}: {self._seat(public)}.")
        if view["taken"] is not None:
            taken = self.pen.card(view["taken"])
            lines += self.pen.wrap(f"{taken} was taken from the discard pile and stays this turn.")
        return lines

    def _stock(self, view: Plain) -> str:
        stock = f"Stock: {counted(view['stock_count'], 'card')}"
        known = [self.pen.card(card) for card in view["stock_known"]]
        if known:
            more = " .." if len(known) > _SHOWN_OF_STOCK else ""
            stock += f", next {' '.join(known[:_SHOWN_OF_STOCK])}{more}"
        turned = f" (turned over {view['turn_overs']} x)" if view["turn_overs"] else ""
        return f"{stock}{turned}."

    def _pile(self, pile: Sequence[str]) -> list[str]:
        if not pile:
            return ["Discard pile: empty."]
        top = [self.pen.card(card) for card in pile[::-1]]
        more = len(top) - _SHOWN_OF_PILE
        shown = top[:_SHOWN_OF_PILE] + ([f"and {more} more"] if more > 0 else [])
        return self.pen.fill(shown, f"Discard pile ({len(pile)}), top first: ", between=" ")

    def _seat(self, public: Plain) -> str:
        parts = [counted(public["hand_count"], "card")]
        if public["known"]:
            parts[0] += f" (known: {self.pen.cards(public['known'])})"
        parts.append("has melded" if public["has_melded"] else "no meld yet")
        return ", ".join(parts)

    def hand_order(self, cards: Sequence[str]) -> list[str]:
        """By suit, then ace to king (RUM-1), so that runs stand together."""
        return sorted(cards, key=lambda card: (card[1], _RANKS.find(card[0])))

    def kind(self, text: str) -> tuple[int, str]:
        """Draws, melds, lay-offs, discards."""
        return _KINDS.get(text.partition(" ")[0], (4, "moves"))

    def shown(self, text: str) -> str:
        """A lay-off with its meld; else as in every game."""
        verb, *rest = text.split()
        if verb == "layoff":
            return f"{self.pen.cards(rest[1:])} on meld {rest[0]}"
        return f"from the {rest[0]}" if verb == "draw" else super().shown(text)
