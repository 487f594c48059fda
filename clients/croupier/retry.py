"""How long to wait after a failure, and when to give up.

The law of this file: only transient errors are waited out; waits grow and are jittered, so that
many clients do not come back at once; the bound counts from the first failure in a row.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from croupier.errors import ConnectionLost, Error, ServerFault, Unauthenticated

_MOST_FAULTS: Final = 5
"""How often in a row a mistake of the server is met before it is reported."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits between attempts, in seconds: ``first`` doubles up to ``most``; each is drawn from 0 to it."""

    first: float = 0.05
    most: float = 5.0

    def delay(self, failures: int) -> float:
        """The wait after ``failures`` (from 1) failures in a row."""
        ceiling = min(self.most, self.first * 2.0 ** min(failures - 1, 30))
        return random.uniform(0, ceiling)  # noqa: S311 - jitter, not a secret


class Retry:
    """The failures in a row of one thing that is tried again and again."""

    def __init__(
        self, backoff: Backoff, bound: Callable[[], float | None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._backoff: Final = backoff
        self._bound: Final = bound
        self._now: Final = now
        self._failures = 0
        self._faults = 0
        self._signed_in_again = False
        self._failing_since: float | None = None
        self._well_since: float | None = None

    def succeeded(self) -> None:
        """It works: the bound and the faults count anew.

        The waits only do once it has worked for as long as the longest of them, so that what
        works for a moment again and again is not tried without pause.
        """
        self._failing_since = None
        self._faults = 0
        self._signed_in_again = False
        self._well_since = self._now()

    def may_sign_in_again(self, error: Error) -> bool:
        """True for the first ``Unauthenticated`` in a row."""
        if not isinstance(error, Unauthenticated) or self._signed_in_again:
            return False
        self._signed_in_again = True
        return True

    def delay(self, error: Error) -> float:
        """Seconds to wait after ``error``.

        Raises ``error`` when it is not transient, or a mistake of the server for the sixth
        time in a row; ``ConnectionLost`` when the bound is reached.
        """
        if not error.transient:
            raise error
        now = self._now()
        self._count(error, now)
        since = now if self._failing_since is None else self._failing_since
        self._failing_since = since
        delay = self._backoff.delay(self._failures)
        bound = self._bound()
        if bound is None:
            return delay
        left = bound - (now - since)
        if left <= 0:
            raise _given_up(error, bound) from error
        return min(delay, left)

    def spread(self, within: float) -> float:
        """Seconds to wait before going elsewhere, when the server gave ``within`` seconds for it."""
        self._count(None, self._now())
        longest = min(within / 2, self._backoff.most)
        return max(self._backoff.delay(self._failures), random.uniform(0, longest))  # noqa: S311

    def _count(self, error: Error | None, now: float) -> None:
        if self._well_since is not None and now - self._well_since > self._backoff.most:
            self._failures = 0
        self._well_since = None
        self._failures += 1
        if isinstance(error, ServerFault) and error.reason:
            self._faults += 1
            if self._faults > _MOST_FAULTS:
                raise error


def _given_up(error: Error, bound: float) -> ConnectionLost:
    return ConnectionLost(
        f"given up after {bound:g} s: {error.message}",
        code=error.code,
        reason=error.reason,
        detail=error.detail,
        facts=error.facts,
        fields=error.fields,
    )
