"""What a view leaves open, and hands in play that are consistent with it.

The law of this file: a card is somewhere once. Whatever is not in the view is in another hand or
in the stock; and a hand that has had turns is a better one than it was dealt.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from croupier.bots.basic_rummy.melds import CARD_BITS, mask_of, melding_pairs
from croupier.bots.basic_rummy.playing import HOLD, Play
from croupier.bots.bot import Plain
from croupier_games.basic_rummy.melds import ALL_CARDS


class Unseen:
    """The cards that one seat does not see, ready to be dealt in many ways."""

    def __init__(self, view: Plain, styles: Sequence[int] = ()) -> None:
        seats, me = view["seats"], view["to_act"]
        self.me: Final = me
        self._styles: Final = list(styles) or [HOLD] * len(seats)
        self.hand: Final = mask_of(view["hand"])
        self.taken: Final = CARD_BITS[view["taken"]] if view["taken"] else 0
        self._known: Final = [mask_of(seat["known"]) for seat in seats]
        self._known[me] = self.hand
        self._open: Final = [
            seat["hand_count"] - self._known[at].bit_count() for at, seat in enumerate(seats)
        ]
        self._all_turns: Final = view["turns"]
        self._turns: Final = min(view["turns"] // len(seats), view["stock_count"])
        self.sizes: Final = [seat["hand_count"] for seat in seats]
        self.down: Final = [bool(seat["has_melded"]) for seat in seats]
        self.before: Final = [bool(seat["has_gone_down"]) for seat in seats]
        self.melds: Final = [mask_of(meld["cards"]) for meld in view["melds"]]
        self.pile: Final = [CARD_BITS[card] for card in view["discard_pile"]]
        self.turn_overs: Final = view["turn_overs"]
        self._stock: Final = [CARD_BITS[card] for card in reversed(view["stock_known"])]
        seen = 0
        for mask in (*self._known, *self.melds, *self.pile, *self._stock):
            seen |= mask
        self._hidden: Final = ALL_CARDS & ~seen
        self._cards: Final = [1 << bit for bit in range(52) if self._hidden >> bit & 1]

    def shown(self) -> Play:
        """What the view itself shows: nothing that is unseen is in a hand."""
        return self._play(self._known[:], self._stock[:])

    def danger(self, card: int) -> float:
        """How likely the next seat makes a meld with a card, by the pairs that it may hold."""
        after = (self.me + 1) % len(self._known)
        share = self._open[after] / max(1, len(self._cards))
        pairs = 0.0
        for first, second in melding_pairs(card):
            pairs += self._chance(first, after, share) * self._chance(second, after, share)
        return pairs

    def _chance(self, card: int, seat: int, share: float) -> float:
        if card & self._known[seat]:
            return 1.0
        return share if card & self._hidden else 0.0

    def deal(self, chance: random.Random) -> Play:
        """One way that the cards may lie."""
        cards = self._cards[:]
        chance.shuffle(cards)
        hands = []
        for at, count in enumerate(self._open):
            hand = self._known[at]
            for _ in range(count):
                hand |= cards.pop()
            hands.append(hand)
        if self.turn_overs:
            return self._play(hands, self._stock[:])
        play = self._play(hands, cards)
        for at, count in enumerate(self._open):
            if count:
                self._select(play, at, chance)
        play.seat, play.taken = self.me, self.taken
        return play

    def _select(self, play: Play, at: int, chance: random.Random) -> None:
        """Makes a hand what its turns so far have made of it: each brought a card and took the worst."""
        play.seat, play.taken = at, 0
        known = self._known[at]
        for _ in range(self._turns):
            drawn = play.stock.pop()
            play.hands[at] |= drawn
            found = [(worth, card) for card, worth in play.discards() if not card & known]
            worst = max(found, default=(0, drawn))[1]
            play.hands[at] ^= worst
            play.stock.insert(chance.randrange(len(play.stock) + 1), worst)

    def _play(self, hands: list[int], stock: list[int]) -> Play:
        return Play(
            hands,
            stock,
            self.pile[:],
            self.melds[:],
            self.down[:],
            self._styles[:],
            self.me,
            self.taken,
            self.turn_overs,
            self._all_turns,
        )
