"""A turn: what is legal, and what a legal move does (RUM-5 to RUM-15).

The law of this file: ``check`` alone decides what is legal, and ``apply`` begins with it.
``legal_moves`` finds the same moves faster; tests hold the two equal.
"""

from __future__ import annotations

from croupier_games.basic_rummy.melds import BIT, FITTING, groups_in, runs_in, texts_of
from croupier_games.basic_rummy.moves import (
    DISCARD_AT,
    DRAWS,
    LAY_OFF_AT,
    MELD_OF,
    STOCK,
    Discard,
    Draw,
    LayOff,
    Meld,
    Move,
)
from croupier_games.basic_rummy.score import counted, went_out
from croupier_games.basic_rummy.state import (
    DEALING,
    DRAW,
    MELD,
    MOST_TURN_OVERS,
    NO_CARD,
    OVER,
    HandResult,
    State,
    TableMeld,
    replaced,
)
from croupier_games.game import IllegalMove

# --- What is legal -----------------------------------------------------------------------------------


def check(state: State, seat: int, move: Move) -> None:
    """Raises ``IllegalMove`` when ``move`` is not legal for ``seat``; changes nothing."""
    if state.phase == OVER:
        raise IllegalMove("GAME_OVER", "the game is over; there are no more moves")
    if state.phase == DEALING:
        raise IllegalMove("DEAL_DUE", "the hand is over; wait until the next one is dealt")
    if seat != state.seat:
        raise IllegalMove("NOT_YOUR_TURN", f"seat {state.seat} is to move, not seat {seat}")
    if isinstance(move, Draw):
        if state.phase != DRAW:
            raise IllegalMove("ALREADY_DREW", "one card a turn is drawn; meld, lay off or discard now")
        return
    if state.phase == DRAW:
        raise IllegalMove("DRAW_FIRST", "a turn begins with draw stock or draw discard")
    if isinstance(move, Meld):
        _check_meld(state, move)
    elif isinstance(move, LayOff):
        _check_lay_off(state, move)
    elif isinstance(move, Discard):
        _check_discard(state, move)
    else:
        raise IllegalMove("UNKNOWN_MOVE", "a move is a draw, a meld, a lay-off or a discard")


def _check_held(state: State, mask: int) -> None:
    missing = mask & ~state.hands[state.seat]
    if missing:
        raise IllegalMove("CARDS_NOT_HELD", f"not in your hand: {_listed(missing)}; use cards you hold")


def _check_meld(state: State, move: Meld) -> None:
    _check_held(state, move.mask)
    if move.mask not in FITTING:
        raise IllegalMove(
            "NOT_A_MELD",
            f"{_listed(move.mask)} is no meld; lay three or more cards of one suit in sequence, "
            "or three or four of one rank (the ace is low only)",
        )
    _check_taken_stays_playable(state, move)


def _check_lay_off(state: State, move: LayOff) -> None:
    count = len(state.melds)
    if move.meld >= count:
        there = f"the melds are 0 to {count - 1}" if count else "none is on the table yet"
        raise IllegalMove("NO_SUCH_MELD", f"there is no meld {move.meld}; {there}")
    _check_held(state, move.mask)
    if not state.melded >> state.seat & 1:
        raise IllegalMove("MELD_FIRST", "lay a meld of your own in this hand before you lay off")
    meld = state.melds[move.meld]
    if meld.mask | move.mask not in FITTING:
        fitting = _listed(meld.fitting) if meld.fitting else "none"
        raise IllegalMove(
            "DOES_NOT_FIT",
            f"meld {move.meld}, {_listed(meld.mask)}, with {_listed(move.mask)} would be no meld; "
            f"single cards that fit it: {fitting}",
        )
    _check_taken_stays_playable(state, move)


def _check_discard(state: State, move: Discard) -> None:
    _check_held(state, move.mask)
    if move.card == state.taken:
        raise IllegalMove(
            "JUST_TAKEN",
            f"{_listed(move.mask)} was taken from the discard pile this turn; discard another card",
        )


def _check_taken_stays_playable(state: State, move: Meld | LayOff) -> None:
    if _strands_taken(state, move):
        raise IllegalMove(
            "LEAVES_TAKEN_CARD",
            f"this would leave only {_listed(BIT[state.taken])}, taken from the discard pile this turn, "
            "with no way to end the turn; keep a card to discard",
        )


def _strands_taken(state: State, move: Meld | LayOff) -> bool:
    """True when a meld or lay-off leaves a hand that could not end its turn (RUM-10)."""
    if state.taken == NO_CARD:
        return False
    left = state.hands[state.seat] & ~move.mask
    if left != BIT[state.taken]:
        return False
    return not any(meld.fitting & left for meld in _melds_after(state, move))


def _melds_after(state: State, move: Meld | LayOff) -> tuple[TableMeld, ...]:
    """The melds on the table after a meld or lay-off: a new one goes last, none ever moves (RUM-7)."""
    melds = state.melds
    if isinstance(move, Meld):
        return (*melds, TableMeld(state.seat, move.mask))
    before = melds[move.meld]
    grown = TableMeld(before.seat, before.mask | move.mask)
    return (*melds[: move.meld], grown, *melds[move.meld + 1 :])


def _listed(mask: int) -> str:
    return " ".join(texts_of(mask))


def legal_moves(state: State) -> list[Move]:
    """The moves of the seat to act: melds, then lay-offs of single cards, then discards."""
    if state.phase == DRAW:
        return [*DRAWS]
    if state.phase != MELD:
        return []
    hand = state.hands[state.seat]
    laying: list[Meld | LayOff] = [MELD_OF[mask] for mask in runs_in(hand)]
    laying += [MELD_OF[mask] for mask in groups_in(hand)]
    if state.melded >> state.seat & 1:
        for number, meld in enumerate(state.melds):
            fitting = hand & meld.fitting
            while fitting:
                low = fitting & -fitting
                fitting ^= low
                laying.append(LAY_OFF_AT[number][low.bit_length() - 1])
    moves: list[Move] = [move for move in laying if not _strands_taken(state, move)]
    free = _discardable(state)
    while free:
        low = free & -free
        free ^= low
        moves.append(DISCARD_AT[low.bit_length() - 1])
    return moves


def _discardable(state: State) -> int:
    hand = state.hands[state.seat]
    return hand if state.taken == NO_CARD else hand & ~BIT[state.taken]


def default_move(state: State) -> Move:
    """What is played when time is over: draw from the stock; discard the card just drawn.

    Where that card is laid, or taken from the discard pile, the discard is the card of the highest
    value, then rank, then suit; with no card to discard, the first lay-off is made.
    """
    if state.phase == DRAW:
        return DRAWS[0]
    if state.drawn not in (NO_CARD, state.taken):
        return Discard(state.drawn)
    free = _discardable(state)
    return DISCARD_AT[free.bit_length() - 1] if free else legal_moves(state)[0]


# --- What a legal move does --------------------------------------------------------------------------


def apply(state: State, seat: int, move: Move) -> State:
    """The state after a legal move and all that follows from it. Raises ``IllegalMove``."""
    check(state, seat, move)
    new = state.draft()
    new.mover = seat
    new.last = move
    if isinstance(move, Draw):
        _draw(new, move)
    elif isinstance(move, (Meld, LayOff)):
        _lay(new, move)
    elif isinstance(move, Discard):
        _discard(new, move)
    return new


def _draw(new: State, move: Draw) -> None:
    if move.source == STOCK:
        if not new.stock:
            new.stock, new.pile = new.pile, ()
            new.turn_overs += 1
        new.drawn, new.stock = new.stock[0], new.stock[1:]
        seen_by_all = new.turn_overs > 0
    else:
        new.drawn, new.pile = new.pile[-1], new.pile[:-1]
        new.taken = new.drawn
        seen_by_all = True
    seat, bit = new.seat, BIT[new.drawn]
    new.hands = replaced(new.hands, seat, new.hands[seat] | bit)
    if seen_by_all:
        new.known = replaced(new.known, seat, new.known[seat] | bit)
    new.phase = MELD


def _lay(new: State, move: Meld | LayOff) -> None:
    new.melds = _melds_after(new, move)
    new.melded |= 1 << new.seat
    _part_with(new, move.mask)
    if not new.hands[new.seat]:
        _go_out(new, by_discard=False)


def _discard(new: State, move: Discard) -> None:
    new.pile = (*new.pile, move.card)
    _part_with(new, move.mask)
    if new.hands[new.seat]:
        _pass_on(new)
    else:
        _go_out(new, by_discard=True)


def _part_with(new: State, mask: int) -> None:
    """Takes cards out of the hand of the seat to act."""
    seat = new.seat
    new.hands = replaced(new.hands, seat, new.hands[seat] & ~mask)
    if new.known[seat] & mask:
        new.known = replaced(new.known, seat, new.known[seat] & ~mask)
    if new.drawn != NO_CARD and mask & BIT[new.drawn]:
        new.drawn = new.taken = NO_CARD


def _go_out(new: State, *, by_discard: bool) -> None:
    """The hand is won, whatever else has run out (RUM-15)."""
    result = went_out(new, new.seat, by_discard=by_discard)
    _end_turn(new)
    _end_hand(new, result)


def _pass_on(new: State) -> None:
    """The next seat draws, unless the stock or the turns have run out (RUM-12, RUM-14)."""
    _end_turn(new)
    stock_is_over = new.turn_overs == MOST_TURN_OVERS and not new.stock
    if stock_is_over or new.turns == new.settings.turn_limit:
        _end_hand(new, counted(new))
    else:
        new.seat = (new.seat + 1) % new.settings.players
        new.phase = DRAW


def _end_turn(new: State) -> None:
    new.turns += 1
    new.gone_down = new.melded
    new.drawn = new.taken = NO_CARD


def _end_hand(new: State, result: HandResult) -> None:
    """Scores the hand; the game is over when a total has reached the target (RUM-18)."""
    new.totals = tuple([total + won for total, won in zip(new.totals, result.points, strict=True)])
    new.results = (*new.results, result)
    new.phase = OVER if max(new.totals) >= new.settings.points else DEALING
