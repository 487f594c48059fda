"""Server reflection under both of its names, so that any tool can ask what there is.

The law of this file: v1 and v1alpha are the same messages under two names, answered by the
same code from the same descriptors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import aio as reflection_aio

from croupier_server.caller import Caller

SERVICE: Final = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
V1_NAME: Final = "grpc.reflection.v1.ServerReflection"


class Reflection:
    """Answers what services, messages and files there are."""

    def __init__(self, services: Iterable[str]) -> None:
        _describe_v1()
        names = (*services, SERVICE.full_name, V1_NAME)
        self._servicer: Final = reflection_aio.ReflectionServicer(names)

    async def server_reflection_info(
        self, requests: AsyncIterator[Any], caller: Caller
    ) -> AsyncIterator[Any]:
        """One answer a question."""
        del caller
        async for answer in self._servicer.ServerReflectionInfo(requests, None):
            yield answer


def _describe_v1() -> None:
    """Put the v1 description, which the library lacks, beside the v1alpha one."""
    pool = descriptor_pool.Default()
    alpha = descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(alpha)
    text = text_format.MessageToString(alpha).replace("v1alpha", "v1")
    pool.AddSerializedFile(text_format.Parse(text, descriptor_pb2.FileDescriptorProto()).SerializeToString())
