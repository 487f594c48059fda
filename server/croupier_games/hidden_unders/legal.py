"""Which moves are legal.

The law of this file: ``check`` is the one place that decides. ``legal_moves`` lists, one for
each that differs in more than suits, exactly what ``check`` lets pass (a test proves it by
brute force), and ``default_move`` picks one of them. A message tells a seat about its own
cards at most, and never about a Hidden Under.
"""

from collections.abc import Sequence
from itertools import combinations

from croupier_games.cards import CARD_TEXTS, RANKS
from croupier_games.game import IllegalMove
from croupier_games.hidden_unders.moves import DONE_MOVE, FLIPS, SINGLES, Done, Flip, Move, PlaceOvers, Play
from croupier_games.hidden_unders.ranks import RANK_OF, TEN, TWO, Cards, follows, top_rank
from croupier_games.hidden_unders.state import (
    CLEARED,
    DEALING,
    DONE,
    GONE,
    HAND_SIZE,
    HAND_ZONE,
    OVER,
    OVERS,
    OVERS_ZONE,
    UNDERS_ZONE,
    Seat,
    State,
)


def check(state: State, seat: int, move: Move) -> None:
    """Raises ``IllegalMove`` when ``move`` is not legal for ``seat`` in ``state``."""
    phase = state.phase
    if phase == OVER:
        raise IllegalMove("GAME_OVER", "the game is over")
    if phase == DEALING:
        raise IllegalMove("DEAL_DUE", "the round is over; wait for the next deal")
    if seat != state.seat:
        raise IllegalMove("NOT_YOUR_TURN", f"it is the turn of seat {state.seat}, not of seat {seat}")
    mine = state.seats[seat]
    if isinstance(move, PlaceOvers):
        _check_overs(phase, mine, move)
    elif phase == OVERS:
        raise IllegalMove("OVERS_FIRST", "first place four cards of your hand as Overs")
    elif isinstance(move, Done):
        _check_done(state, mine)
    elif phase == DONE:
        raise IllegalMove("MUST_BE_DONE", "there is nothing more to play in this turn; end it with done")
    else:
        _check_card(state, mine, move)


def _check_overs(phase: str, mine: Seat, move: PlaceOvers) -> None:
    """HU-5: once, at the start of the seat's first turn, from the hand."""
    if phase != OVERS:
        raise IllegalMove("OVERS_ALREADY_PLACED", "your Overs have been placed already")
    _check_held(move.cards, mine.hand, HAND_ZONE)


def _check_done(state: State, mine: Seat) -> None:
    """HU-12, HU-14: after a play or a pick-up, or to draw at least one card after clearing."""
    if state.phase == DONE or _may_draw(state, mine):
        return
    if state.phase == CLEARED:
        raise IllegalMove("CANNOT_BE_DONE", "done would draw nothing; start a new Playpile")
    raise IllegalMove("CANNOT_BE_DONE", "you have not played yet in this turn; do that first")


def _check_card(state: State, mine: Seat, move: Play | Flip) -> None:
    """HU-12, HU-15: cards come from the active zone, and an empty hand is filled first."""
    zone = mine.zone(state.deck)
    if zone == HAND_ZONE and not mine.hand:
        raise IllegalMove("MUST_DRAW_FIRST", "your hand is empty; draw with done, then play")
    if isinstance(move, Play):
        _check_play(state.pile, mine, zone, move.cards)
    else:
        _check_flip(mine, zone, move.slot)


def _check_play(pile: Cards, mine: Seat, zone: str, cards: Cards) -> None:
    """HU-7 to HU-10: cards of one rank that go on the Playpile."""
    if zone == UNDERS_ZONE:
        raise IllegalMove("MUST_FLIP", "only your Hidden Unders are left; flip one of them")
    rank = RANK_OF[cards[0]]
    if rank != RANK_OF[cards[-1]]:  # sorted: between equal ends all are equal
        raise IllegalMove("MIXED_RANKS", "the cards of one play are all of one rank")
    held = mine.cards_in(zone)
    if zone == HAND_ZONE and _missing(cards, held) is not None and _missing(cards, held + mine.overs) is None:
        raise IllegalMove("NOT_ACTIVE_ZONE", "your Overs can be played once your hand and the deck are empty")
    _check_held(cards, held, zone)
    top = top_rank(pile)
    if not follows(rank, top):
        low, high = _rank_text(rank), _rank_text(top)
        raise IllegalMove("TOO_LOW", f"{low} does not go on {high}; play {high} or higher, a 2 or a 10")


def _check_flip(mine: Seat, zone: str, slot: int) -> None:
    """HU-15, HU-16: a slot not flipped yet, with nothing else left to play from."""
    if zone != UNDERS_ZONE:
        raise IllegalMove("NOT_ACTIVE_ZONE", f"play from your {_zone_text(zone)}; Hidden Unders come last")
    if mine.unders[slot] == GONE:
        slots = ", ".join(map(str, mine.slots()))
        raise IllegalMove("SLOT_EMPTY", f"slot {slot} has been flipped already; left: {slots}")


def _check_held(cards: Cards, held: Cards, zone: str) -> None:
    card = _missing(cards, held)
    if card is None:
        return
    text, there, asked = CARD_TEXTS[card], held.count(card), cards.count(card)
    raise IllegalMove("CARDS_NOT_HELD", f"{text}: {there} in your {_zone_text(zone)}, {asked} named")


def _missing(cards: Cards, held: Cards) -> int | None:
    """The first of ``cards`` that is not as often in ``held``, or None."""
    if len(cards) == 1:
        return None if cards[0] in held else cards[0]
    for card in cards:
        if held.count(card) < cards.count(card):
            return card
    return None


def _may_draw(state: State, mine: Seat) -> bool:
    """HU-12: ``done`` after clearing, where it draws at least one card."""
    return state.phase == CLEARED and len(state.deck) > 0 and len(mine.hand) < HAND_SIZE


def _zone_text(zone: str) -> str:
    return "Overs" if zone == OVERS_ZONE else "hand"


def _rank_text(rank: int) -> str:
    return "10" if rank == TEN else RANKS[rank]


def legal_moves(state: State) -> Sequence[Move]:
    """The legal moves of the seat to act, one for each multiset of ranks; lowest ranks first."""
    phase = state.phase
    if phase == DONE:
        return [DONE_MOVE]
    if state.to_act() is None:
        return []
    mine = state.seats[state.seat]
    if phase == OVERS:
        return [*map(PlaceOvers, _overs_choices(mine.hand))]
    zone = mine.zone(state.deck)
    if zone == UNDERS_ZONE:
        return [FLIPS[slot] for slot in mine.slots()]
    moves = _plays(mine.cards_in(zone), state.pile)
    if _may_draw(state, mine):
        moves.append(DONE_MOVE)
    return moves


def _plays(held: Cards, pile: Cards) -> list[Move]:
    """HU-7: of each rank that goes on the pile, one card, two, and so on; ``held`` is sorted."""
    moves: list[Move] = []
    top = top_rank(pile)
    last = -1
    first_at = 0
    fits = False
    for at, card in enumerate(held):
        rank = RANK_OF[card]
        if rank != last:
            last = rank
            first_at = at
            fits = follows(rank, top)
        if fits:
            moves.append(SINGLES[card] if at == first_at else Play(held[first_at : at + 1]))
    return moves


def _overs_choices(hand: Cards) -> list[Cards]:
    """Four cards of the sorted ``hand``, one choice for each multiset of ranks."""
    choices: dict[Cards, Cards] = {}
    for cards in combinations(hand, 4):
        a, b, c, d = cards
        choices.setdefault((RANK_OF[a], RANK_OF[b], RANK_OF[c], RANK_OF[d]), cards)
    return list(choices.values())


def default_move(state: State) -> Move:
    """The move for a seat out of time: the lowest Overs, a draw, or the lowest card that is no 2 or 10.

    Raises ``ValueError`` when nobody is to act.
    """
    if state.to_act() is None:
        raise ValueError("nobody is to act")
    mine = state.seats[state.seat]
    if state.phase == OVERS:
        return PlaceOvers(mine.hand[:4])
    if state.phase == DONE or _may_draw(state, mine):
        return DONE_MOVE
    zone = mine.zone(state.deck)
    if zone == UNDERS_ZONE:
        return FLIPS[mine.slots()[0]]
    top = top_rank(state.pile)
    fitting = [card for card in mine.cards_in(zone) if follows(RANK_OF[card], top)]
    return SINGLES[min(fitting, key=_default_order)]


def _default_order(card: int) -> int:
    """Of sorted cards the first with the least of this: by rank, a 2 and then a 10 last."""
    rank = RANK_OF[card]
    return 13 if rank == TWO else 14 if rank == TEN else rank
