"""No secret is ever logged, and a refused move tells nothing of the cards that its player can't see.

The logs are those of ``croupier serve`` at debug level, house and all, while whole games of
every kind are played, private ones with nonces, among bad requests of every sort. Their journal
tells afterwards what was secret. What goes down a stream is looked at in ``test_follow``.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grpc
import pytest

from croupier.v1 import tables_pb2 as pb
from croupier_games import GAMES, dealing
from croupier_games.cards import CARD_TEXTS
from croupier_games.game import IllegalMove, MalformedMove
from croupier_server.errors import refused_by_rules
from croupier_server.journal.v1 import entry_pb2
from games.playing import AnyGame, Setup, play, setups
from games.test_secrecy import another_world, segment
from server.fuzz_refusals import BAD_REQUESTS
from server.fuzz_send import Call, send
from server.fuzz_stage import NONCE, PLAYERS, Guest, Stage, path_of

SHORT: dict[str, Any] = {
    "hidden_unders": {"hidden_unders": {"turn_limit": 20}},
    "doudizhu": {"doudizhu": {"deals": 2}},
    "basic_rummy": {"basic_rummy": {"turn_limit": 20}},
}
CARD = re.compile(r"(?<![\w-])(?:CARD_)?(?:[2-9TJQKA][CDHS]|BJ|RJ|\?\?)(?![\w-])")
"""A card's text. No log line has one: not of a hand, not of a deck, not of a move."""
TOKEN = re.compile(r"eyJ[\w-]{10,}\.[\w-]")


@contextlib.asynccontextmanager
async def serve(folder: Path) -> AsyncIterator[str]:
    """``croupier serve`` with its log in ``folder/log``; its address. Ended as an operator does."""
    command = ["-m", "croupier", "serve", "--json", "--log-level", "debug", "--house-bots", "1"]
    command += ["--listen", "127.0.0.1:0", "--journal", f"sqlite:{folder / 'journal.sqlite'}"]
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=log
        )
        assert process.stdout is not None
        try:
            yield json.loads(await process.stdout.readline())["listen"]
        finally:
            process.send_signal(signal.SIGTERM)
            await process.communicate()
    assert process.returncode == 0


async def play_out(stage: Stage, label: str) -> None:
    """Random moves to the end; before some of them, others that are illegal or none at all."""
    chance = random.Random(label)
    while True:
        try:
            name, legal = await stage.to_act(label)
        except LookupError:
            return
        verb, cards = chance.choice(["play", "meld", "overs"]), " ".join(chance.sample(CARD_TEXTS[:52], 4))
        if chance.random() < 0.2:
            await bad_moves(stage, name, label, f"{verb} {cards}")
        move = chance.choice(legal.moves).text
        request = {"table": f"@{label}", "move": {"text": move}, "expected_seq": legal.seq}
        await stage.ask("MakeMove", name, request)


async def bad_moves(stage: Stage, name: str, label: str, text: str) -> None:
    """Four random cards that are no legal move, three of them twice, and some that are no cards."""
    for written in (text, f"{text} {text[-8:]}", f"{text} ??", text[5:]):
        with contextlib.suppress(grpc.aio.AioRpcError):
            await stage.ask("MakeMove", name, {"table": f"@{label}", "move": {"text": written}})


async def play_privately(stage: Stage, game: str) -> None:
    """A private game with promised nonces, from its creation to its record."""
    label, names = f"private {game}", ("ann", "bob", "cat")[: PLAYERS[game]]
    await stage.open(label, "zoe", game, players=len(names), options=SHORT[game], private=True)
    for seat, name in enumerate(names):
        promise = dealing.nonce_commitment(stage.tables[label], seat, NONCE)
        request = {"name": f"@{label}", "seat": seat, "join_code": f"#{label}", "nonce_commitment": promise}
        await stage.ask("JoinTable", name, request)
    for name in names:
        await stage.ask("JoinTable", name, {"name": f"@{label}", "nonce": NONCE})
    await play_out(stage, label)
    await stage.ask("GetRecord", "zoe", {"table": f"@{label}"})


async def play_with_the_house(stage: Stage) -> None:
    """A game against two bots of the house, on a Play stream and with bad moves in band."""
    await stage.open("with the house", "zoe", "doudizhu")
    await stage.ask("JoinTable", "zoe", {"name": "@with the house", "seat": 0})
    for seat in (1, 2):
        await stage.ask("InviteBot", "zoe", {"name": "@with the house", "seat": seat})
    stream = stage.channel.stream_stream(path_of("Play"))(metadata=stage.metadata("zoe"))
    await tell(stage, stream, {"subscribe": {"table": "@with the house", "legal_moves": True}})
    while True:
        for update in pb.PlayResponse.FromString(await stream.read()).updates:
            if update.HasField("ended"):
                stream.cancel()
                return
            if update.HasField("turn"):
                await play_a_turn(stage, stream, update.turn)


async def play_a_turn(stage: Stage, stream: Any, turn: pb.Turn) -> None:
    for text in ("play 3C 4D", turn.legal_moves[-1].text):
        await tell(stage, stream, {"move": {"table": "@with the house", "move": {"text": text}}})


async def tell(stage: Stage, stream: Any, command: dict[str, Any]) -> None:
    await stream.write(stage.encoded(path_of("Play"), {"commands": [command]}))


async def send_what_is_bad(stage: Stage) -> None:
    stage.guests["garbled"] = Guest(stage.guests["ann"].name, stage.guests["ann"].token[:-9] + "x" * 9)
    for bad in BAD_REQUESTS:
        if bad.who in (*stage.guests, "nobody"):
            path = path_of(bad.method)
            data = stage.encoded(path, bad.request)
            await send(stage, Call(path, (data,), stage.metadata(bad.who), 1))


def written(secret: bytes) -> set[str]:
    """The ways in which a secret could be found in a text."""
    encoded = base64.b64encode(secret).decode().rstrip("=")
    urlsafe = base64.urlsafe_b64encode(secret).decode().rstrip("=")
    numbers = str(list(secret))[1:-1]
    return {secret.hex(), secret.hex().upper(), encoded, urlsafe, repr(secret)[2:-1], numbers}


def secrets_of(journal: Path) -> Iterator[str]:
    """What a journal holds that nobody may see: keys, seeds, nonces, join codes."""
    with sqlite3.connect(journal) as database:
        for (key,) in database.execute("SELECT data FROM keys WHERE name != 'epoch'"):
            yield from written(key)
        for (data,) in database.execute("SELECT data FROM entries"):
            entry = entry_pb2.Entry.FromString(data)
            for secret in (entry.created.server_seed, entry.nonce_shown.nonce):
                yield from written(secret) if secret else ()
            if entry.created.join_code:
                yield entry.created.join_code
    database.close()


def found_in(log: str, secrets: set[str]) -> list[str]:
    """The lines that must not be: with a secret, a token, a card or a traceback."""
    never = (*secrets, "Traceback", 'File "')
    return [
        line
        for line in log.splitlines()
        if CARD.search(line) or TOKEN.search(line) or any(word in line for word in never)
    ]


@pytest.mark.timeout(300)
async def test_no_secret_is_logged_while_whole_games_are_played(tmp_path: Path) -> None:
    async with serve(tmp_path) as address, grpc.aio.insecure_channel(address) as channel:
        with grpc.insecure_channel(address) as blocking:
            stage = Stage(channel, blocking)
            await stage.set()
            for game in GAMES:
                await play_privately(stage, game)
            await play_with_the_house(stage)
            await send_what_is_bad(stage)
    secrets = set(secrets_of(tmp_path / "journal.sqlite"))
    secrets |= {part for guest in stage.guests.values() for part in guest.token.split(".")[1:]}
    secrets |= {stage.sign_in_id(name) for name in ("ann", "bob", "cat", "zoe")}
    assert len(secrets) > 50
    log = (tmp_path / "log").read_text()
    assert found_in(log, secrets) == []
    messages = [json.loads(line)["message"] for line in log.splitlines() if line.startswith("{")]
    assert messages.count("call.done") > 300
    assert messages.count("call.refused") > 300
    assert messages.count("table.event") > 100
    events = [json.loads(line) for line in log.splitlines() if '"table.event"' in line]
    assert {e["seat"] for e in events if e["kind"] == "moved"} <= set(range(6))
    assert {e["seat"] for e in events if e["kind"] == "created"} == {None}


@pytest.mark.parametrize(
    "secret", ["3C", "BJ", "CARD_TD", "'7H'", "eyJhbGciOiJIUzI1.ey", "Traceback", "s3cret", "00ff"]
)
def test_a_secret_would_be_found(secret: str) -> None:
    secrets = {"s3cret"} | written(b"\x00\xff")
    fine = '{"player": "players/a-2C-b_3D", "trace": "3c4d", "message": "x"}\n'
    assert found_in(fine, secrets) == []
    assert found_in(f'{fine}{{"why": "a {secret}"}}', secrets) == [f'{{"why": "a {secret}"}}']


# --- refused moves ----------------------------------------------------------------------------

FORMS = {
    "hidden_unders": ("done", "flip 0", "flip 3", "play {}", "overs {}"),
    "doudizhu": ("pass", "bid 1", "bid 3", "play {}"),
    "basic_rummy": ("draw stock", "draw discard", "discard {}", "meld {}", "layoff 0 {}", "layoff 1 {}"),
}
"""How moves are written; ``{}`` stands for cards."""


def candidates(game: AnyGame, hand: list[str], chance: random.Random) -> list[Any]:
    """Moves of every form: each card by itself, and some of the hand and some of any cards together."""
    cards = [[card] for card in CARD_TEXTS]
    for size in (2, 3, 4, 5, 8):
        cards += [chance.sample(hand, size) for _ in range(6) if size <= len(hand)]
        cards += [chance.sample(CARD_TEXTS, size) for _ in range(6)]
    moves = []
    for form in FORMS[game.name]:
        for chosen in cards if "{}" in form else [[]]:
            try:
                moves.append(game.parse_move(form.format(" ".join(chosen))))
            except MalformedMove:
                continue  # is none in any state
    return moves


def answers(game: AnyGame, state: Any, seat: int, moves: list[Any]) -> list[bytes]:
    """What a seat is answered to each move: the refusal as it goes on the wire, nothing for a legal move."""
    found = []
    for move in moves:
        try:
            game.check(state, seat, move)
            found.append(b"")
        except IllegalMove as error:
            found.append(on_the_wire(error.reason, str(error)))
    return found


@cache
def on_the_wire(reason: str, text: str) -> bytes:
    """An illegal move's refusal as a client gets it."""
    return refused_by_rules(IllegalMove(reason, text), "move").to_status().SerializeToString()


def compare(setup: Setup, seed: int, cuts: int = 8) -> tuple[int, int]:
    """Try moves in states that a seat can't tell apart; how many pairs, and refusals of the seat to act."""
    played, chance = play(setup, seed), random.Random(f"{setup} {seed}")
    pairs = refusals = 0
    for cut in chance.sample(range(len(played.moments)), min(cuts, len(played.moments))):
        moments = segment(played, cut)
        game, state = played.game, moments[-1].state
        for seat in range(setup.players):
            states = another_world(played, moments, seat, chance)
            if states is None:
                continue
            moves = candidates(game, game.view(state, seat)["hand"], chance)
            before = answers(game, state, seat, moves)
            after = answers(game, states[-1], seat, moves)
            told = [game.format_move(m) for m, a, b in zip(moves, before, after, strict=True) if a != b]
            assert not told, f"seat {seat}, moment {cut}"
            pairs += 1
            refusals += sum(map(bool, before)) if seat == game.to_act(state) else 0
    return pairs, refusals


@pytest.mark.parametrize("name", GAMES)
def test_a_refusal_tells_nothing_of_cards_that_its_player_cannot_see(name: str) -> None:
    counts = [compare(setup, 0) for setup in setups() if setup.name == name]
    pairs, refusals = (sum(column) for column in zip(*counts, strict=True))
    assert pairs > 50
    assert refusals > 2000


class Telling:
    """A game whose refusals tell everybody one hidden card."""

    def __init__(self, game: AnyGame, part: str) -> None:
        self._game = game
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def check(self, state: Any, seat: int, move: Any) -> None:
        try:
            self._game.check(state, seat, move)
        except IllegalMove as error:
            secret = json.loads(self._game.fingerprint(state))[self._part]
            raise IllegalMove(error.reason, f"{error}, unlike {secret[:1]}") from None


@pytest.mark.parametrize(
    ("name", "part"), [("hidden_unders", "deck"), ("doudizhu", "hands"), ("basic_rummy", "stock")]
)
def test_a_refusal_that_tells_a_card_would_be_found(
    name: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAMES, name, Telling(GAMES[name], part))
    with pytest.raises(AssertionError, match="seat"):
        compare(Setup(name, 3), 0)
