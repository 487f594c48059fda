"""The rules of Basic Rummy in English (RUM-1 to RUM-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from croupier_games.texts.en.words import CARDS_IN_WRITING, count
from croupier_games.texts.form import GameText


def _markdown(options: Mapping[str, Any], players: int) -> str:
    parts = (_head(options, players), _TURN, _stock(options), _score(options), _MOVES)
    return "\n\n".join((*parts, f"{CARDS_IN_WRITING}\n"))


def _head(options: Mapping[str, Any], players: int) -> str:
    left = 52 - 10 * players - 1
    double = "counts double too" if options["double_with_discard"] else "does not count double"
    return f"""\
# Basic Rummy

For {players} players at this table (2 to 4 can play) · points: {options["points"]} · \
going out in one turn with a discard {double} · turn limit: {options["turn_limit"]:,}

## The goal

Get rid of all your cards by laying melds, laying off and discarding. The first to
{options["points"]} points wins the game, over as many hands as that takes.

## Cards and deal

- One deck of 52 cards. Ranks, low to high: A 2 3 4 5 6 7 8 9 10 J Q K. The ace is low only: `Q K A`
  is no run.
- Everybody is dealt ten cards. One card face up starts the **discard pile**; the other
  {count(left, "card")}, face down, are the **stock**.
- Who starts the first hand is drawn by lot; with each further hand the start moves one seat on.
- Hands and the stock are hidden, but everybody sees how many cards they hold. Melds are open, with
  who laid them, and so is the whole discard pile in its order."""


_TURN: Final = """\
## Your turn: draw, meld and lay off at will, discard

1. **Draw** the top card of the stock or the top card of the discard pile.
2. **Meld**: lay a run (three or more cards of one suit in rank sequence) or a group (three or four
   cards of one rank) face up. **Lay off**: add one or more cards to a meld on the table so that the
   whole is still a valid meld. Do as much of both as you like, in any order.
3. **Discard** one card face up on the discard pile. That ends your turn.

Some details:

- You may not lay off on another player's meld before you have laid at least one meld of your own in
  this hand; one laid in this very turn counts.
- Melds never move, split or merge. Several cards laid off in one move are laid off one by one, in
  an order that works.
- If your last card goes into a meld or is laid off, you are out and do not discard.
- A card that you took from the discard pile this turn may not be this turn's discard. In a later
  turn it may.
- So that a turn can always end, a meld or lay-off is refused if it would leave you only the card
  taken from the discard pile, and that card could not then be laid off."""


def _stock(options: Mapping[str, Any]) -> str:
    return f"""\
## When the stock runs out

- When somebody draws from the empty stock, the discard pile is first turned over, not shuffled, to
  become the stock: the oldest discard is then on top. Taking the top of the discard pile instead
  stays possible. The pile is turned over at most twice in a hand.
- After both times, the hand ends at the end of the turn in which the stock is empty once more.
- A hand that reaches {count(options["turn_limit"], "turn")} ends in the same way. A turn ends when
  the next seat is to move or the hand ends; going out in the very turn that reaches the limit
  stands.
- Nobody is out then, so the hands are counted: the single lowest count wins the sum of the
  differences to all the others. If two or more share the lowest count, nobody scores. Nothing is
  doubled."""


def _score(options: Mapping[str, Any]) -> str:
    if options["double_with_discard"]:
        double = "A last discard, which ends the turn, is allowed here: it counts double as well."
    else:
        double = "Not so here if the last card was discarded: going out with a discard counts once."
    return f"""\
## Going out and the score

- The hand ends the moment a player has no cards: after a meld, a lay-off or a discard. That player
  wins the hand.
- K, Q and J count ten points, an ace one, number cards their number. The winner scores the value of
  all cards left in all other hands.
- The score is **doubled** if the winner goes out in a single turn, with no meld or lay-off of
  theirs in this hand before that turn. {double}
- The game ends when a total reaches {options["points"]} points.
- For ratings the result is the difference of the final totals: each player's total times the number
  of other players, minus the others' totals. The sum is zero."""


_MOVES: Final = """\
## Moves in writing

| move | meaning |
|---|---|
| `draw stock`, `draw discard` | take the top card of the stock, or of the discard pile |
| `meld 4H 5H 6H` | lay a run or a group |
| `layoff 1 7H` | add cards to meld 1; melds are counted from 0 in the order in which they were laid |
| `discard KC` | discard, and end the turn |"""


TEXT: Final = GameText(
    title="Basic Rummy",
    markdown=_markdown,
    default_move=(
        "A card is drawn from the stock and discarded again; if it has been laid, or came from the "
        "discard pile, the most valuable card that may be discarded goes."
    ),
)
"""The game's text."""
