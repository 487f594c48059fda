"""Dealing: the published examples, a second implementation of the contract, and what is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from croupier_games import GAMES
from croupier_games.cards import fresh_deck
from croupier_games.dealing import (
    ByteStream,
    InvalidDealing,
    Nonces,
    commitment,
    deal,
    deal_key,
    nonce_commitment,
    shuffled,
)
from croupier_games.game import Plain
from vectors import make_dealing

VECTORS = Path(__file__).parents[1] / "vectors"
SEED = bytes(32)
LINES = [json.loads(line) for line in (VECTORS / "dealing.jsonl").read_text(encoding="utf-8").splitlines()]

every_line = pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['game']}-{line['players']}")


class Reference:
    """The contract once more, from its text alone, for one line of the published examples."""

    def __init__(self, line: Plain) -> None:
        self.line = line
        self.board = line["board"].encode("utf-8")
        self.seed = bytes.fromhex(line["server_seed"])
        self.nonces = {seat: bytes.fromhex(n) for seat, n in enumerate(line["nonces"]) if n is not None}
        self.skipped = 0

    def commitment(self) -> str:
        return hashlib.sha256(b"croupier/commit/v1\x00" + self.board + b"\x00" + self.seed).hexdigest()

    def nonce_commitment(self, seat: int) -> str | None:
        if seat not in self.nonces:
            return None
        text = b"croupier/nonce/v1\x00" + self.board + b"\x00" + bytes([seat]) + self.nonces[seat]
        return hashlib.sha256(text).hexdigest()

    def key(self) -> bytes:
        mac = hmac.new(self.seed, b"croupier/deal/v1\x00" + self.board + b"\x00", hashlib.sha256)
        mac.update(self.line["number"].to_bytes(4, "big"))
        for seat, nonce in sorted(self.nonces.items()):
            mac.update(bytes([seat, len(nonce)]) + nonce)
        return mac.digest()

    def octets(self) -> Iterator[int]:
        block = 0
        while True:
            yield from hmac.new(self.key(), block.to_bytes(8, "big"), hashlib.sha256).digest()
            block += 1

    def below(self, n: int, octets: Iterator[int]) -> int:
        while True:
            word = 0
            for _ in range(4):
                word = word * 256 + next(octets)
            if word // n < 2**32 // n:
                return word % n
            self.skipped += 1

    def deck(self, octets: Iterator[int]) -> list[str]:
        cards = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
        cards *= self.line["options"].get("decks", 1)
        cards += ["BJ", "RJ"] if self.line["game"] == "doudizhu" else []
        for i in reversed(range(1, len(cards))):
            j = self.below(i + 1, octets)
            cards[i], cards[j] = cards[j], cards[i]
        return cards

    def deal(self) -> Plain:
        octets, name, players = self.octets(), self.line["game"], self.line["players"]
        cards = self.deck(octets)
        first = self.line["fixed_first"]
        if first is None:
            first = self.below(players, octets)
        size = {"hidden_unders": 12, "doudizhu": 17, "basic_rummy": 10}[name]
        blocks, rest = [cards[size * s : size * s + size] for s in range(players)], cards[size * players :]
        if name == "doudizhu":
            return {"first": first, "hands": blocks, "bottom": rest}
        if name == "basic_rummy":
            return {"start": first, "hands": blocks, "discard": rest[0], "stock": rest[1:]}
        unders, hands = [b[:4] for b in blocks], [b[4:] for b in blocks]
        return {"start": first, "unders": unders, "hands": hands, "deck": rest}


def unordered(dealt: Plain) -> Plain:
    """A deal without the order in hands, and the bottom, which means nothing."""
    return dealt | {"hands": [sorted(h) for h in dealt["hands"]], "bottom": sorted(dealt.get("bottom", []))}


def test_the_published_examples_are_what_the_generator_makes() -> None:
    published = (VECTORS / "dealing.jsonl").read_text(encoding="utf-8")
    assert published == "".join(f"{line}\n" for line in make_dealing.lines())


def test_the_published_examples_cover_every_game_and_number_of_players() -> None:
    assert {(line["game"], line["players"]) for line in LINES} == {
        (name, players) for name, game in GAMES.items() for players in game.players
    }


@every_line
def test_a_second_implementation_agrees_on_promises_and_bytes(line: Plain) -> None:
    reference = Reference(line)
    octets = reference.octets()
    assert line["commitment"] == reference.commitment()
    assert line["nonce_commitments"] == [reference.nonce_commitment(s) for s in range(len(line["nonces"]))]
    assert line["key"] == reference.key().hex()
    assert line["stream"] == bytes(next(octets) for _ in range(64)).hex()


@every_line
def test_a_second_implementation_agrees_on_numbers(line: Plain) -> None:
    reference = Reference(line)
    octets = reference.octets()
    assert line["below"] == [[n, reference.below(n, octets)] for n, _ in line["below"]]


def test_the_published_examples_contain_skipped_words() -> None:
    skipped = 0
    for line in LINES:
        reference = Reference(line)
        octets = reference.octets()
        for n, _ in line["below"]:
            reference.below(n, octets)
        skipped += reference.skipped
    assert skipped > len(LINES) / 2


@every_line
def test_a_second_implementation_agrees_on_the_deal(line: Plain) -> None:
    reference = Reference(line)
    assert line["deck"] == reference.deck(reference.octets())
    assert unordered(line["deal"]) == unordered(reference.deal())


class Words(ByteStream):
    """A stream of given 32-bit words."""

    def __init__(self, *words: int) -> None:
        super().__init__(b"")
        self.words = list(words)

    def take(self, count: int) -> bytes:
        return self.words.pop(0).to_bytes(count, "big")


@pytest.mark.parametrize(
    ("n", "words", "number"),
    [
        (1, [2**32 - 1], 0),
        (2, [2**32 - 1], 1),
        (3, [2**32 - 1, 5], 2),
        (3, [2**32 - 2], 2),
        (2**31 + 1, [2**31 + 1, 2**32 - 1, 2**31], 2**31),
        (2**32 - 1, [2**32 - 1, 2**32 - 2], 2**32 - 2),
        (2**32, [2**32 - 1], 2**32 - 1),
    ],
)
def test_below_skips_the_words_that_would_favour_small_numbers(n: int, words: list[int], number: int) -> None:
    stream = Words(*words)
    assert stream.below(n) == number
    assert stream.words == []


@pytest.mark.parametrize("n", [0, -1, 2**32 + 1])
def test_below_takes_only_what_four_bytes_can_tell_apart(n: int) -> None:
    with pytest.raises(ValueError, match="below"):
        ByteStream(b"").below(n)


def test_the_stream_is_the_same_however_it_is_taken() -> None:
    whole, parts = ByteStream(b"key").take(100), ByteStream(b"key")
    assert b"".join(parts.take(size) for size in (0, 1, 31, 33, 35)) == whole


def test_a_shuffle_moves_every_card_once_and_leaves_its_argument() -> None:
    cards = fresh_deck(2)
    order = shuffled(cards, ByteStream(b"key"))
    assert sorted(order) == sorted(cards)
    assert order != cards
    assert cards == fresh_deck(2)


@pytest.mark.parametrize("name", GAMES)
def test_a_fixed_first_seat_leaves_the_cards_as_they_are(name: str) -> None:
    game, key = GAMES[name], {"hidden_unders": "start", "doudizhu": "first", "basic_rummy": "start"}[name]
    args = (game, game.options(3), 3, "tables/a", SEED, 0)
    drawn = deal(*args)
    for first in range(3):
        assert deal(*args, first=first) == drawn | {key: first}


def test_every_part_of_the_key_matters() -> None:
    given = [bytes(16), None]
    keys = {
        deal_key("a", SEED, 0),
        deal_key("b", SEED, 0),
        deal_key("a", b"1" * 32, 0),
        deal_key("a", SEED, 1),
        deal_key("a", SEED, 0, given),
        deal_key("a", SEED, 0, given[::-1]),
        deal_key("a", SEED, 0, [bytes(17), None]),
    }
    assert len(keys) == 7
    assert deal_key("a", SEED, 0, [None, None]) == deal_key("a", SEED, 0)


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("INVALID_BOARD", lambda: commitment("a\0b", SEED)),
        ("INVALID_BOARD", lambda: nonce_commitment("\0", 0, bytes(16))),
        ("INVALID_BOARD", lambda: deal_key("a\0", SEED, 0)),
        ("INVALID_BOARD", lambda: commitment("\ud800", SEED)),
        ("INVALID_SEED", lambda: commitment("a", SEED[1:])),
        ("INVALID_SEED", lambda: deal_key("a", SEED + b"0", 0)),
        ("INVALID_NONCE", lambda: nonce_commitment("a", 0, bytes(15))),
        ("INVALID_NONCE", lambda: deal_key("a", SEED, 0, [bytes(33)])),
        ("INVALID_NONCE", lambda: deal_key("a", SEED, 0, [None, bytes(300)])),
        ("INVALID_DEAL_NUMBER", lambda: deal_key("a", SEED, 2**32)),
        ("INVALID_DEAL_NUMBER", lambda: deal_key("a", SEED, -1)),
        ("INVALID_DEAL_NUMBER", lambda: deal_key("a", SEED, True)),
        ("INVALID_SEAT", lambda: nonce_commitment("a", 256, bytes(16))),
        ("INVALID_SEAT", lambda: nonce_commitment("a", -1, bytes(16))),
    ],
)
def test_what_no_deal_can_be_made_from_is_refused(reason: str, call: Callable[[], bytes]) -> None:
    with pytest.raises(InvalidDealing) as refusal:
        call()
    assert refusal.value.reason == reason


@pytest.mark.parametrize(("nonces", "first"), [([None], None), ([None] * 4, None), ((), 3), ((), -1)])
def test_a_deal_has_as_many_nonces_and_seats_as_players(nonces: Nonces, first: int | None) -> None:
    game = GAMES["doudizhu"]
    with pytest.raises(InvalidDealing):
        deal(game, game.options(3), 3, "tables/a", SEED, 0, nonces, first)
