"""Deals: cut from a shuffled deck, and read back with every check.

The law of this file: a ``Deal`` that exists holds exactly the cards of its decks, twelve a
seat and the rest in the draw deck (HU-1, HU-2). Its plain form is ``start``, ``unders``
(slots 0 to 3 a seat), ``hands`` (eight a seat) and ``deck`` (next card first), in card texts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier_games.cards import CARD_NUMBERS, CARD_TEXTS, format_cards, fresh_deck
from croupier_games.game import InvalidDeal, Plain
from croupier_games.hidden_unders.moves import SLOTS
from croupier_games.hidden_unders.options import CARDS_EACH, Settings
from croupier_games.hidden_unders.ranks import Cards, in_order


class Deal:
    """One checked deal in card numbers: ``hands`` are sorted, ``unders`` and ``deck`` as dealt."""

    __slots__ = ("deck", "hands", "start", "unders")

    def __init__(self, start: int, unders: list[Cards], hands: list[Cards], deck: Cards) -> None:
        self.start: Final = start
        self.unders: Final = unders
        self.hands: Final = hands
        self.deck: Final = deck


def cut(cards: Sequence[int], first: int, players: int) -> Plain:
    """A deal in plain form: a block of twelve a seat from the front, the first four its Unders (HU-2)."""
    blocks = [cards[CARDS_EACH * seat : CARDS_EACH * (seat + 1)] for seat in range(players)]
    return {
        "start": first,
        "unders": [format_cards(block[:SLOTS]) for block in blocks],
        "hands": [format_cards(block[SLOTS:]) for block in blocks],
        "deck": format_cards(cards[CARDS_EACH * players :]),
    }


def read(deal: Any, settings: Settings) -> Deal:
    """The deal of its plain form. Raises ``InvalidDeal`` for the first thing that is wrong with it."""
    players = settings.players
    if not isinstance(deal, Mapping):
        raise InvalidDeal("WRONG_TYPE", f"a deal is a mapping, not {type(deal).__name__}")
    for name in ("start", "unders", "hands", "deck"):
        if name not in deal:
            raise InvalidDeal("MISSING_FIELD", f"the deal has no {name!r}")
    start = deal["start"]
    if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start < players:
        raise InvalidDeal("INVALID_START", f"start is a seat from 0 to {players - 1}, not {start!r}")
    unders = [
        _cards(cards, SLOTS, f"unders of seat {seat}")
        for seat, cards in enumerate(_items(deal["unders"], players, "unders"))
    ]
    hands = [
        _cards(cards, CARDS_EACH - SLOTS, f"hand of seat {seat}")
        for seat, cards in enumerate(_items(deal["hands"], players, "hands"))
    ]
    deck = _cards(deal["deck"], 52 * settings.decks - CARDS_EACH * players, "deck")
    _check_cards([*unders, *hands, deck], settings.decks)
    return Deal(start, unders, [in_order(hand) for hand in hands], deck)


def _items(value: Any, size: int, name: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidDeal("WRONG_TYPE", f"{name} is a list, not {type(value).__name__}")
    if len(value) != size:
        raise InvalidDeal("WRONG_SIZE", f"{name} has {size} entries, not {len(value)}")
    return value


def _cards(value: Any, size: int, name: str) -> Cards:
    cards = []
    for text in _items(value, size, name):
        card = CARD_NUMBERS.get(text, 52) if isinstance(text, str) else 52
        if card >= 52:
            raise InvalidDeal("NOT_A_CARD", f"{name} holds {text!r}, which is no card of this game")
        cards.append(card)
    return tuple(cards)


def _check_cards(parts: Sequence[Cards], decks: int) -> None:
    dealt = Counter(card for part in parts for card in part)
    for card, wanted in Counter(fresh_deck(decks)).items():
        if dealt[card] != wanted:
            raise InvalidDeal(
                "WRONG_CARDS", f"{CARD_TEXTS[card]} is in the deal {dealt[card]} times, not {wanted}"
            )
