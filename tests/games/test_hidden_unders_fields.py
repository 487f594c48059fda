"""Views and effects have exactly the fields of their messages in ``protos/``."""

import random
import re
from pathlib import Path

import pytest

from croupier_games.game import Plain
from croupier_games.hidden_unders import GAME, State

PROTO = Path(__file__).parents[2] / "protos" / "croupier" / "v1" / "hidden_unders.proto"
FIELD = re.compile(r"^ +(?:optional |repeated )?(\w+) (\w+) = \d+;", re.MULTILINE)
MESSAGES = {
    name: {field: kind for kind, field in FIELD.findall(body)}
    for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", PROTO.read_text(), re.MULTILINE | re.DOTALL)
}
ENUMS = {
    name: {
        value.lower() for value in re.findall(rf"^  {prefix}_(\w+) = \d+;", PROTO.read_text(), re.MULTILINE)
    }
    for name, prefix in [
        ("HiddenUndersPhase", "HIDDEN_UNDERS_PHASE"),
        ("HiddenUndersZone", "HIDDEN_UNDERS_ZONE"),
    ]
}


def check_fields(plain: Plain, message: str) -> None:
    fields = MESSAGES[message]
    assert set(plain) == set(fields), message
    for field, kind in fields.items():
        if kind in ENUMS:
            assert plain[field] in ENUMS[kind]
        elif kind in MESSAGES:
            assert all(set(part) == set(MESSAGES[kind]) for part in plain[field])


@pytest.fixture(scope="module")
def states() -> list[State]:
    """The states of a game of two rounds, played at random."""
    rng = random.Random(7)
    deck = GAME.deck(4, {})
    state = GAME.load_deal(GAME.deal_from(deck, 0, 4), 4, {"rounds": 2})
    states = [state]
    while GAME.scores(state) is None:
        if GAME.needs_deal(state):
            rng.shuffle(deck)
            state = GAME.next_deal(state, GAME.deal_from(deck, 1, 4))
        else:
            state = GAME.apply(state, GAME.to_act(state) or 0, rng.choice(GAME.legal_moves(state)))
        states.append(state)
    return states


def test_a_view_has_the_fields_of_its_message(states: list[State]) -> None:
    for state in states:
        view = GAME.view(state, 0)
        check_fields(view, "HiddenUndersView")
        for seat in view["seats"]:
            check_fields(seat, "HiddenUndersSeat")


def test_the_views_of_a_game_show_every_phase(states: list[State]) -> None:
    assert {GAME.view(state, None)["phase"] for state in states} == ENUMS["HiddenUndersPhase"] - {
        "unspecified"
    }


def test_an_effect_has_the_fields_of_its_message(states: list[State]) -> None:
    kinds = MESSAGES["HiddenUndersEffect"]
    seen = set()
    for state in states:
        for effect in GAME.happened(state, 1):
            [(kind, fields)] = effect.items()
            check_fields(fields, kinds[kind])
            seen.add(kind)
    assert seen == set(kinds)
