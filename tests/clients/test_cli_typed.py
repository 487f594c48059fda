"""What people type, as moves."""

from __future__ import annotations

import pytest

from clients.cli_pages import SETUPS, legal_texts, look_for
from croupier.cli.look import LOOKS, Cast, Look, NotUnderstood, Pen, read_move
from croupier_games import GAMES
from games.playing import Setup, awaited, play, sample


def look(game: str) -> Look:
    return look_for(Setup(game, GAMES[game].default_players), Pen())


DDZ = ["pass", "play 3C", "play TC", "play 3C 3D", "play 3C 3D 3H 5S", "play BJ RJ"]
BIDS = ["pass", "bid 2", "bid 3"]
HU = ["play 7C", "play 7C 7D", "play TC", "done"]
OVERS = ["overs 2C 4C 9D JH", "overs 2C 4C 9D KS"]
FLIPS = ["flip 0", "flip 2"]
DRAWS = ["draw stock", "draw discard"]
RUMMY = ["meld 4H 5H 6H", "layoff 0 7H", "layoff 1 7H", "layoff 1 8H", "discard 7H", "discard KC"]


@pytest.mark.parametrize(
    ("game", "legal", "typed", "meant"),
    [
        ("doudizhu", DDZ, "1", "pass"),
        ("doudizhu", DDZ, " 6 ", "play BJ RJ"),
        ("doudizhu", DDZ, "PASS", "pass"),
        ("doudizhu", DDZ, "p", "pass"),
        ("doudizhu", DDZ, "p 10c", "play TC"),
        ("doudizhu", DDZ, "3c 3d", "play 3C 3D"),
        ("doudizhu", DDZ, "3♣,3♦", "play 3C 3D"),
        ("doudizhu", DDZ, "3c3d3h5s", "play 3C 3D 3H 5S"),
        ("doudizhu", DDZ, "play 333 5", "play 3C 3D 3H 5S"),
        ("doudizhu", DDZ, "3 3 3 5", "play 3C 3D 3H 5S"),
        ("doudizhu", DDZ, "play 3", "play 3C"),
        ("doudizhu", DDZ, "play 10", "play TC"),
        ("doudizhu", DDZ, "t", "play TC"),
        ("doudizhu", DDZ, "bj rj", "play BJ RJ"),
        ("doudizhu", DDZ, "4C", "play 4C"),
        ("doudizhu", BIDS, "bid 3", "bid 3"),
        ("doudizhu", BIDS, "b 2", "bid 2"),
        ("hidden_unders", HU, "7♣ 7♦", "play 7C 7D"),
        ("hidden_unders", HU, "d", "done"),
        ("hidden_unders", HU, "done", "done"),
        ("hidden_unders", HU, "7 7", "play 7C 7D"),
        ("hidden_unders", OVERS, "2c 4c 9d ks", "overs 2C 4C 9D KS"),
        ("hidden_unders", OVERS, "2 4 9 J", "overs 2C 4C 9D JH"),
        ("hidden_unders", FLIPS, "flip 2", "flip 2"),
        ("hidden_unders", FLIPS, "2", "flip 2"),
        ("basic_rummy", DRAWS, "draw s", "draw stock"),
        ("basic_rummy", DRAWS, "DRAW Discard", "draw discard"),
        ("basic_rummy", RUMMY, "4h 5h 6h", "meld 4H 5H 6H"),
        ("basic_rummy", RUMMY, "6H 4H 5H", "meld 4H 5H 6H"),
        ("basic_rummy", RUMMY, "m 4h 5h 6h", "meld 4H 5H 6H"),
        ("basic_rummy", RUMMY, "kc", "discard KC"),
        ("basic_rummy", RUMMY, "8h", "layoff 1 8H"),
        ("basic_rummy", RUMMY, "dis 7h", "discard 7H"),
        ("basic_rummy", RUMMY, "lay off 1 7h", "layoff 1 7H"),
        ("basic_rummy", RUMMY, "l 1 7h 8h", "layoff 1 7H 8H"),
        ("basic_rummy", RUMMY, "2c 3c 4c", "meld 2C 3C 4C"),
        ("basic_rummy", RUMMY, "2c", "discard 2C"),
    ],
)
def test_loose_text_is_understood(game: str, legal: list[str], typed: str, meant: str) -> None:
    assert read_move(typed, legal, look(game)) == meant


@pytest.mark.parametrize(
    ("game", "legal", "typed", "why"),
    [
        ("doudizhu", DDZ, "", "number of a move"),
        ("doudizhu", DDZ, "0", "there is no move 0; the moves are 1 to 6"),
        ("doudizhu", DDZ, "7", "there is no move 7"),
        ("doudizhu", DDZ, "33", "there is no move 33"),
        ("doudizhu", DDZ, "8" * 5000, "there is no move 8{39}…; the moves are 1 to 6"),
        ("doudizhu", DDZ, "x" * 5000, "^x{39}… is no move"),
        ("doudizhu", DDZ, "play " + "z" * 5000, "^z{39}… is no cards"),
        ("doudizhu", DDZ, "9 9", "no legal move has the ranks 9 9"),
        ("doudizhu", DDZ, "play 1X", "1X is no cards"),
        ("doudizhu", DDZ, "play", "nothing is no cards"),
        ("doudizhu", DDZ, "fold", "fold is no move; a move begins with pass, bid, play"),
        ("basic_rummy", RUMMY, "7h", "that could be: layoff 0 7H; layoff 1 7H; discard 7H"),
        ("basic_rummy", RUMMY, "d 7h", "d could be draw or discard"),
        ("basic_rummy", DRAWS, "draw", "draw from stock or from discard"),
        ("basic_rummy", RUMMY, "meld 4 5 6", "4 5 6 is no cards"),
    ],
)
def test_what_is_unclear_is_asked_about(game: str, legal: list[str], typed: str, why: str) -> None:
    with pytest.raises(NotUnderstood, match=why):
        read_move(typed, legal, look(game))


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_every_legal_move_can_be_typed_by_number_text_and_as_it_is_shown(setup: Setup) -> None:
    played, pen = play(setup), Pen()
    shown_by = LOOKS[setup.name](pen, Cast(["", "Ann"] * 3, 0, pen))
    for state, _ in awaited(played.game, sample(played, 15)):
        legal = legal_texts(played, state)
        for number, move in enumerate(legal, 1):
            assert read_move(str(number), legal, shown_by) == move
            assert read_move(move.lower(), legal, shown_by) == move
            verb, *cards = move.split()
            if verb == "play":
                assert read_move(pen.cards(cards), legal, shown_by) == move
