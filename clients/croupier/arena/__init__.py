"""The arena: bots against each other, for as many boards as asked.

The law of this package: a game follows from the seed's text, the board's number, the seats and
the bots, and from nothing else, so anybody can play it again; and whatever a bot answers or
raises, the arena goes on. A bot that answers with no legal move, or raises, forfeits that game.

Board *i* is called ``arena/TEXT/i`` and its 32-byte seed is SHA-256 over
``"croupier/arena/v1\\0" + board``; deals follow from both as everywhere. Every board is played in
all seatings of ``schedule``: duplicate deals, whose luck cancels.

Dou Dizhu with two PLAYERs is one side against the other. Who is landlord is for the bidding to
say, so that comes first and without the players: the level ``easy`` calls for all three seats, or
with fixed roles the first bidder is made to bid 3. From there the board is played twice, the
first player alone as landlord against two of the second as farmers, then the other way round:
same cards, same bid. A record's ``table_options`` say so. When nobody bids, both games are void.
"""

from croupier.arena.game import (
    CRASH,
    ILLEGAL_MOVE,
    TIMEOUT,
    Entrant,
    Forfeit,
    PlayedGame,
    board_seed,
    play_game,
)
from croupier.arena.plan import Plan, board_name, plan_of
from croupier.arena.ratings import Rating
from croupier.arena.result import ArenaResult
from croupier.arena.run import run_arena
from croupier.arena.schedule import ROLES, ArenaError, ArenaFailed, Roles
from croupier.arena.sprt import Sprt
from croupier.arena.standings import Pairing, Standing

__all__ = [
    "CRASH",
    "ILLEGAL_MOVE",
    "ROLES",
    "TIMEOUT",
    "ArenaError",
    "ArenaFailed",
    "ArenaResult",
    "Entrant",
    "Forfeit",
    "Pairing",
    "Plan",
    "PlayedGame",
    "Rating",
    "Roles",
    "Sprt",
    "Standing",
    "board_name",
    "board_seed",
    "plan_of",
    "play_game",
    "run_arena",
]
