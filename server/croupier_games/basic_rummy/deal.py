"""Dealing a hand: cutting a shuffled deck, and taking a deal in (RUM-2, RUM-3).

The law of this file: a hand begins only with all 52 cards in their places; anything else is
``InvalidDeal``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from croupier_games.basic_rummy.melds import CARDS, mask_of
from croupier_games.basic_rummy.moves import quoted
from croupier_games.basic_rummy.state import DEALING, Settings, State
from croupier_games.cards import CARD_NUMBERS, CARD_TEXTS, format_cards
from croupier_games.game import InvalidDeal, Plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HAND_CARDS: Final = 10


def cut(cards: Sequence[int], first: int, players: int) -> Plain:
    """The deal of a shuffled deck: ten cards a seat from the front, the first discard, the stock."""
    texts = format_cards(cards)
    dealt = HAND_CARDS * players
    return {
        "start": first,
        "hands": [texts[at : at + HAND_CARDS] for at in range(0, dealt, HAND_CARDS)],
        "discard": texts[dealt],
        "stock": texts[dealt + 1 :],
    }


def first_hand(deal: Mapping[str, Any], settings: Settings) -> State:
    """The state just after the first deal. Raises ``InvalidDeal``."""
    start = deal.get("start")
    if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start < settings.players:
        raise InvalidDeal("INVALID_START", f"start is a seat, 0 to {settings.players - 1}")
    hands, discard, stock = _places(deal, settings.players)
    return State(settings, 0, start, hands, (discard,), stock, (0,) * settings.players, ())


def next_hand(state: State, deal: Mapping[str, Any]) -> State:
    """The state after the deal of the next hand. Raises ``InvalidDeal``, also when none is due."""
    start = next_start(state)
    if start is None:
        raise InvalidDeal("NO_DEAL_DUE", "a hand is dealt when the one before is over and the game is not")
    if isinstance(deal.get("start"), bool) or deal.get("start") != start:
        raise InvalidDeal("INVALID_START", f"the next hand starts with seat {start}, one on from the last")
    hands, discard, stock = _places(deal, state.settings.players)
    number = state.hand_number + 1
    return State(state.settings, number, start, hands, (discard,), stock, state.totals, state.results)


def next_start(state: State) -> int | None:
    """The seat that starts the hand that is due (RUM-3); None when none is."""
    return (state.start + 1) % state.settings.players if state.phase == DEALING else None


def _places(deal: Mapping[str, Any], players: int) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """The hands as masks, the first discard, and the stock. Raises ``InvalidDeal``."""
    hands = deal.get("hands")
    if not isinstance(hands, (list, tuple)) or len(hands) != players:
        raise InvalidDeal("INVALID_HANDS", f"hands is a list of {players} hands")
    dealt = [_cards(hand, f"hands[{seat}]", HAND_CARDS) for seat, hand in enumerate(hands)]
    discard = _cards([deal.get("discard")], "discard", 1)
    stock = _cards(deal.get("stock"), "stock", CARDS - HAND_CARDS * players - 1)
    seen: set[int] = set()
    for card in [card for place in (*dealt, discard, stock) for card in place]:
        if card in seen:
            raise InvalidDeal("DUPLICATE_CARD", f"{CARD_TEXTS[card]} is dealt twice")
        seen.add(card)
    return tuple([mask_of(hand) for hand in dealt]), discard[0], tuple(stock)


def _cards(texts: object, where: str, count: int) -> list[int]:
    if not isinstance(texts, (list, tuple)) or len(texts) != count:
        raise InvalidDeal("WRONG_NUMBER_OF_CARDS", f"{where} is a list of {count} cards")
    cards = []
    for text in texts:
        card = CARD_NUMBERS.get(text, CARDS) if isinstance(text, str) else CARDS
        if card >= CARDS:
            raise InvalidDeal(
                "UNKNOWN_CARD", f"{where} holds {quoted(str(text))}, which is no card of this game"
            )
        cards.append(card)
    return cards
