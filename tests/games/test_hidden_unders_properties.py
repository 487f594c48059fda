"""What holds in every position: proven on positions that random play reaches."""

import copy
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier_games.cards import CARD_NUMBERS, CARD_TEXTS
from croupier_games.game import IllegalMove, Plain
from croupier_games.hidden_unders import GAME, Done, Flip, Move, PlaceOvers, Play, State
from croupier_games.hidden_unders.effects import Dealt, Drew, Effect
from croupier_games.hidden_unders.state import GONE, Seat


class Reached(NamedTuple):
    """A position and the play that reached it: the first deal, then moves of the seats to act."""

    deal: Plain
    players: int
    options: dict[str, Any]
    moves: list[Move]
    state: State


def new_deal(players: int, options: dict[str, Any], first: int, rng: random.Random) -> Plain:
    deck = GAME.deck(players, options)
    rng.shuffle(deck)
    return GAME.deal_from(deck, first, players)


def play_on(reached: Reached, count: int, rng: random.Random) -> Reached:
    """Up to ``count`` random moves more, through every deal that is due."""
    deal, players, options, moves, state = reached
    moves = list(moves)
    for _ in range(count):
        if GAME.needs_deal(state):
            first = GAME.next_first(state)
            assert first is not None
            state = GAME.next_deal(state, new_deal(players, options, first, rng))
        seat = GAME.to_act(state)
        if seat is None:
            break
        moves.append(rng.choice(GAME.legal_moves(state)))
        state = GAME.apply(state, seat, moves[-1])
    return Reached(deal, players, options, moves, state)


def begin(players: int, options: dict[str, Any], rng: random.Random) -> Reached:
    options = GAME.options(players, **options)
    deal = new_deal(players, options, rng.randrange(players), rng)
    return Reached(deal, players, options, [], GAME.load_deal(deal, players, options))


@st.composite
def positions(draw: st.DrawFn, most_players: int = 6, rounds: int = 2) -> Reached:
    players = draw(st.integers(2, most_players))
    options = {"auto_done": draw(st.booleans()), "rounds": draw(st.integers(1, rounds)), "turn_limit": 150}
    rng = random.Random(draw(st.integers(0, 2**32)))
    return play_on(begin(players, options, rng), draw(st.integers(0, 150)), rng)


def candidates(seat: Seat) -> Iterator[Move]:
    """Every move that might be legal, in every choice of suits, and many that are not."""
    yield Done()
    yield from map(Flip, range(4))
    yield from map(PlaceOvers, combinations(seat.hand, 4))
    yield Play([CARD_NUMBERS["AS"], CARD_NUMBERS["AS"]])
    face_up = seat.hand + seat.overs
    sizes = range(1, len(face_up) + 1) if len(face_up) <= 9 else (1, 2)
    for size in sizes:
        yield from map(Play, combinations(face_up, size))
    for rank in range(13):
        same = [card for card in face_up if card % 13 == rank]
        for size in range(1, len(same) + 1):
            yield from map(Play, combinations(same, size))


def is_legal(state: State, seat: int, move: Move) -> bool:
    try:
        GAME.check(state, seat, move)
    except IllegalMove:
        return False
    return True


def without_suits(moves: Iterable[Move]) -> list[str]:
    """What tells moves apart when suits do not matter, sorted."""
    texts = []
    for move in moves:
        words = GAME.format_move(move).split()
        texts.append(" ".join([words[0], *(word[0] for word in words[1:])]))
    return sorted(texts)


def hidden_from(state: State, viewer: int | None) -> Counter[int]:
    """The cards that ``viewer`` cannot place: other hands but for known cards, all Unders, the deck."""
    hidden = Counter(state.deck)
    for number, seat in enumerate(state.seats):
        hidden.update(card for card in seat.unders if card != GONE)
        if number != viewer:
            hidden.update(seat.hand)
            hidden.subtract(seat.known)
    return +hidden


def as_bytes(state: State, viewer: int | None) -> bytes:
    return json.dumps([GAME.view(state, viewer), GAME.happened(state, viewer)]).encode()


def dealt_anew(state: State, viewer: int | None, rng: random.Random) -> State:
    """``state`` with everything that ``viewer`` cannot see dealt out differently."""
    pool = list(hidden_from(state, viewer).elements())
    rng.shuffle(pool)
    secret = iter(pool)

    def seat_anew(number: int, seat: Seat) -> Seat:
        hand = seat.hand
        if number != viewer:
            unknown = len(seat.hand) - len(seat.known)
            hand = seat.known + tuple(next(secret) for _ in range(unknown))
        unders = tuple(GONE if card == GONE else next(secret) for card in seat.unders)
        return Seat(hand, seat.overs, unders, seat.known, seat.placed)

    def effect_anew(effect: Effect) -> Effect:
        if isinstance(effect, Drew) and effect.seat != viewer:
            return Drew(effect.seat, tuple(rng.choices(range(52), k=len(effect.cards))), effect.automatic)
        if isinstance(effect, Dealt):
            hands = tuple(
                h if s == viewer else tuple(rng.sample(range(52), 8)) for s, h in enumerate(effect.hands)
            )
            return Dealt(effect.round, effect.start, hands, effect.deck_count)
        return effect

    other = state.draft()
    other.seats = tuple(seat_anew(number, seat) for number, seat in enumerate(state.seats))
    other.deck = tuple(secret)
    other.effects = tuple(map(effect_anew, state.effects))
    return other


@given(positions())
@settings(max_examples=150, deadline=None)
def test_legal_moves_are_exactly_what_check_lets_pass(reached: Reached) -> None:
    state = reached.state
    listed = GAME.legal_moves(state)
    seat = GAME.to_act(state)
    if seat is None:
        assert listed == []
        return
    allowed = [move for move in candidates(state.seats[seat]) if is_legal(state, seat, move)]
    assert without_suits(listed) == sorted(set(without_suits(allowed)))
    assert all(is_legal(state, seat, move) for move in listed)
    assert is_legal(state, seat, GAME.default_move(state))


@given(positions())
@settings(max_examples=60, deadline=None)
def test_only_the_seat_to_act_may_move(reached: Reached) -> None:
    state = reached.state
    for seat in range(-1, reached.players + 1):
        if seat != GAME.to_act(state):
            assert not any(is_legal(state, seat, move) for move in GAME.legal_moves(state))


@given(positions())
@settings(max_examples=60, deadline=None)
def test_a_legal_move_is_read_back_from_its_text(reached: Reached) -> None:
    for move in GAME.legal_moves(reached.state):
        assert GAME.parse_move(GAME.format_move(move)) == move


@given(positions())
@settings(max_examples=100, deadline=None)
def test_cards_are_conserved(reached: Reached) -> None:
    state = reached.state
    cards = Counter(state.deck + state.pile + state.cleared)
    for seat in state.seats:
        cards.update(seat.hand + seat.overs)
        cards.update(card for card in seat.unders if card != GONE)
        assert not Counter(seat.known) - Counter(seat.hand)
    assert cards == Counter(GAME.deck(reached.players, reached.options))


@given(positions(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_an_old_state_stays_as_it_was(reached: Reached, seed: int) -> None:
    state = reached.state
    before = copy.deepcopy([GAME.fingerprint(state), as_bytes(state, 0), as_bytes(state, None)])
    play_on(reached, 30, random.Random(seed))
    assert [GAME.fingerprint(state), as_bytes(state, 0), as_bytes(state, None)] == before


@given(positions(rounds=1))
@settings(max_examples=60, deadline=None)
def test_equal_play_gives_equal_fingerprints(reached: Reached) -> None:
    state = GAME.load_deal(reached.deal, reached.players, reached.options)
    for move in reached.moves:
        state = GAME.apply(state, state.seat, move)
    assert GAME.fingerprint(state) == GAME.fingerprint(reached.state)


@given(positions())
@settings(max_examples=60, deadline=None)
def test_each_round_gives_what_it_takes(reached: Reached) -> None:
    assert sum(GAME.running_scores(reached.state)) == 0


@pytest.mark.parametrize("players", GAME.players)
def test_random_play_comes_to_an_end_with_a_result(players: int) -> None:
    rng = random.Random(players)
    options = {"turn_limit": 300, "rounds": 2}
    state = play_on(begin(players, options, rng), 4_000, rng).state
    scores = GAME.scores(state)
    assert scores == GAME.running_scores(state)
    assert sum(scores) == 0


@given(positions(), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_secret_cards_do_not_show_in_a_view(reached: Reached, seed: int) -> None:
    rng = random.Random(seed)
    for viewer in (*range(reached.players), None):
        other = dealt_anew(reached.state, viewer, rng)
        assert as_bytes(other, viewer) == as_bytes(reached.state, viewer)


@given(positions(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_secret_cards_do_not_show_in_a_refusal(reached: Reached, seed: int) -> None:
    state, seat = reached.state, GAME.to_act(reached.state)
    if seat is None:
        return
    other = dealt_anew(state, seat, random.Random(seed))
    moves: list[Move] = [*map(Flip, range(4)), Done(), *(Play([card]) for card in range(52))]
    for move in moves:
        assert refusal(other, seat, move) == refusal(state, seat, move)


def refusal(state: State, seat: int, move: Move) -> str | None:
    try:
        GAME.check(state, seat, move)
    except IllegalMove as refused:
        return f"{refused.reason}: {refused}"
    return None


def exchanged(deal: Plain, hidden: Iterable[int], rng: random.Random) -> Plain:
    """The deal with the ``hidden`` cards changing places within their ranks."""
    swap: dict[str, str] = {}
    for rank in range(13):
        texts = [CARD_TEXTS[card] for card in hidden if card % 13 == rank]
        swap.update(zip(texts, rng.sample(texts, len(texts)), strict=True))

    def over(texts: list[str]) -> list[str]:
        return [swap.get(text, text) for text in texts]

    parts = {name: list(map(over, deal[name])) for name in ("unders", "hands")}
    return {**deal, **parts, "deck": over(deal["deck"])}


@given(positions(most_players=4, rounds=1), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_another_deal_that_a_viewer_cannot_tell_apart_looks_the_same_all_the_way(
    reached: Reached, seed: int
) -> None:
    """With one deck; cards of one rank change places, so every move stays what it was."""
    viewer = random.Random(seed).choice([*range(reached.players), None])
    deal = exchanged(reached.deal, list(hidden_from(reached.state, viewer)), random.Random(seed))
    state = GAME.load_deal(reached.deal, reached.players, reached.options)
    other = GAME.load_deal(deal, reached.players, reached.options)
    assert as_bytes(other, viewer) == as_bytes(state, viewer)
    for move in reached.moves:
        state = GAME.apply(state, state.seat, move)
        other = GAME.apply(other, other.seat, move)
        assert as_bytes(other, viewer) == as_bytes(state, viewer)


@given(positions())
@settings(max_examples=100, deadline=None)
def test_what_happened_in_public_is_the_same_for_everybody(reached: Reached) -> None:
    state = reached.state
    told = [GAME.happened(state, viewer) for viewer in (*range(reached.players), None)]
    assert GAME.happened_in_public(state) == all(effects == told[0] for effects in told)
