"""The rules of Dou Dizhu in English (DDZ-1 to DDZ-29)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from croupier_games.texts.en.words import CARDS_IN_WRITING, count
from croupier_games.texts.form import GameText


def _markdown(options: Mapping[str, Any], players: int) -> str:
    parts = (_head(options, players), _bidding(options), _PLAY, _COMBINATIONS, _end(options), _MOVES)
    return "\n\n".join(
        (*parts, f"{CARDS_IN_WRITING} The jokers are `BJ` (black, small) and `RJ` (red, big).\n")
    )


def _head(options: Mapping[str, Any], players: int) -> str:
    return f"""\
# Dou Dizhu

For {players} players · deals: {options["deals"]} · most redeals: {options["max_redeals"]}

## The goal

Three players bid for the right to be the **landlord**, who plays alone against the two **farmers**.
Whoever gets rid of all cards first wins: the landlord alone, or either farmer for both.

## The deal

54 cards are used: a deck of 52 and two jokers. Everybody is dealt 17 cards; the last three lie face
down as the **bottom cards**."""


def _bidding(options: Mapping[str, Any]) -> str:
    redeals = options["max_redeals"]
    if redeals:
        again = f"""\
If all three pass and nobody has bid, the cards are shuffled and dealt again, with a new first
bidder drawn by lot. This can happen up to {count(redeals, "time")} for each deal of the game; when
all pass once more after that,"""
    else:
        again = "If all three pass and nobody has bid, there is no dealing again here (0 redeals): then"
    return f"""\
## The bidding

- Who bids first is drawn by lot, anew for each deal.
- In turn you pass or bid 1, 2 or 3; a bid must be higher than the one before it. If you passed, you
  may still bid when the turn comes round to you again.
- The bidding ends at once with a bid of 3, or when two passes in a row follow a bid. The highest
  bidder is the landlord, takes the bottom cards, which are shown to everyone, and leads.
- {again} the deal is void: zero points for all, and it counts as played."""


_PLAY: Final = """\
## Playing

- **Ranks**, high to low: red joker, black joker, 2, A, K, Q, J, 10, 9, 8, 7, 6, 5, 4, 3. Suits mean
  nothing.
- Whoever **leads** must play a combination and may not pass.
- Whoever **follows** passes, or plays a combination of the same type and the same number of cards
  as the one on the table, but of a higher rank; or a bomb or the rocket.
- After two passes in a row, whoever played last leads again, with anything. A pass binds you for
  that turn only: you may play again when your next turn comes.
- Attached cards (kickers and wings) do not count for strength. Runs and planes are compared by the
  highest rank of their core.
- A **bomb** (four of a rank) beats every ordinary combination and every lower bomb. The **rocket**
  (both jokers) beats everything. Both may also be led."""

_COMBINATIONS: Final = """\
## Combinations

| combination | cards | what it is |
|---|---|---|
| single | 1 | any card |
| pair | 2 | two of a rank; the two jokers are no pair |
| triple | 3 | three of a rank |
| triple with a single | 4 | three of a rank and one card of another rank; a joker will do |
| triple with a pair | 5 | three of a rank and a pair; the two jokers are no pair |
| straight | 5 to 12 | five or more single cards in rank sequence; no 2, no joker; the longest is 3 to A |
| pair run | 6 or more | three or more pairs in rank sequence; no 2, no joker |
| plane | 6 or more | two or more triples in rank sequence (the core); no 2, no joker in it |
| plane with single wings | 8 or more | a core of triples and as many single cards |
| plane with pair wings | 10 or more | a core of triples and as many pairs of different ranks |
| four with two singles | 6 | four of a rank and two cards, which may be a pair; not both jokers |
| four with two pairs | 8 | four of a rank and two different pairs; another four is not two pairs |
| bomb | 4 | four of a rank and nothing else; with attachments it is no bomb |
| rocket | 2 | both jokers |

- **Single wings** may hold a pair, 2s and one joker, but not three of a rank, not a bomb, not both
  jokers, and no card of a core rank.
- **Pair wings** may be 2s, but no core rank.
- What a play is follows from its cards alone; no cards can be read as two types. `333444555666` is
  a plane of four triples and never one of three with wings, and `33334444` is nothing at all.
- "The same type" is the same row of this table."""


def _end(options: Mapping[str, Any]) -> str:
    deals = options["deals"]
    length = (
        f"This game is {deals} deals, void ones included; their points are added up."
        if deals > 1
        else "This game is a single deal (1 deal)."
    )
    return f"""\
## The end and the score

- A deal ends the moment a player has no cards left. A farmer who goes out wins for both farmers.
- The **multiplier** starts at 1. Every bomb and every rocket, whoever plays it, doubles it, the
  last play included.
- **Spring**: the landlord wins and neither farmer has played a combination. **Reverse spring**: a
  farmer wins and the landlord has played exactly one. Either doubles once more.
- The stake is the bid times the multiplier. Each farmer wins or loses the stake, the landlord twice
  the stake, so the sum is zero.
- {length} Any of the seats may be a bot."""


_MOVES: Final = """\
## Moves in writing

| move | meaning |
|---|---|
| `bid 1`, `bid 2`, `bid 3` | bid |
| `pass` | do not bid, or do not beat the play on the table |
| `play 3C 3D 3H 5S` | play a combination |"""


TEXT: Final = GameText(
    title="Dou Dizhu",
    markdown=_markdown,
    default_move="A pass; when leading, the lowest single card.",
)
"""The game's text."""
