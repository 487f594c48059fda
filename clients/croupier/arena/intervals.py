"""95% intervals of shares and means over deals.

The law of this file: the deal is the unit. The games of one deal share its cards and are no
independent witnesses, so a resample draws whole deals. Resamples follow from a fixed seed: the
same results always have the same intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES: Final = 2000
_Z: Final = 1.96
"""Standard deviations on each side of a 95% interval."""
_SEED: Final = 95
_DRAWN_AT_ONCE: Final = 2_000_000
"""Places of resamples that are drawn together: bounds the memory that they take."""

Interval = tuple[float, float]


@lru_cache(1)
def method() -> str:
    """How intervals are made here: ``"bootstrap"``, or ``"normal"`` where numpy is missing."""
    return "bootstrap" if find_spec("numpy") else "normal"


def ratio_interval(parts: Sequence[int], wholes: Sequence[int]) -> Interval | None:
    """The interval of ``sum(parts) / sum(wholes)``, given one of each for every deal.

    None where the deals cannot tell: when there are less than two that count, or all agree.
    """
    counted = tuple((part, whole) for part, whole in zip(parts, wholes, strict=True) if whole)
    if len({part / whole for part, whole in counted}) < 2:
        return None
    return _bootstrapped(counted) if method() == "bootstrap" else _normal(counted)


def wilson(wins: float, games: float) -> Interval:
    """Wilson's interval of a share of independent games; 0 to 1 when there are none."""
    if not games:
        return (0.0, 1.0)
    share, squared = wins / games, _Z * _Z
    middle = share + squared / (2 * games)
    half = _Z * sqrt(share * (1 - share) / games + squared / (4 * games * games))
    whole = 1 + squared / games
    return (max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole))


@lru_cache(256)  # a result's intervals are shown in several places
def _bootstrapped(counted: tuple[tuple[int, int], ...]) -> Interval:
    """Efron's percentiles of resampled deals."""
    import numpy as np  # the extra `arena` has it; nothing else of the arena needs it

    deals = np.asarray(counted, dtype=np.float64)
    sums = resampled_sums(deals, RESAMPLES)
    low, high = np.percentile(sums[:, 0] / sums[:, 1], (2.5, 97.5))
    return (float(low), float(high))


def resampled_sums(deals: Floats, resamples: int) -> Floats:
    """The sums of the columns over each resample of the rows: resample × column."""
    import numpy as np

    random, at_once = np.random.default_rng(_SEED), max(1, _DRAWN_AT_ONCE // len(deals))
    sums = []
    for done in range(0, resamples, at_once):
        shape = (min(at_once, resamples - done), len(deals))
        drawn = random.integers(0, len(deals), size=shape)
        sums.append(np.stack([column[drawn].sum(axis=1) for column in deals.T], axis=1))
    return np.concatenate(sums)


def _normal(counted: Sequence[tuple[int, int]]) -> Interval:
    """The ratio ± 1.96 standard errors, those of a ratio of sums over deals (the delta method)."""
    deals, total = len(counted), sum(whole for _, whole in counted)
    ratio = sum(part for part, _ in counted) / total
    residuals = sum((part - ratio * whole) ** 2 for part, whole in counted)
    half = _Z * sqrt(residuals * deals / (deals - 1)) / total
    return (ratio - half, ratio + half)
