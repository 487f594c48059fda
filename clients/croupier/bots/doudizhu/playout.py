"""Playing a deal out in the head: all hands open, everybody by the rule policy.

The law of this file: each player decides from what its role would know, so a playout is one way
that the deal may go, not the best one. Roles and counts are those of ``policy``.
"""

from __future__ import annotations

from collections.abc import Sequence

from croupier.bots.doudizhu.hands import size_of
from croupier.bots.doudizhu.policy import choose
from croupier_games.doudizhu.combinations import PLAYS


def landlord_wins(hands: Sequence[int], role: int, table: int, owner: int) -> bool:
    """Whether the landlord goes out first when ``role`` is to act on ``owner``'s play ``table``.

    ``hands`` are by role; a ``table`` of 0, or its owner's turn, is a new lead.
    """
    hands = [*hands]
    held = [size_of(hand) for hand in hands]
    left = sum(hands)
    while True:
        if owner == role:
            table = 0
        hand = hands[role]
        play = choose(hand, left - hand, role, held, table, owner)
        if play:
            if play == hand:
                return role == 0
            hands[role] = hand - play
            left -= play
            held[role] -= PLAYS[play].shape.size
            table, owner = play, role
        role = role + 1 if role < 2 else 0
