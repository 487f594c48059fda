"""What a move does: calls, plays, and the end of a deal (DDZ-2 to DDZ-10, DDZ-25 to DDZ-29).

The law of this file: ``apply`` asks ``judge`` first; after that nothing can fail. Whatever
follows from a move by itself (the landlord takes the bottom cards, a new lead, the score)
happens with it and is listed in the new state's effects.
"""

from __future__ import annotations

from typing import Final

from croupier_games.doudizhu.combinations import ROCKET, Combination
from croupier_games.doudizhu.judge import judge
from croupier_games.doudizhu.moves import Bid, Move, Play
from croupier_games.doudizhu.state import (
    BIDDING,
    DEAL_DUE,
    NEXT,
    NOBODY,
    OVER,
    PLAYERS,
    PLAYING,
    REDEAL_DUE,
    AllPassed,
    Bidding,
    DealOver,
    Doubled,
    Effect,
    LandlordFound,
    Match,
    NewLead,
    State,
    farmers_played,
    landlord_plays,
)

_HIGHEST_BID: Final = 3
_NEW_LEAD: Final = tuple((NewLead(seat),) for seat in range(PLAYERS))


def apply(state: State, seat: int, move: Move) -> State:
    """The state after ``move``. Raises ``IllegalMove``."""
    combination = judge(state, seat, move)
    if combination is not None and isinstance(move, Play):
        return _play(state, seat, move.bits, combination)
    if state.phase == PLAYING:
        return _pass(state, seat)
    return _call(state, seat, move.amount if isinstance(move, Bid) else 0)


def _call(state: State, seat: int, amount: int) -> State:
    """A bid, or a pass (0), in the bidding (DDZ-2 to DDZ-4)."""
    calls = (*state.bidding.calls, amount)
    if amount:
        bidding = Bidding(calls, amount, seat)
    else:
        bidding = Bidding(calls, state.bidding.bid, state.bidding.bidder)
    if amount == _HIGHEST_BID or (bidding.bid and calls[-2:] == (0, 0)):
        return _landlord_found(state, bidding)
    if calls == (0, 0, 0):
        return _all_passed(state, bidding)
    return State(state.match, state.deal, bidding, BIDDING, NEXT[seat], state.hands, (), None, 1, ())


def _landlord_found(state: State, bidding: Bidding) -> State:
    """The highest bidder takes the bottom cards and leads (DDZ-3, DDZ-5)."""
    landlord = bidding.bidder
    bottom = state.deal.bottom
    hands = _with_hand(state.hands, landlord, state.hands[landlord] | bottom)
    effects = (LandlordFound(landlord, bidding.bid, bottom),)
    return State(state.match, state.deal, bidding, PLAYING, landlord, hands, (), None, 1, effects)


def _all_passed(state: State, bidding: Bidding) -> State:
    """Dealt again, or void when it has been dealt again often enough (DDZ-4)."""
    redeals = state.deal.redeals
    if redeals < state.match.max_redeals:
        effects: tuple[Effect, ...] = (AllPassed(redeals + 1),)
        return State(state.match, state.deal, bidding, REDEAL_DUE, NOBODY, state.hands, (), None, 1, effects)
    old = state.match
    match = Match(old.deals, old.max_redeals, old.played + 1, old.voids + 1, old.totals)
    over = DealOver(NOBODY, NOBODY, 0, 1, (0, 0, 0), match.totals)
    effects = (AllPassed(redeals), over)
    phase = OVER if match.played == match.deals else DEAL_DUE
    return State(match, state.deal, bidding, phase, NOBODY, state.hands, (), None, 1, effects)


def _pass(state: State, seat: int) -> State:
    """A pass in the play; the second in a row gives the lead back (DDZ-8)."""
    plays = state.plays
    after = NEXT[seat]
    table = state.table
    effects: tuple[Effect, ...] = ()
    if plays[-1] == 0:
        table = None
        effects = _NEW_LEAD[after]
    return State(
        state.match,
        state.deal,
        state.bidding,
        PLAYING,
        after,
        state.hands,
        (*plays, 0),
        table,
        state.multiplier,
        effects,
    )


def _play(state: State, seat: int, bits: int, combination: Combination) -> State:
    """A combination is laid; it may double the stake (DDZ-26) and end the deal (DDZ-25)."""
    left = state.hands[seat] ^ bits
    multiplier = state.multiplier
    effects: tuple[Effect, ...] = ()
    if combination.shape.power:
        multiplier *= 2
        effects = (Doubled("rocket" if combination.shape.kind == ROCKET else "bomb", multiplier),)
    laid = State(
        state.match,
        state.deal,
        state.bidding,
        PLAYING,
        NEXT[seat],
        _with_hand(state.hands, seat, left),
        (*state.plays, bits),
        combination,
        multiplier,
        effects,
    )
    return laid if left else _deal_won(laid, seat)


def _with_hand(hands: tuple[int, int, int], seat: int, hand: int) -> tuple[int, int, int]:
    if seat == 0:
        return (hand, hands[1], hands[2])
    if seat == 1:
        return (hands[0], hand, hands[2])
    return (hands[0], hands[1], hand)


def _deal_won(laid: State, winner: int) -> State:
    """``winner`` has no cards left: spring, score, and what comes next (DDZ-25 to DDZ-29)."""
    landlord, bid = laid.bidding.bidder, laid.bidding.bid
    multiplier = laid.multiplier
    effects = laid.effects
    spring = _spring(laid, winner == landlord)
    if spring:
        multiplier *= 2
        effects = (*effects, Doubled(spring, multiplier))
    scores = _scores(landlord, bid * multiplier, winner == landlord)
    old = laid.match
    totals = (old.totals[0] + scores[0], old.totals[1] + scores[1], old.totals[2] + scores[2])
    match = Match(old.deals, old.max_redeals, old.played + 1, old.voids, totals)
    effects = (*effects, DealOver(winner, landlord, bid, multiplier, scores, totals))
    phase = OVER if match.played == match.deals else DEAL_DUE
    return State(
        match, laid.deal, laid.bidding, phase, NOBODY, laid.hands, laid.plays, None, multiplier, effects
    )


def _spring(state: State, landlord_won: bool) -> str:
    """Why the end doubles the stake once more, or nothing (DDZ-27)."""
    if landlord_won:
        return "" if farmers_played(state) else "spring"
    return "reverse_spring" if landlord_plays(state) == 1 else ""


def _scores(landlord: int, stake: int, landlord_won: bool) -> tuple[int, int, int]:
    """Each farmer wins or loses the stake, the landlord twice that (DDZ-28)."""
    farmer = -stake if landlord_won else stake
    scores = [farmer] * PLAYERS
    scores[landlord] = -2 * farmer
    return (scores[0], scores[1], scores[2])
