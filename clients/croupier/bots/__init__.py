"""Bots: the one method that a bot has, and the levels that come with it.

The law of this package: a bot works from the view of its seat and the legal moves alone, so
the same bot plays in an arena, in a program of one's own and over the network.
"""

from croupier.bots.bot import Bot, BotMaker, Plain, UnknownBot
from croupier.bots.registry import LEVELS, bot_maker, levels_of, load_bot, make_bot

__all__ = [
    "LEVELS",
    "Bot",
    "BotMaker",
    "Plain",
    "UnknownBot",
    "bot_maker",
    "levels_of",
    "load_bot",
    "make_bot",
]
