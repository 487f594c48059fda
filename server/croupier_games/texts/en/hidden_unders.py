"""The rules of Hidden Unders in English (HU-1 to HU-21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from croupier_games.texts.en.words import CARDS_IN_WRITING, count
from croupier_games.texts.form import GameText


def _markdown(options: Mapping[str, Any], players: int) -> str:
    parts = (_goal_and_deal(options, players), _PLAYING, _turn_end(options), _ZONES, _end(options, players))
    return "\n\n".join((*parts, f"{_MOVES}\n\n{CARDS_IN_WRITING}\n"))


def _goal_and_deal(options: Mapping[str, Any], players: int) -> str:
    decks, rounds = options["decks"], options["rounds"]
    cards = 52 * decks
    left = cards - 12 * players
    pack = "One deck of 52 cards is" if decks == 1 else f"Two decks ({cards} cards, each of them twice) are"
    start = (
        f"The game is a match of {rounds} rounds: with each the start moves one seat on, and the results of "
        "all rounds are added up."
        if rounds > 1
        else "The game is 1 round."
    )
    return f"""\
# Hidden Unders

For {players} players at this table (2 to 6 can play) · decks: {decks} · rounds: {rounds} · \
turn limit: {options["turn_limit"]:,} · automatic done: {"on" if options["auto_done"] else "off"}

## The goal

Be the first to have no cards left: none in your hand, none of your Overs, none of your Hidden
Unders.

## Cards and deal

- {pack} used, without jokers. One deck serves up to 4 players, two serve up to 6.
- Everybody is dealt twelve cards. The first four lie face down before you, in slots 0 to 3: your
  **Hidden Unders**. The other eight are your **hand**. The {left} cards left over form
  the face-down **draw deck**.
- Nobody sees a Hidden Under before it is flipped, not even its owner. The draw deck is hidden too.
  How many cards the deck, each hand and the Playpile hold is open to all, and so is every card of
  the Playpile.
- Who starts is drawn by lot. {start}"""


_PLAYING: Final = """\
## Your first turn: placing Overs

Your very first turn of a round begins with four of your eight hand cards: place them face up as
**Overs**, one on each Hidden Under. Everybody can see them. Four cards stay in your hand, and the
same turn goes on with a play. So whoever comes second already sees the first player's play when
placing Overs.

## Playing cards

- Ranks go up: 2 3 4 5 6 7 8 9 10 J Q K A. Suits mean nothing.
- Play one or more cards of one rank on the **Playpile**. They must be equal to or higher than its
  top card. All cards of the play are named at once; there is one play a turn, unless you clear the
  pile.
- On an empty Playpile any rank may be played.
- **A 2 goes on anything.** The pile stays, and now its top is a 2, so anything may follow. The turn
  ends as after any other play.
- **A 10 goes on anything and clears the Playpile.** Cleared cards leave the round.
- **Four of a rank clear, too.** When the top four (or more) cards of the pile, one upon the other,
  are of one rank, whoever put the fourth there clears the pile, no matter who played the others and
  in how many turns. Four 2s clear as well.
- **After clearing you go on.** You start a new pile with one or more cards of one rank. Before that
  you may draw with `done`, once after each clear, if it gives you at least one card: it fills your
  hand up to four as far as the deck goes. If your hand is empty and the deck is not, drawing is all
  you can do.

## When you cannot play

If it is your turn to play and none of your cards may be played, the whole Playpile goes into your
hand, at once and by itself (on a first turn after you have placed your Overs). All that is left of
your turn is `done`, and the next player starts a new pile. You may not take the pile while you can
play. While only Hidden Unders are left to you this does not happen: there you flip."""


def _turn_end(options: Mapping[str, Any]) -> str:
    if options["auto_done"]:
        how = """\
At this table automatic done is **on**: the server does `done` for you as soon as it is the only
thing you can do, the drawing after a clear included."""
    else:
        how = """\
At this table automatic done is **off**: you say `done` yourself, even when there is nothing to draw."""
    return f"""\
## Ending your turn

A turn ends with `done` at the Draw/Done pile: you draw until you hold four cards, as far as the
deck goes. With four or more in hand you draw nothing. {how}"""


_ZONES: Final = """\
## From the hand to the Overs to the Hidden Unders

- You play from your **hand** while it has cards.
- When your hand and the draw deck are both empty, you play from your **Overs**, by the same rules;
  several of one rank may go together.
- When your Overs are gone too, your **Hidden Unders** come: one a turn, unseen. `flip` turns the
  slot you name.
  - If the card may be played, it goes on the pile with all that follows from it. The turn passes at
    once, without `done`, even when the card clears the pile: then the next player starts a new one.
  - If it may not be played, the card and the whole Playpile go into your hand, and the turn passes
    at once.
  - If a clear has just used up your last hand card or Over and only Hidden Unders are left, you
    flip one in the same turn; then the turn passes.
- Whoever had to take the pile after starting on Overs or Hidden Unders must empty the hand again
  before playing any more of them."""


def _end(options: Mapping[str, Any], players: int) -> str:
    over = "The results of the rounds are added up." if options["rounds"] > 1 else ""
    return f"""\
## The end

- A round ends the moment somebody has no hand, Overs or Hidden Unders left. That player wins it.
- The winner gets +{players - 1}, everybody else −1. {over} For display the others are ranked by the
  cards they have left, fewest first; equal numbers share a place.
- A round that reaches {count(options["turn_limit"], "turn")} ends with no winner and zero for all.
  A turn ends when the next seat is to move or the round ends; turns in which a pile is picked up
  count. A win in the very turn that reaches the limit stands."""


_MOVES: Final = """\
## Moves in writing

| move | meaning |
|---|---|
| `overs 4C 9D JH KS` | place these four as Overs |
| `play 7C 7D` | play cards of one rank from the hand or the Overs |
| `flip 2` | turn the Hidden Under in slot 2 |
| `done` | draw up to four cards, and end the turn |"""


TEXT: Final = GameText(
    title="Hidden Unders",
    markdown=_markdown,
    default_move=(
        "The lowest four cards become Overs; `done` is said where it can be; else the lowest single "
        "card that may be played goes, 2s and 10s last; of the Hidden Unders, the first."
    ),
)
"""The game's text."""
