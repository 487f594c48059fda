"""Writes ``dealing.jsonl``, the published examples of dealing; ``README.md`` says how to read it.

The law of this file: the examples follow from the constants below, so that it can be run
again at any time and changes nothing. A difference means that dealing has changed, which
breaks every commitment ever published.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from croupier_games import GAMES, dealing
from croupier_games.cards import format_cards

Setup = tuple[str, int, dict[str, Any]]
"""A game's name, the number of players, and options that are not the defaults."""

FILE: Final = Path(__file__).with_name("dealing.jsonl")

BOARDS: Final = ("tables/3f9c1d7e5b2a48608e4f0a6c7d912b35", "tournaments/spring/boards/7", "Tisch „Zoë“ 牌桌")
NUMBERS: Final = (0, 1, 7, 2**32 - 1)
MORE: Final[list[Setup]] = [("hidden_unders", 2, {"decks": 2}), ("hidden_unders", 4, {"decks": 2})]
LIMITS: Final = (1, 2, 3, 6, 17, 54, 104, 1000, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32)


def lines() -> Iterator[str]:
    """The lines of the file, without line ends."""
    setups: list[Setup] = [(name, players, {}) for name, game in GAMES.items() for players in game.players]
    for index, setup in enumerate([*setups, *MORE]):
        yield json.dumps(_example(index, *setup), ensure_ascii=False, separators=(",", ":"))


def _example(index: int, name: str, players: int, given: dict[str, Any]) -> dict[str, Any]:
    game = GAMES[name]
    options = game.options(players, **given)
    board, number = BOARDS[index % 3], NUMBERS[index % 4]
    seed = hashlib.sha256(f"dealing example {index}".encode()).digest()
    nonces = _nonces(index, players)
    fixed = players - 1 if index % 5 == 4 else None
    key = dealing.deal_key(board, seed, number, nonces)
    stream = dealing.ByteStream(key)
    return {
        "game": name,
        "players": players,
        "options": options,
        "board": board,
        "server_seed": seed.hex(),
        "nonces": _hex(nonces),
        "number": number,
        "fixed_first": fixed,
        "commitment": dealing.commitment(board, seed).hex(),
        "nonce_commitments": _hex(_promises(board, nonces)),
        "key": key.hex(),
        "stream": dealing.ByteStream(key).take(64).hex(),
        "below": [[limit, stream.below(limit)] for limit in LIMITS],
        "deck": format_cards(dealing.shuffled(game.deck(players, options), dealing.ByteStream(key))),
        "deal": dealing.deal(game, options, players, board, seed, number, nonces, fixed),
    }


def _nonces(index: int, players: int) -> list[bytes | None]:
    """None at all, or one for every second seat, of 16 to 32 bytes."""
    if index % 3 == 1:
        return []
    digests = [hashlib.sha256(f"nonce {index} {seat}".encode()).digest() for seat in range(players)]
    return [
        digest[: 16 + (index * 5 + seat) % 17] if seat % 2 == index % 2 else None
        for seat, digest in enumerate(digests)
    ]


def _promises(board: str, nonces: list[bytes | None]) -> list[bytes | None]:
    return [nonce and dealing.nonce_commitment(board, seat, nonce) for seat, nonce in enumerate(nonces)]


def _hex(values: list[bytes | None]) -> list[str | None]:
    return [None if value is None else value.hex() for value in values]


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
