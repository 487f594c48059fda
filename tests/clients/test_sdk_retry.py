"""Waits grow, are bounded, and only what is transient is waited out."""

from __future__ import annotations

import pytest

import croupier
from croupier.retry import Backoff, Retry

AWAY = croupier.Unavailable("away")
FAULT = croupier.ServerFault("a bug", reason="SERVER_FAULT")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def retry(clock: Clock, bound: float | None = None, backoff: Backoff | None = None) -> Retry:
    return Retry(backoff or Backoff(1, 8), lambda: bound, clock)


def test_waits_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda _low, high: high)
    assert [Backoff(1, 8).delay(n) for n in (1, 2, 3, 4, 5, 4000)] == [1, 2, 4, 8, 8, 8]


def test_final_errors_are_raised_at_once(clock: Clock) -> None:
    refused = croupier.NotFound("no")
    with pytest.raises(croupier.NotFound) as caught:
        retry(clock).delay(refused)
    assert caught.value is refused


def test_gives_up_when_the_bound_has_passed_since_the_first_failure(clock: Clock) -> None:
    failing = retry(clock, bound=60)
    failing.delay(AWAY)
    clock.now += 59
    assert failing.delay(AWAY) <= 1
    clock.now += 1
    with pytest.raises(croupier.ConnectionLost, match="given up after 60 s: away") as caught:
        failing.delay(AWAY)
    assert caught.value.__cause__ is AWAY


def test_success_starts_the_bound_anew(clock: Clock) -> None:
    failing = retry(clock, bound=60)
    failing.delay(AWAY)
    clock.now += 59
    failing.succeeded()
    clock.now += 59
    assert failing.delay(AWAY) >= 0


def test_never_gives_up_without_a_bound(clock: Clock) -> None:
    failing = retry(clock)
    for _ in range(1000):
        clock.now += 1000
        failing.delay(AWAY)


def test_waits_begin_anew_only_after_it_worked_for_long(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda _low, high: high)
    failing = retry(clock)
    assert [failing.delay(AWAY), failing.delay(AWAY)] == [1, 2]
    failing.succeeded()
    clock.now += 8
    assert failing.delay(AWAY) == 4
    failing.succeeded()
    clock.now += 8.1
    assert failing.delay(AWAY) == 1


def test_a_mistake_of_the_server_is_reported_the_sixth_time_in_a_row(clock: Clock) -> None:
    failing = retry(clock)
    for _ in range(5):
        failing.delay(FAULT)
    with pytest.raises(croupier.ServerFault) as caught:
        failing.delay(FAULT)
    assert caught.value is FAULT


def test_signs_in_again_once_in_a_row(clock: Clock) -> None:
    failing = retry(clock)
    old = croupier.Unauthenticated("old")
    assert not failing.may_sign_in_again(AWAY)
    assert failing.may_sign_in_again(old)
    assert not failing.may_sign_in_again(old)
    failing.succeeded()
    assert failing.may_sign_in_again(old)


def test_a_hint_is_spread_over_half_of_its_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda _low, high: high)
    assert retry(clock).spread(within=10) == 5
    assert retry(clock).spread(within=0) == 1
    assert retry(clock).spread(within=600) == 8
