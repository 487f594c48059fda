"""Who may know which cards: told from deals and public moves by the rules, never from a view.

The law of this file: it must not ask the code under test what a viewer may know, or a view
that shows too much would be taken for knowledge. Only sizes that are public by rule (HU-3,
RUM-4) and, for the count of all cards, the views themselves are read.

A fourth game adds one entry to each table at the end, and to the set if suits count in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from croupier_games.cards import CARD_NUMBERS
from croupier_games.game import Plain
from games.playing import AnyGame, Moment

Moments = Sequence[Moment]

Path = tuple[str | int, ...]
"""Where a card lies in a deal: ``("hands", 0, 12)``."""

_CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS]|BJ|RJ)\b")


def named(moments: Moments) -> set[str]:
    """The cards named in the moves, which everybody hears."""
    return {card for moment in moments if moment.move for card in _CARD.findall(moment.move)}


def places(deal: Plain) -> list[Path]:
    """Where the cards of a deal lie."""
    return [path for key, part in deal.items() for path in _places_in(part, (key,))]


def card_at(deal: Plain, path: Path) -> str:
    """The card at a place of a deal."""
    found: Any = deal
    for key in path:
        found = found[key]
    assert isinstance(found, str)
    return found


def _places_in(part: Any, path: Path) -> Iterator[Path]:
    if isinstance(part, str) and part in CARD_NUMBERS:
        yield path
    elif isinstance(part, list):
        for index, inner in enumerate(part):
            yield from _places_in(inner, (*path, index))


def _own(deal: Plain, viewer: int | None) -> set[str]:
    return set() if viewer is None else set(deal["hands"][viewer])


def _doudizhu_known(game: AnyGame, deal: Plain, moments: Moments, viewer: int | None) -> set[str]:
    """Own hand, cards played, and the bottom once somebody has bid and won (DDZ-5)."""
    won = game.facts(moments[-1].state)["landlord"] is not None
    return _own(deal, viewer) | named(moments) | (set(deal["bottom"]) if won else set())


def _rummy_known(game: AnyGame, deal: Plain, moments: Moments, viewer: int | None) -> set[str]:
    """Own hand and own draws, the first discard, and cards melded, laid off or discarded (RUM-4)."""
    draws = [moment.seat for moment in moments if moment.move == "draw stock"]
    own_draws = {card for card, seat in zip(deal["stock"], draws, strict=False) if seat == viewer}
    return _own(deal, viewer) | own_draws | {deal["discard"]} | named(moments)


def _unders_known(game: AnyGame, deal: Plain, moments: Moments, viewer: int | None) -> set[str]:
    """Own hand and own draws, Overs, cards played and Hidden Unders flipped (HU-3, HU-5, HU-16)."""
    known = _own(deal, viewer) | named(moments)
    left = len(deal["deck"])
    for moment in moments:
        count = game.view(moment.state, None)["deck_count"]
        drawn = deal["deck"][len(deal["deck"]) - left : len(deal["deck"]) - count]
        left = count
        if moment.seat is not None and moment.seat == viewer:
            known |= set(drawn)
        if moment.move and moment.move.startswith("flip"):
            known.add(deal["unders"][moment.seat][int(moment.move.split()[1])])
    return known


def _doudizhu_cards(deal: Plain, views: list[Plain]) -> list[str]:
    cards: list[str] = [card for view in views for card in view["hand"]]
    cards += [card for play in views[0]["plays"] for card in play["cards"]]
    cards += deal["bottom"] if views[0]["landlord"] is None else []
    return cards


def _rummy_cards(deal: Plain, views: list[Plain]) -> list[str]:
    view = views[0]
    cards: list[str] = [card for each in views for card in each["hand"]] + view["discard_pile"]
    cards += [card for meld in view["melds"] for card in meld["cards"]]
    unseen = deal["stock"][len(deal["stock"]) - view["stock_count"] :]
    cards += view["stock_known"] if view["turn_overs"] else unseen
    return cards


def _unders_cards(deal: Plain, views: list[Plain]) -> list[str]:
    view = views[0]
    cards: list[str] = [card for each in views for card in each["hand"]] + view["playpile"] + view["cleared"]
    for seat, public in enumerate(view["seats"]):
        cards += public["overs"] + [deal["unders"][seat][slot] for slot in public["unders"]]
    cards += deal["deck"][len(deal["deck"]) - view["deck_count"] :]
    return cards


KNOWN: dict[str, Callable[[AnyGame, Plain, Moments, int | None], set[str]]] = {
    "hidden_unders": _unders_known,
    "doudizhu": _doudizhu_known,
    "basic_rummy": _rummy_known,
}
"""The cards that a viewer may know after these moments of one deal."""

ALL_CARDS: dict[str, Callable[[Plain, list[Plain]], list[str]]] = {
    "hidden_unders": _unders_cards,
    "doudizhu": _doudizhu_cards,
    "basic_rummy": _rummy_cards,
}
"""Every card of a position, from its deal and the seats' views: must be the deck again."""

POINTS: dict[str, Callable[[str], int]] = {
    "hidden_unders": lambda card: 0,
    "doudizhu": lambda card: 0,
    "basic_rummy": lambda card: min("_A23456789TJQK".index(card[0]), 10),
}
"""What a card adds to a published result when it is left in a hand (RUM-16)."""

FACTS: dict[str, set[str]] = {
    "hidden_unders": {"winner", "left", "pickups"},
    "doudizhu": {"void", "landlord", "bid", "multiplier"},
    "basic_rummy": {"hands", "finished"},
}
"""The facts that the published vectors list."""

EXPECTED_SUM: dict[str, Callable[[Plain], int]] = {
    "hidden_unders": lambda facts: 0,
    "doudizhu": lambda facts: 0,
    "basic_rummy": lambda facts: sum(sum(hand["points"]) for hand in facts["hands"]),
}
"""What the final scores add up to (HU-20, HU-21, DDZ-28, RUM-16)."""

SUITED = {"basic_rummy"}
"""Games in which moves that differ only in suits are different moves."""
