"""What every game in ``GAMES`` must keep; a fourth game is told here what it misses."""

from __future__ import annotations

import copy
import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import croupier_games
from croupier_games import GAMES, UnknownGame, game_named
from croupier_games.cards import CARD_TEXTS, parse_cards
from croupier_games.game import Game, InvalidDeal, InvalidOptions, MalformedMove
from games.knowledge import ALL_CARDS, FACTS, KNOWN, POINTS, card_at, places
from games.playing import AnyGame, Setup, play, sample, setups

MEMBERS = [name for name in {**vars(Game), **Game.__annotations__} if not name.startswith("_")]
WORDS = ["overs", "play", "flip", "done", "bid", "pass", "draw", "meld", "layoff", "discard", "stock"]
WORDS += [*CARD_TEXTS[::7], "??", "-1", "1", "4", "00", "1_0", "٣", "1e3", "9" * 5000, ""]

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
every_setup = pytest.mark.parametrize("setup", setups(), ids=str)


def test_the_registry_holds_the_games_under_their_names() -> None:
    assert {"hidden_unders", "doudizhu", "basic_rummy"} <= set(GAMES)
    assert [game_named(name) for name in GAMES] == list(GAMES.values())
    with pytest.raises(UnknownGame, match=", ".join(GAMES)):
        game_named("snap")


def test_what_a_caller_of_the_games_catches_is_named_beside_them() -> None:
    named = {croupier_games.InvalidOptions, croupier_games.MalformedMove, croupier_games.IllegalMove}
    assert all(issubclass(error, croupier_games.GameError) for error in named)
    assert set(croupier_games.__all__) <= set(vars(croupier_games))


@every_game
@pytest.mark.parametrize("member", MEMBERS)
def test_contract_member(game: AnyGame, member: str) -> None:
    declared = vars(Game).get(member)
    found = getattr(game, member, None)
    assert found is not None, f"{game.name} has no {member}"
    if declared is not None:
        wanted = list(inspect.signature(declared).parameters.values())[1:]
        assert [p.kind for p in inspect.signature(found).parameters.values()] == [p.kind for p in wanted]
        if inspect.ismethod(found):  # compiled, it has no docstring
            assert found.__doc__, f"{game.name}.{member} says nothing of itself"


@every_game
def test_tests_know_the_game(game: AnyGame) -> None:
    for table in (KNOWN, ALL_CARDS, POINTS, FACTS):
        assert game.name in table


@every_game
def test_identity(game: AnyGame) -> None:
    assert GAMES[game.name] is game
    assert game.title
    assert game.rules_version >= 1
    assert game.default_players in game.players


@every_game
def test_options_resolve_to_themselves(game: AnyGame) -> None:
    for players in game.players:
        resolved = game.options(players)
        assert list(resolved) == [spec.name for spec in game.option_specs()]
        assert game.options(players, **resolved) == resolved


@every_game
def test_impossible_options_are_refused(game: AnyGame) -> None:
    for spec in game.option_specs():
        impossible: list[Any] = [] if isinstance(spec.default, bool) else [-1, 10**9, True]
        for value in [*impossible, "1", None, 1.0, []]:
            with pytest.raises(InvalidOptions, match=spec.name):
                game.options(game.default_players, **{spec.name: value})
    with pytest.raises(InvalidOptions, match="no_such"):
        game.options(game.default_players, no_such=1)


@every_game
def test_option_ranges_are_closed(game: AnyGame) -> None:
    for spec in game.option_specs():
        for value in (spec.minimum, spec.maximum, *spec.choices):
            if value is not None:
                assert game.options(game.players[0], **{spec.name: value})[spec.name] == value


@every_game
def test_impossible_players_are_refused(game: AnyGame) -> None:
    deal = play(Setup(game.name, game.default_players)).deals[0]
    impossible: list[Any] = [0, game.players[0] - 1, game.players[-1] + 1, True, "2"]
    for players in impossible:
        with pytest.raises(InvalidOptions):
            game.options(players)
        with pytest.raises(InvalidOptions):
            game.load_deal(deal, players, {})


@every_setup
def test_a_deal_is_the_whole_deck(setup: Setup) -> None:
    for deal in play(setup).deals:
        cards = parse_cards(card_at(deal, path) for path in places(deal))
        assert sorted(cards) == sorted(setup.game.deck(setup.players, setup.options))


@every_game
def test_broken_deals_are_refused(game: AnyGame) -> None:
    setup = Setup(game.name, game.default_players)
    deal = play(setup).deals[0]
    odd: list[Any] = [
        None,
        True,
        -1,
        99,
        1.5,
        "2C",
        "??",
        [],
        ["2C"],
        [["2C"]],
        [None],
        [[None]],
        [[[]]],
        {},
        [{}],
    ]
    for key, value in [(key, value) for key in deal for value in odd]:
        with pytest.raises(InvalidDeal):
            game.load_deal({**deal, key: value}, setup.players, setup.options)
    for key in deal:
        with pytest.raises(InvalidDeal):
            game.load_deal({k: v for k, v in deal.items() if k != key}, setup.players, setup.options)


@every_game
def test_a_deal_with_a_card_twice_is_refused(game: AnyGame) -> None:
    setup = Setup(game.name, game.default_players)
    deal = json.loads(json.dumps(play(setup).deals[0]))
    deal["hands"][0][0] = deal["hands"][1][0]
    with pytest.raises(InvalidDeal):
        game.load_deal(deal, setup.players, setup.options)


@every_setup
def test_no_deal_is_taken_that_is_not_due(setup: Setup) -> None:
    played, game = play(setup), setup.game
    for moment in sample(played, 10):
        if not game.needs_deal(moment.state):
            with pytest.raises(InvalidDeal):
                game.next_deal(moment.state, played.deals[0])


@every_game
@given(data=st.data())
def test_any_text_is_a_move_or_malformed(game: AnyGame, data: st.DataObject) -> None:
    texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.text(max_size=20)
    text = data.draw(texts)
    try:
        canonical = game.format_move(game.parse_move(text))
    except MalformedMove as refusal:
        canonical = None
        message = str(refusal)
    if canonical is None:
        assert 0 < len(message) < 300
    else:
        assert game.format_move(game.parse_move(canonical)) == canonical
        assert sorted(canonical.split()) == sorted(text.split())


@every_setup
def test_moves_are_written_as_they_are_read(setup: Setup) -> None:
    game = setup.game
    for moment in sample(play(setup)):
        for move in game.legal_moves(moment.state):
            text = game.format_move(move)
            assert game.format_move(game.parse_move(text)) == text


@every_game
def test_what_never_changes_is_its_own_copy(game: AnyGame) -> None:
    state = play(Setup(game.name, game.default_players)).moments[0].state
    for value in (state, *game.legal_moves(state)):
        assert copy.copy(value) is value
        assert copy.deepcopy(value) is value
