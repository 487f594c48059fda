"""Bots for Hidden Unders.

Where to look: ``easy`` sheds low cards; ``rounds`` is a round by ranks alone and what ``normal``
does in it; ``worlds`` deals what a view leaves open; ``search`` plays its choices out there, which
is ``hard``; ``tree`` lets every seat look ahead meanwhile, which is ``expert``.
"""

from croupier.bots.hidden_unders.easy import EasyBot
from croupier.bots.hidden_unders.normal import NormalBot
from croupier.bots.hidden_unders.search import SearchBot, TreeBot, expert, hard

__all__ = ["EasyBot", "NormalBot", "SearchBot", "TreeBot", "expert", "hard"]
