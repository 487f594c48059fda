"""Hidden Unders as a ``croupier_games.game.Game``.

The law of this file: it decides nothing; each method hands over to the module that does.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier_games.cards import fresh_deck
from croupier_games.game import Game, Options, OptionSpec, Plain, Untrusted, check_players
from croupier_games.hidden_unders import deals, legal, moves, options, steps, view
from croupier_games.hidden_unders.moves import Move
from croupier_games.hidden_unders.options import Settings
from croupier_games.hidden_unders.state import DEALING, OVER, State, fingerprint


class HiddenUnders:
    """The rules of Hidden Unders; all methods are pure and keep the contract of ``Game``."""

    name: str = "hidden_unders"
    title: str = "Hidden Unders"
    rules_version: int = 1
    players: range = range(2, 7)
    default_players: int = 2

    def options(self, players: Untrusted = None, **given: Any) -> Options:
        """``decks``, ``rounds``, ``auto_done``, ``turn_limit``, resolved. Raises ``InvalidOptions``."""
        if players is not None:
            check_players(self, players)
        return options.resolve(players, given)

    def option_specs(self) -> Sequence[OptionSpec]:
        """The four options, in the order of ``options``."""
        return options.SPECS

    def deck(self, players: Untrusted, options: Mapping[str, Any]) -> list[int]:
        """One or two decks, unshuffled (HU-1). Raises ``InvalidOptions``."""
        return fresh_deck(self.options(players, **options)["decks"])

    def deal_from(self, cards: Sequence[int], first: int, players: int) -> Plain:
        """``start``, ``unders``, ``hands`` and ``deck`` in card texts (HU-2)."""
        return deals.cut(cards, first, players)

    def load_deal(self, deal: Mapping[str, Any], players: Untrusted, options: Mapping[str, Any]) -> State:
        """The state just after the first deal. Raises ``InvalidDeal``, ``InvalidOptions``."""
        settings = self._settings(players, options)
        return steps.first_round(settings, deals.read(deal, settings))

    def next_deal(self, state: State, deal: Mapping[str, Any]) -> State:
        """The state after the deal of the next round (HU-4). Raises ``InvalidDeal``."""
        return steps.next_round(state, deals.read(deal, state.settings))

    def needs_deal(self, state: State) -> bool:
        """True between two rounds."""
        return state.phase == DEALING

    def next_first(self, state: State) -> int | None:
        """The seat that starts the round that is due (HU-4), else None."""
        return steps.next_start(state) if state.phase == DEALING else None

    def to_act(self, state: State) -> int | None:
        """The seat to move, or None when a deal is due or the game is over."""
        return state.to_act()

    def legal_moves(self, state: State) -> Sequence[Move]:
        """The legal moves of the seat to act, one for each multiset of ranks."""
        return legal.legal_moves(state)

    def check(self, state: State, seat: int, move: Move) -> None:
        """Raises ``IllegalMove`` when ``move`` is not legal for ``seat``."""
        legal.check(state, seat, move)

    def apply(self, state: State, seat: int, move: Move) -> State:
        """The state after ``move`` and the automatic steps that follow. Raises ``IllegalMove``."""
        return steps.apply(state, seat, move)

    def default_move(self, state: State) -> Move:
        """The move for a seat out of time. Raises ``ValueError`` when nobody is to act."""
        return legal.default_move(state)

    def view(self, state: State, seat: int | None) -> Plain:
        """The fields of ``HiddenUndersView``."""
        return view.view(state, seat)

    def happened(self, state: State, seat: int | None) -> list[Plain]:
        """Effects, each keyed by its field name in ``HiddenUndersEffect``."""
        return view.happened(state, seat)

    def happened_in_public(self, state: State) -> bool:
        """True when ``happened`` is the same for everybody."""
        return view.happened_in_public(state)

    def scores(self, state: State) -> list[int] | None:
        """The results summed over rounds (HU-4, HU-20) once the game is over, else None."""
        return list(state.totals) if state.phase == OVER else None

    def running_scores(self, state: State) -> list[int]:
        """The results of the rounds that are over, summed."""
        return list(state.totals)

    def facts(self, state: State) -> Plain:
        """``winner`` and cards ``left`` of the last round, ``pickups`` (HU-13) over all rounds."""
        left = [seat.left() for seat in state.seats]
        return {"winner": state.winner, "left": left, "pickups": state.pickups}

    def void(self, state: State) -> bool:  # noqa: ARG002 - no game of Hidden Unders is void
        """Always False."""
        return False

    def fingerprint(self, state: State) -> bytes:
        """Canonical JSON of all that decides the future."""
        return fingerprint(state)

    def parse_move(self, text: str) -> Move:
        """The move of its text. Raises ``MalformedMove``."""
        return moves.parse_move(text)

    def format_move(self, move: Move) -> str:
        """The canonical text of ``move``."""
        return moves.format_move(move)

    def _settings(self, players: Untrusted, given: Mapping[str, Any]) -> Settings:
        return Settings(players, self.options(players, **given))


GAME: Final[Game[State, Move]] = HiddenUnders()
