"""A hand of Basic Rummy played on with all cards face up, thousands of times for one decision.

The law of this file: a ``Play`` keeps the numbered rules; its players do what is plain, not what
is best. What goes into one is a guess, which ``worlds`` makes of a view.
"""

from __future__ import annotations

from typing import Final

from croupier.bots.basic_rummy.melds import best_melds, has_meld, pairs, wants
from croupier_games.basic_rummy.melds import ALL_CARDS, FITTING, value_of

NOBODY: Final = -1
_MOST_TURNS: Final = 500
"""Turns after which a hand is counted (RUM-14)."""
_MOST_TURN_OVERS: Final = 2

LAY: Final = 0
"""A style: melds and lays off as soon as it can."""
HOLD: Final = 1
"""A style: lays nothing before it can go out in one turn, which counts double (RUM-17), or has to."""
HOLD_A_WHILE: Final = 2
"""A style: as ``HOLD``, until it is too late to go out in one turn."""

TOO_LATE: Final = 10
"""It is too late once a seat's turns and its cards that are in no meld are so many together; found by
play of the two styles against each other."""
_DANGER: Final = 3
"""Cards left in another hand at which nothing is held back any longer."""
_OUT_WORTH: Final = 4
"""Points of deadwood that are held for one card that would make a meld."""


class Play:
    """A hand in play. Cards are single bits, sets of cards masks (see ``melds``).

    ``pile`` is oldest first, ``stock`` next card last, ``taken`` the card that may not be
    discarded this turn (RUM-9) or 0, ``turns`` how many there were. ``fits`` is every card that fits a
    meld on the table, ``gone`` every card on the table or in the pile.
    """

    __slots__ = (
        "down", "fits", "gone", "hands", "melds", "pile", "players", "points", "seat", "stock", "styles",
        "taken", "turn_overs", "turns",
    )  # fmt: skip

    def __init__(
        self,
        hands: list[int],
        stock: list[int],
        pile: list[int],
        melds: list[int],
        down: list[bool],
        styles: list[int],
        seat: int,
        taken: int,
        turn_overs: int,
        turns: int,
    ) -> None:
        self.players = len(hands)
        self.hands = hands
        self.stock = stock
        self.pile = pile
        self.melds = melds
        self.down = down
        self.styles = styles
        self.seat = seat
        self.taken = taken
        self.turn_overs = turn_overs
        self.turns = turns
        self.points = 0
        self.fits = 0
        self.gone = 0
        for meld in melds:
            self.fits |= FITTING[meld]
            self.gone |= meld
        for card in pile:
            self.gone |= card

    def copy(self) -> Play:
        """The same position, to go on in another way."""
        return Play(
            self.hands[:],
            self.stock[:],
            self.pile[:],
            self.melds[:],
            self.down[:],
            self.styles[:],
            self.seat,
            self.taken,
            self.turn_overs,
            self.turns,
        )

    # --- What a move does, for the seat whose turn it is ------------------------------------------

    def draw_stock(self) -> None:
        """Takes the next card of the stock (RUM-5, RUM-11)."""
        if not self.stock:
            self.pile.reverse()
            self.stock, self.pile = self.pile, self.stock
            for card in self.stock:
                self.gone &= ~card
            self.turn_overs += 1
        self.hands[self.seat] |= self.stock.pop()
        self.taken = 0

    def draw_discard(self) -> None:
        """Takes the top of the discard pile."""
        self.taken = self.pile.pop()
        self.gone &= ~self.taken
        self.hands[self.seat] |= self.taken

    def lay_all(self) -> None:
        """Melds what holds most value, then lays off what fits (RUM-6, RUM-7)."""
        seat = self.seat
        hand = self.hands[seat]
        if has_meld(hand):
            for meld in best_melds(hand):
                left = hand & ~meld
                if left and left == self.taken and not left & (self.fits | FITTING[meld]):
                    continue
                hand = left
                self.melds.append(meld)
                self.fits |= FITTING[meld]
                self.down[seat] = True
        if self.down[seat]:
            hand = self._lay_off(hand)
        self.gone |= self.hands[seat] & ~hand
        self.hands[seat] = hand

    def _lay_off(self, hand: int) -> int:
        fits = hand & self.fits
        while fits:
            card = fits & -fits
            left = hand & ~card
            at = next(at for at, meld in enumerate(self.melds) if card & FITTING[meld])
            grown = self.melds[at] | card
            if left and left == self.taken and not left & (self.fits | FITTING[grown]):
                return hand
            self.melds[at] = grown
            self._fit_again()
            hand = left
            fits = hand & self.fits
        return hand

    def _fit_again(self) -> None:
        fits = 0
        for meld in self.melds:
            fits |= FITTING[meld]
        self.fits = fits

    def discard(self, card: int) -> None:
        """Ends the turn's work with a discard (RUM-8)."""
        self.hands[self.seat] &= ~card
        self.pile.append(card)
        self.gone |= card

    def goes_out_at_once(self) -> bool:
        """True when laying everything would leave one card to discard, or none (RUM-15)."""
        hand = self.hands[self.seat]
        left, fits = hand, self.fits
        melds = best_melds(hand)
        for meld in melds:
            left &= ~meld
            fits |= FITTING[meld]
        # No more than what fits now and what a run takes after that could still go.
        chain = left & fits
        if (left & ~(chain | chain << 4 | chain >> 4 | chain << 8 | chain >> 8)).bit_count() > 1:
            return False
        after = self.copy()
        after.lay_all()
        left = after.hands[self.seat]
        return not left & (left - 1) and (left != self.taken or not left)

    # --- Playing on ---------------------------------------------------------------------------------

    def play_out(self) -> int:
        """Plays on to the end; the winner, whose ``points`` the hand is worth, or ``NOBODY``."""
        while True:
            if self.wants_discard():
                self.draw_discard()
            else:
                self.draw_stock()
            before = self.down[self.seat]
            if self.finish_turn(before):
                return self.seat
            if not self.pass_on():
                return self.counted()

    def finish_turn(self, before: bool) -> bool:
        """Lays and discards after a draw; true when that ends the hand.

        ``before`` says whether the seat had gone down in an earlier turn.
        """
        seat = self.seat
        if before or self.lays(self.fewest_others()):
            self.lay_all()
        if not self.hands[seat]:
            self.score(before)
            return True
        self.discard(self.worst())
        if not self.hands[seat]:
            self.score(before)
            return True
        return False

    def lays(self, fewest: int) -> bool:
        """True when a seat that has laid nothing yet does so now; ``fewest`` are in another hand."""
        seat = self.seat
        if not has_meld(self.hands[seat]):
            return False
        style = self.styles[seat]
        if style == LAY or fewest <= _DANGER or (style == HOLD_A_WHILE and self.too_late()):
            return True
        return self.goes_out_at_once()

    def too_late(self) -> bool:
        """True when the seat will hardly go out in one turn any more (see ``TOO_LATE``)."""
        loose = self.hands[self.seat]
        for meld in best_melds(loose):
            loose &= ~meld
        return self.turns // self.players + loose.bit_count() >= TOO_LATE

    def fewest_others(self) -> int:
        """The least number of cards in another hand."""
        seat = self.seat
        return min([hand.bit_count() for other, hand in enumerate(self.hands) if other != seat])

    def score(self, before: bool) -> None:
        """Counts what the winner gets (RUM-16, RUM-17)."""
        points = 0
        for hand in self.hands:
            points += value_of(hand)
        self.points = points if before else 2 * points

    def pass_on(self) -> bool:
        """The turn goes to the next seat; false when the hand is over (RUM-12)."""
        self.turns += 1
        self.taken = 0
        if self.turns >= _MOST_TURNS or (self.turn_overs == _MOST_TURN_OVERS and not self.stock):
            return False
        self.seat = (self.seat + 1) % self.players
        return True

    def counted(self) -> int:
        """The winner of a hand that nobody went out of, and the points (RUM-13)."""
        values = [value_of(hand) for hand in self.hands]
        lowest = min(values)
        self.points = 0
        if values.count(lowest) > 1:
            return NOBODY
        self.points = sum(values) - lowest * self.players
        return values.index(lowest)

    def wants_discard(self) -> bool:
        """True when the top discard makes a meld or can be laid off."""
        top, hand = self.pile[-1], self.hands[self.seat]
        return bool(top & wants(hand) or (self.down[self.seat] and top & self.fits))

    def worst(self) -> int:
        """The card whose loss costs least (see ``keeping``)."""
        best, found = -1, 0
        for card, worth in self.discards():
            if worth > best:
                best, found = worth, card
        return found

    def discards(self) -> list[tuple[int, int]]:
        """The cards to choose a discard from, each with what the hand is worth without it.

        That is its value in points, and for each card that would then still make a meld with two
        loose ones ``_OUT_WORTH``. A card of a meld in hand is discarded only where there is no other.
        """
        hand = self.hands[self.seat]
        loose = hand
        if has_meld(hand):
            for meld in best_melds(hand):
                loose &= ~meld
        free = loose & ~self.taken or hand & ~self.taken or hand
        live = ALL_CARDS & ~(hand | self.gone)
        near = loose & (loose << 4 | loose >> 4 | loose << 8 | loose >> 8)
        apart = free & ~near & ~pairs(loose)
        found = []
        if apart:
            # Cards that nothing is near to differ in value alone: the dearest goes first.
            card = 1 << apart.bit_length() - 1
            free ^= apart ^ card
        while free:
            card = free & -free
            free ^= card
            outs = (wants(loose & ~card) & live).bit_count()
            found.append((card, _OUT_WORTH * outs + value_of(card)))
        return found
