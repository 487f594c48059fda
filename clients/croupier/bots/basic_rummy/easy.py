"""Bots for Basic Rummy.

The law of this file: which melds, lay-offs and discards there are is read off the legal moves;
what is worked out here is only what a card may still become.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from croupier.bots.bot import Plain

_RANKS: Final = "A23456789TJQK"
_SUITS: Final = "CDHS"
_OUT_WORTH: Final = 4
"""Points of deadwood that a bot holds on to for one card that would complete a meld."""


class EasyBot:
    """Melds and lays off at once, and discards the dearest card that leads to nothing."""

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """One of ``legal_moves``."""
        if view["phase"] == "draw":
            return "draw discard" if _wants_discard(view) and "draw discard" in legal_moves else "draw stock"
        melds = [move for move in legal_moves if move.startswith("meld")]
        if melds:
            return _best_meld(melds)
        lay_offs = [move for move in legal_moves if move.startswith("layoff")]
        if lay_offs:
            return max(lay_offs, key=lambda move: _value(move[-2:]))
        return min(legal_moves, key=_Keeping(view).worth)


def _value(card: str) -> int:
    """What a card left in hand costs (RUM-16)."""
    return min(_RANKS.index(card[0]) + 1, 10)


def _pairs_with(card: str) -> Iterator[tuple[str, str]]:
    """The pairs of cards that make a meld of three with ``card`` (RUM-6)."""
    rank, suit = _RANKS.index(card[0]), card[1]
    others = [card[0] + other for other in _SUITS if other != suit]
    yield from ((others[0], others[1]), (others[0], others[2]), (others[1], others[2]))
    for low in (rank - 2, rank - 1, rank):
        if low >= 0 and low + 2 < len(_RANKS):
            first, second = (_RANKS[r] + suit for r in range(low, low + 3) if r != rank)
            yield first, second


def _fits(card: str, meld: Sequence[str]) -> bool:
    """True when ``card`` may be laid off on ``meld``, whose cards are sorted (RUM-7)."""
    low, high = _RANKS.index(meld[0][0]), _RANKS.index(meld[-1][0])
    if low == high:
        return card[0] == meld[0][0]
    return card[1] == meld[0][1] and _RANKS.index(card[0]) in (low - 1, high + 1)


def _wants_discard(view: Plain) -> bool:
    """The top discard makes a meld, or can be laid off at once."""
    card, hand = view["discard_pile"][-1], set(view["hand"])
    if any(first in hand and second in hand for first, second in _pairs_with(card)):
        return True
    melded = view["seats"][view["to_act"]]["has_melded"]
    return melded and any(_fits(card, meld["cards"]) for meld in view["melds"])


def _best_meld(moves: Iterable[str]) -> str:
    """The first of the melds that together, no card in two of them, shed the highest value."""
    sized = sorted(((move, frozenset(move.split()[1:])) for move in moves), key=lambda m: -len(m[1]))

    def best(rest: Sequence[tuple[str, frozenset[str]]]) -> tuple[int, str]:
        found = (0, "")
        for at, (move, cards) in enumerate(rest):
            value = sum(map(_value, cards)) + best([m for m in rest[at + 1 :] if not m[1] & cards])[0]
            if value > found[0]:
                found = (value, move)
        return found

    return best(sized)[1]


class _Keeping:
    """What the cards of one hand are worth keeping, as the table stands."""

    def __init__(self, view: Plain) -> None:
        self._hand: Final[Collection[str]] = set(view["hand"])
        self._melds: Final[list[list[str]]] = [meld["cards"] for meld in view["melds"]]
        self._gone: Final = {card for meld in self._melds for card in meld} | set(view["discard_pile"])

    def worth(self, discard: str) -> int:
        """Of a discard's text: what its card may still become, less what it costs if it does not."""
        card = discard[-2:]
        outs = set()
        for pair in _pairs_with(card):
            held = [other for other in pair if other in self._hand]
            wanted = [other for other in pair if other not in self._hand and other not in self._gone]
            if len(held) == 1 and wanted:
                outs.add(wanted[0])
        return _OUT_WORTH * len(outs) - _value(card)
