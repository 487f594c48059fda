"""Secrecy: what a viewer cannot see does not change a byte of what it is shown.

For a random moment of a random game and each viewer, the cards that the viewer cannot know
are dealt again among the places where they lay, and the same public moves are made. Where all
of them stay legal and the rules' own public facts stay the same (whose turn it is, scores,
facts), the viewer must have been shown the very same bytes at every step.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from croupier_games import GAMES
from croupier_games.game import IllegalMove, Plain
from games.knowledge import KNOWN, POINTS, Path, card_at, places
from games.playing import AnyGame, Moment, Played, Setup, play, setups

CUTS = 4
"""Moments looked at in each game, for every viewer."""
TRIES = (104, 104, 8, 8, 4, 4, 2, 2, 2, 2)
"""How many cards are dealt again: all of them, or, where that breaks the public story, a few."""


def shown(game: AnyGame, states: Sequence[Any], viewer: int | None) -> list[str]:
    """All that ``viewer`` is shown along the way, the moves offered to it included."""
    lines = []
    for state in states:
        offered = [*map(game.format_move, game.legal_moves(state))] if game.to_act(state) == viewer else []
        lines.append(json.dumps([game.view(state, viewer), game.happened(state, viewer), offered]))
    return lines


def outline(game: AnyGame, state: Any) -> Any:
    """What the rules make public whatever the views do."""
    return game.to_act(state), game.running_scores(state), game.facts(state)


def segment(played: Played, cut: int) -> list[Moment]:
    """The moments of the deal that moment ``cut`` is in, up to it."""
    return [moment for moment in played.moments[: cut + 1] if moment.deal == played.moments[cut].deal]


def replay_with(played: Played, moments: Sequence[Moment], deal: Plain) -> list[Any] | None:
    """The states of the same moves after another deal; None where they tell another public story."""
    game, number = played.game, moments[0].deal
    if number == 0:
        state = game.load_deal(deal, played.setup.players, played.setup.options)
    else:
        state = game.next_deal([m for m in played.moments if m.deal == number - 1][-1].state, deal)
    states = [state]
    for moment in moments[1:]:
        assert moment.seat is not None
        assert moment.move is not None
        try:
            state = game.apply(state, moment.seat, game.parse_move(moment.move))
        except IllegalMove:
            return None
        if outline(game, state) != outline(game, moment.state):
            return None
        states.append(state)
    return states


def dealt_again(deal: Plain, free: Sequence[Path], chance: random.Random) -> Plain:
    """The deal with the cards at the free places shuffled among them."""
    cards = [card_at(deal, path) for path in free]
    chance.shuffle(cards)
    changed: Plain = copy.deepcopy(deal)
    for path, card in zip(free, cards, strict=True):
        part: Any = changed
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = card
    return changed


def free_places(played: Played, moments: Sequence[Moment], viewer: int | None) -> list[list[Path]]:
    """The places whose cards ``viewer`` cannot know, in groups that may be shuffled within.

    One group, but where a result has been shown that counts the cards left: then one for each
    value of a card.
    """
    game, deal = played.game, played.deals[moments[0].deal]
    known = KNOWN[game.name](game, deal, moments, viewer)
    groups: dict[int, list[Path]] = {}
    for path in places(deal):
        card = card_at(deal, path)
        if card not in known:
            over = game.to_act(moments[-1].state) is None
            groups.setdefault(POINTS[game.name](card) if over else 0, []).append(path)
    return list(groups.values())


def another_world(
    played: Played, moments: Sequence[Moment], viewer: int | None, chance: random.Random
) -> Any:
    """States of a different deal that fit everything public; None where none was found."""
    deal = played.deals[moments[0].deal]
    groups = free_places(played, moments, viewer)
    for size in TRIES:
        changed = deal
        for group in groups:
            changed = dealt_again(changed, chance.sample(group, min(size, len(group))), chance)
        if played_out(changed) != played_out(deal):
            states = replay_with(played, moments, changed)
            if states is not None:
                return states
    return None


def played_out(deal: Plain) -> Plain:
    """A deal as it matters in play: the order in a hand does not."""
    return {**deal, "hands": [sorted(hand) for hand in deal["hands"]]}


def look(setup: Setup, seed: int) -> tuple[int, int]:
    """Compares at some moments for every viewer; returns how many cases there were and had another world."""
    played, chance = play(setup, seed), random.Random(f"{setup} {seed}")
    cases = permuted = 0
    for cut in [*chance.sample(range(len(played.moments)), CUTS - 1), len(played.moments) - 1]:
        moments = segment(played, cut)
        for viewer in played.viewers():
            states = another_world(played, moments, viewer, chance)
            cases += 1
            if states is not None:
                permuted += 1
                before = shown(played.game, [m.state for m in moments], viewer)
                assert shown(played.game, states, viewer) == before, f"viewer {viewer}, moment {cut}"
    return cases, permuted


@pytest.mark.parametrize("name", GAMES)
def test_hidden_cards_change_nothing_that_is_shown(name: str) -> None:
    counts = [look(setup, seed) for setup in setups() if setup.name == name for seed in range(2)]
    cases, permuted = (sum(column) for column in zip(*counts, strict=True))
    assert permuted >= cases * 0.8, f"only {permuted} of {cases} cases had another world to compare with"


class Leaking:
    """A game that shows everybody one hidden card: where it is to be found in the secret state."""

    def __init__(self, game: AnyGame, part: str) -> None:
        self._game = game
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def view(self, state: Any, seat: int | None) -> Plain:
        secret = json.loads(self._game.fingerprint(state))[self._part]
        return {**self._game.view(state, seat), "leak": secret[:1]}


@pytest.mark.parametrize(
    ("name", "part"), [("hidden_unders", "deck"), ("doudizhu", "hands"), ("basic_rummy", "stock")]
)
def test_one_leaked_card_would_be_found(name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, name, Leaking(GAMES[name], part))
    with pytest.raises(AssertionError, match="viewer"):
        look(Setup(name, 3), 0)
