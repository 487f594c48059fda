"""Basic Rummy: views, effects, secrecy and fingerprints (RUM-4)."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier_games.basic_rummy import GAME, Discard, Draw, State
from croupier_games.basic_rummy.melds import ALL_CARDS, mask_of, value_of
from croupier_games.cards import CARD_NUMBERS
from croupier_games.game import IllegalMove
from games.basic_rummy_positions import CHOICES, play, position, random_game, shuffled_deal

PROTO = (Path(__file__).parents[2] / "protos" / "croupier" / "v1" / "basic_rummy.proto").read_text()


def fields(message: str) -> list[str]:
    body = re.search(rf"^message {message} \{{(.*?)^\}}", PROTO, re.MULTILINE | re.DOTALL)
    assert body
    return re.findall(r"(\w+) = \d+;", body[1])


Given = tuple[int, int, Any]
"""A seed, the number of players, and how moves are chosen."""

games = st.tuples(st.integers(), st.sampled_from(GAME.players), st.sampled_from(CHOICES))


# --- Views -------------------------------------------------------------------------------------------


def test_a_view_has_the_fields_of_its_message() -> None:
    view = GAME.view(position("4H 9C", "5C", melds=((0, "4S 5S 6S"),)), 0)
    assert list(view) == fields("BasicRummyView")
    assert list(view["seats"][0]) == fields("BasicRummySeat")
    assert list(view["melds"][0]) == fields("BasicRummyTableMeld")


def test_a_view_in_full() -> None:
    state = position("KH 4H 9C AS", "5C", pile="KS 3D", melds=((1, "4S 5S 6S"),), taken="9C", turns=4)
    assert GAME.view(state, 0) == {
        "phase": "meld",
        "to_act": 0,
        "hand_number": 0,
        "scores": [0, 0],
        "hand": ["AS", "4H", "9C", "KH"],
        "seats": [
            {"hand_count": 4, "has_melded": False, "has_gone_down": False, "known": []},
            {"hand_count": 1, "has_melded": True, "has_gone_down": False, "known": []},
        ],
        "melds": [{"seat": 1, "cards": ["4S", "5S", "6S"]}],
        "discard_pile": ["KS", "3D"],
        "stock_count": 3,
        "stock_known": [],
        "turn_overs": 0,
        "taken": "9C",
        "start": 0,
        "turns": 4,
    }


def test_between_hands_and_after_the_end_nobody_is_to_act() -> None:
    for total, phase in ((0, "dealing"), (99, "over")):
        view = GAME.view(play(position("4H", "KD", totals=(total, 0)), "discard 4H"), 1)
        assert (view["phase"], view["to_act"], view["hand"]) == (phase, None, ["KD"])


@pytest.mark.parametrize("seat", [-1, 2])
def test_a_seat_there_is_not_sees_nothing(seat: int) -> None:
    with pytest.raises(ValueError, match="none of the seats 0 to 1"):
        GAME.view(position("4H", "KD"), seat)
    with pytest.raises(ValueError, match="none of the seats 0 to 1"):
        GAME.happened(position("4H", "KD"), seat)


def known(state: State, seat: int = 0) -> list[str]:
    texts: list[str] = GAME.view(state, 1)["seats"][seat]["known"]
    return texts


def test_cards_taken_from_the_pile_are_known_until_laid_or_discarded() -> None:
    state = play(position("4H 5H 9C KD", "5C", pile="KS 3H", to_draw=True), "draw discard")
    assert known(state) == ["3H"]
    assert known(play(state, "discard 9C")) == ["3H"]
    assert known(play(state, "meld 3H 4H 5H")) == []
    later = play(state, "discard 9C", "draw stock", "discard 5C", "draw stock", "discard 3H")
    assert known(later) == []


def test_cards_from_the_stock_are_known_only_after_a_turn_over() -> None:
    state = position("4H 9C", "5C", pile="3H 8D", stock="2C", to_draw=True)
    state = play(state, "draw stock", "discard 9C")
    assert known(state) == []
    state = play(state, "draw stock", "discard 5C")
    assert (known(state, 1), GAME.view(state, None)["stock_known"]) == (["3H"], ["8D", "9C"])


# --- Effects -----------------------------------------------------------------------------------------


def test_effects_have_the_fields_of_their_messages() -> None:
    kinds: dict[str, list[str]] = {}
    for choose in CHOICES:
        for state in random_game(7, 2, choose, 400):
            for effect in GAME.happened(state, 0):
                assert len(effect) == 1
                kinds.update({kind: list(body) for kind, body in effect.items()})
    assert set(kinds) == set(fields("BasicRummyEffect"))
    for kind, names in kinds.items():
        assert names == fields("BasicRummy" + kind.title().replace("_", ""))


def test_dealt_shows_each_seat_its_own_hand() -> None:
    deal = shuffled_deal(random.Random(3), 1, 2)
    state = GAME.load_deal(deal, 2, {})
    shown = GAME.happened(state, 1)[0]["dealt"]
    assert (shown["hand_number"], shown["start"], shown["stock_count"]) == (0, 1, 31)
    assert (set(shown["hand"]), shown["discard"]) == (set(deal["hands"][1]), deal["discard"])
    assert GAME.happened(state, None)[0]["dealt"]["hand"] == []


def test_drew_hides_the_stocks_card_from_all_but_the_drawer() -> None:
    state = play(position("4H 9C", "5C", stock="2C", to_draw=True), "draw stock")
    assert GAME.happened(state, 0) == [{"drew": {"seat": 0, "source": "stock", "card": "2C"}}]
    for other in (1, None):
        assert GAME.happened(state, other) == [{"drew": {"seat": 0, "source": "stock", "card": "??"}}]


def test_drew_shows_everybody_the_discard() -> None:
    state = play(position("4H 9C", "5C", pile="KS", to_draw=True), "draw discard")
    assert GAME.happened(state, None) == [{"drew": {"seat": 0, "source": "discard", "card": "KS"}}]


def test_turned_over_comes_before_drew() -> None:
    state = play(position("4H 9C", "5C", pile="KS 3D", stock="", to_draw=True), "draw stock")
    assert GAME.happened(state, 0) == [
        {"turned_over": {"stock_count": 2, "turn_overs": 1}},
        {"drew": {"seat": 0, "source": "stock", "card": "KS"}},
    ]


def test_melds_lay_offs_and_discards_are_told() -> None:
    state = play(position("4H 5H 6H 7H 8H KD KC", "5C", melds=((1, "9C 9D 9H"),)), "meld 6H 5H 4H")
    assert GAME.happened(state, 1) == [{"melded": {"seat": 0, "meld": 1, "cards": ["4H", "5H", "6H"]}}]
    state = play(state, "layoff 1 8H 7H")
    assert GAME.happened(state, 1) == [{"laid_off": {"seat": 0, "meld": 1, "cards": ["7H", "8H"]}}]
    state = play(state, "discard KD")
    assert GAME.happened(state, 1) == [{"discarded": {"seat": 0, "card": "KD"}}]


def test_hand_over_comes_after_the_last_move() -> None:
    state = play(position("4H 5H 6H", "KD 3C", "AC", totals=(1, 2, 3)), "meld 4H 5H 6H")
    assert list(GAME.happened(state, None)[0]) == ["melded"]
    assert GAME.happened(state, None)[1]["hand_over"] == {
        "winner": 0,
        "went_out": True,
        "values": [0, 13, 1],
        "points": [28, 0, 0],
        "doubled": True,
        "totals": [29, 2, 3],
    }


def test_hand_over_names_no_winner_of_a_tie() -> None:
    over = play(position("KS 4C", "4D", stock="", turn_overs=2), "discard KS")
    told = GAME.happened(over, 0)[1]["hand_over"]
    assert (told["winner"], told["went_out"], told["values"]) == (None, False, [4, 4])


@settings(deadline=None, max_examples=15)
@given(games)
def test_what_happened_in_public_is_the_same_for_everybody(game: Given) -> None:
    seed, players, choose = game
    for state in random_game(seed, players, choose, 120):
        told = [GAME.happened(state, seat) for seat in (None, *range(players))]
        assert GAME.happened_in_public(state) is all(each == told[0] for each in told)


# --- Secrecy -----------------------------------------------------------------------------------------


def hidden(state: State, viewer: int | None) -> list[str]:
    """The cards of which the viewer can't know the place: other hands and the unseen stock."""
    views = [GAME.view(state, seat) for seat in range(state.settings.players)]
    others = [view for seat, view in enumerate(views) if seat != viewer]
    cards = [card for seat, view in enumerate(views) if view in others for card in view["hand"]]
    seen = {card for view in views for seat in view["seats"] for card in seat["known"]}
    unseen = [] if state.turn_overs else list(state.stock)
    return [card for card in cards if card not in seen] + [t for t, n in CARD_NUMBERS.items() if n in unseen]


def shuffled_among(cards: list[str], rng: random.Random, *, same_values: bool) -> dict[str, str]:
    """A new place for each card; of the same value where the values have been told."""
    places: dict[str, str] = {}
    for value in range(1, 11) if same_values else [0]:
        some = [c for c in cards if not value or value_of(mask_of([CARD_NUMBERS[c]])) == value]
        places.update(zip(some, rng.sample(some, len(some)), strict=True))
    return places


def moved(deal: Any, places: dict[str, str]) -> Any:
    """The deal with its cards exchanged."""
    if isinstance(deal, str):
        return places.get(deal, deal)
    if isinstance(deal, list):
        return [moved(each, places) for each in deal]
    return {key: moved(each, places) for key, each in deal.items()} if isinstance(deal, dict) else deal


def told(state: State, viewer: int | None) -> str:
    """All that a viewer is ever told at a state: view, effects, legal moves, refusals."""
    lines: list[Any] = [GAME.view(state, viewer), GAME.happened(state, viewer)]
    if viewer is not None:
        if GAME.to_act(state) == viewer:
            lines += [move.text for move in GAME.legal_moves(state)] + [GAME.default_move(state).text]
        for move in [Draw("stock"), Draw("discard"), *map(Discard, range(52))]:
            try:
                GAME.check(state, viewer, move)
            except IllegalMove as refused:
                lines.append([refused.reason, str(refused)])
    return json.dumps(lines)


def first_hand(seed: int, players: int, choose: Any, moves: int) -> list[State]:
    """The states of a game's first hand, its end included."""
    states = random_game(seed, players, choose, moves)
    ends = [at for at, state in enumerate(states) if GAME.to_act(state) is None]
    return states[: ends[0] + 1] if ends else states


def dealt_otherwise(states: list[State], deal: Any, places: dict[str, str]) -> list[State]:
    """The same moves after the deal with its cards exchanged."""
    others = [GAME.load_deal(moved(deal, places), states[0].settings.players, {})]
    for state in states[1:]:
        assert state.last
        others.append(GAME.apply(others[-1], state.mover, state.last))
    return others


def other_world(game: Given, moves: int, viewer: int | None) -> tuple[list[State], list[State]]:
    """A hand, and one that differs in what the viewer can't know at its end."""
    seed, players, choose = game
    states = first_hand(seed, players, choose, moves)
    rng = random.Random(seed)
    deal = shuffled_deal(rng, rng.randrange(players), players)
    over = GAME.to_act(states[-1]) is None
    places = shuffled_among(hidden(states[-1], viewer), rng, same_values=over)
    return states, dealt_otherwise(states, deal, places)


@settings(deadline=None, max_examples=50)
@given(games, st.integers(0, 100), st.integers(-1, 3))
def test_rum4_what_a_seat_cannot_see_does_not_change_what_it_is_told(
    game: Given, moves: int, seat: int
) -> None:
    viewer = seat % game[1] if seat >= 0 else None
    states, others = other_world(game, moves, viewer)
    for state, other in zip(states, others, strict=True):
        assert told(other, viewer) == told(state, viewer)


@pytest.mark.parametrize("choose", CHOICES)
@pytest.mark.parametrize("players", GAME.players)
def test_rum4_but_it_changes_the_position_and_what_the_others_are_told(players: int, choose: Any) -> None:
    states, others = other_world((11, players, choose), 12, 0)
    assert GAME.fingerprint(others[-1]) != GAME.fingerprint(states[-1])
    assert told(others[-1], 1) != told(states[-1], 1)


# --- Positions ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=15)
@given(games)
def test_no_card_is_lost_or_doubled(game: Given) -> None:
    seed, players, choose = game
    for state in random_game(seed, players, choose, 200):
        places = [
            *state.hands,
            *(meld.mask for meld in state.melds),
            mask_of(state.pile),
            mask_of(state.stock),
        ]
        assert sum(places) == ALL_CARDS
        assert sum(place.bit_count() for place in places) == 52
        assert not any(seen & ~hand for seen, hand in zip(state.known, state.hands, strict=True))


@settings(deadline=None, max_examples=10)
@given(games)
def test_old_states_never_change(game: Given) -> None:
    seed, players, choose = game
    state = random_game(seed, players, choose, 0)[0]
    rng = random.Random(seed)
    past: list[tuple[State, bytes, str]] = []
    while len(past) < 60 and (seat := GAME.to_act(state)) is not None:
        past.append((state, GAME.fingerprint(state), told(state, seat)))
        state = GAME.apply(state, seat, choose(rng, GAME.legal_moves(state)))
    for old, fingerprint, story in past:
        seat = GAME.to_act(old)
        assert (GAME.fingerprint(old), told(old, seat)) == (fingerprint, story)


def test_a_refused_move_changes_nothing() -> None:
    state = position("4H 9C", "5C", taken="4H")
    before = GAME.fingerprint(state)
    with pytest.raises(IllegalMove):
        GAME.apply(state, 0, GAME.parse_move("discard 4H"))
    assert GAME.fingerprint(state) == before


def test_positions_that_are_equal_have_equal_fingerprints() -> None:
    state = position("4H 5H 6H 9C KD", "5C", drawn="4H")
    one = play(state, "meld 4H 5H 6H", "discard 9C")
    other = play(position("9C KD", "5C", melds=((0, "4H 5H 6H"),), drawn="9C"), "discard 9C")
    other.turns = one.turns
    assert GAME.fingerprint(one) == GAME.fingerprint(other)


@pytest.mark.parametrize(
    "change",
    [
        {"taken": "4H"},
        {"drawn": "4H"},
        {"turns": 1},
        {"turn_overs": 1},
        {"pile": "KD"},
        {"stock": "2C 2H 2D"},
        {"totals": (0, 1)},
        {"points": 300},
        {"turn_limit": 499},
        {"double_with_discard": False},
        {"gone_down": (0,)},
        {"melds": ((0, "9S TS JS"),)},
        {"melds": ((1, "9S TS JS"),)},
        {"to_draw": True},
    ],
)
def test_positions_that_differ_have_different_fingerprints(change: dict[str, Any]) -> None:
    seen = [GAME.fingerprint(position("4H 9C", "5C", **each)) for each in ({}, change)]
    assert seen[0] != seen[1]


def test_the_fingerprint_is_the_same_in_every_version() -> None:
    state = position("KH 4H", "5C", melds=((1, "4S 5S 6S"),), gone_down=(1,), taken="4H", turns=3)
    assert GAME.fingerprint(state) == (
        b'{"discard":["KS"],"double_with_discard":true,"drawn":"4H","gone_down":2,"hand_number":0,'
        b'"hands":[["4H","KH"],["5C"]],"known":[[],[]],"melded":2,"melds":[[1,["4S","5S","6S"]]],'
        b'"phase":"meld","points":100,"seat":0,"start":0,"stock":["2C","2D","2H"],"taken":"4H",'
        b'"totals":[0,0],"turn_limit":500,"turn_overs":0,"turns":3}'
    )
