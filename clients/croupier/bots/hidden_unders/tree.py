"""A tree of what all seats may do, grown by rounds played out: how ``expert`` looks ahead.

The law of this file: every seat chooses among what it holds in the world at hand, by how the choice
did so far for that seat in all worlds where it was there (Cowling, Powley, Whitehouse 2012). Where
the tree ends the round goes on as ``rounds`` plays.
"""

from __future__ import annotations

import math
from typing import Final

from croupier.bots.hidden_unders.rounds import FITS, NOBODY, ON, Round

_CURIOSITY: Final = 0.6
"""How much a choice gains from having been tried seldom."""


class Node:
    """A choice that was made, and what may be chosen after it."""

    __slots__ = ("after", "chances", "tries", "wins")

    def __init__(self) -> None:
        self.tries = 0
        self.chances = 0
        self.wins = 0.0
        self.after: dict[int, Node] = {}


class Tree:
    """The choices of one decision, from 0, and what followed from them."""

    def __init__(self, choices: int) -> None:
        self._first: Final = [Node() for _ in range(choices)]
        self._tries = 0

    def most_tried(self) -> int:
        """The choice that was worth most tries; the first of equals."""
        best = 0
        for choice, node in enumerate(self._first):
            if node.tries > self._first[best].tries:
                best = choice
        return best

    def next_choice(self) -> int:
        """The choice to try next."""
        self._tries += 1
        best, found = -1.0, 0
        for choice, node in enumerate(self._first):
            if not node.tries:
                return choice
            worth = _worth(node, self._tries)
            if worth > best:
                best, found = worth, choice
        return found

    def grow(self, choice: int, me: int, world: Round, result: int) -> None:
        """Plays ``world`` on, in which ``me`` has just made a choice that came to ``result``."""
        node = self._first[choice]
        path, seats = [node], [me]
        new = False
        while result == ON and not new:
            code, new = _next(node, world)
            if new:
                node.after[code] = Node()
            node = node.after[code]
            path.append(node)
            seats.append(world.seat)
            result = world.make(code >> 4, code & 15)
        if result == ON:
            result = world.play_out()
        for node, seat in zip(path, seats, strict=True):
            node.tries += 1
            if result == seat:
                node.wins += 1
            elif result == NOBODY:
                node.wins += 1 / world.players


def _next(node: Node, world: Round) -> tuple[int, bool]:
    """The play to try next, as its rank above four bits of count, and whether it is new to the tree."""
    fitting = world.active() & FITS[world.top]
    best, found, new = -1.0, -1, -1
    left = fitting
    while left:
        rank = ((left & -left).bit_length() - 1) >> 2
        many = left >> 4 * rank & 15
        left ^= many << 4 * rank
        for count in range(1, many + 1):
            code = rank << 4 | count
            child = node.after.get(code)
            if child is None:
                new = code
                continue
            child.chances += 1
            worth = _worth(child, child.chances)
            if worth > best:
                best, found = worth, code
    if new < 0:
        return found, False
    rank, count = world.choice(fitting)
    code = rank << 4 | count
    return (new if code in node.after else code), True


def _worth(node: Node, chances: int) -> float:
    return node.wins / node.tries + _CURIOSITY * math.sqrt(math.log(chances) / node.tries)
