"""Hidden Unders rule by rule, on small positions set up by hand."""

from typing import Any

import pytest

from croupier_games.cards import fresh_deck, parse_cards
from croupier_games.game import IllegalMove, InvalidDeal, Plain
from croupier_games.hidden_unders import GAME, State
from croupier_games.hidden_unders.options import Settings
from croupier_games.hidden_unders.ranks import in_order
from croupier_games.hidden_unders.state import GONE, Seat


def cards(text: str) -> tuple[int, ...]:
    return tuple(parse_cards(text.split()))


def holding(
    hand: str, overs: str = "", unders: str = "3S 4S 5S 6S", known: str = "", placed: bool = True
) -> Seat:
    """A seat's cards; ``.`` is a slot already flipped."""
    slots = tuple(GONE if text == "." else cards(text)[0] for text in unders.split())
    return Seat(in_order(cards(hand)), in_order(cards(overs)), slots, in_order(cards(known)), placed)


def position(
    *seats: Seat, pile: str = "", deck: str = "", phase: str = "play", turns: int = 0, **options: Any
) -> State:
    """A position with seat 0 to act, set up directly; nothing in it happens by itself."""
    players = len(seats)
    settings = Settings(players, GAME.options(players, **options))
    totals = (0,) * players
    return State(settings, 0, totals, 0, 0, turns, phase, 0, None, seats, cards(pile), (), cards(deck), ())


def legal(state: State) -> list[str]:
    return [GAME.format_move(move) for move in GAME.legal_moves(state)]


def after(state: State, *texts: str) -> State:
    """The state after moves of whoever is to act."""
    for text in texts:
        seat = GAME.to_act(state)
        assert seat is not None
        state = GAME.apply(state, seat, GAME.parse_move(text))
    return state


def refused(state: State, text: str, seat: int = 0) -> str:
    """The reason why ``check`` and ``apply`` refuse a move."""
    with pytest.raises(IllegalMove) as checked:
        GAME.check(state, seat, GAME.parse_move(text))
    with pytest.raises(IllegalMove) as applied:
        GAME.apply(state, seat, GAME.parse_move(text))
    assert applied.value.reason == checked.value.reason
    return checked.value.reason


def kinds(state: State) -> list[str]:
    return [kind for effect in GAME.happened(state, None) for kind in effect]


def dealt(start: int = 0, players: int = 2, **options: Any) -> State:
    """A fresh round from an unshuffled deck: seat 0 holds 6C to KC, seat 1 5D to QD."""
    deal = GAME.deal_from(fresh_deck(GAME.options(players, **options)["decks"]), start, players)
    return GAME.load_deal(deal, players, options)


def test_hu2_eight_cards_in_hand_four_under_and_the_rest_in_the_deck() -> None:
    view = GAME.view(dealt(), 0)
    assert view["hand"] == ["6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC"]
    assert [(s["hand_count"], s["unders"], s["overs"]) for s in view["seats"]] == [(8, [0, 1, 2, 3], [])] * 2
    assert view["deck_count"] == 28


def test_hu3_each_sees_its_own_hand_and_nobody_an_under() -> None:
    views = [GAME.view(dealt(), seat) for seat in (0, 1, None)]
    assert [view["hand"][:1] for view in views] == [["6C"], ["5D"], []]
    assert all("2C" not in str(view) and "AC" not in str(view) for view in views)


def test_hu3_a_seat_that_is_not_there_sees_nothing() -> None:
    for look in (GAME.view, GAME.happened):
        for seat in (-1, 2):
            with pytest.raises(ValueError, match="no seat"):
                look(dealt(), seat)


def ended(**options: Any) -> State:
    """A round of two that seat 0 just won, seat 1 having seven cards left."""
    loser = holding("3C 4C", "5C", unders="3S 4S 5S 6S")
    return after(position(holding("AC", unders=". . . ."), loser, **options), "play AC")


def test_hu4_the_start_moves_one_seat_on_each_round() -> None:
    state = ended(rounds=2)
    assert GAME.needs_deal(state)
    assert GAME.next_first(state) == 1
    deal = GAME.deal_from(fresh_deck(), 1, 2)
    after_deal = GAME.next_deal(state, deal)
    assert (GAME.to_act(after_deal), GAME.view(after_deal, None)["round"]) == (1, 1)
    with pytest.raises(InvalidDeal) as refusal:
        GAME.next_deal(state, {**deal, "start": 0})
    assert refusal.value.reason == "WRONG_START"


def test_hu4_the_result_is_the_sum_over_rounds() -> None:
    first = ended(rounds=2)
    assert (GAME.scores(first), GAME.running_scores(first)) == (None, [1, -1])
    second = first.draft()
    second.phase, second.round, second.seats = "play", 1, (holding("AC", unders=". . . ."), holding("3C"))
    last = after(second, "play AC")
    assert GAME.scores(last) == GAME.running_scores(last) == [2, -2]


def test_hu4_the_turn_limit_counts_per_round() -> None:
    state = GAME.next_deal(ended(rounds=2), GAME.deal_from(fresh_deck(), 1, 2))
    assert GAME.view(state, 0)["turns"] == 0


def test_hu5_a_first_turn_begins_with_placing_four_overs() -> None:
    state = dealt()
    assert len(legal(state)) == 70
    assert refused(state, "play 6C") == refused(state, "done") == refused(state, "flip 0") == "OVERS_FIRST"
    placed = after(state, "overs JC QC KC TC")
    seat = GAME.view(placed, 1)["seats"][0]
    assert (seat["overs"], seat["hand_count"], seat["overs_placed"]) == (["TC", "JC", "QC", "KC"], 4, True)
    assert legal(placed) == ["play 6C", "play 7C", "play 8C", "play 9C"]


def test_hu5_the_second_player_sees_a_play_before_placing() -> None:
    state = after(dealt(), "overs TC JC QC KC", "play 9C", "done")
    view = GAME.view(state, 1)
    assert (view["phase"], view["to_act"], view["playpile"]) == ("overs", 1, ["9C"])


def test_hu5_overs_are_placed_once_and_from_the_hand() -> None:
    assert refused(dealt(), "overs 2C 6C 7C 8C") == "CARDS_NOT_HELD"
    assert refused(dealt(), "overs 6C 6C 7C 8C") == "CARDS_NOT_HELD"
    assert refused(after(dealt(), "overs TC JC QC KC"), "overs 6C 7C 8C 9C") == "OVERS_ALREADY_PLACED"


def test_hu6_suits_mean_nothing() -> None:
    state = position(holding("7H 7D AS"), holding("3C"), pile="7C")
    assert legal(state) == ["play 7D", "play 7D 7H", "play AS"]


@pytest.mark.parametrize(
    ("top", "plays"), [("3C", "3H 8H KH"), ("8C", "8H KH"), ("9C", "KH"), ("KC", "KH"), ("JC", "KH")]
)
def test_hu7_a_play_is_as_high_as_the_top_or_higher(top: str, plays: str) -> None:
    state = position(holding("3H 8H KH"), holding("3C"), pile=top)
    assert legal(state) == [f"play {card}" for card in plays.split()]


def test_hu7_a_play_is_of_one_rank_and_of_cards_held() -> None:
    state = position(holding("3H 8H 8D", "KH KD"), holding("3C"), pile="5C")
    assert legal(state) == ["play 8D", "play 8D 8H"]
    assert refused(state, "play 3H") == "TOO_LOW"
    assert refused(state, "play 3H 8H") == "MIXED_RANKS"
    assert refused(state, "play 8H 8H") == refused(state, "play 8C") == "CARDS_NOT_HELD"
    assert refused(state, "play 8H", seat=1) == "NOT_YOUR_TURN"


def test_hu7_one_play_a_turn() -> None:
    state = after(position(holding("8H 8D"), holding("3C"), pile="5C"), "play 8H")
    assert legal(state) == ["done"]
    assert refused(state, "play 8D") == refused(state, "flip 0") == "MUST_BE_DONE"


def test_hu7_two_decks_let_the_same_card_be_played_twice() -> None:
    state = position(holding("8H 8H KC"), holding("3C"), decks=2)
    assert legal(state) == ["play 8H", "play 8H 8H", "play KC"]
    assert GAME.view(after(state, "play 8H 8H"), 0)["playpile"] == ["8H", "8H"]


def test_hu8_any_rank_starts_an_empty_pile() -> None:
    assert legal(position(holding("2H 3H AH"), holding("3C"))) == ["play 2H", "play 3H", "play AH"]


def test_hu9_a_two_goes_on_anything_and_anything_follows() -> None:
    state = after(position(holding("2H 3H"), holding("3C 4C"), pile="AC"), "play 2H", "done")
    assert GAME.view(state, 1)["playpile"] == ["AC", "2H"]
    assert (GAME.to_act(state), legal(state)) == (1, ["play 3C", "play 4C"])


def test_hu10_a_ten_goes_on_anything_and_clears_the_pile() -> None:
    state = after(position(holding("TH 3H 4H 5H 6H"), holding("3C"), pile="4C AC"), "play TH")
    view = GAME.view(state, 1)
    assert (view["playpile"], view["cleared"], view["phase"]) == ([], ["4C", "AC", "TH"], "cleared")
    assert GAME.happened(state, None)[1] == {"cleared": {"seat": 0, "count": 3}}


@pytest.mark.parametrize(
    ("pile", "play"), [("", "7C 7D 7H 7S"), ("3C 7C", "7D 7H 7S"), ("7C 7D 7H", "7S"), ("7C 7D 7H", "7S 7S")]
)
def test_hu11_the_fourth_of_a_rank_clears_whoever_put_the_others(pile: str, play: str) -> None:
    state = position(holding(f"{play} KD KH", "KC"), holding("3C"), pile=pile, decks=2)
    assert GAME.view(after(state, f"play {play}"), 0)["playpile"] == []


def test_hu11_four_twos_clear_too() -> None:
    state = after(position(holding("2S AD"), holding("3C"), pile="KC 2C 2D 2H"), "play 2S")
    assert GAME.view(state, 0)["phase"] == "cleared"


def test_hu11_four_of_a_rank_that_are_not_consecutive_stay() -> None:
    state = after(position(holding("2S AD"), holding("3C"), pile="2C 2D 3C 2H"), "play 2S")
    assert len(GAME.view(state, 0)["playpile"]) == 5


def test_hu12_after_clearing_one_may_draw_and_must_start_a_new_pile() -> None:
    cleared = after(position(holding("TH 3H 4H"), holding("3C"), pile="9C", deck="AC KC QC"), "play TH")
    assert legal(cleared) == ["play 3H", "play 4H", "done"]
    drawn = after(cleared, "done")
    assert GAME.view(drawn, 0)["hand"] == ["3H", "4H", "KC", "AC"]
    assert (GAME.to_act(drawn), legal(drawn)) == (0, ["play 3H", "play 4H", "play KC", "play AC"])
    assert refused(drawn, "done") == "CANNOT_BE_DONE"
    assert legal(after(drawn, "play 3H")) == ["done"]


def test_hu12_drawing_is_the_only_move_with_an_empty_hand() -> None:
    cleared = after(position(holding("TH", "KH"), holding("3C"), deck="AC QC"), "play TH")
    assert legal(cleared) == ["done"]
    assert refused(cleared, "play KH") == refused(cleared, "flip 0") == "MUST_DRAW_FIRST"
    assert legal(after(cleared, "done")) == ["play QC", "play AC"]


@pytest.mark.parametrize(("hand", "deck"), [("TH 3H 4H 5H 6H", "AC"), ("TH 3H", "")])
def test_hu12_done_after_clearing_has_to_draw_a_card(hand: str, deck: str) -> None:
    cleared = after(position(holding(hand), holding("3C"), deck=deck), "play TH")
    assert "done" not in legal(cleared)
    assert refused(cleared, "done") == "CANNOT_BE_DONE"


def test_hu12_one_may_draw_once_more_after_the_next_clear() -> None:
    state = position(holding("TH TD 4H 5H"), holding("3C"), deck="TC 6C 7C 8C")
    again = after(state, "play TH", "done", "play TC")
    assert "done" in legal(again)
    assert GAME.view(after(again, "done"), 0)["hand"] == ["4H", "5H", "6C", "TD"]


def test_hu13_who_cannot_play_takes_the_pile_without_a_move() -> None:
    state = position(holding("AH 5H"), holding("3D 4D", "6D"), pile="9C")
    taken = after(state, "play AH", "done")
    assert (GAME.to_act(taken), legal(taken)) == (1, ["done"])
    assert GAME.happened(taken, 0)[-1] == {"picked_up": {"seat": 1, "cards": ["9C", "AH"]}}
    view = GAME.view(taken, 0)
    assert (view["playpile"], view["seats"][1]["hand_count"]) == ([], 4)
    assert GAME.facts(taken)["pickups"] == 1
    assert legal(after(taken, "done")) == ["play 5H"]


def test_hu13_on_a_first_turn_the_pile_is_taken_after_placing_overs() -> None:
    fresh = holding("3D 4D 5D 6D 7D 8D 9D JD", placed=False)
    state = after(position(holding("AH 5H"), fresh), "play AH", "done")
    assert GAME.view(state, None)["phase"] == "overs"
    placed = after(state, "overs 7D 8D 9D JD")
    assert kinds(placed) == ["overs_placed", "picked_up"]
    assert legal(placed) == ["done"]


def test_hu13_nobody_takes_the_pile_who_can_play() -> None:
    for card in ("2D", "TD", "AD"):
        state = after(position(holding("AH 5H"), holding(f"3D {card}")), "play AH", "done")
        assert legal(state) == [f"play {card}"]


def test_hu13_never_happens_on_hidden_unders() -> None:
    state = position(holding("AH 5H"), holding("", unders="3D 4D . 5D"))
    flipping = after(state, "play AH", "done")
    assert legal(flipping) == ["flip 0", "flip 1", "flip 3"]
    assert GAME.facts(flipping)["pickups"] == 0


def test_hu14_done_draws_up_to_four_as_far_as_the_deck_goes() -> None:
    for hand, deck, count in [("3H 4H", "5C 6C 7C 8C", 4), ("3H 4H", "5C", 2), ("3H 4H 5H 6H 7H", "5C", 4)]:
        state = after(position(holding(hand), holding("AC"), deck=deck), "play 3H", "done")
        assert GAME.view(state, None)["seats"][0]["hand_count"] == count
        assert GAME.to_act(state) == 1


def test_hu14_done_needs_a_play_first() -> None:
    assert refused(position(holding("3H"), holding("AC"), deck="5C"), "done") == "CANNOT_BE_DONE"


def test_hu14_auto_done_ends_the_turn_and_the_next_pick_up() -> None:
    seats = [holding("AH 5H"), holding("3D"), holding("7D")]
    state = after(position(*seats, deck="5C 6C", auto_done=True), "play AH")
    assert kinds(state) == ["played", "drew", "picked_up", "drew"]
    assert (GAME.to_act(state), legal(state)) == (2, ["play 7D"])
    assert all(e["drew"]["automatic"] for e in GAME.happened(state, None) if "drew" in e)


def test_hu14_auto_done_draws_when_drawing_is_the_only_move() -> None:
    only = after(position(holding("TH"), holding("3D"), deck="5C 6C", auto_done=True), "play TH")
    assert (kinds(only), legal(only)) == (["played", "cleared", "drew"], ["play 5C", "play 6C"])
    choice = after(position(holding("TH 3H"), holding("3D"), deck="5C", auto_done=True), "play TH")
    assert legal(choice) == ["play 3H", "done"]


def test_hu15_overs_come_into_play_with_hand_and_deck_empty() -> None:
    state = position(holding("", "4H 9H 9D KH"), holding("3C"), pile="8C")
    assert legal(state) == ["play 9D", "play 9D 9H", "play KH"]
    assert refused(state, "play 8H") == "CARDS_NOT_HELD"
    assert refused(state, "flip 0") == "NOT_ACTIVE_ZONE"
    played = after(state, "play 9D 9H")
    assert GAME.view(played, None)["seats"][0]["overs"] == ["4H", "KH"]
    assert GAME.happened(played, 1)[0]["played"]["zone"] == "overs"


def test_hu15_overs_and_unders_wait_while_the_hand_has_cards() -> None:
    state = position(holding("9C", "9H"), holding("3C"), pile="8C")
    assert refused(state, "play 9H") == refused(state, "play 9C 9H") == "NOT_ACTIVE_ZONE"
    assert refused(state, "flip 0") == "NOT_ACTIVE_ZONE"


def test_hu15_the_zone_of_each_seat_is_public() -> None:
    seats = [holding("3C", "4C"), holding("", "4C"), holding(""), holding("", unders=". . . .")]
    zones = [seat["zone"] for seat in GAME.view(position(*seats), None)["seats"]]
    assert zones == ["hand", "overs", "unders", "unspecified"]
    drawing = GAME.view(position(holding("", "4C"), holding("3C"), deck="5C", phase="done"), None)
    assert drawing["seats"][0]["zone"] == "hand"


def test_hu16_a_flip_that_may_be_played_goes_on_the_pile_and_the_turn_passes() -> None:
    state = position(holding("", unders="9H 3H . ."), holding("AC"), pile="8C")
    assert refused(state, "play 9H") == "MUST_FLIP"
    assert refused(state, "flip 2") == "SLOT_EMPTY"
    assert refused(state, "done") == "CANNOT_BE_DONE"
    flipped = after(state, "flip 0")
    assert GAME.happened(flipped, 1) == [{"flipped": {"seat": 0, "slot": 0, "card": "9H", "playable": True}}]
    view = GAME.view(flipped, 1)
    assert (view["playpile"], view["to_act"], view["seats"][0]["unders"]) == (["8C", "9H"], 1, [1])


def test_hu16_the_turn_passes_even_when_a_flip_clears() -> None:
    state = after(position(holding("", unders="TH 3H . ."), holding("3C AC"), pile="KC"), "flip 0")
    assert kinds(state) == ["flipped", "cleared"]
    assert (GAME.to_act(state), legal(state)) == (1, ["play 3C", "play AC"])


@pytest.mark.parametrize(("hand", "overs"), [("TC", ""), ("", "TC")])
def test_hu16_a_clear_with_the_last_card_is_followed_by_a_flip(hand: str, overs: str) -> None:
    seats = [holding(hand, overs, unders="3H 4H . ."), holding("3C AC")]
    state = after(position(*seats, pile="KC"), "play TC")
    assert (GAME.to_act(state), legal(state)) == (0, ["flip 0", "flip 1"])
    flipped = after(state, "flip 1")
    assert (GAME.to_act(flipped), GAME.view(flipped, 1)["playpile"]) == (1, ["4H"])


def test_hu17_a_flip_that_may_not_be_played_goes_to_the_hand_with_the_pile() -> None:
    state = after(position(holding("", unders="5H 3H . ."), holding("AC 6C"), pile="8C KC"), "flip 1")
    assert GAME.happened(state, 1) == [
        {"flipped": {"seat": 0, "slot": 1, "card": "3H", "playable": False}},
        {"picked_up": {"seat": 0, "cards": ["8C", "KC", "3H"]}},
    ]
    view = GAME.view(state, 1)
    assert (view["to_act"], view["playpile"]) == (1, [])
    assert (view["seats"][0]["known"], view["seats"][0]["zone"]) == (["3H", "8C", "KC"], "hand")
    assert GAME.facts(state)["pickups"] == 0


def test_hu18_a_hand_taken_on_overs_is_emptied_first() -> None:
    seats = [holding("AH 5H 6H 7H"), holding("", "3D KD")]
    state = after(position(*seats), "play AH", "done", "done", "play 5H", "done")
    assert (GAME.to_act(state), legal(state)) == (1, ["play AH"])
    assert refused(state, "play KD", seat=1) == "NOT_ACTIVE_ZONE"


@pytest.mark.parametrize(
    ("seat", "move"),
    [
        (holding("", unders=". . 9H ."), "flip 2"),
        (holding("", unders=". TH . ."), "flip 1"),
        (holding("9H 9D", unders=". . . ."), "play 9D 9H"),
        (holding("TH", unders=". . . ."), "play TH"),
    ],
)
def test_hu19_the_round_ends_the_moment_a_player_has_no_cards(seat: Seat, move: str) -> None:
    state = after(position(seat, holding("3C 4C"), pile="8C"), move)
    assert GAME.facts(state) == {"winner": 0, "left": [0, 6], "pickups": 0}
    assert (GAME.to_act(state), GAME.view(state, 1)["phase"], legal(state)) == (None, "over", [])
    assert refused(state, "play 3C") == "GAME_OVER"


def test_hu19_with_unders_left_the_round_goes_on() -> None:
    state = after(position(holding("9H"), holding("AC"), pile="8C"), "play 9H", "done")
    assert GAME.scores(state) is None


@pytest.mark.parametrize("players", [2, 3, 6])
def test_hu20_the_winner_gets_one_from_every_other_player(players: int) -> None:
    others = [holding("3C")] * (players - 1)
    state = after(position(holding("AC", unders=". . . ."), *others), "play AC")
    assert GAME.scores(state) == [players - 1] + [-1] * (players - 1)
    assert GAME.void(state) is False


def test_hu20_the_result_is_told_with_the_cards_left() -> None:
    result = GAME.happened(ended(rounds=2), None)[-1]
    assert result == {"round_over": {"winner": 0, "left": [0, 7], "scores": [1, -1], "totals": [1, -1]}}
    assert refused(ended(rounds=2), "play 3C") == "DEAL_DUE"


def test_hu21_a_round_at_the_turn_limit_has_no_winner() -> None:
    state = position(holding("3H 4H 5H"), holding("3D"), turns=19, deck="6C", turn_limit=20)
    over = after(state, "play 3H", "done")
    assert GAME.scores(over) == [0, 0]
    assert GAME.facts(over) == {"winner": None, "left": [7, 5], "pickups": 0}
    assert kinds(over) == ["drew", "round_over"]


def test_hu21_a_win_in_the_last_turn_stands() -> None:
    state = position(holding("3H", unders=". . . ."), holding("3D"), turns=19, turn_limit=20)
    assert GAME.scores(after(state, "play 3H")) == [1, -1]


def test_known_cards_leave_with_the_very_card_that_is_played() -> None:
    state = position(holding("7C 7D", known="7D"), holding("3D"))
    assert GAME.view(after(state, "play 7C"), 1)["seats"][0]["known"] == ["7D"]
    assert GAME.view(after(state, "play 7D"), 1)["seats"][0]["known"] == []


def test_of_two_equal_cards_the_known_one_is_played_first() -> None:
    state = position(holding("7C 7C", known="7C"), holding("3D"), decks=2)
    assert GAME.view(after(state, "play 7C"), 1)["seats"][0]["known"] == []


@pytest.mark.parametrize(
    ("state", "move"),
    [
        (
            position(holding("KC 3H 3C 4S 2S TD 9D AH", placed=False), holding("3D"), phase="overs"),
            "overs 2S 3C 3H 4S",
        ),
        (position(holding("2C 4H 9D 9H TC"), holding("3D"), pile="8C"), "play 9D"),
        (position(holding("2C 4H TC"), holding("3D"), pile="8C"), "play 2C"),
        (position(holding("4H TC"), holding("3D"), pile="8C"), "play TC"),
        (position(holding("2C 4H TC"), holding("3D")), "play 4H"),
        (position(holding("4H"), holding("3D"), deck="5C", phase="cleared"), "done"),
        (position(holding("4H"), holding("3D"), phase="cleared"), "play 4H"),
        (position(holding("4H"), holding("3D"), phase="done"), "done"),
        (position(holding("", "TH 2H QH"), holding("3D"), pile="8C"), "play QH"),
        (position(holding("", unders=". 3H . 4H"), holding("3D"), pile="8C"), "flip 1"),
    ],
)
def test_the_move_for_a_seat_out_of_time_is_the_lowest(state: State, move: str) -> None:
    assert GAME.format_move(GAME.default_move(state)) == move


def test_nobody_to_act_has_no_default_move() -> None:
    with pytest.raises(ValueError, match="nobody"):
        GAME.default_move(ended())


def test_a_draw_is_shown_to_its_seat_alone() -> None:
    state = after(position(holding("3H 4H 5H"), holding("AC"), deck="6C 7C"), "play 3H", "done")
    drew = [GAME.happened(state, seat)[0]["drew"] for seat in (0, 1, None)]
    assert [effect["cards"] for effect in drew] == [["6C", "7C"], ["??", "??"], ["??", "??"]]
    assert not GAME.happened_in_public(state)


def test_a_draw_of_nothing_is_public() -> None:
    state = after(position(holding("3H 4H 5H"), holding("AC")), "play 3H", "done")
    assert GAME.happened(state, 1) == [{"drew": {"seat": 0, "cards": [], "automatic": False}}]
    assert GAME.happened_in_public(state)


def test_a_deal_shows_each_seat_its_own_hand() -> None:
    effects: list[list[Plain]] = [GAME.happened(dealt(start=1), seat) for seat in (1, None)]
    hand = ["5D", "6D", "7D", "8D", "9D", "TD", "JD", "QD"]
    assert effects[0] == [{"dealt": {"round": 0, "start": 1, "hand": hand, "deck_count": 28}}]
    assert effects[1][0]["dealt"]["hand"] == []


def test_the_fingerprint_of_a_deal_is_the_same_for_ever() -> None:
    assert GAME.fingerprint(
        position(holding("3H", "4H", ". 3S 4S 5S"), holding("3D"), pile="7C", deck="8C")
    ) == (
        b'{"auto_done":false,"deck":["8C"],"decks":1,"phase":"play","pickups":0,"pile":["7C"],"players":2,'
        b'"round":0,"rounds":1,"seats":[{"hand":["3H"],"overs":["4H"],"placed":true,'
        b'"unders":[null,"3S","4S","5S"]},{"hand":["3D"],"overs":[],"placed":true,'
        b'"unders":["3S","4S","5S","6S"]}],"start":0,"to_act":0,"totals":[0,0],"turn_limit":1000,"turns":0,'
        b'"winner":null}'
    )
