"""The names of all that lies in Redis, and the slots where it lies.

The law of this file: what changes with an entry lies in the same slot as the entry. Entry *n* of a
stream is the *n*-th of its list, so there can be no gap.

Keys, where TAG is ``{s000}`` to ``{s255}``, from the stream's name:

    croupier:TAG:e:STREAM       list     the entries, in order
    croupier:TAG:deadlines      zset     stream by the time when something is to be done
    croupier:TAG:bound          hash     stream to the number of the entry that set its deadline
    croupier:TAG:finished       zset     streams that are over, by the time when they may be retired
    croupier:TAG:rows           hash     stream to its row
    croupier:TAG:of:SUBJECT     set      streams whose row concerns the subject
    croupier:TAG:in:INDEX       zset     listed rows by age; an index is ``all``, ``free``,
                                         ``game/GAME`` or ``state/STATE``
    croupier:clock              string   the latest time that the journal gave
    croupier:key:NAME           string   a key

A stream's entries are told on the sharded channel that is named as their list, a shard's rows on
the one that is named as their hash. Channels know no databases, so in database 2 all names begin
``croupier@2:``.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Collection
from typing import Final

SHARDS: Final = 256
_SLOTS: Final = 16_384


def slot_of(key: str) -> int:
    """The slot of a key in a cluster: that of its hash tag, if it has one."""
    _, opened, rest = key.partition("{")
    tag, closed, _ = rest.partition("}")
    return binascii.crc_hqx((tag if opened and closed and tag else key).encode(), 0) % _SLOTS


_SHARD_SLOTS: Final = tuple(slot_of(f"{{s{shard:03}}}") for shard in range(SHARDS))


def shard_of(stream: str) -> int:
    """The number of the shard that a stream is in."""
    return zlib.crc32(stream.encode()) % SHARDS


def shard_slot(shard: int) -> int:
    """The slot of all keys of a shard."""
    return _SHARD_SLOTS[shard]


class Names:
    """The names of keys and channels in one database."""

    def __init__(self, database: int) -> None:
        self.root: Final = f"croupier@{database}" if database else "croupier"
        self.clock: Final = f"{self.root}:clock"
        self._shards: Final = [f"{self.root}:{{s{number:03}}}:" for number in range(SHARDS)]
        self.slots: Final = dict(zip(self._shards, _SHARD_SLOTS, strict=True))
        """The slot of all keys that begin with what ``shard`` gives."""

    def shard(self, stream: str) -> str:
        """What the keys of a stream begin with."""
        return self._shards[shard_of(stream)]

    def rows(self, shard: int) -> str:
        """The hash of a shard's rows, and the channel on which they are told."""
        return f"{self._shards[shard]}rows"

    def of(self, shard: int, subject: str) -> str:
        """The set of a shard's streams whose row concerns a subject."""
        return f"{self._shards[shard]}of:{subject}"

    def some(self, shards: Collection[int]) -> str:
        """What scripts that ask many shards take for the name: which of them."""
        if len(shards) == SHARDS:
            return self.root
        return f"{self.root} {''.join('1' if shard in shards else '0' for shard in range(SHARDS))}"

    def shard_in(self, name: str) -> int:
        """The number of the shard that a key or channel is named for."""
        return int(name[len(self.root) + 3 : len(self.root) + 6])

    def entries(self, stream: str) -> str:
        """The list of a stream's entries, and the channel on which they are told."""
        return f"{self.shard(stream)}e:{stream}"

    def entries_like(self, prefix: str) -> str:
        """A pattern for the lists of all streams whose name begins so."""
        return f"{self.root}:{{s[0-9][0-9][0-9]}}:e:{prefix}*"

    def key(self, name: str) -> str:
        """Where a key of that name is."""
        return f"{self.root}:key:{name}"
