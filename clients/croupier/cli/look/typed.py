"""What somebody types, as a move.

The law of this file: a bare number is always the number of a move, and what could be two moves
is asked about, never guessed. Everything else may be written loosely: lower case, ``10`` for
``T``, suits as glyphs, the first letters of a word, cards without their word, and ranks without
suits where suits mean nothing. Whether the move is legal is not decided here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from croupier.cli.look.base import Look

_GLYPHS: Final = str.maketrans(
    {"♣": "C", "♦": "D", "♥": "H", "♠": "S", "♧": "C", "♢": "D", "♡": "H", "♤": "S"}
)
_CARD: Final = re.compile(r"[2-9TJQKA][CDHS]|BJ|RJ")
_RANKS: Final = re.compile(r"[2-9TJQKA]+")
_MOST_SAID_BACK: Final = 40
"""Characters."""


class NotUnderstood(ValueError):
    """A text that is no move; ``str()`` says to a person what to write instead."""


def read_move(text: str, moves: Sequence[str], look: Look) -> str:
    """The text of the move that ``text`` means, ``moves`` being the legal ones by their numbers.

    Raises ``NotUnderstood`` when it means none or several.
    """
    words = text.replace(",", " ").split()
    if not words:
        raise NotUnderstood("type the number of a move, or the move; ? for help")
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        return _numbered(words[0], moves)
    cards = _cards(words)
    if cards is not None:
        return _cards_alone(cards, moves, look)
    ranks = None if look.suits_matter else _ranks(words)
    if ranks is not None:
        return _of_ranks(ranks, moves, look.card_verbs)
    return _with_verb(words, moves, look)


def _numbered(digits: str, moves: Sequence[str]) -> str:
    """The move of that number; digits are compared as text first, since there may be thousands of them."""
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(len(moves))) or not 1 <= int(digits) <= len(moves):
        raise NotUnderstood(f"there is no move {_short(digits)}; the moves are 1 to {len(moves)}")
    return moves[int(digits) - 1]


def _short(text: str) -> str:
    """What somebody typed, cut to what is worth saying back."""
    return text if len(text) <= _MOST_SAID_BACK else text[: _MOST_SAID_BACK - 1] + "…"


def _with_verb(words: list[str], moves: Sequence[str], look: Look) -> str:
    if [word.lower() for word in words[:2]] == ["lay", "off"]:
        words = ["layoff", *words[2:]]
    verb, rest = _verb(words[0], len(words) > 1, look), words[1:]
    if not look.verbs[verb]:
        return verb
    if verb == "draw":
        return f"draw {_source(rest)}"
    if verb in ("bid", "flip"):
        return " ".join([verb, *rest])
    number, rest = (rest[:1], rest[1:]) if verb == "layoff" else ([], rest)
    cards = _cards(rest)
    if cards is not None:
        return " ".join([verb, *number, *cards])
    ranks = None if look.suits_matter else _ranks(rest)
    if ranks is None:
        told = _short(" ".join(rest)) or "nothing"
        raise NotUnderstood(f"{told} is no cards; write them as in 4C 10D, BJ, RJ")
    return _of_ranks(ranks, moves, (verb,))


def _verb(word: str, more: bool, look: Look) -> str:
    """The verb that begins with ``word``; of several, those that fit whether anything follows it."""
    start = word.lower()
    found = [verb for verb in look.verbs if verb.startswith(start)]
    if len(found) > 1:
        found = [verb for verb in found if verb == start] or [v for v in found if look.verbs[v] == more]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotUnderstood(f"{word} could be {' or '.join(found)}")
    raise NotUnderstood(f"{_short(word)} is no move; a move begins with {', '.join(look.verbs)}; ? for help")


def _source(words: Sequence[str]) -> str:
    start = words[0].lower() if len(words) == 1 else "?"
    for source in ("stock", "discard"):
        if source.startswith(start):
            return source
    raise NotUnderstood("draw from stock or from discard")


def _tidy(word: str) -> str:
    return word.upper().translate(_GLYPHS).replace("\ufe0f", "").replace("10", "T")


def _cards(words: Sequence[str]) -> list[str] | None:
    """Card texts, also of cards written together; None when one is no card."""
    cards: list[str] = []
    for word in map(_tidy, words):
        found = _CARD.findall(word)
        if "".join(found) != word:
            return None
        cards += found
    return cards or None


def _ranks(words: Sequence[str]) -> str | None:
    """Ranks one after the other, jokers as ``B`` and ``R``; None when one is no rank or card."""
    ranks = ""
    for word in map(_tidy, words):
        if word in ("BJ", "RJ") or _CARD.fullmatch(word):
            ranks += word[0]
        elif _RANKS.fullmatch(word):
            ranks += word
        else:
            return None
    return ranks or None


def _of_ranks(ranks: str, moves: Sequence[str], verbs: Sequence[str]) -> str:
    """The legal move of one of ``verbs`` with these ranks."""
    wanted = Counter(ranks)
    found = [move for move in moves if _ranks_of(move) == wanted and move.split()[0] in verbs]
    if not found:
        told = _short(" ".join(ranks))
        raise NotUnderstood(f"no legal move has the ranks {told}; name the cards to try it anyway")
    return _the_one(found)


def _ranks_of(move: str) -> Counter[str]:
    return Counter(card[0] for card in move.split()[1:] if _CARD.fullmatch(card))


def _cards_alone(cards: list[str], moves: Sequence[str], look: Look) -> str:
    """The move that cards without a word mean."""
    if not look.suits_matter:
        verbs = {move.split()[0] for move in moves} & set(look.card_verbs)
        verb = verbs.pop() if len(verbs) == 1 else look.card_verbs[0]
        return " ".join([verb, *cards])
    found = [move for move in moves if sorted(_CARD.findall(move)) == sorted(cards)]
    if found:
        return _the_one(found)
    return " ".join([look.card_verbs[len(cards) > 1], *cards])


def _the_one(found: Sequence[str]) -> str:
    if len(found) > 1:
        raise NotUnderstood(f"that could be: {'; '.join(found)}")
    return found[0]
