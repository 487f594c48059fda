"""Thinkers: processes in which the house's slow bots think, so that nobody waits for them.

The law of this package: a seat always gets a move in time. Quick levels answer in the event loop;
a thought of any other level is asked of a worker, and where that gives no answer (its queue is
full, it is late, it died, the bot failed) the level ``easy`` answers in the event loop instead.
"""

from croupier.thinkers.load import Load
from croupier.thinkers.pool import Pool
from croupier.thinkers.seats import Seats

__all__ = ["Load", "Pool", "Seats"]
