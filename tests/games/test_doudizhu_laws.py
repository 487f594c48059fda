"""Dou Dizhu: what holds in every game, whatever is played."""

from __future__ import annotations

import json

import pytest

from croupier_games.doudizhu import GAME, State
from croupier_games.doudizhu.cardset import DECK
from croupier_games.doudizhu.state import BIDDING, NOBODY, landlord_of
from games.doudizhu_positions import after, dealt, moments, playing, some_deal

SEEDS = range(12)


def position(state: State) -> dict[str, object]:
    found: dict[str, object] = json.loads(GAME.fingerprint(state))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_cards_are_conserved(seed: int) -> None:
    for state in moments(seed, deals=3, max_redeals=2):
        bottom = state.deal.bottom if landlord_of(state) == NOBODY else 0
        places = [*state.hands, *state.plays, bottom]
        assert sum(places) == DECK
        assert sum(place.bit_count() for place in places) == 54


@pytest.mark.parametrize("seed", SEEDS)
def test_ddz_28_scores_are_zero_sum(seed: int) -> None:
    states = moments(seed, deals=3, max_redeals=0)
    assert all(sum(GAME.running_scores(state)) == 0 for state in states)
    assert all(GAME.scores(state) is None for state in states[:-1])
    assert GAME.scores(states[-1]) == GAME.running_scores(states[-1])


def test_old_states_stay_as_they_were() -> None:
    for state in moments(1):
        before = GAME.fingerprint(state), json.dumps(GAME.view(state, 0)), GAME.happened(state, 1)
        for move in list(GAME.legal_moves(state))[:5]:
            GAME.apply(state, state.to_act, move)
        assert before == (GAME.fingerprint(state), json.dumps(GAME.view(state, 0)), GAME.happened(state, 1))


def test_a_game_of_timeouts_ends() -> None:
    state = after(dealt(), "bid 1")
    while GAME.to_act(state) is not None:
        state = GAME.apply(state, state.to_act, GAME.default_move(state))
    assert GAME.scores(state) is not None


def test_a_fingerprint_is_written_in_the_words_of_the_rules() -> None:
    assert GAME.fingerprint(after(playing("3C 4C", "5C", "6C"), "play 3C")) == (
        b'{"bid":1,"bidder":0,"deal":0,"deals":1,"farmers_played":false,"hands":[["4C"],["5C"],["6C"]],'
        b'"landlord_plays":1,"max_redeals":9,"multiplier":1,"passes":0,"phase":"playing","played":0,'
        b'"redeals":0,"table":["single",1,"3"],"to_act":1,"totals":[0,0,0],"voids":0}'
    )


def test_equal_positions_have_equal_fingerprints() -> None:
    ways = [("pass", "pass", "bid 3"), ("bid 1", "bid 2", "bid 3"), ("pass", "bid 2", "bid 3")]
    assert len({GAME.fingerprint(after(dealt(), *calls)) for calls in ways}) == 1
    start, over = playing("3C 4C 9C TC", "6C", "QC"), ("pass", "pass")
    one = after(start, "play 3C", *over, "play 4C", *over, "play 9C")
    other = after(start, "play 4C", *over, "play 3C", *over, "play 9C")
    assert GAME.fingerprint(one) == GAME.fingerprint(other)
    assert GAME.view(one, 0) != GAME.view(other, 0)


def test_ddz_27_only_the_first_play_of_the_landlord_is_counted() -> None:
    start, over = playing("3C 3D 4C 9C TC", "6C", "QC"), ("pass", "pass")
    one = after(start, "play 3C", *over, "play 3D", *over, "play 4C")
    other = after(start, "play 3C 3D", *over, "play 4C")
    assert GAME.fingerprint(one) == GAME.fingerprint(other)
    assert position(one)["landlord_plays"] == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("pass",), ()),
        (("pass", "bid 1"), ("bid 1", "pass")),
        (("pass", "pass"), ("pass",)),
        (("bid 1", "pass"), ("pass", "bid 1")),
        (("bid 1", "pass", "pass"), ("bid 2", "pass", "pass")),
    ],
)
def test_other_positions_have_other_fingerprints(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert GAME.fingerprint(after(dealt(), *one)) != GAME.fingerprint(after(dealt(), *other))


def test_a_redeal_and_the_next_deal_are_told_apart() -> None:
    redeal = after(dealt(deals=2), "pass", "pass", "pass")
    void = after(dealt(deals=2, max_redeals=0), "pass", "pass", "pass")
    assert (position(redeal)["phase"], position(void)["phase"]) == ("redeal due", "deal due")


def test_the_bottom_matters_until_it_is_taken() -> None:
    deal = some_deal()
    swapped = {**deal, "hands": [*deal["hands"][:2], deal["hands"][2][:-1] + deal["bottom"][:1]]}
    swapped["bottom"] = [deal["hands"][2][-1], *deal["bottom"][1:]]
    one, other = GAME.load_deal(deal, 3, {}), GAME.load_deal(swapped, 3, {})
    assert one.phase == BIDDING
    assert GAME.fingerprint(one) != GAME.fingerprint(other)
    assert GAME.fingerprint(after(one, "pass", "pass", "bid 3")) == GAME.fingerprint(
        after(other, "pass", "pass", "bid 3")
    )
