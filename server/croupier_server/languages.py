"""Which language to answer in.

The law of this file: a language is a BCP 47 tag in lower case. What a caller asks for never
fails: what is not understood is passed over, and English is always there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

FALLBACK: Final = "en"

_MOST: Final = 10
_LONGEST: Final = 200


@lru_cache(maxsize=1024)
def accepted(header: str) -> tuple[str, ...]:
    """The languages of an ``accept-language`` value, most wanted first; at most ten.

    >>> accepted("de-CH, en;q=0.5, fr;q=0.9, *;q=0.1")
    ('de-ch', 'fr', 'en')
    """
    weighed = []
    for place, item in enumerate(header[:_LONGEST].split(",")):
        tag, _, parameter = item.strip().partition(";")
        weight = _weight(parameter)
        if weight > 0 and tag and tag.isascii() and tag.replace("-", "").isalnum():
            weighed.append((-weight, place, tag.lower()))
    return tuple(tag for _, _, tag in sorted(weighed)[:_MOST])


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if not name:
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0


def best(wanted: Iterable[str], available: Collection[str]) -> str:
    """The first wanted language that is available, itself or as its main language, else ``en``.

    >>> best(("fr", "de-ch"), {"en", "de"})
    'de'
    """
    for tag in wanted:
        for candidate in (tag.lower(), tag.lower().partition("-")[0]):
            if candidate in available:
                return candidate
    return FALLBACK
