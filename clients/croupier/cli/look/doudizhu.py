"""Dou Dizhu as text.

The law of this file: every effect of ``DouDizhuEffect`` has its sentence here, and the table
shows what of ``DouDizhuView`` decides the next move; ``plays`` before the last ones were told
as they happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from croupier.cli.look.base import Look, Plain
from croupier_games.doudizhu.combinations import KIND_NAMES, classify
from croupier_games.doudizhu.moves import Play, parse_move

_RANKS: Final = "3456789TJQKA2BR"
_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "single": ("", "singles"),
    "pair": (", a pair", "pairs"),
    "triple": (", a triple", "triples"),
    "triple_single": (", a triple and a single", "triples+single"),
    "triple_pair": (", a triple and a pair", "triples+pair"),
    "straight": (", a straight", "straights"),
    "pair_run": (", a run of pairs", "pair-runs"),
    "plane": (", a plane", "planes"),
    "plane_singles": (", a plane with singles", "planes+singles"),
    "plane_pairs": (", a plane with pairs", "planes+pairs"),
    "four_singles": (", four and two singles", "fours+singles"),
    "four_pairs": (", four and two pairs", "fours+pairs"),
    "bomb": (", a bomb", "bombs"),
    "rocket": (", the rocket", "rocket"),
}
_DOUBLED: Final = {
    "bomb": "The bomb",
    "rocket": "The rocket",
    "spring": "Spring: no farmer played a card, which",
    "reverse_spring": "Reverse spring: the landlord played just once, which",
}


class DouDizhuLook(Look):
    """See ``Look``; rules DDZ-1 to DDZ-29."""

    verbs: ClassVar[Mapping[str, bool]] = {"pass": False, "bid": True, "play": True}
    suits_matter: ClassVar[bool] = False
    card_verbs: ClassVar[tuple[str, ...]] = ("play",)

    def move(self, seat: int, text: str) -> str:
        """A pass, a bid, or a play with what it is."""
        verb, *rest = text.split()
        if verb == "pass":
            return f"{self.cast.does(seat, 'pass')}."
        if verb == "bid":
            return f"{self.cast.does(seat, 'bid')} {rest[0]}."
        return f"{self.cast.does(seat, 'play')} {self._play(_combination(text), rest)}."

    def _play(self, combination: str, cards: Sequence[str]) -> str:
        """``5♣ 5♦, a pair``."""
        return self.pen.cards(cards) + _KINDS.get(combination, ("", ""))[0]

    def effect(self, kind: str, effect: Plain) -> str:
        """One effect in a sentence."""
        match kind:
            case "dealt":
                return f"The cards are dealt. {self.cast.does(effect['first'], 'bid')} first."
            case "all_passed":
                return "Nobody bids."
            case "landlord":
                seat, bottom = effect["seat"], self.pen.cards(effect["bottom"])
                takes = "take" if seat == self.cast.own else "takes"
                return f"{self.cast.does(seat, 'are')} the landlord for {effect['bid']} and {takes} {bottom}."
            case "doubled":
                return (
                    f"{_DOUBLED.get(effect['by'], 'That')} doubles the stake: times {effect['multiplier']}."
                )
            case "new_lead":
                return f"{self.cast.does(effect['seat'], 'lead')}."
            case "deal_over":
                return self._deal_over(effect)
        return ""

    def _deal_over(self, over: Plain) -> str:
        totals = f"Score: {self.cast.listed(over['totals'])}."
        if over["void"]:
            return f"The deal is void. {totals}"
        winner, landlord = over["winner"], over["landlord"]
        won = "the landlord wins" if winner == landlord else "the farmers win"
        stake = over["bid"] * over["multiplier"]
        out = self.cast.does(winner, "are")
        return f"{out} out: {won}. The stake is {over['bid']} times {over['multiplier']}, {stake}. {totals}"

    def table(self, view: Plain) -> list[str]:
        """Score, landlord and stake, cards left, and the play to beat."""
        deal = f"Deal {view['deals_played'] + 1}" + (
            f", dealt again {view['redeals']} x" * bool(view["redeals"])
        )
        lines = self.pen.wrap(f"{deal}. Score: {self.cast.listed(view['scores'])}.")
        lines += self.pen.wrap(self._bidding(view) if view["landlord"] is None else self._landlord(view))
        lines += self.pen.wrap(f"Cards left: {self.cast.listed(view['hand_counts'])}.")
        if view["phase"] == "playing":
            lines += self.pen.wrap(self._to_beat(view))
        return lines

    def _bidding(self, view: Plain) -> str:
        bids = [
            f"{self.cast.name(bid['seat'])} {'bid ' + str(bid['amount']) if bid['amount'] else 'passed'}"
            for bid in view["bids"]
        ]
        return f"Bids: {', '.join(bids) or 'none yet'}."

    def _landlord(self, view: Plain) -> str:
        seat, bid, multiplier = view["landlord"], view["bid"], view["multiplier"]
        bottom = self.pen.cards(view["bottom"])
        return (
            f"{self.cast.does(seat, 'are')} the landlord, bottom cards {bottom}. "
            f"Stake: {bid} times {multiplier}, {bid * multiplier}."
        )

    def _to_beat(self, view: Plain) -> str:
        play = view["to_beat"]
        if play is None:
            return f"{self.cast.does(view['to_act'], 'lead')}, with anything."
        cards = self._play(play["combination"], play["cards"])
        return f"To beat: {cards}, by {self.cast.name(play['seat'])}."

    def hand_order(self, cards: Sequence[str]) -> list[str]:
        """3 up to the red joker (DDZ-9)."""
        return sorted(cards, key=lambda card: (_RANKS.find(card[0]), card[1]))

    def kind(self, text: str) -> tuple[int, str]:
        """Calls; plays by what they are, in the order of the rules' table."""
        if not text.startswith("play "):
            return (0, "calls")
        combination = _combination(text)
        return (KIND_NAMES.index(combination), _KINDS.get(combination, ("", "plays"))[1])


def _combination(text: str) -> str:
    """What the cards of a play are: ``unspecified`` where they are nothing."""
    play = parse_move(text)
    combination = classify(play.bits) if isinstance(play, Play) else None
    return KIND_NAMES[0] if combination is None else combination.name
