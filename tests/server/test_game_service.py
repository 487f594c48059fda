"""GameService: what the server offers is what the registry, the rules and the settings say."""

from __future__ import annotations

import pytest

from croupier.v1 import doudizhu_pb2, games_pb2, hidden_unders_pb2
from croupier_games import GAMES
from croupier_server.caller import Caller
from croupier_server.epoch import Epoch
from croupier_server.errors import Refusal
from croupier_server.journal.memory import MemoryJournal
from croupier_server.rpc.game_service import GameServicer
from croupier_server.settings import BOT_LEVELS, Settings

NOBODY = Caller()


@pytest.fixture
def service() -> GameServicer:
    journal = MemoryJournal()
    return GameServicer(journal, Settings(max_streams=7, heartbeat_s=2.5), Epoch(journal, "epoch-1"))


async def test_every_game_is_listed_as_its_rules_have_it(service: GameServicer) -> None:
    listed = (await service.list_games(games_pb2.ListGamesRequest(), NOBODY)).games
    assert [game.game for game in listed] == list(GAMES)
    for entry in listed:
        game = GAMES[entry.game]
        assert entry.title == game.title
        assert range(entry.min_players, entry.max_players + 1) == game.players
        assert entry.default_players == game.default_players
        assert entry.rules_version == game.rules_version
        assert list(entry.bot_levels) == list(BOT_LEVELS)
        assert entry.default_move


async def test_every_option_is_listed_and_is_a_field_of_its_message(service: GameServicer) -> None:
    for entry in (await service.list_games(games_pb2.ListGamesRequest(), NOBODY)).games:
        specs = {spec.name: spec for spec in GAMES[entry.game].option_specs()}
        assert [option.option for option in entry.options] == list(specs)
        message = games_pb2.GameOptions.DESCRIPTOR.fields_by_name[entry.game].message_type
        assert {field.name for field in message.fields} == set(specs)
        for option in entry.options:
            kind = getattr(option, option.WhichOneof("spec"))
            assert kind.default_value == specs[option.option].default


async def test_the_rules_hold_the_options_that_are_asked_for(service: GameServicer) -> None:
    options = games_pb2.GameOptions(doudizhu=doudizhu_pb2.DouDizhuOptions(deals=17))
    request = games_pb2.GetRulesRequest(game="doudizhu", options=options, language="en-GB")
    answer = await service.get_rules(request, NOBODY)
    assert (answer.language, answer.title) == ("en", "Dou Dizhu")
    assert "17 deals" in answer.markdown


async def test_an_unknown_language_falls_back_and_says_so(service: GameServicer) -> None:
    request = games_pb2.GetRulesRequest(game="basic_rummy", language="tlh")
    assert (await service.get_rules(request, Caller(languages=("fr",)))).language == "en"


@pytest.mark.parametrize(
    ("request_fields", "reason"),
    [
        ({}, "MISSING_FIELD"),
        ({"game": "snap"}, "UNKNOWN_GAME"),
        ({"game": "doudizhu", "players": 4}, "INVALID_OPTIONS"),
        ({"game": "basic_rummy", "options": {"doudizhu": {}}}, "WRONG_GAME"),
        ({"game": "hidden_unders", "options": {"hidden_unders": {"decks": 3}}}, "INVALID_OPTIONS"),
    ],
)
async def test_requests_that_are_refused(service: GameServicer, request_fields: dict, reason: str) -> None:
    with pytest.raises(Refusal) as caught:
        await service.get_rules(games_pb2.GetRulesRequest(**request_fields), NOBODY)
    assert caught.value.reason == reason
    assert caught.value.fields or reason in ("UNKNOWN_GAME", "WRONG_GAME")


async def test_too_few_cards_is_told_from_the_number_of_players(service: GameServicer) -> None:
    options = games_pb2.GameOptions(hidden_unders=hidden_unders_pb2.HiddenUndersOptions(decks=1))
    request = games_pb2.GetRulesRequest(game="hidden_unders", players=5, options=options)
    with pytest.raises(Refusal) as caught:
        await service.get_rules(request, NOBODY)
    assert caught.value.facts == {"rule_reason": "TOO_FEW_CARDS"}


async def test_the_server_tells_its_limits_clock_and_epoch(service: GameServicer) -> None:
    info = await service.get_server_info(games_pb2.GetServerInfoRequest(), NOBODY)
    assert info.epoch == "epoch-1"
    assert info.heartbeat.ToMilliseconds() == 2500
    assert info.server_time.seconds > 0
    assert info.limits.max_streams == 7
    assert all(getattr(info.limits, field.name) > 0 for field in info.limits.DESCRIPTOR.fields)
