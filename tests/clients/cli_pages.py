"""Games as a reader sees them: looks, and what every seat is shown of whole random games.

The law of this file: everything shown is made of views and effects of the engines, never by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from croupier.cli.look import LOOKS, Cast, Look, Menu, Pen
from croupier_games import GAMES
from games.playing import Played, Setup, play

NAMES = ["Ann", "Grüße 你好你好你好你好你好你好", "Easy bot", "Easy bot", "\x1b[31mred\nname", ""]

SETUPS = [
    Setup(name, players)
    for name, game in GAMES.items()
    for players in sorted({game.default_players, game.players[-1]})
]


def look_for(setup: Setup, pen: Pen, own: int | None = 0) -> Look:
    return LOOKS[setup.name](pen, Cast(NAMES[: setup.players], own, pen))


def pages(setup: Setup, pen: Pen) -> Iterator[str]:
    """Every line that the seats and a spectator are shown of a whole game."""
    played = play(setup)
    for viewer in played.viewers():
        look = look_for(setup, pen, viewer)
        for page in _moments(played, look, viewer):
            yield from page
    yield from look_for(setup, pen).outcome(played.game.running_scores(played.moments[-1].state))


def _moments(played: Played, look: Look, viewer: int | None) -> Iterator[list[str]]:
    game = played.game
    for moment in played.moments[:: 1 + len(played.moments) // 150]:
        effects, view = game.happened(moment.state, viewer), game.view(moment.state, viewer)
        if moment.seat is None or moment.move is None:
            yield look.told(effects)
        else:
            yield look.moved(moment.seat, moment.move, effects)
        yield look.table(view) + look.hand(view["hand"])
        if viewer is not None and game.to_act(moment.state) == viewer:
            yield Menu(look, legal_texts(played, moment.state)).lines()
            yield look.face_down(viewer, view, played.deals[moment.deal])


def legal_texts(played: Played, state: object) -> list[str]:
    return [played.game.format_move(move) for move in played.game.legal_moves(state)]
