"""Which bots there are, and how to make one.

The law of this file: ``LEVELS`` are the levels of every game, and ``_MAKERS`` has the bots that
stand behind them. A level for which a game has no bot of its own is played by the next lower one.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from croupier.bots import basic_rummy, hidden_unders
from croupier.bots.bot import Bot, BotMaker, UnknownBot
from croupier.bots.doudizhu.easy import EasyBot
from croupier.bots.doudizhu.levels import EXPERT, HARD, NormalBot, SearchBot
from croupier.bots.uniform import UniformBot

LEVELS: Final = ("random", "easy", "normal", "hard", "expert")
"""Every level, weakest first; each game takes them all."""

_MAKERS: Final[Mapping[str, Mapping[str, BotMaker]]] = {
    "hidden_unders": {
        "random": UniformBot,
        "easy": lambda _: hidden_unders.EasyBot(),
        "normal": lambda _: hidden_unders.NormalBot(),
        "hard": hidden_unders.hard,
        "expert": hidden_unders.expert,
    },
    "doudizhu": {
        "random": UniformBot,
        "easy": lambda _: EasyBot(),
        "normal": NormalBot,
        "hard": lambda seed: SearchBot(HARD, seed),
        "expert": lambda seed: SearchBot(EXPERT, seed),
    },
    "basic_rummy": {
        "random": UniformBot,
        "easy": lambda _: basic_rummy.EasyBot(),
        "normal": lambda _: basic_rummy.NormalBot(),
        "hard": basic_rummy.hard,
        "expert": basic_rummy.expert,
    },
}


def levels_of(game: str) -> tuple[str, ...]:
    """The levels with a bot of their own, weakest first. Raises ``UnknownBot`` for a game without bots."""
    return tuple(_makers_of(game))


def make_bot(game: str, level: str, seed: int) -> Bot:
    """A new bot of a level for one game. Raises ``UnknownBot`` for a game or level that there is not."""
    return _level(game, level)(seed)


def load_bot(path: str) -> type[Any]:
    """The class of ``module:Class``; the module may lie in the current folder.

    Raises ``UnknownBot`` when the module cannot be imported or holds no such class with a
    ``choose`` method.
    """
    module_name, colon, class_name = path.partition(":")
    if not (module_name and colon and class_name.isidentifier()) or module_name.startswith("."):
        raise UnknownBot(f"{path!r} is not written as module:Class, as in my_bots:First")
    found = getattr(_imported(module_name), class_name, None)
    if not inspect.isclass(found):
        raise UnknownBot(f"module {module_name} has no class {class_name}")
    if not callable(getattr(found, "choose", None)):
        raise UnknownBot(f"{path} is no bot: it has no method choose(view, legal_moves)")
    return found


def bot_maker(game: str, player: str) -> BotMaker:
    """What makes the bots of ``player``, a level or ``module:Class``. Raises ``UnknownBot``.

    A class is called with ``seed=`` where it takes that, else with nothing.
    """
    if ":" not in player:
        return _level(game, player)
    found = load_bot(player)
    return _seeded(found) if _takes_seed(found) else _unseeded(found)


def _level(game: str, level: str) -> BotMaker:
    makers = _makers_of(game)
    if level not in LEVELS:
        raise UnknownBot(f"{game} has no level {level!r}; there are: {', '.join(LEVELS)}, or module:Class")
    return next(makers[lower] for lower in reversed(LEVELS[: LEVELS.index(level) + 1]) if lower in makers)


def _makers_of(game: str) -> Mapping[str, BotMaker]:
    if game not in _MAKERS:
        raise UnknownBot(f"there are no bots for {game!r}; there are for: {', '.join(_MAKERS)}")
    return _MAKERS[game]


def _imported(name: str) -> Any:
    # An installed command does not look into the folder that it is called from, where a bot's
    # author has it. Last in the path, that folder cannot hide a module of anybody else's.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever the module's own code raises
        raise UnknownBot(f"cannot import {name}: {type(error).__name__}: {error}") from error


def _takes_seed(found: Callable[..., Bot]) -> bool:
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False
    return "seed" in parameters


def _seeded(found: Callable[..., Bot]) -> BotMaker:
    return lambda seed: found(seed=seed)


def _unseeded(found: Callable[..., Bot]) -> BotMaker:
    return lambda _: found()
