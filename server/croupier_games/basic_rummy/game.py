"""Basic Rummy as a game of the contract.

The law of this file: it only joins the parts of this package to ``croupier_games.game.Game``; no rule
is decided here but the options' ranges (RUM-14, RUM-17, RUM-18).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from croupier_games.basic_rummy import moves, turn, view
from croupier_games.basic_rummy.deal import cut, first_hand, next_hand, next_start
from croupier_games.basic_rummy.state import DEALING, OVER, Settings, State
from croupier_games.cards import fresh_deck
from croupier_games.game import Options, OptionSpec, Plain, Untrusted, check_players, resolve_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from croupier_games.basic_rummy.moves import Move

OPTION_SPECS: Final = (
    OptionSpec("points", 100, "The total that ends the game.", choices=(100, 300, 500)),
    OptionSpec(
        "double_with_discard",
        True,
        "Going out in a single turn counts double even when the last card was discarded.",
    ),
    OptionSpec(
        "turn_limit", 500, "The number of turns after which a hand is counted.", minimum=20, maximum=10_000
    ),
)


class BasicRummy:
    """The rules of Basic Rummy; every method keeps the contract of ``Game``."""

    name: str = "basic_rummy"
    title: str = "Basic Rummy"
    rules_version: int = 1
    players: range = range(2, 5)
    default_players: int = 2

    def options(self, players: Untrusted = None, **given: Any) -> Options:
        """Validated options with defaults filled in. Raises ``InvalidOptions``."""
        if players is not None:
            check_players(self, players)
        return resolve_options(OPTION_SPECS, given)

    def option_specs(self) -> Sequence[OptionSpec]:
        """``points``, ``double_with_discard`` and ``turn_limit``."""
        return OPTION_SPECS

    def deck(self, players: Untrusted, options: Mapping[str, Any]) -> list[int]:  # noqa: ARG002
        """One deck of 52 cards, whatever the players and options (RUM-1)."""
        return fresh_deck()

    def deal_from(self, cards: Sequence[int], first: int, players: int) -> Plain:
        """``start``, ``hands``, ``discard`` and ``stock`` of a shuffled deck (RUM-2)."""
        return cut(cards, first, players)

    def load_deal(self, deal: Mapping[str, Any], players: Untrusted, options: Mapping[str, Any]) -> State:
        """The state just after the first deal. Raises ``InvalidDeal``, ``InvalidOptions``."""
        check_players(self, players)
        chosen = resolve_options(OPTION_SPECS, options)
        points, turn_limit = chosen["points"], chosen["turn_limit"]
        settings = Settings(players, points, chosen["double_with_discard"], turn_limit)
        return first_hand(deal, settings)

    def next_deal(self, state: State, deal: Mapping[str, Any]) -> State:
        """The state after the next hand's deal. Raises ``InvalidDeal``, also when none is due."""
        return next_hand(state, deal)

    def needs_deal(self, state: State) -> bool:
        """True when a hand is over and the game is not."""
        return state.phase == DEALING

    def next_first(self, state: State) -> int | None:
        """The seat that starts the hand that is due (RUM-3), or None when none is."""
        return next_start(state)

    def to_act(self, state: State) -> int | None:
        """The seat to move, or None when a deal is due or the game is over."""
        return state.to_act()

    def legal_moves(self, state: State) -> Sequence[Move]:
        """The moves of the seat to act, each meld by itself and lay-offs of single cards."""
        return turn.legal_moves(state)

    def check(self, state: State, seat: int, move: Move) -> None:
        """Raises ``IllegalMove`` when ``move`` is not legal for ``seat``; changes nothing."""
        turn.check(state, seat, move)

    def apply(self, state: State, seat: int, move: Move) -> State:
        """The state after a legal move. Raises ``IllegalMove``."""
        return turn.apply(state, seat, move)

    def default_move(self, state: State) -> Move:
        """Draws from the stock and discards the card drawn, or else the most valuable one."""
        return turn.default_move(state)

    def view(self, state: State, seat: int | None) -> Plain:
        """The fields of ``BasicRummyView``. Raises ``ValueError`` for a seat there is not."""
        return view.view(state, seat)

    def happened(self, state: State, seat: int | None) -> list[Plain]:
        """The effects, each a field of ``BasicRummyEffect``. Raises ``ValueError`` as ``view``."""
        return view.happened(state, seat)

    def happened_in_public(self, state: State) -> bool:
        """False for a deal, and for a card from the stock."""
        return view.happened_in_public(state)

    def scores(self, state: State) -> list[int] | None:
        """The totals when the game is over, else None (RUM-18)."""
        return list(state.totals) if state.phase == OVER else None

    def running_scores(self, state: State) -> list[int]:
        """The totals so far."""
        return list(state.totals)

    def facts(self, state: State) -> Plain:
        """``hands``, one for each that is over, and ``finished``."""
        return {"hands": view.facts(state), "finished": state.phase == OVER}

    def void(self, state: State) -> bool:  # noqa: ARG002
        """False: every game of Basic Rummy counts."""
        return False

    def fingerprint(self, state: State) -> bytes:
        """Canonical bytes of everything that decides the future."""
        return view.fingerprint(state)

    def parse_move(self, text: str) -> Move:
        """The move of its text. Raises ``MalformedMove``."""
        return moves.parse_move(text)

    def format_move(self, move: Move) -> str:
        """The canonical text of a move."""
        return move.text


GAME: Final[BasicRummy] = BasicRummy()
