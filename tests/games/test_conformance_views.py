"""What every game in ``GAMES`` must show: views and effects with the fields of the API's messages."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from google.protobuf.descriptor import Descriptor

from croupier_games import GAMES
from games.messages import mismatches, pool_of_games
from games.playing import AnyGame, Setup, play, sample, setups

Messages = Callable[[AnyGame, str], Descriptor]

every_setup = pytest.mark.parametrize("setup", setups(), ids=str)


@pytest.fixture(scope="session")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Messages:
    pool = pool_of_games(list(GAMES), tmp_path_factory.mktemp("protos"))

    def message(game: AnyGame, kind: str) -> Descriptor:
        return pool.FindMessageTypeByName(f"croupier.v1.{game.title.replace(' ', '')}{kind}")

    return message


@every_setup
def test_views_have_the_fields_of_their_message(setup: Setup, messages: Messages) -> None:
    played, game = play(setup), setup.game
    for moment in sample(played, 30):
        for viewer in played.viewers():
            assert mismatches(game.view(moment.state, viewer), messages(game, "View"), "view") == []


@every_setup
def test_effects_have_the_fields_of_their_message(setup: Setup, messages: Messages) -> None:
    played, game = play(setup), setup.game
    for moment in played.moments:
        for viewer in (0, None):
            for effect in game.happened(moment.state, viewer):
                assert mismatches(effect, messages(game, "Effect"), "effect") == []


@pytest.mark.parametrize("name", GAMES)
def test_every_kind_of_effect_happens(name: str, messages: Messages) -> None:
    kinds = {
        kind
        for setup in setups()
        if setup.name == name
        for seed in range(3)
        for moment in play(setup, seed).moments
        for effect in setup.game.happened(moment.state, None)
        for kind in effect
    }
    assert kinds == {field.name for field in messages(GAMES[name], "Effect").fields}


@pytest.mark.parametrize("name", GAMES)
def test_options_have_the_fields_of_their_message(name: str, messages: Messages) -> None:
    names = [spec.name for spec in GAMES[name].option_specs()]
    assert names == [field.name for field in messages(GAMES[name], "Options").fields]


@every_setup
def test_a_view_says_who_is_to_act(setup: Setup) -> None:
    game = setup.game
    for moment in sample(play(setup)):
        view = game.view(moment.state, None)
        assert view["to_act"] == game.to_act(moment.state)
        assert view["scores"] == game.running_scores(moment.state)


@every_setup
def test_a_spectator_and_the_other_seats_see_no_hand(setup: Setup) -> None:
    game = setup.game
    for moment in sample(play(setup), 20):
        assert game.view(moment.state, None)["hand"] == []
        for seat in range(setup.players):
            own = game.view(moment.state, seat)
            assert {**own, "hand": []} == game.view(moment.state, None)


@every_setup
def test_public_effects_are_the_same_for_all(setup: Setup) -> None:
    played, game = play(setup), setup.game
    for moment in played.moments:
        told = {json.dumps(game.happened(moment.state, viewer)) for viewer in played.viewers()}
        assert len(told) == 1 or not game.happened_in_public(moment.state)


@every_setup
def test_what_is_shown_can_be_changed_without_harm(setup: Setup) -> None:
    game = setup.game
    for moment in sample(play(setup), 10):
        kept = json.dumps([game.view(moment.state, 0), game.facts(moment.state)])
        for shown in (game.view(moment.state, 0), game.facts(moment.state)):
            for part in shown.values():
                if isinstance(part, list):
                    part.clear()
        game.running_scores(moment.state).clear()
        assert json.dumps([game.view(moment.state, 0), game.facts(moment.state)]) == kept


@every_setup
def test_no_seat_that_is_not_there_sees_anything(setup: Setup) -> None:
    state = play(setup).moments[0].state
    for seat in (-1, setup.players):
        for show in (setup.game.view, setup.game.happened):
            with pytest.raises(ValueError, match="seat"):
                show(state, seat)
