"""What is legal (DDZ-2 to DDZ-10).

The law of this file: ``judge`` is the one place that decides. It changes nothing, raises only
``IllegalMove``, and its messages tell nothing that the seat does not know.
"""

from __future__ import annotations

from typing import Final

from croupier_games.doudizhu.cardset import RANK_TEXTS, texts_of
from croupier_games.doudizhu.combinations import Combination, classify
from croupier_games.doudizhu.moves import Bid, Move, Pass, Play
from croupier_games.doudizhu.state import BIDDING, NOBODY, OVER, State
from croupier_games.game import IllegalMove

_PHRASES: Final = (
    "",
    "a single {top}",
    "a pair of {top}",
    "a triple of {top}",
    "a triple of {top} with a single",
    "a triple of {top} with a pair",
    "a straight of {length} up to {top}",
    "a run of {length} pairs up to {top}",
    "a plane of {length} triples up to {top}",
    "a plane of {length} triples up to {top} with singles",
    "a plane of {length} triples up to {top} with pairs",
    "a four of {top} with two singles",
    "a four of {top} with two pairs",
    "a bomb of {top}",
    "the rocket",
)
"""What each kind of combination is called in a message, by its number."""


def judge(state: State, seat: int, move: Move) -> Combination | None:
    """The combination that a legal ``move`` of ``seat`` plays; None for a bid or a pass.

    Raises ``IllegalMove`` when the move is not legal.
    """
    if seat != state.to_act or seat == NOBODY:
        raise not_to_move(state, seat)
    if isinstance(move, Play):
        return _judge_play(state, seat, move.bits)
    if isinstance(move, Bid):
        _judge_bid(state, move.amount)
    elif isinstance(move, Pass):
        if state.table is None and state.phase != BIDDING:
            raise IllegalMove("MUST_LEAD", "you lead, so you may not pass; play any combination")
    else:
        raise TypeError(f"a move is a Pass, a Bid or a Play, not a {type(move).__name__}")
    return None


def not_to_move(state: State, seat: int) -> IllegalMove:
    """Why ``seat`` may not move at all."""
    if state.phase == OVER:
        return IllegalMove("GAME_OVER", "the game is over; no more moves are taken")
    if state.to_act == NOBODY:
        return IllegalMove("DEAL_DUE", "a deal is due; wait until the cards are dealt")
    return IllegalMove("NOT_YOUR_TURN", f"it is the turn of seat {state.to_act}, not of seat {seat}")


def _judge_bid(state: State, amount: int) -> None:
    if state.phase != BIDDING:
        raise IllegalMove("NOT_BIDDING", "the bidding is over; play a combination or pass")
    highest = state.bidding.bid
    if amount <= highest:
        higher = " or ".join(f"bid {bid}" for bid in range(highest + 1, 4))
        raise IllegalMove("BID_TOO_LOW", f"the bid is {highest} already; pass, or {higher}")


def _judge_play(state: State, seat: int, bits: int) -> Combination:
    if state.phase == BIDDING:
        raise IllegalMove("STILL_BIDDING", "the bidding is not over; bid or pass")
    combination = classify(bits)
    if combination is None:
        cards = " ".join(texts_of(bits)) or "nothing"
        raise IllegalMove("NOT_A_COMBINATION", f"{cards} is not a combination; see the rules for what is one")
    missing = bits & ~state.hands[seat]
    if missing:
        cards = " ".join(texts_of(missing))
        raise IllegalMove("CARDS_NOT_HELD", f"you do not hold {cards}; play cards of your own hand")
    table = state.table
    if table is not None and not combination.beats(table):
        raise IllegalMove("DOES_NOT_BEAT", _does_not_beat(combination, table))
    return combination


def _does_not_beat(combination: Combination, table: Combination) -> str:
    refused = f"{_described(combination)} does not beat {_described(table)}"
    if table.shape.power == 0:
        return f"{refused}; play a higher one of its type and size, a bomb or the rocket, or pass"
    if table.shape.power == 1:
        return f"{refused}; play a higher bomb or the rocket, or pass"
    return f"{refused}; nothing does, so pass"


def _described(combination: Combination) -> str:
    phrase = _PHRASES[combination.shape.kind]
    return phrase.format(top=RANK_TEXTS[combination.top], length=combination.shape.length)
