"""``croupier rules``: the rules of a game, without a server.

The law of this file: the text is the same as the server's, Markdown as it is where no person looks.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

from croupier.cli.game_options import GameName, GameOptions, game_called
from croupier.cli.output import emit, is_terminal, say, width
from croupier.cli.server import JsonFlag
from croupier_games.texts import rules_text


def rules(
    game: GameName,
    *,
    options: GameOptions,
    players: Annotated[int | None, typer.Option(help="How many play.", show_default=False)] = None,
    language: Annotated[str, typer.Option(help="A language tag, such as en.")] = "en",
    json: JsonFlag = False,
) -> int:
    """Print the rules of a game, written for the options given."""
    rules = game_called(game)
    seats = rules.default_players if players is None else players
    resolved = options.resolved(rules, seats)
    text = rules_text(rules.name, resolved, seats, language)
    if json:
        facts = {"game": rules.name, "players": seats, "options": resolved}
        written = {"language": text.language, "title": text.title, "markdown": text.markdown}
        emit({"event": "rules", **facts, **written})
    else:
        show(text.markdown)
    return 0


def show(markdown: str) -> None:
    """Print Markdown: laid out at a terminal, as it is elsewhere."""
    if is_terminal(sys.stdout):
        Console(width=width(sys.stdout)).print(Markdown(markdown))
    else:
        say(markdown.rstrip("\n"))


def show_rules_of(table: dict[str, Any]) -> None:
    """Print the rules of the game at a table (see ``playing.sitting``), in English."""
    show(rules_text(table["game"], table["options"], len(table["seats"])).markdown)
