"""What a deal and a move do, and what follows from them by itself.

The law of this file: every change of a state is made here, on a draft that nobody else has
yet. A state is handed out only when somebody is to act, a deal is due or the game is over:
taking the pile (HU-13) and the ``done`` of the server (HU-14) have happened by then.
"""

from croupier_games.game import InvalidDeal
from croupier_games.hidden_unders.deals import Deal
from croupier_games.hidden_unders.effects import (
    Cleared,
    Dealt,
    Drew,
    Flipped,
    OversPlaced,
    PickedUp,
    Played,
    RoundOver,
)
from croupier_games.hidden_unders.legal import check
from croupier_games.hidden_unders.moves import Done, Flip, Move, PlaceOvers, Play
from croupier_games.hidden_unders.options import Settings
from croupier_games.hidden_unders.ranks import RANK_OF, Cards, clears, follows, has_play, top_rank
from croupier_games.hidden_unders.state import (
    CLEARED,
    DEALING,
    DONE,
    HAND_SIZE,
    HAND_ZONE,
    OVER,
    OVERS,
    OVERS_ZONE,
    PLAY,
    UNDERS_ZONE,
    Seat,
    State,
)


def first_round(settings: Settings, deal: Deal) -> State:
    """The state just after the first deal."""
    return _open_round(settings, deal, 0, (0,) * settings.players, 0)


def next_round(state: State, deal: Deal) -> State:
    """The state just after the deal of the next round. Raises ``InvalidDeal``."""
    if state.phase != DEALING:
        raise InvalidDeal("NO_DEAL_DUE", "no deal is due")
    start = next_start(state)
    if deal.start != start:
        raise InvalidDeal("WRONG_START", f"seat {start} starts this round, not seat {deal.start}")
    return _open_round(state.settings, deal, state.round + 1, state.totals, state.pickups)


def next_start(state: State) -> int:
    """The seat that starts the round after this one (HU-4)."""
    return (state.start + 1) % state.settings.players


def apply(state: State, seat: int, move: Move) -> State:
    """The state after ``move`` and the automatic steps that follow. Raises ``IllegalMove``."""
    check(state, seat, move)
    draft = state.draft()
    if isinstance(move, Play):
        _play(draft, move.cards)
    elif isinstance(move, Done):
        _done(draft, False)
    elif isinstance(move, PlaceOvers):
        _place_overs(draft, move.cards)
    else:
        _flip(draft, move)
    return draft


def _open_round(
    settings: Settings, deal: Deal, round_number: int, totals: tuple[int, ...], pickups: int
) -> State:
    seats = tuple(
        Seat(hand, (), unders, (), False) for hand, unders in zip(deal.hands, deal.unders, strict=True)
    )
    dealt = Dealt(round_number, deal.start, tuple(deal.hands), len(deal.deck))
    return State(
        settings,
        round_number,
        totals,
        pickups,
        deal.start,
        0,  # turns
        OVERS,
        deal.start,
        None,  # winner
        seats,
        (),  # pile
        (),  # cleared
        deal.deck,
        (dealt,),
    )


def _seat_becomes(draft: State, seat: Seat) -> None:
    at = draft.seat
    draft.seats = (*draft.seats[:at], seat, *draft.seats[at + 1 :])


def _place_overs(draft: State, cards: Cards) -> None:
    """HU-5: the turn goes on with a play."""
    _seat_becomes(draft, draft.seats[draft.seat].placing(cards))
    draft.effects += (OversPlaced(draft.seat, cards),)
    _begin_play(draft)


def _begin_play(draft: State) -> None:
    """HU-13: who cannot play takes the pile; from the Hidden Unders one flips instead."""
    mine = draft.seats[draft.seat]
    zone = mine.zone(draft.deck)
    if zone == UNDERS_ZONE or has_play(mine.cards_in(zone), draft.pile):
        draft.phase = PLAY
        return
    draft.pickups += 1
    _take_pile(draft, mine, draft.pile)
    _await_done(draft)


def _take_pile(draft: State, mine: Seat, cards: Cards) -> None:
    _seat_becomes(draft, mine.taking(cards))
    draft.effects += (PickedUp(draft.seat, cards),)
    draft.pile = ()


def _play(draft: State, cards: Cards) -> None:
    """HU-7 to HU-12: on the pile, then a new pile after a clear, or the end of the turn."""
    before = draft.seats[draft.seat]
    mine = before.playing(cards)
    _seat_becomes(draft, mine)
    draft.effects += (Played(draft.seat, cards, HAND_ZONE if before.hand else OVERS_ZONE),)
    cleared = _put_on_pile(draft, cards)
    if mine.is_out():
        _end_round(draft, draft.seat)
    elif cleared:
        draft.phase = CLEARED
        if draft.settings.auto_done and not mine.hand and draft.deck:
            _done(draft, True)
    else:
        _await_done(draft)


def _put_on_pile(draft: State, cards: Cards) -> bool:
    """True when that cleared the pile (HU-10, HU-11)."""
    pile = draft.pile + cards
    if not clears(pile):
        draft.pile = pile
        return False
    draft.cleared += pile
    draft.pile = ()
    draft.effects += (Cleared(draft.seat, len(pile)),)
    return True


def _flip(draft: State, move: Flip) -> None:
    """HU-16, HU-17: on the pile, or with the pile to the hand; either way the turn passes."""
    before = draft.seats[draft.seat]
    card = before.unders[move.slot]
    mine = before.flipping(move.slot)
    playable = follows(RANK_OF[card], top_rank(draft.pile))
    draft.effects += (Flipped(draft.seat, move.slot, card, playable),)
    if not playable:
        _take_pile(draft, mine, (*draft.pile, card))
        _end_turn(draft)
        return
    _seat_becomes(draft, mine)
    _put_on_pile(draft, (card,))
    if mine.is_out():
        _end_round(draft, draft.seat)
    else:
        _end_turn(draft)


def _await_done(draft: State) -> None:
    """HU-14: only ``done`` is left, and with ``auto_done`` it happens at once."""
    draft.phase = DONE
    if draft.settings.auto_done:
        _done(draft, True)


def _done(draft: State, automatic: bool) -> None:
    """HU-12, HU-14: draw up to four; the turn ends unless the pile was just cleared."""
    mine = draft.seats[draft.seat]
    wanted = HAND_SIZE - len(mine.hand)
    cards: Cards = ()
    if wanted > 0 and draft.deck:
        cards = draft.deck[:wanted]
        draft.deck = draft.deck[wanted:]
        _seat_becomes(draft, mine.drawing(cards))
    draft.effects += (Drew(draft.seat, cards, automatic),)
    if draft.phase == DONE:
        _end_turn(draft)


def _end_turn(draft: State) -> None:
    """HU-21, or the next seat's turn: it places its Overs first (HU-5)."""
    draft.turns += 1
    if draft.turns >= draft.settings.turn_limit:
        _close_round(draft, None)
        return
    draft.seat = (draft.seat + 1) % draft.settings.players
    if draft.seats[draft.seat].placed:
        _begin_play(draft)
    else:
        draft.phase = OVERS


def _end_round(draft: State, winner: int) -> None:
    """HU-19: the turn that wins ends, too, and the win stands even at the limit."""
    draft.turns += 1
    _close_round(draft, winner)


def _close_round(draft: State, winner: int | None) -> None:
    """HU-20, HU-21: the result, then the next deal or the end of the game."""
    players = draft.settings.players
    scores = tuple(0 if winner is None else players - 1 if seat == winner else -1 for seat in range(players))
    draft.winner = winner
    draft.totals = tuple(total + score for total, score in zip(draft.totals, scores, strict=True))
    draft.phase = DEALING if draft.round + 1 < draft.settings.rounds else OVER
    left = tuple(seat.left() for seat in draft.seats)
    draft.effects += (RoundOver(winner, left, scores, draft.totals),)
