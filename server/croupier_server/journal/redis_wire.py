"""One connection to Redis: commands go out in order, many before the first answer, and come back so.

The law of this file: each command gets exactly one outcome, its reply or an error; a connection
that owes an answer for more than ``ANSWER_SECONDS`` is cut. No command is sent twice by it.

It is written on hiredis's parser and packer alone: redis-py asks for a connection of its pool for
each command, or for one task to gather them, and either costs several times as much.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import hiredis

from croupier_server.journal.base import JournalRefused, JournalUnavailable, NotWritten

ANSWER_SECONDS: Final = 3.0
"""How long a command may wait for its answer."""
_LOOK_SECONDS: Final = 0.5
_WAIT_MS: Final = 1_000
"""How long Redis waits for replicas; below ``ANSWER_SECONDS``, so that it answers."""

Part = str | bytes | int
"""What commands are made of."""

pack: Final[Callable[[tuple[Part, ...]], bytes]] = hiredis.pack_command  # type: ignore[assignment]
"""A command as it goes over the wire."""

Handle = Callable[[Any], None]
"""Gets a command's reply, or an exception. Called once, in the order of the commands."""


class Silent(JournalUnavailable):
    """A server owed an answer for too long; others who wait for it wait in vain."""


class NotConfirmed(JournalUnavailable):
    """Stored on the primary, but fewer replicas than ``wait`` asks for have said that they have it."""


class ScriptForgotten(NotWritten):
    """Redis does not have a script (any more) that was called by its hash."""


class Denied(NotWritten, JournalRefused):
    """Redis does not let this user in, or not do what a journal does."""


class Unforeseen(JournalRefused):
    """Redis answers something that a journal does not reckon with. It may have done what it was told."""


class KeyTaken(NotWritten, JournalRefused):
    """A key of the journal holds something that the journal did not put there."""


class Redirected(NotWritten):
    """A node of a cluster did not take a command: another has the slot, or none has all of it now.

    Made from what the node answers: ``MOVED SLOT HOST:PORT``, ``ASK SLOT HOST:PORT``, ``TRYAGAIN``,
    ``CLUSTERDOWN`` or that a script's keys are not there.
    """

    @property
    def kind(self) -> str:
        """The first word of the answer."""
        return str(self).partition(" ")[0]

    @property
    def place(self) -> tuple[int, str, int] | None:
        """The slot, and the host ('' for that of who answered) and port it is said to be at."""
        if self.kind not in {"MOVED", "ASK"}:
            return None
        _, slot, where = str(self).split()[:3]
        host, _, port = where.rpartition(":")
        return int(slot), host.strip("[]"), int(port)


_REFUSALS: Final = {
    "OOM": "Redis is out of memory (maxmemory)",
    "READONLY": "this Redis is a read-only replica",
    "MISCONF": "Redis cannot write to its disk",
    "NOREPLICAS": "Redis has too few replicas to write (min-replicas-to-write)",
    "MASTERDOWN": "this Redis is a replica that has lost its primary",
    "LOADING": "Redis is still loading its data",
    "BUSY": "Redis is busy with a script",
}
_DENIALS: Final = {
    "NOAUTH": "Redis wants a password",
    "WRONGPASS": "Redis does not take this user and password",
    "NOPERM": "this Redis user lacks rights that the journal needs",
}
_REDIRECTIONS: Final = frozenset({"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"})
_FULL: Final = "max number of clients reached"
_NOT_HERE: Final = "non local key"
"""What a script is told that needs a key whose slot is elsewhere, or on its way."""


def refusal(reply: Exception) -> JournalUnavailable:
    """What an error reply means. Whatever is not foreseen may have happened after a write."""
    if isinstance(reply, JournalUnavailable):
        return type(reply)(*reply.args)  # one for each who raises it
    text = str(reply)
    code = text.partition(" ")[0]
    if code == "NOSCRIPT":
        return ScriptForgotten("Redis has forgotten a script")
    if code == "WRONGTYPE":
        return KeyTaken("a key of the journal holds something else: does another program use this database?")
    if code in _REDIRECTIONS:
        return Redirected(text)
    if _NOT_HERE in text:
        return Redirected("TRYAGAIN: the keys of a script are not all here")
    if code in _DENIALS:
        return Denied(_DENIALS[code])
    if _FULL in text:
        return NotWritten("Redis has as many clients as it takes (maxclients)")
    meaning = _REFUSALS.get(code)
    if meaning:
        return NotWritten(meaning)
    said = text.partition(", with args")[0]  # what it quotes of a command may be a password
    return Unforeseen(f"Redis answers: {said[:120]}")


def settle(answer: asyncio.Future[Any], reply: Any) -> None:
    """Give a reply to whoever awaits it, if they still do."""
    if answer.done():
        return
    if isinstance(reply, Exception):
        answer.set_exception(refusal(reply))
    else:
        answer.set_result(reply)


class Wire(asyncio.Protocol):
    """A connection. ``news``, if any, gets what answers no command; then silence is looked into.

    With ``confirm`` set commands are answered when that many replicas have what they wrote.
    """

    def __init__(self, lost: Callable[[Wire, Exception], None], news: Handle | None = None) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._lost: Final = lost
        self._news: Final = news
        self._nothing: Final = object()
        self._reader: Final = hiredis.Reader(notEnoughData=self._nothing)
        self._waiting: Final[deque[tuple[float, Handle]]] = deque()
        self._unsent: list[tuple[bytes, Handle]] = []
        self._transport: asyncio.Transport | None = None
        self._heard_at = self._loop.time()
        self._watch: asyncio.TimerHandle | None = None
        self._why: Exception | None = None
        self.confirm: Confirm | None = None
        self.gone: Final = asyncio.Event()
        """Set when nothing is left of a connection that was made."""

    @property
    def waiting(self) -> int:
        """How many commands wait for their answer."""
        return len(self._waiting) + len(self._unsent)

    @property
    def over(self) -> bool:
        """True once the connection is lost or cut."""
        return self._why is not None

    def send(self, packed: bytes, handle: Handle) -> None:
        """Queue a command; all of one turn of the event loop go out in one write."""
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append((packed, handle))

    def call(self, *command: Part) -> asyncio.Future[Any]:
        """Send a command; its reply. Raises ``JournalUnavailable``."""
        answer = self._loop.create_future()
        self.send(pack(command), partial(settle, answer))
        return answer

    def tell(self, *command: Part) -> None:
        """Send a command whose answers are news."""
        if self._transport is not None and not self.over:
            self._transport.write(pack(command))

    def cut(self, why: Exception) -> None:
        """End the connection, if there is one; all who wait get ``why``."""
        self._why = self._why or why
        if self._transport is None:
            self.gone.set()
        else:
            self._transport.abort()

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        handles = [handle for _, handle in unsent]
        if self._transport is None or self.over:
            self._fail(handles)
            return
        out = [packed for packed, _ in unsent]
        if self.confirm is not None:
            group = _Confirmed(self.confirm, handles)
            handles = [*([group.hold] * len(handles)), group.release]
            out.append(self.confirm.packed)
        now = self._loop.time()
        self._waiting.extend([(now, handle) for handle in handles])
        self._transport.write(b"".join(out))

    def _fail(self, handles: list[Handle]) -> None:
        for handle in handles:
            handle(self._why)

    def _look(self) -> None:
        """Cut a connection that owes an answer for too long; one for news is asked when silent."""
        now = self._loop.time()
        owes_since = self._waiting[0][0] if self._waiting else now
        if self._news is not None:
            if now - self._heard_at > ANSWER_SECONDS:
                self.tell("PING")
            owes_since = min(owes_since, self._heard_at + ANSWER_SECONDS)
        if now - owes_since > ANSWER_SECONDS:
            self.cut(Silent(f"Redis has not answered for {ANSWER_SECONDS:.0f} seconds"))
        else:
            self._watch = self._loop.call_later(_LOOK_SECONDS, self._look)

    # asyncio calls what follows.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport  # type: ignore[assignment]  # TCP, TLS and Unix sockets can be written
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take replies to whoever waits for them."""
        self._heard_at = self._loop.time()
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not self._nothing:
                if self._waiting:
                    self._waiting.popleft()[1](reply)
                elif self._news is not None:
                    self._news(reply)
        except hiredis.ProtocolError:
            self.cut(JournalRefused("what answers there does not speak Redis's protocol"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell all who wait."""
        self._why = self._why or JournalUnavailable(f"the connection to Redis was lost: {exc or 'closed'}")
        if self._watch is not None:
            self._watch.cancel()
        waiting = [handle for _, handle in self._waiting]
        self._waiting.clear()
        self._fail(waiting)
        self.gone.set()
        self._lost(self, self._why)


@dataclass(frozen=True, slots=True)
class Confirm:
    """How many replicas must have a write, in memory (WAIT) or on disk (WAITAOF), before it counts."""

    replicas: int
    on_disk: bool = False
    packed: bytes = field(init=False)

    def __post_init__(self) -> None:
        how = ("WAITAOF", 1, self.replicas) if self.on_disk else ("WAIT", self.replicas)
        object.__setattr__(self, "packed", pack((*how, _WAIT_MS)))

    def problem(self, reply: Any) -> str:
        """What is missing by the answer to ``packed``; '' when nothing is."""
        local, replicas = reply if self.on_disk else (1, reply)
        if local < 1:
            return "Redis has not written it to its disk in time"
        if replicas < self.replicas:
            return f"only {replicas} of {self.replicas} replicas have confirmed in time"
        return ""


class _Confirmed:
    """The commands of one write; their replies are held until it is known how many replicas have them."""

    def __init__(self, confirm: Confirm, handles: list[Handle]) -> None:
        self._confirm: Final = confirm
        self._handles: Final = handles
        self._held: Final[list[Any]] = []

    def hold(self, reply: Any) -> None:
        self._held.append(reply)

    def release(self, reply: Any) -> None:
        error: Exception | None = None
        if isinstance(reply, Exception):
            error = reply
        elif problem := self._confirm.problem(reply):
            error = NotConfirmed(problem)
        for handle, held in zip(self._handles, self._held, strict=True):
            handle(held if error is None or isinstance(held, Exception) else error)
