"""Hidden Unders as text.

The law of this file: every effect of ``HiddenUndersEffect`` has its sentence here, and the table
shows all of ``HiddenUndersView`` but the hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from croupier.cli.look.base import Look, Plain, counted
from croupier_games.cards import HIDDEN

_RANKS: Final = "23456789TJQKA"
_SHOWN_OF_PILE: Final = 8
_BY_COUNT: Final = ("", "singles", "pairs", "triples", "fours")
_MORE: Final = 5
_FROM: Final = {"overs": " from the Overs", "unders": " from the Hidden Unders"}


class HiddenUndersLook(Look):
    """See ``Look``; rules HU-1 to HU-21."""

    verbs: ClassVar[Mapping[str, bool]] = {"overs": True, "play": True, "flip": True, "done": False}
    suits_matter: ClassVar[bool] = False
    card_verbs: ClassVar[tuple[str, ...]] = ("play", "overs")

    def effect(self, kind: str, effect: Plain) -> str:
        """One effect in a sentence."""
        match kind:
            case "dealt":
                return self._dealt(effect)
            case "overs_placed":
                return (
                    f"{self.cast.does(effect['seat'], 'place')} the Overs {self.pen.cards(effect['cards'])}."
                )
            case "played":
                cards, origin = self.pen.cards(effect["cards"]), _FROM.get(effect["zone"], "")
                return f"{self.cast.does(effect['seat'], 'play')} {cards}{origin}."
            case "flipped":
                follows = "it goes on the pile." if effect["playable"] else "it cannot be played."
                card = self.pen.card(effect["card"])
                return f"{self.cast.does(effect['seat'], 'flip')} slot {effect['slot']}: {card}; {follows}"
            case "cleared":
                clears, count = self.cast.does(effect["seat"], "clear"), counted(effect["count"], "card")
                return f"{clears} the pile ({count})."
            case "drew":
                return self._drew(effect)
            case "picked_up":
                cards = self.pen.cards(effect["cards"])
                return f"{self.cast.does(effect['seat'], 'take')} the pile: {cards}."
            case "round_over":
                return self._round_over(effect)
        return ""

    def _dealt(self, dealt: Plain) -> str:
        deck = counted(dealt["deck_count"], "card")
        starts = self.cast.does(dealt["start"], "start")
        return f"Round {dealt['round'] + 1} is dealt; the deck holds {deck}. {starts}."

    def _drew(self, drew: Plain) -> str:
        seat, cards = drew["seat"], drew["cards"]
        if not cards:
            return f"{self.cast.does(seat, 'are')} done."
        what = counted(len(cards), "card") if HIDDEN in cards else self.pen.cards(cards)
        return f"{self.cast.does(seat, 'draw')} {what}."

    def _round_over(self, over: Plain) -> str:
        if over["winner"] is None:
            said = "The turn limit is reached: nobody wins the round."
        else:
            said = f"{self.cast.does(over['winner'], 'win')} the round."
        return (
            f"{said} Cards left: {self.cast.listed(over['left'])}. Score: {self.cast.listed(over['totals'])}."
        )

    def table(self, view: Plain) -> list[str]:
        """Deck, pile, and each seat's zones."""
        lines = self.pen.wrap(
            f"Round {view['round'] + 1}. Score: {self.cast.listed(view['scores'])}. "
            f"Deck: {counted(view['deck_count'], 'card')}. Cleared: {len(view['cleared'])}."
        )
        lines += self._pile(view["playpile"])
        for seat, zones in enumerate(view["seats"]):
            lines += self.pen.wrap(f"{self.cast.title(seat)}: {self._zones(zones)}.")
        return lines

    def _pile(self, pile: Sequence[str]) -> list[str]:
        if not pile:
            return ["Playpile: empty."]
        top = [self.pen.card(card) for card in pile[::-1]]
        more = len(top) - _SHOWN_OF_PILE
        shown = top[:_SHOWN_OF_PILE] + ([f"and {more} more"] if more > 0 else [])
        return self.pen.fill(shown, f"Playpile ({len(pile)}), top first: ", between=" ")

    def _zones(self, zones: Plain) -> str:
        parts = [f"{zones['hand_count']} in hand"]
        if zones["known"]:
            parts[0] += f" (known: {self.pen.cards(zones['known'])})"
        if zones["overs_placed"]:
            parts.append(f"Overs {self.pen.cards(zones['overs'])}")
        slots = " ".join(map(str, zones["unders"])) or "none"
        parts.append(f"Unders in slots {slots}" if zones["unders"] else "no Unders")
        if zones["zone"] in _FROM:
            parts.append(f"plays{_FROM[zones['zone']]}")
        return ", ".join(parts)

    def face_down(self, seat: int, view: Plain, deal: Plain) -> list[str]:
        """The Hidden Unders that are left, by slot (HU-3)."""
        slots = view["seats"][seat]["unders"]
        shown = [f"{slot}: {self.pen.card(deal['unders'][seat][slot])}" for slot in slots]
        return self.pen.fill(shown, f"  {self.cast.of(seat)} Unders ", "    ") if shown else []

    def hand_order(self, cards: Sequence[str]) -> list[str]:
        """2 up to A (HU-6)."""
        return sorted(cards, key=lambda card: (_RANKS.find(card[0]), card[1]))

    def kind(self, text: str) -> tuple[int, str]:
        """Overs; plays by their number of cards; flips; done."""
        verb, *cards = text.split()
        if verb == "play":
            return (len(cards), _BY_COUNT[len(cards)]) if len(cards) < _MORE else (_MORE, "five or more")
        return {"overs": (0, "Overs"), "flip": (6, "flips")}.get(verb, (7, "done"))
