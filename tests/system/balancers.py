"""Load balancers in processes of their own, started from the files that ``deploy/balancers`` ships.

The law of this file: what runs is the shipped file; a test gives it variables and nothing else. A
balancer keeps its address through all its lives, and nothing of it outlives its block.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.request import urlopen

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from system.components import die_with_parent, program
from system.processes import PATIENCE, free_port

SHIPPED = Path(__file__).parents[2] / "deploy" / "balancers"
_LAST_LINES = 20
_PAUSE = 0.02
"""Seconds between two looks at a program that tells of no events."""


class Balancer:
    """One balancer before ``replicas`` (addresses ``HOST:PORT``), through all its lives."""

    def __init__(self, folder: Path, replicas: Sequence[str], variables: Mapping[str, str]) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.replicas = list(replicas)
        self.folder = folder
        self.variables = {
            "CROUPIER_LISTEN": self.address,
            **{f"CROUPIER_REPLICA_{n}": replica for n, replica in enumerate(replicas, 1)},
            **variables,
        }
        self._log = folder / "log"
        self._process: Process | None = None

    def command(self) -> list[str]:
        """How it is started."""
        raise NotImplementedError

    def in_use(self) -> set[str]:
        """The replicas that it gives new calls to. Raises ``OSError`` while it cannot be asked."""
        raise NotImplementedError

    async def start(self) -> None:
        """Start it and wait until a call through it is answered by a healthy replica."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command(),
                stdout=log,
                stderr=log,
                env={**os.environ, **self.variables},
                preexec_fn=die_with_parent,
            )
        async with asyncio.timeout(PATIENCE):
            await self._answers()

    async def _answers(self) -> None:
        request = health_pb2.HealthCheckRequest()
        async with grpc.aio.insecure_channel(self.address) as channel:
            while True:
                assert self._process is not None
                assert self._process.returncode is None, self.last_words()
                try:
                    await health_pb2_grpc.HealthStub(channel).Check(request, timeout=1)
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(_PAUSE)
                else:
                    return

    async def uses(self, *replicas: str) -> None:
        """Wait until it gives new calls to exactly these."""
        async with asyncio.timeout(PATIENCE):
            while await asyncio.to_thread(self.in_use) != set(replicas):  # noqa: ASYNC110 (it sets no event)
                await asyncio.sleep(_PAUSE)

    async def stop(self) -> None:
        """SIGTERM: it cuts its connections and goes."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """SIGKILL."""
        await self._end(signal.SIGKILL)

    async def restart(self) -> None:
        """Stop it and start it again."""
        await self.stop()
        await self.start()

    async def _end(self, number: signal.Signals) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            await self._process.wait()

    def last_words(self) -> str:
        """The end of what it wrote."""
        lines = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        return "\n".join([f"{type(self).__name__} said:", *lines[-_LAST_LINES:]])


class HAProxy(Balancer):
    """HAProxy, which tells its metrics' readers what it thinks of each replica."""

    def __init__(self, folder: Path, replicas: Sequence[str], variables: Mapping[str, str]) -> None:
        self._metrics = f"127.0.0.1:{free_port()}"
        super().__init__(folder, replicas, {"CROUPIER_BALANCER_METRICS": self._metrics, **variables})

    def command(self) -> list[str]:
        """In the foreground; no master process, so that its end is the end of it."""
        return [program("haproxy", package="haproxy"), "-db", "-f", str(SHIPPED / "haproxy.cfg")]

    def in_use(self) -> set[str]:
        """Those that it holds to be up."""
        with urlopen(f"http://{self._metrics}/metrics?scope=server") as answer:
            lines = answer.read().decode().splitlines()
        return {
            address
            for number, address in enumerate(self.replicas, 1)
            if f'haproxy_server_status{{proxy="replicas",server="replica-{number}",state="UP"}} 1' in lines
        }


@asynccontextmanager
async def balancer(
    kind: type[Balancer], replicas: Sequence[str], **variables: str
) -> AsyncIterator[Balancer]:
    """A balancer that answers; ``variables`` without their prefix: ``idle_timeout="1s"``."""
    given = {f"CROUPIER_{name.upper()}": value for name, value in variables.items()}
    with tempfile.TemporaryDirectory(prefix="balancer-") as folder:
        running = kind(Path(folder), replicas, given)
        try:
            await running.start()
            yield running
        except BaseException as error:
            error.add_note(running.last_words())
            raise
        finally:
            await running.kill()
