"""Dou Dizhu: what is a combination, and what beats what (DDZ-9 to DDZ-24)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, pairwise

import pytest

from croupier_games.doudizhu import classify
from croupier_games.doudizhu.combinations import PLAYS
from games.doudizhu_positions import RANKS, bits_of_ranks, ranks_of


def name(ranks: str) -> str | None:
    found = classify(bits_of_ranks(ranks))
    return None if found is None else found.name


def beats(ranks: str, table: str) -> bool:
    mine, other = classify(bits_of_ranks(ranks)), classify(bits_of_ranks(table))
    assert mine is not None
    assert other is not None
    return mine.beats(other)


def test_ddz_23_there_are_24_639_plays() -> None:
    assert len(PLAYS) == 24_639
    assert Counter(combination.name for combination in PLAYS.values()) == {
        "single": 15,
        "pair": 13,
        "triple": 13,
        "triple_single": 182,
        "triple_pair": 156,
        "straight": 36,
        "pair_run": 52,
        "plane": 45,
        "plane_singles": 18_990,
        "plane_pairs": 2_939,
        "four_singles": 1_326,
        "four_pairs": 858,
        "bomb": 13,
        "rocket": 1,
    }


def test_ddz_24_the_size_is_the_number_of_cards() -> None:
    assert all(combination.shape.size == len(ranks_of(counts)) for counts, combination in PLAYS.items())


def naive_small(ranks: str) -> str | None:
    """What up to six cards are, by the shape of their counts (DDZ-11 to DDZ-22)."""
    held = Counter(ranks)
    if ranks == "BR":
        return "rocket"
    jokers = len({"B", "R"} & held.keys())
    shape = sorted(held.values(), reverse=True)
    places = sorted(RANKS.index(rank) for rank in held)
    run = places[-1] < RANKS.index("2") and places[-1] - places[0] == len(places) - 1
    if shape[0] == 4 and len(ranks) == 6:
        return None if jokers == 2 else "four_singles"
    if len(shape) >= 2 and run and set(shape) == {3}:
        return "plane"
    if run and (shape == [2, 2, 2] or (shape == [1] * len(ranks) and len(ranks) >= 5)):
        return "pair_run" if shape[0] == 2 else "straight"
    rows: dict[tuple[int, ...], str] = {(1,): "single", (2,): "pair", (3,): "triple", (4,): "bomb"}
    return (rows | {(3, 1): "triple_single", (3, 2): "triple_pair"}).get(tuple(shape))


def test_ddz_11_to_22_all_sets_of_up_to_six_cards() -> None:
    seen = 0
    for size in range(1, 7):
        for chosen in combinations_with_replacement(RANKS, size):
            ranks = "".join(chosen)
            if (
                max(ranks.count(rank) for rank in ranks) <= 4
                and ranks.count("B") < 2
                and ranks.count("R") < 2
            ):
                seen += 1
                assert name(ranks) == naive_small(ranks), ranks
    assert seen == 46_439


@pytest.mark.parametrize("ranks", ["3334", "333B", "3332", "333R"])
def test_ddz_12_the_kicker_has_another_rank_or_is_a_joker(ranks: str) -> None:
    assert name(ranks) == "triple_single"
    assert name("3333") == "bomb"


def test_ddz_13_the_jokers_are_no_pair() -> None:
    assert name("33344") == "triple_pair"
    assert name("333BR") is None


def test_ddz_14_a_straight_holds_no_2_and_no_joker() -> None:
    assert name("3456789TJQKA") == "straight"
    assert name("TJQKA") == "straight"
    assert {name(ranks) for ranks in ("JQKA2", "3456", "A2345", "QKA2B")} == {None}


def test_ddz_15_a_pair_run_has_three_pairs_without_2() -> None:
    assert name("QQKKAA") == "pair_run"
    assert {name(ranks) for ranks in ("KKAA22", "3344", "334466")} == {None}


def test_ddz_16_a_plane_has_no_2_in_its_core() -> None:
    assert name("KKKAAA") == "plane"
    assert {name(ranks) for ranks in ("AAA222", "333555")} == {None}


@pytest.mark.parametrize(
    "ranks", ["33344455", "33344456", "33344422", "3334442B", "33344455567R", "333444555778"]
)
def test_ddz_17_wings_may_be_a_pair_a_2_or_one_joker(ranks: str) -> None:
    assert name("".join(sorted(ranks, key=RANKS.index))) == "plane_singles"


@pytest.mark.parametrize(
    "ranks", ["333444BR", "33334445", "333444555777", "333444555BRA", "3333444455556666"]
)
def test_ddz_17_wings_are_no_triple_no_core_rank_and_not_both_jokers(ranks: str) -> None:
    assert name(ranks) is None


def test_ddz_18_pair_wings_have_different_ranks_off_the_core() -> None:
    assert name("3334445522") == "plane_pairs"
    assert {name(ranks) for ranks in ("3334445555", "3333444455", "33344455BR")} == {None}


def test_ddz_19_four_and_two_singles() -> None:
    assert {name(ranks) for ranks in ("333345", "333344", "33332B")} == {"four_singles"}
    assert {name(ranks) for ranks in ("3333BR", "33334", "3333444")} == {None}


def test_ddz_20_four_and_two_pairs() -> None:
    assert name("33334455") == "four_pairs"
    assert {name(ranks) for ranks in ("33334444", "333344BR", "33334456")} == {None}


def test_ddz_22_the_rocket_is_both_jokers() -> None:
    assert name("BR") == "rocket"
    assert repr(classify(bits_of_ranks("BR"))) == "<rocket of 2, top RJ>"


def test_ddz_23_no_set_is_two_types() -> None:
    assert name("333444555666") == "plane"
    assert name("33344455566678") is None


def test_ddz_9_rank_order() -> None:
    assert all(beats(high, low) for low, high in pairwise(RANKS))
    assert not beats("3", "3")


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("4443", "333A"),
        ("45678", "34567"),
        ("44455533", "333444KA"),
        ("444433", "3333AA"),
        ("44433", "33322"),
    ],
)
def test_ddz_9_the_core_decides(higher: str, lower: str) -> None:
    sort = "".join(sorted(higher, key=RANKS.index))
    assert beats(sort, lower)
    assert not beats(lower, sort)


@pytest.mark.parametrize(
    ("play", "table"),
    [("456789", "34567"), ("44", "3"), ("444455", "3334"), ("444", "33"), ("44455", "333A")],
)
def test_ddz_24_another_type_or_size_does_not_beat(play: str, table: str) -> None:
    assert not beats(play, table)
    assert not beats(table, play)


def test_ddz_10_bombs_and_the_rocket() -> None:
    assert beats("3333", "2")
    assert beats("3333", "2222AAKK")
    assert beats("4444", "3333")
    assert not beats("3333", "4444")
    assert beats("BR", "2222")
    assert not beats("2222", "BR")


def test_ddz_21_a_four_with_attachments_is_no_bomb() -> None:
    assert not beats("444455", "33")
    assert not beats("333344", "44")
