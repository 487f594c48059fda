"""The views that bots decide on."""

from __future__ import annotations

from croupier.arena.game import Table
from croupier.bots import Plain, make_bot
from croupier_games import GAMES


def views(game: str, players: int, board: str, level: str = "normal") -> list[Plain]:
    """The views that the seats of a game between bots of one level decide on."""
    rules = GAMES[game]
    table = Table(rules, rules.options(players), players, board)
    seated = [make_bot(game, level, 0) for _ in range(players)]
    found = []
    while (seat := table.to_act()) is not None:
        view = table.view(seat)
        found.append(view)
        table.make(seat, seated[seat].choose(view, table.legal_moves()))
    return found
