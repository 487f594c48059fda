"""Bots for Basic Rummy.

Where to look: ``easy`` lays all it can at once; ``melds`` is what cards make, as masks; ``playing``
is a hand played on by players that hold their melds back, which is how ``normal`` plays; ``worlds``
deals what a view leaves open; ``search`` plays the likely choices out there, which is ``hard``
and, with more playouts and players who know when it is too late to hold back, ``expert``.
"""

from croupier.bots.basic_rummy.easy import EasyBot
from croupier.bots.basic_rummy.normal import NormalBot
from croupier.bots.basic_rummy.search import SearchBot, expert, hard

__all__ = ["EasyBot", "NormalBot", "SearchBot", "expert", "hard"]
