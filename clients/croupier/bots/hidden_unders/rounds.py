"""A round by ranks alone, fast enough to be played out thousands of times for one decision.

The law of this file: suits mean nothing (HU-6), so cards are ranks, 0 (a 2) to 12 (an ace), and a
set of cards is its *counts*, an int with four bits a rank, the lowest rank lowest. A ``Round``
holds every card face up; what goes into one is a guess, which ``worlds`` makes of a view. Every
step keeps the numbered rules, with the draws of ``done`` made as soon as they are due.
"""

from __future__ import annotations

from typing import Final

RANKS: Final = "23456789TJQKA"
TWO: Final = 0
TEN: Final = 8
HAND_SIZE: Final = 4
"""Cards up to which a turn's end fills a hand (HU-14)."""
NOBODY: Final = -1
ON: Final = -2
"""The round goes on, and the seat to move has a play to choose."""

_ALL: Final = (1 << 52) - 1
_ANY_TIME: Final = 15 << 4 * TWO | 15 << 4 * TEN
FITS: Final = [(_ALL >> 4 * top << 4 * top) | _ANY_TIME for top in range(len(RANKS))]
"""By the rank on top (a 2's for an empty Playpile): the ranks that may be played on it (HU-7)."""

_BEFORE_TWOS: Final = [_ALL & ~_ANY_TIME & ~(15 << 4 * 12), _ALL & ~_ANY_TIME & ~(255 << 4 * 11)]
"""The ranks that are played before a 2: once the deck is gone, and while there is one."""
_BLOCKING: Final = 4
"""How many ranks higher than it had to a card is played to leave the next seat's Overs no play."""
_KEPT_LONGEST: Final = (TEN, TWO, 12, 11, 7, 10, 9, 6, 5, 4, 3, 2, 1)
_TOGETHER: Final = 13
"""What an Over gains from another of its rank, which it can be played with, in ranks."""


class Round:
    """A round in play. ``pile`` is the counts of the Playpile, ``run`` how often ``top`` ends it.

    ``unders`` and ``deck`` are ranks, the next one last; ``turns`` is how many are left before
    the round is given up.
    """

    __slots__ = (
        "deck", "hands", "overs", "pile", "pile_size", "placed", "players", "run", "seat", "sizes",
        "top", "turns", "unders",
    )  # fmt: skip

    def __init__(
        self,
        hands: list[int],
        sizes: list[int],
        overs: list[int],
        unders: list[list[int]],
        placed: list[bool],
        deck: list[int],
        pile: int,
        pile_size: int,
        top: int,
        run: int,
        seat: int,
        turns: int,
    ) -> None:
        self.players = len(hands)
        self.hands = hands
        self.sizes = sizes
        self.overs = overs
        self.unders = unders
        self.placed = placed
        self.deck = deck
        self.pile = pile
        self.pile_size = pile_size
        self.top = top
        self.run = run
        self.seat = seat
        self.turns = turns

    def copy(self) -> Round:
        """The same position, to go on in another way."""
        return Round(
            self.hands[:],
            self.sizes[:],
            self.overs[:],
            [slots[:] for slots in self.unders],
            self.placed[:],
            self.deck[:],
            self.pile,
            self.pile_size,
            self.top,
            self.run,
            self.seat,
            self.turns,
        )

    # --- What a move does, for the seat whose turn it is ------------------------------------------

    def place(self, counts: int) -> None:
        """Places four cards as Overs (HU-5)."""
        seat = self.seat
        self.overs[seat] = counts
        self.hands[seat] -= counts
        self.sizes[seat] -= 4
        self.placed[seat] = True

    def play(self, rank: int, count: int) -> bool:
        """Puts ``count`` cards on the pile, from the hand or else the Overs; true when that clears it."""
        seat = self.seat
        cards = count << 4 * rank
        if self.hands[seat]:
            self.hands[seat] -= cards
            self.sizes[seat] -= count
        else:
            self.overs[seat] -= cards
        return self._put(rank, count)

    def draw(self) -> None:
        """Fills the hand to four as far as the deck goes (HU-12, HU-14)."""
        seat, deck = self.seat, self.deck
        size = self.sizes[seat]
        if size < HAND_SIZE and deck:
            hand = self.hands[seat]
            while size < HAND_SIZE and deck:
                hand += 1 << 4 * deck.pop()
                size += 1
            self.hands[seat] = hand
            self.sizes[seat] = size

    def flip(self) -> None:
        """Turns a Hidden Under: on the pile, or with the pile to the hand (HU-16, HU-17)."""
        rank = self.unders[self.seat].pop()
        if 1 << 4 * rank & FITS[self.top]:
            self._put(rank, 1)
        else:
            self.pile += 1 << 4 * rank
            self.pile_size += 1
            self.pick_up()

    def pick_up(self) -> None:
        """Takes the whole pile (HU-13)."""
        seat = self.seat
        self.hands[seat] += self.pile
        self.sizes[seat] += self.pile_size
        self._clear()

    def _put(self, rank: int, count: int) -> bool:
        run = self.run + count if rank == self.top and self.pile_size else count
        if rank == TEN or run >= 4:
            self._clear()
            return True
        self.run = run
        self.top = rank
        self.pile += count << 4 * rank
        self.pile_size += count
        return False

    def _clear(self) -> None:
        self.pile = self.pile_size = self.top = self.run = 0

    def is_out(self) -> bool:
        """True when the seat has no card left (HU-19)."""
        seat = self.seat
        return not (self.hands[seat] or self.overs[seat] or self.unders[seat])

    def pass_on(self) -> None:
        """The turn goes to the next seat."""
        self.seat = (self.seat + 1) % self.players
        self.turns -= 1

    # --- Playing on ---------------------------------------------------------------------------------

    def make(self, rank: int, count: int) -> int:
        """Makes a play and all that follows by itself; the winner, ``NOBODY`` or ``ON``."""
        cleared = self.play(rank, count)
        if self.is_out():
            return self.seat
        self.draw()
        if not cleared:
            self.pass_on()
        return self.settle()

    def settle(self) -> int:
        """Goes on until a seat has a play to choose; the winner, ``NOBODY`` or ``ON``."""
        while self.turns > 0:
            seat = self.seat
            if not self.placed[seat]:
                self.place(strongest_four(self.hands[seat]))
            active = self.active()
            if not active:
                self.flip()
                if self.is_out():
                    return seat
            elif active & FITS[self.top]:
                return ON
            else:
                self.pick_up()
            self.pass_on()
        return NOBODY

    def active(self) -> int:
        """The cards that the seat plays from: its hand, or else its Overs (HU-15)."""
        return self.hands[self.seat] or self.overs[self.seat]

    def play_out(self) -> int:
        """Plays on to the end; the winner, or ``NOBODY`` when the turns run out."""
        result = self.settle()
        while result == ON:
            rank, count = self.choice(self.active() & FITS[self.top])
            result = self.make(rank, count)
        return result

    def choice(self, fitting: int) -> tuple[int, int]:
        """The rank to play of those that fit, and how many: the lowest, in the end one that blocks.

        Over all, 2s are worth less than aces and more than queens, and 10s most.
        """
        deck = len(self.deck) > 0
        low = fitting & _BEFORE_TWOS[deck]
        if low:
            rank = ((low & -low).bit_length() - 1) >> 2
            if not deck:
                rank = self._blocking(low, rank)
            return rank, fitting >> 4 * rank & 15
        if fitting & 15:
            return TWO, 1 if deck else fitting & 15
        high = fitting & ~_ANY_TIME
        if high:
            rank = ((high & -high).bit_length() - 1) >> 2
            return rank, high >> 4 * rank & 15
        return TEN, 1

    def _blocking(self, low: int, lowest: int) -> int:
        """A rank near to ``lowest`` that leaves the next seat no play from its Overs, else ``lowest``."""
        after = (self.seat + 1) % self.players
        overs = self.overs[after]
        if self.sizes[after] or not overs:
            return lowest
        for rank in range(lowest, min(lowest + _BLOCKING, len(RANKS))):
            if low >> 4 * rank & 15 and not overs & FITS[rank]:
                return rank
        return lowest


def strongest_four(hand: int) -> int:
    """The counts of the four cards of a hand that make the best Overs: high ones, and pairs."""
    chosen = 0
    for _ in range(4):
        best, found = -1, 0
        left = hand - chosen
        for place, rank in enumerate(_KEPT_LONGEST):
            if left >> 4 * rank & 15:
                worth = len(RANKS) - place + (_TOGETHER if chosen >> 4 * rank & 15 else 0)
                if worth > best:
                    best, found = worth, rank
        chosen += 1 << 4 * found
    return chosen
