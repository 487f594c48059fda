"""Channels that note what goes over their ``Play`` streams.

The law of this file: what goes up is noted before it is sent, what comes down before the client
gets it, and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import grpc

from chaos.log import Log
from croupier.connection import Transport, network
from croupier.errors import error_from_status
from croupier.v1 import tables_pb2 as pb


def recorded(log: Log, name: str, player: Callable[[], str]) -> Transport:
    """Channels of the client ``name``; its streams are ``name.0``, ``name.1``, … in the log."""
    streams = count()
    return lambda address: _Channel(network()(address), log, lambda: f"{name}.{next(streams)}", player)  # type: ignore[return-value]


class _Channel:
    def __init__(
        self, channel: grpc.aio.Channel, log: Log, next_name: Callable[[], str], player: Callable[[], str]
    ) -> None:
        self._channel = channel
        self._log = log
        self._next_name = next_name
        self._player = player

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def stream_stream(self, *arguments: Any, **options: Any) -> Callable[..., _Call]:
        """``Play`` is the one method of this kind that a client uses."""
        call = self._channel.stream_stream(*arguments, **options)
        return lambda **how: _Call(call(**how), self._log, self._next_name(), self._player)


class _Call:
    def __init__(self, call: Any, log: Log, name: str, player: Callable[[], str]) -> None:
        self._call = call
        self._log = log
        self._name = name
        self._player = player

    async def write(self, request: pb.PlayRequest) -> None:
        for command in request.commands:
            if command.HasField("subscribe"):
                self._log.asked(self._name, command.subscribe)
            elif command.HasField("move"):
                self._log.sent(self._player(), command.move)
        await self._call.write(request)

    async def read(self) -> Any:
        response = await self._call.read()
        if isinstance(response, pb.PlayResponse):
            for update in response.updates:
                self._log.told(self._name, update)
            for result in response.results:
                if result.HasField("refused"):
                    error = error_from_status(result.refused)
                    self._log.refused(result.table, result.request_id, error)
                else:
                    self._log.answered(result.table, result.request_id, result.seq)
        return response

    def cancel(self) -> bool:
        cancelled: bool = self._call.cancel()
        return cancelled
