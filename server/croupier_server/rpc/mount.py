"""Services on grpc.aio.

The law of this file: a servicer knows no transport. For each method of its service it has an
async method in snake case that takes the request (or an async iterator of requests) and the
``Caller`` and returns the response, or a method that gives what iterates over the responses and
has ``aclose``, such as an async generator; a response is a message or its bytes. Whatever goes
wrong reaches the client as one refusal of ``errors``: never as INTERNAL or UNKNOWN, never with a
traceback. Each call makes at most one log line.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from types import TracebackType
from typing import Any, Final, NoReturn, Self, TypeAlias

import grpc
import structlog
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from croupier_server import logs
from croupier_server.caller import Caller
from croupier_server.errors import Refusal, refuse, refused_by_journal
from croupier_server.journal.base import JournalError
from croupier_server.metrics import Metrics
from croupier_server.rpc.admission import ACCESS, Access, Admission
from croupier_server.settings import Settings

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Response: TypeAlias = Message | bytes
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

_LARGE_ANSWERS: Final = frozenset({"croupier.v1.TableService.GetRecord"})
_WORD_STARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_LONGEST_TABLE: Final = 40
"""How much of what a caller took for a table's name is logged; names are shorter."""

_NOBODY: Final = Caller()
_FAULT: Final = "SERVER_FAULT"

log: Final = structlog.get_logger()


class Mount:
    """Mounts servicers on a server before it starts."""

    def __init__(
        self,
        server: grpc.aio.Server,
        settings: Settings,
        admission: Admission,
        metrics: Metrics,
        access: Mapping[str, Access] = ACCESS,
    ) -> None:
        self._server: Final = server
        self._settings: Final = settings
        self._admission: Final = admission
        self._metrics: Final = metrics
        self._access: Final = access

    def add(self, service: ServiceDescriptor, servicer: object, *, name: str | None = None) -> None:
        """Mount a servicer, under another ``name`` than the service's full one where given.

        Raises ``TypeError`` when the servicer lacks a method or a method has no access.
        """
        methods = {m.name: self._method(m, servicer).handler() for m in service.methods}
        self._server.add_registered_method_handlers(name or service.full_name, methods)

    def refuse_the_rest(self) -> None:
        """Answer every other method with METHOD_NOT_FOUND. Call it last."""
        self._server.add_generic_rpc_handlers((_NoSuchMethod(),))

    def _method(self, method: MethodDescriptor, servicer: object) -> _Method:
        name, attribute = method.full_name, _WORD_STARTS.sub("_", method.name).lower()
        behaviour = getattr(servicer, attribute, None)
        if behaviour is None:
            raise TypeError(f"{type(servicer).__name__} has no method {attribute} for {name}")
        access = self._access.get(name)
        if access is None:
            raise TypeError(f"{name} has no access; say who may call it")
        return _Method(method, behaviour, access, self._settings, self._admission, self._metrics)


class _Method:
    """One method of a service as grpc.aio wants it: bytes in, bytes out."""

    def __init__(
        self,
        method: MethodDescriptor,
        behaviour: Callable[..., Any],
        access: Access,
        settings: Settings,
        admission: Admission,
        metrics: Metrics,
    ) -> None:
        self.name: Final = f"{method.containing_service.name}/{method.name}"
        self.access: Final = access
        self.admission: Final = admission
        self.metrics: Final = metrics
        self.table_of: Final = _table_reader(method.input_type)
        self._kind: Final = (method.client_streaming, method.server_streaming)
        self._behaviour: Final = behaviour
        self._parse: Final = GetMessageClass(method.input_type).FromString
        self._deadline: Final = settings.unary_deadline_s
        self._most_in: Final = settings.max_message_bytes
        is_large = method.full_name in _LARGE_ANSWERS
        self._most_out: Final = settings.max_record_bytes if is_large else settings.max_message_bytes

    def handler(self) -> Handler:
        """The handler of this method's kind. Raises ``TypeError`` for one that no service here has."""
        if self._kind == (False, False):
            unary = self._probe if self.access is Access.PROBE else self._unary
            return grpc.unary_unary_rpc_method_handler(unary)
        if self._kind == (False, True):
            return grpc.unary_stream_rpc_method_handler(self._server_stream)
        if self._kind == (True, True):
            return grpc.stream_stream_rpc_method_handler(self._both_stream)
        raise TypeError(f"{self.name}: a client stream with a single answer cannot be mounted")

    async def _unary(self, data: bytes, context: Context) -> bytes:
        async with _Call(self, context) as call:
            self.admission.begin_call()
            try:
                async with asyncio.timeout(self._deadline) as deadline:
                    caller = await call.admit()
                    request = call.request = self._decode(data)
                    return self._encode(await self._behaviour(request, caller))
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise refuse("DEADLINE_EXCEEDED", f"not done within {self._deadline:g} seconds") from None
            finally:
                self.admission.end_call()
        raise AssertionError("a call that is not answered ends with an error")

    async def _probe(self, data: bytes, context: Context) -> bytes:
        async with _Call(self, context) as call:
            return self._encode(await self._behaviour(self._decode(data), await call.admit()))
        raise AssertionError("a call that is not answered ends with an error")

    async def _server_stream(self, data: bytes, context: Context) -> AsyncIterator[bytes]:
        async with _Call(self, context) as call:
            caller = await call.admit()
            request = call.request = self._decode(data)
            with self._stream_of(caller):
                async with aclosing(self._behaviour(request, caller)) as answers:
                    async for answer in answers:
                        yield self._encode(answer)

    async def _both_stream(self, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        async with _Call(self, context) as call:
            caller = await call.admit()
            with self._stream_of(caller):
                async with aclosing(self._behaviour(self._decoded(requests), caller)) as answers:
                    async for answer in answers:
                        yield self._encode(answer)

    @contextmanager
    def _stream_of(self, caller: Caller) -> Iterator[None]:
        if self.access is Access.PROBE:
            yield
            return
        with self.admission.stream(caller), self.metrics.open_stream(self.name):
            yield

    async def _decoded(self, requests: AsyncIterator[bytes]) -> AsyncIterator[Message]:
        async for data in requests:
            yield self._decode(data)

    def _decode(self, data: bytes) -> Message:
        self._check_size(data, self._most_in)
        try:
            return self._parse(data)
        except DecodeError:
            raise refuse(
                "MALFORMED_REQUEST", f"the bytes are no request of {self.name}, or a text is not UTF-8"
            ) from None

    def _encode(self, answer: Response) -> bytes:
        data = answer if isinstance(answer, bytes) else answer.SerializeToString()
        self._check_size(data, self._most_out)
        return data

    @staticmethod
    def _check_size(data: bytes, most: int) -> None:
        if len(data) > most:
            message = f"a message of {len(data)} bytes is larger than the {most} allowed"
            raise refuse("MESSAGE_TOO_LARGE", message, size=len(data), limit=most)


class _Call:
    """One call from its beginning to its end: turns every error into the refusal that goes out."""

    __slots__ = ("_context", "_method", "_started", "caller", "request")

    def __init__(self, method: _Method, context: Context) -> None:
        self._method: Final = method
        self._context: Final = context
        self._started: Final = time.perf_counter()
        self.caller = _NOBODY
        self.request: Message | None = None

    async def admit(self) -> Caller:
        """Who calls. Raises ``Refusal``."""
        metadata: Any = self._context.invocation_metadata()
        self.caller = caller = await self._method.admission.caller(self._method.access, metadata or ())
        logs.about(method=self._method.name, player=caller.player, trace=caller.trace_id)
        return caller

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._done("OK")
        elif isinstance(error, Exception):
            refusal = self._as_refusal(error)
            self._done(refusal.code.name, refusal)
            await _abort(self._context, refusal, self.caller.language)
        else:
            self._done("CANCELLED")

    def _as_refusal(self, error: Exception) -> Refusal:
        if isinstance(error, Refusal):
            return error
        if isinstance(error, JournalError) and (refusal := refused_by_journal(error)) is not None:
            return refusal
        incident = secrets.token_hex(8)
        log.error("call.fault", incident=incident, table=self._table(), exc_info=error)
        return refuse(_FAULT, f"a mistake in the server, incident {incident}", incident=incident)

    def _done(self, code: str, refusal: Refusal | None = None) -> None:
        seconds = time.perf_counter() - self._started
        self._method.metrics.called(self._method.name, code, seconds)
        if refusal is not None:
            if refusal.reason != _FAULT:  # that one has been logged where the error was known
                # What the rules say about a move may name cards: their one word for it must do.
                why = refusal.facts.get("rule_reason", refusal.message)
                facts = {"reason": refusal.reason, "why": why}
                log.info("call.refused", code=code, table=self._table(), ms=_ms(seconds), **facts)
        elif logs.debug_on and self._method.access is not Access.PROBE:
            log.debug("call.done", code=code, table=self._table(), ms=_ms(seconds))

    def _table(self) -> str | None:
        table = None if self.request is None else self._method.table_of(self.request)
        return table and table[:_LONGEST_TABLE]


async def _abort(context: Context, refusal: Refusal, language: str) -> NoReturn:
    status = refusal.to_status(language).SerializeToString()
    await context.abort(refusal.code, refusal.message, (("grpc-status-details-bin", status),))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _table_reader(request: Descriptor) -> Callable[[Any], str | None]:
    """How the table is read out of a request, for its log line; None where it names none."""
    fields = request.fields_by_name
    if "subscription" in fields:
        return lambda message: message.subscription.table or None
    for field in ("table", "name"):
        if field in fields:
            return lambda message: getattr(message, field) or None
    return lambda _: None


class _NoSuchMethod(grpc.GenericRpcHandler):
    """Answers calls of methods that there are not."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:
        """A handler for any method: it reads nothing and refuses."""
        method = handler_call_details.method

        async def refuse_it(requests: AsyncIterator[bytes], context: Context) -> None:
            del requests
            refusal = refuse("METHOD_NOT_FOUND", f"there is no method {method}", method=method)
            log.info("call.refused", code=refusal.code.name, reason=refusal.reason, why=refusal.message)
            await _abort(context, refusal, "en")

        return grpc.stream_stream_rpc_method_handler(refuse_it)
