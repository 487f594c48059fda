"""Generates the Python modules of all protos, as a build hook and as a command.

``python protos/generate.py`` writes them beside the code that imports them; building or
installing the project does the same. With ``--check`` it generates into a temporary folder and
fails when what is beside the code differs.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (("protos", "croupier/v1", "clients"), ("server", "croupier_server/journal/v1", "server"))
"""Where protos are found, the package's folder in it, and where its modules go."""


class GenerateProtos(BuildHookInterface[Any]):
    """Runs protoc before anything is built or installed; a wheel also gets the rules compiled."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate; compile the rules for a wheel that is no editable one."""
        for _, _, target in SOURCES:
            generate(ROOT / target, only=target)
        if self.target_name == "wheel" and version == "standard":
            sys.path.insert(0, str(ROOT / "server"))
            from compile_rules import compile_rules

            compile_rules(build_data, self.app.display_info)


def googleapis() -> Path:
    """The folder that holds ``google/rpc/*.proto``."""
    with resources.as_file(resources.files("google.rpc") / "status.proto") as status:
        return status.parent.parent.parent


def generate(target: Path, *, only: str) -> None:
    """Write the modules that belong to the source folder ``only`` below ``target``."""
    for source, package, home in SOURCES:
        if home == only:
            _protoc(source, package, target)


def _protoc(source: str, package: str, target: Path) -> None:
    files = sorted(str(p.relative_to(ROOT / source)) for p in (ROOT / source / package).glob("*.proto"))
    scripts = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    plugins = [
        f"--plugin={name}={shutil.which(name, path=scripts)}"
        for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
    ]
    outputs = [f"--{kind}_out={target}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    if source == "server":
        outputs = [o for o in outputs if "grpc" not in o]
    with resources.as_file(resources.files("grpc_tools") / "_proto") as well_known:
        includes = [f"-I{ROOT / source}", f"-I{well_known}", f"-I{googleapis()}"]
        command = [sys.executable, "-m", "grpc_tools.protoc", *includes, *plugins, *outputs, *files]
        subprocess.run(command, check=True, stderr=subprocess.PIPE, env={**os.environ, "PATH": scripts})  # noqa: S603


def drift() -> list[str]:
    """Names of generated files that differ from what the protos make now."""
    differing = []
    with tempfile.TemporaryDirectory() as folder:
        for _, package, home in SOURCES:
            fresh = Path(folder) / home
            fresh.mkdir(exist_ok=True)
            generate(fresh, only=home)
            made = {p.name for p in (fresh / package).glob("*_pb2*")}
            there = {p.name for p in (ROOT / home / package).glob("*_pb2*")}
            _, mismatch, errors = filecmp.cmpfiles(
                fresh / package, ROOT / home / package, sorted(made | there), shallow=False
            )
            differing += [f"{home}/{package}/{name}" for name in (*mismatch, *errors)]
    return differing


def main() -> int:
    """Generate, or check with ``--check``; the exit code."""
    if "--check" in sys.argv[1:]:
        differing = drift()
        for name in differing:
            print(f"{name} is not what the protos make; run: make generate", file=sys.stderr)
        return 1 if differing else 0
    for _, _, home in SOURCES:
        generate(ROOT / home, only=home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
