"""Games as text: every line fits, says what happened, and can be read without colour or Unicode."""

from __future__ import annotations

import pytest

from clients.cli_pages import SETUPS, legal_texts, look_for, pages
from croupier.cli.look import LOOKS, Cast, Menu, Pen
from croupier.cli.look.pen import cells
from croupier.codec import GAME_MESSAGES
from croupier_games import GAMES
from games.playing import Setup, awaited, play, sample

each_setup = pytest.mark.parametrize("setup", SETUPS, ids=str)
each_game = pytest.mark.parametrize("game", GAMES)


def test_every_game_has_a_look() -> None:
    assert LOOKS.keys() == GAMES.keys()


@each_setup
@pytest.mark.parametrize("width", [80, 50])
def test_no_line_of_a_game_is_wider_than_the_terminal(setup: Setup, width: int) -> None:
    lines = list(pages(setup, Pen(width=width, colour=True, four_colour=True)))
    assert len(lines) > 100
    assert [line for line in lines if cells(line) > width] == []


@each_setup
def test_ascii_writes_nothing_but_ascii(setup: Setup) -> None:
    assert all(line.isascii() and line.isprintable() for line in pages(setup, Pen(ascii=True)))


@each_setup
def test_without_colour_there_is_no_control_character(setup: Setup) -> None:
    assert all(line.isprintable() for line in pages(setup, Pen()))


@each_setup
def test_colour_says_nothing_that_the_text_does_not(setup: Setup) -> None:
    plain, coloured = Pen(), Pen(colour=True, four_colour=True)
    stripped = [_without_colour(line) for line in pages(setup, coloured)]
    assert stripped == list(pages(setup, plain))


def _without_colour(line: str) -> str:
    for code in ("0", "1", "31", "32", "34"):
        line = line.replace(f"\x1b[{code}m", "")
    return line


@each_game
def test_every_kind_of_effect_is_told_somewhere(game: str) -> None:
    setup = Setup(game, GAMES[game].default_players)
    look = look_for(setup, Pen())
    moments = [moment for seed in range(8) for moment in play(setup, seed).moments]
    effects = [effect for moment in moments for effect in setup.game.happened(moment.state, 0)]
    told = {kind for effect in effects for kind, value in effect.items() if look.effect(kind, value)}
    assert told == {field.name for field in _effect_message(game).fields}


def _effect_message(game: str):
    messages = GAME_MESSAGES[game].DESCRIPTOR.message_types_by_name
    return next(message for name, message in messages.items() if name.endswith("Effect"))


@each_game
def test_an_effect_of_a_newer_server_is_passed_over(game: str) -> None:
    look = look_for(Setup(game, GAMES[game].default_players), Pen())
    assert look.moved(0, look_move(game), [{"comet": {"seat": 1}}, {}]) in ([], ["You pass."])


def look_move(game: str) -> str:
    return {"doudizhu": "pass", "hidden_unders": "done", "basic_rummy": "draw stock"}[game]


@each_setup
def test_folds_hold_each_legal_move_once(setup: Setup) -> None:
    played = play(setup)
    look = look_for(setup, Pen())
    for state, _ in awaited(played.game, sample(played)):
        legal = legal_texts(played, state)
        assert sorted(Menu(look, legal).moves) == sorted(legal)


@each_setup
def test_every_legal_move_can_be_seen_with_its_number(setup: Setup) -> None:
    played = play(setup)
    look = look_for(setup, Pen(ascii=True))
    for state, _ in awaited(played.game, sample(played, 20)):
        menu = Menu(look, legal_texts(played, state))
        shown = "\n".join(line for fold in look.folds(menu.moves) for line in menu.more(fold.title))
        assert all(f"{number}) " in shown for number in range(1, len(menu.moves) + 1))


def test_long_kinds_are_folded_and_told_how_to_unfold() -> None:
    look = look_for(Setup("doudizhu", 3), Pen())
    legal = ["pass", *(f"play {rank}C {rank}D {rank}H 3S" for rank in "456789TJQKA2")]
    legal += [f"play {rank}C {rank}D {rank}H 4S" for rank in "56789"]
    lines = Menu(look, legal).lines()
    assert lines[0] == "calls: 1) pass"
    assert "triples+single (17)" in lines[1]
    assert "more triples+single" in lines[1]
    assert Menu(look, legal).more("triples")[0].startswith("triples+single: 2) 4♣ 4♦ 4♥ 3♠")


def test_a_kind_that_is_not_there_has_no_lines() -> None:
    assert Menu(look_for(Setup("doudizhu", 3), Pen()), ["pass"]).more("bombs") == []


def test_pens_write_cards() -> None:
    assert Pen().cards(["TD", "BJ", "RJ", "??"]) == "10♦ BJ RJ ??"
    assert Pen(ascii=True).card("TD") == "10D"
    assert Pen(colour=True).card("TD") == "\x1b[31m10♦\x1b[0m"
    assert Pen(colour=True).card("2C") == "2♣"
    assert Pen(colour=True, four_colour=True).card("2C") == "\x1b[32m2♣\x1b[0m"


def test_names_cannot_draw_on_the_terminal_or_pass_for_you() -> None:
    cast = Cast(["\x1b[2Jevil\n", "You", "x" * 40], None, Pen())
    assert cast.name(0) == "[2Jevil"
    assert cast.name(1) == "You (seat 1)"
    assert cells(cast.name(2)) <= 20


def test_players_of_one_name_are_told_apart() -> None:
    cast = Cast(["Ann", "Ann"], 1, Pen())
    assert cast.does(0, "pass") == "Ann (seat 0) passes"
    assert cast.does(1, "go out") == "You go out"
    assert cast.of(1) == "your"


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ([2, -1, -1], "You win the game. Score: you 2, Ann -1, Bob -1."),
        ([-2, 1, 1], "Ann and Bob win the game. Score: you -2, Ann 1, Bob 1."),
        ([0, 0, 0], "Nobody wins. Score: you 0, Ann 0, Bob 0."),
    ],
)
def test_the_outcome_names_who_won(scores: list[int], text: str) -> None:
    pen = Pen()
    assert LOOKS["doudizhu"](pen, Cast(["", "Ann", "Bob"], 0, pen)).outcome(scores) == [text]


def test_a_move_that_its_player_did_not_make_is_told_so() -> None:
    look = look_for(Setup("doudizhu", 3), Pen())
    assert look.moved(0, "pass", [], "timeout") == ["Time is up. You pass."]
    assert look.moved(0, "pass", [], "takeover") == ["Somebody took the seat over. You pass."]
