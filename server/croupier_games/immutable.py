"""What states and moves have in common: they never change.

The law of this file: a copy of what never changes is the thing itself.
"""

from __future__ import annotations

from typing import Any, Self


class Immutable:
    """A value whose attributes are set once, when it is made. ``copy`` and ``deepcopy`` return it."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
