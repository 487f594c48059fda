"""What a view leaves open, and rounds that are consistent with it.

The law of this file: a card is somewhere once. Whatever is not in the view is in a hand, under
an Over or in the deck, and every way to deal it there is as likely as any other, but for what
a pick-up gave away.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.hidden_unders.memory import Limit
from croupier.bots.hidden_unders.rounds import FITS, RANKS, Round
from croupier.bots.hidden_unders.texts import counts_of, ranks_of

_DECK: Final = 52
_LONGEST_ROUND: Final = 200
"""Turns after which a round that is played out counts as nobody's."""


class Unseen:
    """The cards that one seat does not see, ready to be dealt in many ways."""

    def __init__(self, view: Plain, limits: Sequence[Limit] = ()) -> None:
        seats, me = view["seats"], view["to_act"]
        self._me: Final = me
        self._known: Final = [counts_of(seat["known"]) for seat in seats]
        self._known[me] = counts_of(view["hand"])
        self._limits: Final = limits
        self._sizes: Final = [seat["hand_count"] for seat in seats]
        self._open: Final = [
            0 if at == me else seat["hand_count"] - len(seat["known"]) for at, seat in enumerate(seats)
        ]
        self._overs: Final = [counts_of(seat["overs"]) for seat in seats]
        self._unders: Final = [len(seat["unders"]) for seat in seats]
        self._placed: Final = [seat["overs_placed"] for seat in seats]
        self._deck: Final = view["deck_count"]
        pile = ranks_of(view["playpile"])
        self._pile: Final = counts_of(view["playpile"])
        self._pile_size: Final = len(pile)
        self._top: Final = pile[-1] if pile else 0
        self._run: Final = _run(pile)
        seen = [*view["hand"], *view["playpile"], *view["cleared"]]
        for at, seat in enumerate(seats):
            seen += seat["overs"] if at == me else [*seat["overs"], *seat["known"]]
        self._cards: Final = self._unseen(ranks_of(seen))

    def _unseen(self, seen: list[int]) -> list[int]:
        hidden = sum(self._open) + sum(self._unders) + self._deck
        decks = (len(seen) + hidden) // _DECK
        left = [4 * decks] * len(RANKS)
        for rank in seen:
            left[rank] -= 1
        return [rank for rank, count in enumerate(left) for _ in range(count)]

    def shown(self) -> Round:
        """What the view itself shows: unseen cards are in no hand and under no Over, the deck is of 2s."""
        return self._round(self._known[:], [[0] * count for count in self._unders], [0] * self._deck)

    def deal(self, chance: random.Random) -> Round:
        """One way that the cards may lie."""
        cards = self._cards[:]
        chance.shuffle(cards)
        hands, still_open = self._known[:], self._open[:]
        for at, limit, count in self._limits:
            taken = _taken(cards, limit, count)
            hands[at] += sum([1 << 4 * rank for rank in taken])
            still_open[at] -= len(taken)
        for at, count in enumerate(still_open):
            for _ in range(count):
                hands[at] += 1 << 4 * cards.pop()
        unders = []
        for count in self._unders:
            unders.append(cards[len(cards) - count :])
            del cards[len(cards) - count :]
        return self._round(hands, unders, cards)

    def _round(self, hands: list[int], unders: list[list[int]], deck: list[int]) -> Round:
        return Round(
            hands,
            self._sizes[:],
            self._overs[:],
            unders,
            self._placed[:],
            deck,
            self._pile,
            self._pile_size,
            self._top,
            self._run,
            self._me,
            _LONGEST_ROUND,
        )


def _taken(cards: list[int], limit: int, count: int) -> list[int]:
    """Takes up to ``count`` cards that do not fit on ``limit`` out of ``cards``."""
    taken: list[int] = []
    at = len(cards) - 1
    while len(taken) < count and at >= 0:
        if not 1 << 4 * cards[at] & FITS[limit]:
            taken.append(cards.pop(at))
        at -= 1
    return taken


def _run(pile: list[int]) -> int:
    run = 0
    for rank in reversed(pile):
        if rank != pile[-1]:
            break
        run += 1
    return run
