"""Croupier's client: sit down at card tables over gRPC, play, watch, bring bots.

    import croupier

    async with croupier.connect("127.0.0.1:50051", name="Ada") as client:
        table = await client.create_table("doudizhu", options={"deals": 2})
        seat = await client.join(table.name)
        await client.invite_bot(table.name, level="easy")
        await client.invite_bot(table.name, level="easy")
        async for event in seat:
            if isinstance(event, croupier.Turn):
                await seat.play(event.legal_moves[0])
        print(seat.info.scores)

The law of this package: what is here is public, everything else may change. It needs gRPC and
protobuf alone; nothing of the server is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from croupier.client import Client, Game, Table, connect
    from croupier.codec import to_plain as plain
    from croupier.errors import (
        AlreadySeated,
        BrokenPromise,
        ConnectionLost,
        Error,
        GameOver,
        IllegalMove,
        InvalidRequest,
        LimitReached,
        MalformedMove,
        NotFound,
        NotYourTurn,
        PermissionDenied,
        SeatTaken,
        ServerFault,
        StaleMove,
        TableFull,
        Unauthenticated,
        Unavailable,
        WrongState,
    )
    from croupier.events import (
        Created,
        Dealt,
        Ended,
        Event,
        Filled,
        Moved,
        Presence,
        SeatChanged,
        Snapshot,
        Step,
        Turn,
        Unseen,
    )
    from croupier.inbox import InboxItem
    from croupier.invitations import serve_invitations
    from croupier.retry import Backoff
    from croupier.runner import Bot, BotFault, Outcome, play_bot
    from croupier.seat import Seat, Watch

_HOMES: Final = {
    "client": "Client Game Table connect",
    "errors": (
        "AlreadySeated BrokenPromise ConnectionLost Error GameOver IllegalMove InvalidRequest "
        "LimitReached MalformedMove NotFound NotYourTurn PermissionDenied SeatTaken ServerFault "
        "StaleMove TableFull Unauthenticated Unavailable WrongState"
    ),
    "events": ("Created Dealt Ended Event Filled Moved Presence SeatChanged Snapshot Step Turn Unseen"),
    "inbox": "InboxItem",
    "invitations": "serve_invitations",
    "retry": "Backoff",
    "runner": "Bot BotFault Outcome play_bot",
    "seat": "Seat Watch",
}
"""The public names by the module that they live in; a module is imported when it is asked for."""

_HOME: Final = {name: (module, name) for module, names in _HOMES.items() for name in names.split()}
_HOME["plain"] = ("codec", "to_plain")

__all__ = [
    "AlreadySeated",
    "Backoff",
    "Bot",
    "BotFault",
    "BrokenPromise",
    "Client",
    "ConnectionLost",
    "Created",
    "Dealt",
    "Ended",
    "Error",
    "Event",
    "Filled",
    "Game",
    "GameOver",
    "IllegalMove",
    "InboxItem",
    "InvalidRequest",
    "LimitReached",
    "MalformedMove",
    "Moved",
    "NotFound",
    "NotYourTurn",
    "Outcome",
    "PermissionDenied",
    "Presence",
    "Seat",
    "SeatChanged",
    "SeatTaken",
    "ServerFault",
    "Snapshot",
    "StaleMove",
    "Step",
    "Table",
    "TableFull",
    "Turn",
    "Unauthenticated",
    "Unavailable",
    "Unseen",
    "Watch",
    "WrongState",
    "connect",
    "plain",
    "play_bot",
    "serve_invitations",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, inner = _HOME[name]
    value = globals()[name] = getattr(import_module(f"croupier.{module}"), inner)
    return value
