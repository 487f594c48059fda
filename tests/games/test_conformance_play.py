"""How every game in ``GAMES`` must play: states, moves, refusals, cards and scores."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from croupier_games.cards import format_cards
from croupier_games.game import IllegalMove, MalformedMove
from games.knowledge import ALL_CARDS, EXPECTED_SUM, FACTS, SUITED
from games.playing import AnyGame, Setup, awaited, play, sample, setups

every_setup = pytest.mark.parametrize("setup", setups(), ids=str)


def snapshot(game: AnyGame, state: Any) -> list[Any]:
    """All that a state answers."""
    seats = [*range(len(game.running_scores(state))), None]
    shown = [(game.view(state, seat), game.happened(state, seat)) for seat in seats]
    return [game.fingerprint(state), json.dumps(shown), game.to_act(state), game.scores(state)]


def alike(name: str, text: str) -> str:
    """A move's text without what does not make it another move: suits, in most games."""
    if name in SUITED:
        return text
    word, *cards = re.sub(r"\b([2-9TJQKA])[CDHS]\b", r"\1", text).split()
    return " ".join([word, *sorted(cards)])


@every_setup
def test_states_never_change(setup: Setup) -> None:
    game = setup.game
    for before, seat, text, after in play(setup).moves():
        kept = snapshot(game, before)
        again = game.apply(before, seat, game.parse_move(text))
        assert again is not before
        assert snapshot(game, before) == kept
        assert snapshot(game, again) == snapshot(game, after)


@every_setup
def test_every_legal_move_passes_the_check(setup: Setup) -> None:
    game = setup.game
    for state, seat in awaited(game, sample(play(setup))):
        legal = list(game.legal_moves(state))
        assert len(game.legal_moves(state)) == len(legal) > 0
        assert [refusal(game.check, state, seat, move) for move in legal] == [None] * len(legal)
        assert len({alike(setup.name, game.format_move(move)) for move in legal}) == len(legal)


@every_setup
def test_every_move_that_passes_the_check_is_listed(setup: Setup) -> None:
    played, game, chance = play(setup), setup.game, random.Random(str(setup))
    texts = sorted({text for _, _, text, _ in played.moves()})
    for state, seat in awaited(game, sample(played)):
        listed = {alike(setup.name, game.format_move(move)) for move in game.legal_moves(state)}
        for text in chance.sample(texts, min(30, len(texts))) + mutated(game, state, seat, chance):
            of_several = text.startswith("layoff") and len(text.split()) > 3  # legal, but listed one by one
            if accepted(game, state, seat, text) and not of_several:
                assert alike(setup.name, game.format_move(game.parse_move(text))) in listed, text


@every_setup
def test_nothing_is_legal_when_nobody_is_to_act(setup: Setup) -> None:
    game = setup.game
    for _, _, text, after in play(setup).moves():
        if game.to_act(after) is None:
            assert list(game.legal_moves(after)) == []
            assert refusal(game.check, after, 0, game.parse_move(text))


def mutated(game: AnyGame, state: Any, seat: int, chance: random.Random) -> list[str]:
    """Moves near the legal ones: a card less, a card more, one exchanged, each twice."""
    texts, deck = [], format_cards(range(54))
    legal = game.legal_moves(state)
    held = game.view(state, seat)["hand"] or deck
    for _ in range(10):
        word, *rest = game.format_move(legal[chance.randrange(len(legal))]).split()
        less, card = chance.sample(rest, max(0, len(rest) - 1)), chance.choice(held)
        near = (less, [*rest, card], [*less, card], [*rest, *rest])
        texts += [" ".join([word, *parts]) for parts in near]
    return texts


def accepted(game: AnyGame, state: Any, seat: int, text: str) -> bool:
    """Whether ``seat`` may make a move. What ``check`` refuses ``apply`` does too, and nothing changes."""
    kept = game.fingerprint(state)
    try:
        move = game.parse_move(text)
    except MalformedMove:
        return False
    reason = refusal(game.check, state, seat, move)
    assert refusal(game.apply, state, seat, move) == reason
    assert game.fingerprint(state) == kept
    assert reason is None or re.fullmatch(r"[A-Z][A-Z_]+", reason)
    return reason is None


def refusal(attempt: Callable[[Any, int, Any], object], state: Any, seat: int, move: Any) -> str | None:
    try:
        attempt(state, seat, move)
    except IllegalMove as error:
        return error.reason
    return None


@every_setup
def test_another_seat_is_refused(setup: Setup) -> None:
    game = setup.game
    for state, seat in awaited(game, sample(play(setup), 20)):
        kept, move = snapshot(game, state), game.default_move(state)
        for other in {-1, setup.players, *range(setup.players)} - {seat}:
            assert refusal(game.check, state, other, move)
            assert refusal(game.apply, state, other, move)
        assert snapshot(game, state) == kept


@every_setup
def test_the_default_move_is_legal(setup: Setup) -> None:
    game = setup.game
    for state, seat in awaited(game, play(setup).moments):
        assert refusal(game.check, state, seat, game.default_move(state)) is None


@every_setup
def test_a_deal_of_default_moves_ends(setup: Setup) -> None:
    game, state = setup.game, play(setup).moments[0].state
    for _ in range(20_000):
        seat = game.to_act(state)
        if seat is None:
            break
        state = game.apply(state, seat, game.default_move(state))
    assert game.to_act(state) is None


@every_setup
def test_no_card_is_lost_or_made(setup: Setup) -> None:
    played, game = play(setup), setup.game
    deck = sorted(format_cards(game.deck(setup.players, setup.options)))
    for moment in played.moments:
        views = [game.view(moment.state, seat) for seat in range(setup.players)]
        assert sorted(ALL_CARDS[setup.name](played.deals[moment.deal], views)) == deck


@every_setup
@pytest.mark.parametrize("seed", range(3))
def test_scores_come_at_the_end_and_add_up(setup: Setup, seed: int) -> None:
    *earlier, last = play(setup, seed).moments
    game = setup.game
    assert all(game.scores(moment.state) is None for moment in earlier)
    scores = game.scores(last.state)
    assert game.running_scores(last.state) == scores
    assert scores is not None
    assert len(scores) == setup.players
    assert sum(scores) == EXPECTED_SUM[setup.name](game.facts(last.state))
    assert game.facts(last.state).keys() == FACTS[setup.name]
    assert not game.needs_deal(last.state)


@every_setup
def test_only_one_thing_is_due(setup: Setup) -> None:
    game = setup.game
    for moment in play(setup).moments:
        due = [game.to_act(moment.state) is not None, game.needs_deal(moment.state)]
        assert [*due, game.scores(moment.state) is not None].count(True) == 1
