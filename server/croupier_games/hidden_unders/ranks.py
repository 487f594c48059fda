"""Ranks, the sorted order of cards, and what the Playpile takes.

The law of this file: suits mean nothing (HU-6), so every question about the Playpile is
answered from ranks alone; suits only put cards of one rank in a fixed order. Cards are the
numbers 0 to 51 of ``croupier_games.cards``, ranks are 0 (a 2) to 12 (an ace).
"""

from collections.abc import Iterable
from typing import Final

Cards = tuple[int, ...]
"""Card numbers; where a doc says sorted, by rank and then by suit."""

TWO: Final = 0
TEN: Final = 8

RANK_OF: Final[tuple[int, ...]] = tuple(card % 13 for card in range(52))
"""The rank of each card, by its number."""

_PLACE: Final[dict[int, int]] = {card: card % 13 * 4 + card // 13 for card in range(52)}


def in_order(cards: Iterable[int]) -> Cards:
    """The cards sorted 2 to A, then C D H S. Raises ``KeyError`` for what is no card of this game."""
    return tuple(sorted(cards, key=_PLACE.__getitem__))


def top_rank(pile: Cards) -> int:
    """The rank that a play has to reach. An empty Playpile asks no more than a 2 does (HU-8, HU-9)."""
    return RANK_OF[pile[-1]] if pile else TWO


def follows(rank: int, top: int) -> bool:
    """True when ``rank`` may be played on ``top`` (HU-7 to HU-10)."""
    return rank >= top or rank in (TWO, TEN)


def has_play(cards: Cards, pile: Cards) -> bool:
    """True when at least one of ``cards`` may be played on ``pile``."""
    top = top_rank(pile)
    for card in cards:  # noqa: SIM110 - several times as fast as any()
        if follows(RANK_OF[card], top):
            return True
    return False


def clears(pile: Cards) -> bool:
    """True when the card last put on ``pile`` clears it: a 10 (HU-10) or a fourth of a rank (HU-11)."""
    rank = RANK_OF[pile[-1]]
    if rank == TEN:
        return True
    return (
        len(pile) >= 4
        and RANK_OF[pile[-2]] == rank
        and RANK_OF[pile[-3]] == rank
        and RANK_OF[pile[-4]] == rank
    )
