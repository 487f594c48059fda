"""Bots for Basic Rummy.

Where to look: ``easy`` lays all it can at once; ``melds`` is what cards make, as masks; ``playing``
is a hand played on by players that hold their melds back, which is how ``normal`` plays; ``worlds``
deals what a view leaves open.
"""

from croupier.bots.basic_rummy.easy import EasyBot
from croupier.bots.basic_rummy.normal import NormalBot

__all__ = ["EasyBot", "NormalBot"]
