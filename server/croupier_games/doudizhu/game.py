"""Dou Dizhu as a ``Game``: the one object that the rest of the program talks to.

The law of this file: it holds no rules; each method hands on to the file that does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from croupier_games.cards import fresh_deck
from croupier_games.doudizhu import deals, moves, turns, view
from croupier_games.doudizhu.fingerprint import fingerprint
from croupier_games.doudizhu.judge import judge, not_to_move
from croupier_games.doudizhu.legal import LegalPlays
from croupier_games.doudizhu.moves import BIDS, PASS, Move, Play
from croupier_games.doudizhu.state import (
    BIDDING,
    DEAL_DUE,
    NOBODY,
    OVER,
    REDEAL_DUE,
    Bidding,
    Deal,
    Dealt,
    Match,
    State,
    is_void,
    landlord_of,
)
from croupier_games.game import (
    InvalidDeal,
    Options,
    OptionSpec,
    Plain,
    Untrusted,
    check_players,
    resolve_options,
)

_OPTION_SPECS: Final = (
    OptionSpec("deals", 1, "Deals played and summed.", minimum=1, maximum=100),
    OptionSpec("max_redeals", 9, "Redeals after three passes before a deal is void.", minimum=0, maximum=100),
)
_CALLS_OVER: Final[tuple[tuple[Move, ...], ...]] = tuple((PASS, *BIDS[bid:]) for bid in range(4))
"""By the highest bid: the calls that are legal."""


def _dealt(match: Match, deal: Deal, hands: tuple[int, int, int]) -> State:
    bidding = Bidding((), 0, NOBODY)
    return State(match, deal, bidding, BIDDING, deal.first, hands, (), None, 1, (Dealt(),))


@final
class DouDizhu:
    """The rules of Dou Dizhu for three players. See ``croupier_games.game.Game``."""

    name: str = "doudizhu"
    title: str = "Dou Dizhu"
    rules_version: int = 1
    players: range = range(3, 4)
    default_players: int = 3

    def options(self, players: Untrusted = None, **given: Any) -> Options:
        """``deals`` and ``max_redeals`` (DDZ-4, DDZ-29), resolved. Raises ``InvalidOptions``."""
        if players is not None:
            check_players(self, players)
        return resolve_options(_OPTION_SPECS, given)

    def option_specs(self) -> Sequence[OptionSpec]:
        """``deals`` and ``max_redeals``."""
        return _OPTION_SPECS

    def deck(self, players: Untrusted, options: Mapping[str, Any]) -> list[int]:
        """52 cards and two jokers (DDZ-1). Raises ``InvalidOptions``."""
        check_players(self, players)
        resolve_options(_OPTION_SPECS, options)
        return fresh_deck(jokers=True)

    def deal_from(self, cards: Sequence[int], first: Untrusted, players: Untrusted) -> Plain:
        """``{"first", "hands", "bottom"}``: 17 cards a seat, then the bottom (DDZ-1).

        Raises ``InvalidDeal``, ``InvalidOptions`` for another number of players.
        """
        check_players(self, players)
        return deals.cut(cards, first)

    def load_deal(self, deal: Mapping[str, Any], players: Untrusted, options: Mapping[str, Any]) -> State:
        """The state just after the first deal. Raises ``InvalidDeal``, ``InvalidOptions``."""
        check_players(self, players)
        resolved = resolve_options(_OPTION_SPECS, options)
        first, hands, bottom = deals.read(deal)
        match = Match(resolved["deals"], resolved["max_redeals"], 0, 0, (0, 0, 0))
        return _dealt(match, Deal(0, 0, first, bottom), hands)

    def next_deal(self, state: State, deal: Mapping[str, Any]) -> State:
        """The state after a redeal (DDZ-4) or the next deal (DDZ-29). Raises ``InvalidDeal``."""
        if not self.needs_deal(state):
            raise InvalidDeal("NO_DEAL_DUE", "no deal is due in this state")
        first, hands, bottom = deals.read(deal)
        redeals = state.deal.redeals + 1 if state.phase == REDEAL_DUE else 0
        return _dealt(state.match, Deal(state.deal.number + 1, redeals, first, bottom), hands)

    def needs_deal(self, state: State) -> bool:
        """Whether a redeal or the next deal is due."""
        return state.phase in (REDEAL_DUE, DEAL_DUE)

    def next_first(self, state: State) -> int | None:  # noqa: ARG002
        """None: the first bidder of each deal is drawn (DDZ-2)."""
        return None

    def to_act(self, state: State) -> int | None:
        """The seat to move, or None when a deal is due or the game is over."""
        return None if state.to_act == NOBODY else state.to_act

    def legal_moves(self, state: State) -> Sequence[Move]:
        """The legal moves, a pass first; of plays that differ in suits alone, that of the lowest."""
        if state.to_act == NOBODY:
            return ()
        if state.phase == BIDDING:
            return _CALLS_OVER[state.bidding.bid]
        return LegalPlays(state.hands[state.to_act], state.table)

    def check(self, state: State, seat: int, move: Move) -> None:
        """Raises ``IllegalMove`` when ``move`` is not legal for ``seat``."""
        judge(state, seat, move)

    def apply(self, state: State, seat: int, move: Move) -> State:
        """The state after a legal move. Raises ``IllegalMove``."""
        return turns.apply(state, seat, move)

    def default_move(self, state: State) -> Move:
        """A pass, or the lowest card when leading. Raises ``IllegalMove`` when nobody is to act."""
        if state.to_act == NOBODY:
            raise not_to_move(state, NOBODY)
        if state.phase == BIDDING or state.table is not None:
            return PASS
        hand = state.hands[state.to_act]
        return Play(hand & -hand)

    def view(self, state: State, seat: int | None) -> Plain:
        """The fields of ``DouDizhuView`` for ``seat``, None for a spectator."""
        return view.view(state, seat)

    def happened(self, state: State, seat: int | None) -> list[Plain]:
        """The ``DouDizhuEffect``s of the deal or move that made ``state``."""
        return view.happened(state, seat)

    def happened_in_public(self, state: State) -> bool:
        """False just after a deal."""
        return view.happened_in_public(state)

    def scores(self, state: State) -> list[int] | None:
        """The totals when the game is over, None before; their sum is zero (DDZ-28)."""
        return list(state.match.totals) if state.phase == OVER else None

    def running_scores(self, state: State) -> list[int]:
        """The totals of the deals finished so far."""
        return list(state.match.totals)

    def facts(self, state: State) -> Plain:
        """``void``, ``landlord``, ``bid`` and ``multiplier`` of the current deal, as far as known."""
        void = is_void(state)
        landlord = landlord_of(state)
        return {
            "void": void,
            "landlord": None if landlord == NOBODY else landlord,
            "bid": state.bidding.bid,
            "multiplier": None if void else state.multiplier,
        }

    def void(self, state: State) -> bool:
        """Whether the game is over and every deal of it was void (DDZ-4)."""
        return state.phase == OVER and state.match.voids == state.match.played

    def fingerprint(self, state: State) -> bytes:
        """Canonical bytes of everything that decides the future."""
        return fingerprint(state)

    def parse_move(self, text: str) -> Move:
        """The move of its text. Raises ``MalformedMove``."""
        return moves.parse_move(text)

    def format_move(self, move: Move) -> str:
        """The canonical text of a move."""
        return moves.format_move(move)
