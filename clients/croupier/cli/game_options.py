"""Games and their options on the command line.

The law of this file: the options that exist are those of the games' own ``option_specs``. One that
another game has is refused by naming those that this game has.
"""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any, ClassVar, Final

import typer

from croupier.cli.groups import Group
from croupier.cli.output import Misused
from croupier_games import GAMES
from croupier_games.game import Game, InvalidOptions, Options, OptionSpec, check_players

GameName = Annotated[str, typer.Argument(metavar="GAME", help=f"The game: {', '.join(GAMES)}.")]

_PREFIX: Final = "option_"


class GameOptions(Group):
    """Those options of the games that were given, by name."""

    reserved: ClassVar[frozenset[str]] = frozenset()
    """Names that mean something else to the command; such an option is written ``--game-NAME``."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given: Final = given

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """One parameter for each option's name, whichever games have it."""
        owners: dict[str, list[tuple[Game[Any, Any], OptionSpec]]] = {}
        for game in GAMES.values():
            for spec in game.option_specs():
                owners.setdefault(spec.name, []).append((game, spec))
        return [cls._parameter(name, found) for name, found in owners.items()]

    @classmethod
    def _parameter(cls, name: str, found: list[tuple[Game[Any, Any], OptionSpec]]) -> inspect.Parameter:
        text = " ".join(_described(game, spec) for game, spec in found)
        is_flag = isinstance(found[0][1].default, bool)
        option = typer.Option(cls._flag(name, is_flag), help=text, show_default=False)
        return inspect.Parameter(
            _PREFIX + name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[bool | None if is_flag else int | None, option],
        )

    @classmethod
    def _flag(cls, name: str, is_flag: bool) -> str:
        dashed = name.replace("_", "-")
        start = "--game-" if name in cls.reserved else "--"
        return f"{start}{dashed}/{start}no-{dashed}" if is_flag else start + dashed

    @classmethod
    def gather(cls, **values: Any) -> GameOptions:
        """Those that are not None."""
        return cls({name.removeprefix(_PREFIX): v for name, v in values.items() if v is not None})

    def check_known(self, game: Game[Any, Any]) -> None:
        """Raises ``Misused`` for an option that ``game`` has not, with those that it has."""
        known = {spec.name: isinstance(spec.default, bool) for spec in game.option_specs()}
        for name, value in self.given.items():
            if name not in known:
                flag = self._flag(name, isinstance(value, bool)).partition("/")[0]
                flags = ", ".join(self._flag(each, is_flag) for each, is_flag in known.items())
                raise Misused(f"{game.title} has no option {flag}; it has {flags}")

    def resolved(self, game: Game[Any, Any], players: int) -> Options:
        """All options of ``game`` for ``players`` seats. Raises ``Misused``."""
        self.check_known(game)
        try:
            check_players(game, players)
            return game.options(players, **self.given)
        except InvalidOptions as error:
            raise Misused(str(error)) from None


class ArenaOptions(GameOptions):
    """As ``GameOptions``, where ``--deals`` is the number of boards."""

    reserved: ClassVar[frozenset[str]] = frozenset({"deals"})


def _described(game: Game[Any, Any], spec: OptionSpec) -> str:
    if isinstance(spec.default, bool):
        values = "on" if spec.default else "off"
        return f"{game.title}: {spec.description.rstrip('.')} (default: {values})."
    span = ", ".join(map(str, spec.choices)) or f"{spec.minimum} to {spec.maximum}"
    return f"{game.title}: {spec.description.rstrip('.')} ({span}; default: {spec.default})."


def game_called(name: str) -> Game[Any, Any]:
    """The game of a key, a title, or the only one whose key holds ``name``. Raises ``Misused``."""
    wanted = re.sub(r"[^a-z]", "", name.lower())
    keys = {re.sub(r"[^a-z]", "", key): game for key, game in GAMES.items()}
    if wanted in keys:
        return keys[wanted]
    found = [game for key, game in keys.items() if wanted and wanted in key]
    if len(found) != 1:
        raise Misused(f"there is no game {name!r}; there are {', '.join(GAMES)}")
    return found[0]
