"""Checks the public API: ``buf lint``, and ``buf breaking`` against the committed baseline.

The baseline ``protos/baseline.binpb`` is an image of the protos as released. ``--accept`` makes
the protos of today the baseline: do that on a release, or before the first one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "protos" / "baseline.binpb"
VENDORED = ROOT / "build" / "googleapis" / "google" / "rpc"
"""Where buf finds the one imported proto that comes with a Python package."""


def buf(*arguments: str) -> int:
    """Run buf in the project's root; its exit code."""
    command = shutil.which("buf", path=str(Path(sys.executable).parent)) or "buf"
    return subprocess.run([command, *arguments], cwd=ROOT, check=False).returncode  # noqa: S603


def main() -> int:
    """Lint and compare, or accept with ``--accept``; the exit code."""
    VENDORED.mkdir(parents=True, exist_ok=True)
    source = resources.files("google.rpc") / "status.proto"
    (VENDORED / "status.proto").write_bytes(source.read_bytes())
    if "--accept" in sys.argv[1:]:
        return buf("build", "protos", "-o", str(BASELINE))
    return buf("lint") or buf("breaking", "protos", "--against", str(BASELINE))


if __name__ == "__main__":
    sys.exit(main())
