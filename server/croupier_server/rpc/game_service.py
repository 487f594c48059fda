"""GameService: what this server offers.

The law of this file: everything here comes from the registry of games, the rules texts and the
settings; nothing is said twice.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.v1 import games_pb2
from croupier_games import GAMES
from croupier_games.game import Game, OptionSpec
from croupier_games.texts import LANGUAGES, default_move_text, rules_text
from croupier_server import checks
from croupier_server.caller import Caller
from croupier_server.epoch import Epoch
from croupier_server.journal.base import Journal
from croupier_server.languages import best
from croupier_server.metrics import release
from croupier_server.settings import BOT_LEVELS, Settings


class GameServicer:
    """The catalogue, the rules and the facts about the server."""

    def __init__(self, journal: Journal, settings: Settings, epoch: Epoch) -> None:
        self._journal: Final = journal
        self._settings: Final = settings
        self._epoch: Final = epoch

    async def list_games(
        self, request: games_pb2.ListGamesRequest, caller: Caller
    ) -> games_pb2.ListGamesResponse:
        """Every game of the registry, described in the caller's language where there is one."""
        del request
        language = best(caller.languages, LANGUAGES)
        return games_pb2.ListGamesResponse(games=[_entry(game, language) for game in GAMES.values()])

    async def get_rules(
        self, request: games_pb2.GetRulesRequest, caller: Caller
    ) -> games_pb2.GetRulesResponse:
        """The rules of one game with the options in place.

        Raises ``Refusal`` MISSING_FIELD, UNKNOWN_GAME, WRONG_GAME or INVALID_OPTIONS.
        """
        game = checks.game("game", request.game)
        players = request.players or game.default_players
        options = checks.options(game, request.options, players)
        wanted = (request.language,) if request.language else caller.languages
        text = rules_text(game.name, options, players, best(wanted, LANGUAGES))
        return games_pb2.GetRulesResponse(language=text.language, title=text.title, markdown=text.markdown)

    async def get_server_info(
        self, request: games_pb2.GetServerInfoRequest, caller: Caller
    ) -> games_pb2.GetServerInfoResponse:
        """The release, the journal's clock and epoch, and the limits."""
        del request, caller
        clock, heartbeat = Timestamp(), Duration()
        clock.FromMilliseconds(await self._journal.clock_ms())
        heartbeat.FromMilliseconds(int(self._settings.heartbeat_s * 1000))
        return games_pb2.GetServerInfoResponse(
            version=release(),
            server_time=clock,
            heartbeat=heartbeat,
            limits=_limits(self._settings),
            epoch=self._epoch.now,
            languages=sorted(LANGUAGES),
        )


def _entry(game: Game[Any, Any], language: str) -> games_pb2.Game:
    return games_pb2.Game(
        game=game.name,
        title=game.title,
        min_players=game.players[0],
        max_players=game.players[-1],
        default_players=game.default_players,
        options=[_option(spec) for spec in game.option_specs()],
        bot_levels=BOT_LEVELS,
        rules_version=game.rules_version,
        default_move=default_move_text(game.name, language),
    )


def _option(spec: OptionSpec) -> games_pb2.GameOptionSpec:
    entry = games_pb2.GameOptionSpec(option=spec.name, description=spec.description)
    if isinstance(spec.default, bool):
        entry.flag.default_value = spec.default
    else:
        entry.number.default_value = spec.default
        entry.number.minimum = spec.minimum or 0
        entry.number.maximum = spec.maximum or 0
        entry.number.choices.extend(spec.choices)
    return entry


def _limits(settings: Settings) -> games_pb2.Limits:
    names = [field.name for field in games_pb2.Limits.DESCRIPTOR.fields]
    return games_pb2.Limits(**{name: getattr(settings, name) for name in names})
