"""Ratings, and the page that an arena writes."""

from __future__ import annotations

import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from croupier.arena import ArenaResult, Pairing, PlayedGame, run_arena
from croupier.arena.intervals import method
from croupier.arena.plan import plan_of
from croupier.arena.ratings import ratings_of
from croupier.arena.report import to_html
from croupier.arena.result import Count
from croupier.arena.tally import Tally
from croupier.cli import main


class Page(HTMLParser):
    """Tags that are open and shut, texts, and what is fetched from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.fetched: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        links = [value or "" for name, value in attributes if name in ("src", "href", "xlink:href")]
        self.fetched += [link for link in links if not link.startswith("#")]
        if tag in ("meta", "link"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        self.texts.append(text)


def result_of(names: str | list[str], *deals: tuple[tuple[int, ...], ...]) -> ArenaResult:
    """Deals of games of Hidden Unders given by their scores; the one with the most points wins."""
    plan = plan_of("hidden_unders", ["easy"] * len(names), "r")
    count = Count(replace(plan, names=tuple(names)))
    for number, games in enumerate(deals):
        count.add([_game(tuple(names), scores, number) for scores in games])
    return count.result()


def _game(names: tuple[str, ...], scores: tuple[int, ...], number: int) -> PlayedGame:
    best = frozenset(name for name, score in zip(names, scores, strict=True) if score == max(scores))
    thinking = tuple((number * 1000 + 1000, 5_000_000) for _ in names)
    cuts = (0,) * len(names)
    return PlayedGame(f"arena/r/{number}", names, scores, best, None, "finished", {}, thinking, cuts)


# --- Ratings -----------------------------------------------------------------------------------------


def pairing(player: str, against: str, *wins: int) -> Pairing:
    tally = Tally()
    for won in wins:
        tally.add(games=4, decided=4, wins=won, points=0)
    return Pairing(player, against, tally)


def test_three_wins_in_four_are_191_elo() -> None:
    ratings = ratings_of("AB", [pairing("A", "B", *[3] * 2000), pairing("B", "A", *[1] * 2000)])
    assert [rating.player for rating in ratings] == ["A", "B"]
    assert ratings[0].elo - ratings[1].elo == pytest.approx(190.8, abs=0.2)
    assert ratings[0].elo + ratings[1].elo == pytest.approx(0)
    assert ratings[0].interval is None, "all deals agree"


def test_a_rating_has_its_interval() -> None:
    first, _ = ratings_of("AB", [pairing("A", "B", *[4, 2] * 50), pairing("B", "A", *[0, 2] * 50)])
    assert first.interval is not None
    low, high = first.interval
    assert low < first.elo < high
    # 75% ± 1.96 * 25% / sqrt(100), on each side of the middle
    assert (low, high) == pytest.approx((74, 120), abs=8)


def test_who_won_all_is_not_infinitely_strong() -> None:
    first, *_ = ratings_of("AB", [pairing("A", "B", 4, 4), pairing("B", "A", 0, 0)])
    assert 200 < first.elo < 1000


def test_the_fit_is_transitive() -> None:
    pairs = [("A", "B", 3, 1), ("B", "C", 3, 1), ("A", "C", 4, 0)]
    found = [pairing(p, q, *[won] * 50) for p, q, won, _ in pairs]
    found += [pairing(q, p, *[lost] * 50) for p, q, _, lost in pairs]
    assert [rating.player for rating in ratings_of("CBA", found)] == ["A", "B", "C"]


def test_one_player_has_no_rating() -> None:
    assert ratings_of("A", []) == []


def test_without_the_extra_there_are_other_intervals_and_no_ratings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("choix", "matplotlib", "numpy"):
        monkeypatch.setitem(sys.modules, package, None)
    method.cache_clear()
    try:
        assert main(["arena", "hidden_unders", "easy", "random", "--deals", "5", "--seed", "x"]) == 0
        result = result_of("AB", ((1, -1), (-1, 1)), ((1, -1), (1, -1)))
        plain = result.as_plain()
    finally:
        method.cache_clear()
    assert "Elo" not in capsys.readouterr().out
    assert (plain["intervals"], plain["ratings"]) == ("normal", [])
    low, high = plain["players"][0]["win_share_interval"]
    assert low < 0.75 < high


# --- The page ----------------------------------------------------------------------------------------


def test_the_page_stands_alone_and_shows_every_plot() -> None:
    page = Page(to_html(result_of("AB", ((1, -1), (-1, 1)), ((1, -1), (1, -1)), ((-1, 1), (1, -1)))))
    assert page.open == []
    assert page.fetched == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 4
    text = " ".join(page.texts)
    for shown in ("points a game", "Elo", "milliseconds", "66.7%", "3 boards, 6 games"):
        assert shown in text


def test_names_are_text_whatever_is_in_them() -> None:
    names = ["<script>alert(1)</script>", "$\\frac{1}{2}$ & co"]
    page = Page(to_html(result_of(names, ((1, -1), (1, -1)), ((1, -1), (-1, 1)))))
    assert "script" not in page.tags
    for name in names:
        assert name in "".join(page.texts)


def test_the_same_result_makes_the_same_page() -> None:
    one, other = (to_html(result_of("AB", ((1, -1),), ((-1, 1),))) for _ in range(2))
    assert one == other


def test_a_long_arena_has_a_page_of_bounded_size() -> None:
    deals = [((1, -1), (-1, 1)) if number % 3 else ((1, -1), (1, -1)) for number in range(3000)]
    assert len(to_html(result_of("AB", *deals))) < 300_000


def test_a_forfeit_is_in_the_page_with_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = "class Raising:\n    def choose(self, view, legal):\n        raise RuntimeError('<no idea>')\n"
    (tmp_path / "report_shelf.py").write_text(source)
    result = run_arena("hidden_unders", ["easy", "report_shelf:Raising"], 1, "r")
    text = "".join(Page(to_html(result)).texts)
    assert "CRASH: RuntimeError: <no idea>" in text
    assert "raise RuntimeError('<no idea>')" in text


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.html"
    command = [
        "arena",
        "hidden_unders",
        "easy",
        "random",
        "--deals",
        "2",
        "--seed",
        "x",
        "--report",
        str(file),
    ]
    assert main(command) == 0
    assert Page(file.read_text()).tags.count("svg") == 4
    assert main([*command[:-1], str(tmp_path / "no" / "page.html")]) == 1
    assert "page.html cannot be written" in capsys.readouterr().err


def test_a_page_that_cannot_be_drawn_is_refused_before_the_first_card(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("croupier.cli.arena.can_report", lambda: False)
    monkeypatch.setattr("croupier.cli.arena.run_arena", lambda *_, **__: pytest.fail("it played"))
    assert main(["arena", "rummy", "easy", "easy", "--report", "page.html"]) == 1
    assert "pip install 'croupier[arena]'" in capsys.readouterr().err
