"""The contract that every game keeps, and its errors.

The law of this file: a game is a set of pure functions over immutable states. A state is
made by a deal or a move and never changes; chance comes in only as a deal; nothing here
knows clocks, randomness, I/O or the wire. ``check`` is the one place that decides whether a
move is legal; ``apply`` begins with it.

Plain data, as used by ``view``, ``happened``, ``facts`` and deals, is made of dicts, lists,
strings, ints, bools and None. Cards in it are texts (``"TD"``, hidden ``"??"``). The keys of
a view and of an effect are the field names of the game's messages in ``protos/``, enum
values are the lower-case names without the enum's prefix, absent optional fields are None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

Plain = dict[str, Any]
"""Plain data, JSON-able."""

Options = dict[str, Any]
"""A game's own options, flat and resolved: ``int`` and ``bool`` values by option name."""

Untrusted: TypeAlias = Any
"""What a game itself checks: a tighter type would make compiled rules raise ``TypeError`` first."""


class GameError(ValueError):
    """What the rules refuse. ``reason`` is a stable UPPER_SNAKE word; ``str()`` is for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason: Final = reason


class InvalidOptions(GameError):
    """An option that is unknown, of the wrong type, out of range, or impossible together."""


class MalformedMove(GameError):
    """A text or a set of values that is no move of this game at all."""


class IllegalMove(GameError):
    """A move that is one, but not legal for this seat in this state."""


class InvalidDeal(GameError):
    """A deal that does not have the cards, sizes or seats that the rules ask for."""


StateT = TypeVar("StateT")
MoveT = TypeVar("MoveT")


class Game(Protocol[StateT, MoveT]):
    """One game. All methods are pure; states and moves are immutable and hashable by identity."""

    name: str
    """The key in ``GAMES``: ``"doudizhu"``."""
    title: str
    """The name for people: ``"Dou Dizhu"``."""
    rules_version: int
    """Rises when the same deal and moves could come out differently."""
    players: range
    default_players: int

    def options(self, players: int | None = None, **given: Any) -> Options:
        """Validated options with defaults filled in. Raises ``InvalidOptions``."""

    def option_specs(self) -> Sequence[OptionSpec]:
        """The options that exist, for catalogues and command lines."""

    def deck(self, players: int, options: Mapping[str, Any]) -> list[int]:
        """The unshuffled deck of one deal."""

    def deal_from(self, cards: Sequence[int], first: int, players: int) -> Plain:
        """Cut a shuffled deck in blocks from the front into a deal (plain data).

        ``first`` is the first seat: the first bidder of this deal in Dou Dizhu, the starting
        seat of this round or hand in the others.
        """

    def load_deal(self, deal: Mapping[str, Any], players: int, options: Mapping[str, Any]) -> StateT:
        """The state just after the first deal. Raises ``InvalidDeal``, ``InvalidOptions``."""

    def next_deal(self, state: StateT, deal: Mapping[str, Any]) -> StateT:
        """The state after the next deal. Raises ``InvalidDeal``, also when none is due."""

    def needs_deal(self, state: StateT) -> bool:
        """True when the game goes on with a deal: a redeal, the next deal, round or hand."""

    def next_first(self, state: StateT) -> int | None:
        """The first seat of the deal that is due, where the rules fix it (next round or hand).

        None where it is drawn from the deal's own stream (Dou Dizhu).
        """

    def to_act(self, state: StateT) -> int | None:
        """The seat to move, or None when a deal is due or the game is over."""

    def legal_moves(self, state: StateT) -> Sequence[MoveT]:
        """The moves of the seat to act, one representative where suits do not matter.

        May be a lazy sequence: ``len`` and indexing are cheap. Empty when nobody is to act.
        """

    def check(self, state: StateT, seat: int, move: MoveT) -> None:
        """Raises ``IllegalMove`` when ``move`` is not legal for ``seat``; changes nothing."""

    def apply(self, state: StateT, seat: int, move: MoveT) -> StateT:
        """The state after a legal move and the automatic steps that follow. Raises ``IllegalMove``."""

    def default_move(self, state: StateT) -> MoveT:
        """The legal move that is made for the seat to act when its time is over."""

    def view(self, state: StateT, seat: int | None) -> Plain:
        """What ``seat`` (None: a spectator) may know, built up from nothing."""

    def happened(self, state: StateT, seat: int | None) -> list[Plain]:
        """The effects of the deal or move that made this state, as ``seat`` may know them.

        Each effect is a dict with one key, the effect's kind. Effects say what follows from
        the move (cards drawn, pile cleared, hand over), in order; the move itself is public.
        """

    def happened_in_public(self, state: StateT) -> bool:
        """True when ``happened(state, x)`` is the same for every seat and spectator."""

    def scores(self, state: StateT) -> list[int] | None:
        """One int a seat once the game is over (Rummy: the totals), None before."""

    def running_scores(self, state: StateT) -> list[int]:
        """One int a seat: the scores so far (equal to ``scores`` when over)."""

    def facts(self, state: StateT) -> Plain:
        """The facts that the test vectors list; during a game, those known so far."""

    def void(self, state: StateT) -> bool:
        """True when the game is over and nothing of it counted (a void Dou Dizhu game)."""

    def fingerprint(self, state: StateT) -> bytes:
        """Canonical bytes of everything that decides the future, for state digests."""

    def parse_move(self, text: str) -> MoveT:
        """The move of its canonical text (any card order is taken). Raises ``MalformedMove``."""

    def format_move(self, move: MoveT) -> str:
        """The canonical text of a move."""


class OptionSpec:
    """One option of a game: its name, default, and what it may be."""

    __slots__ = ("choices", "default", "description", "maximum", "minimum", "name")

    def __init__(
        self,
        name: str,
        default: Any,
        description: str,
        *,
        minimum: int | None = None,
        maximum: int | None = None,
        choices: tuple[int, ...] = (),
    ) -> None:
        self.name: Final = name
        self.default: Final[Any] = default
        self.description: Final = description
        self.minimum: Final = minimum
        self.maximum: Final = maximum
        self.choices: Final = choices

    def validate(self, value: Any) -> Any:
        """``value`` when it is of the default's type and in range. Raises ``InvalidOptions``."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise InvalidOptions("INVALID_OPTION", f"{self.name} is on or off, not {value!r}")
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidOptions("INVALID_OPTION", f"{self.name} is a whole number, not {value!r}")
        if self.choices and value not in self.choices:
            allowed = ", ".join(map(str, self.choices))
            raise InvalidOptions("INVALID_OPTION", f"{self.name} is one of {allowed}, not {value}")
        low, high = self.minimum, self.maximum
        if low is not None and high is not None and not low <= value <= high:
            raise InvalidOptions("INVALID_OPTION", f"{self.name} is {low} to {high}, not {value}")
        return value


def resolve_options(specs: Sequence[OptionSpec], given: Mapping[str, Any]) -> Options:
    """Defaults overlaid with ``given``, each validated. Raises ``InvalidOptions``."""
    known = {spec.name for spec in specs}
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise InvalidOptions("UNKNOWN_OPTION", f"there is no option {name!r}; there are: {listed}")
    return {s.name: s.validate(given[s.name]) if s.name in given else s.default for s in specs}


def check_players(game: Game[Any, Any], players: int) -> None:
    """Raises ``InvalidOptions`` when ``players`` is not a number of players of ``game``."""
    if isinstance(players, bool) or not isinstance(players, int) or players not in game.players:
        low, high = game.players[0], game.players[-1]
        seats = str(low) if low == high else f"{low} to {high}"
        raise InvalidOptions("INVALID_PLAYERS", f"{game.title} takes {seats} players, not {players!r}")
