"""The arena: bots against each other in this process, for as many boards as asked.

The law of this package: a game follows from the seed's text, the board's number and the bots,
and from nothing else, so anybody can play it again; and whatever a bot answers or raises, the
arena goes on. A bot that answers with no legal move, or raises, forfeits that game.

Board *i* is called ``arena/TEXT/i`` and its 32-byte seed is SHA-256 over
``"croupier/arena/v1\\0" + board``; deals follow from both as everywhere. Players and seats:

- With one PLAYER a seat a board is one game, and player *p* sits in seat *(p + i) mod players*,
  so each sits everywhere equally often.
- Dou Dizhu with two PLAYERs is one side against the other. Who is landlord is for the bidding
  to say, so that comes first and without the players: the level ``easy`` calls for all three
  seats. From there the board is played twice, the first player alone as landlord against two
  of the second as farmers, then the other way round: same cards, same bid. A record's
  ``table_options`` say so. When nobody bids, both games are void.
"""

from croupier.arena.game import CRASH, ILLEGAL_MOVE, Entrant, Forfeit, PlayedGame, board_seed, play_game
from croupier.arena.run import ArenaError, board_name, run_arena
from croupier.arena.standings import ArenaResult, Standing

__all__ = [
    "CRASH",
    "ILLEGAL_MOVE",
    "ArenaError",
    "ArenaResult",
    "Entrant",
    "Forfeit",
    "PlayedGame",
    "Standing",
    "board_name",
    "board_seed",
    "play_game",
    "run_arena",
]
