"""Between card and move texts and the ranks and counts of ``rounds``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from croupier.bots.hidden_unders.rounds import RANKS


def ranks_of(cards: Iterable[str]) -> list[int]:
    """The ranks of card texts, in their order."""
    return [RANKS.index(card[0]) for card in cards]


def counts_of(cards: Iterable[str]) -> int:
    """The counts of card texts."""
    return sum([1 << 4 * RANKS.index(card[0]) for card in cards])


def play_of(move: str) -> tuple[int, int]:
    """The rank and the number of cards of a play's text."""
    cards = move.split()[1:]
    return RANKS.index(cards[0][0]), len(cards)


def play_text(rank: int, count: int, legal_moves: Sequence[str]) -> str:
    """The legal play of ``count`` cards of a rank."""
    return next(move for move in legal_moves if move[5] == RANKS[rank] and len(move) == 4 + 3 * count)


def overs_text(counts: int, legal_moves: Sequence[str]) -> str:
    """The legal move that places these counts as Overs."""
    return next(move for move in legal_moves if counts_of(move.split()[1:]) == counts)
