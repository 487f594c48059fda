"""What a bot is.

The law of this file: a bot knows what its seat may know and nothing else. It is asked only
when its seat is to act, it is given plain data that is its own to keep or change, and it
answers with a text.

    class First:
        def choose(self, view, legal_moves):
            return legal_moves[0]

is a whole bot; ``croupier arena doudizhu my_bots:First easy`` plays it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Plain = dict[str, Any]
"""Plain data: dicts, lists, strings, ints, bools and None."""


class Bot(Protocol):
    """One player of one game: every game gets a new one, so it may remember what it has seen."""

    def choose(self, view: Plain, legal_moves: Sequence[str]) -> str:
        """The canonical text of the move that the bot makes now.

        ``view`` has the fields of the game's view message, ``DouDizhuView`` for one: cards are
        texts (``"TD"``, face down ``"??"``), enum values lower-case names without their
        prefix, unset fields None. The bot's own seat is ``view["to_act"]``.

        ``legal_moves`` is never empty. Where suits do not matter it holds one of the moves that
        differ in nothing else, and any of them is a legal answer. It may be thousands long and
        made as it is read: ``len`` and one index are cheap.
        """


BotMaker = Callable[[int], Bot]
"""Makes a new bot for one game of a seed: the same seed and views give the same moves."""


class UnknownBot(ValueError):
    """A game, a level or a ``module:Class`` that there is no bot for; the message says what there is."""
