"""Compiles the rules for a wheel with mypyc; the same source runs interpreted wherever it is not.

The law of this file: compiled and interpreted rules differ in speed alone. So what meets
untrusted data first (options, deals, records, texts) stays interpreted or is not annotated
tighter than it checks, and ``make test-wheel`` runs the tests of the rules on a compiled wheel.

The build hook calls ``compile_rules``. Nothing is compiled with ``CROUPIER_PURE=1`` set, or
where there is no C compiler, no ``Python.h`` or no mypyc; the build then says so and makes a
wheel for any platform.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SERVER = Path(__file__).resolve().parent
OUT = SERVER.parent / "build" / "rules"
COMPILED = ("cards.py", "immutable.py", "basic_rummy/*.py", "doudizhu/*.py", "hidden_unders/*.py")
"""The files of ``croupier_games`` that play goes through."""
LIBRARY = "croupier_rules"
"""All modules are in one extension library of this name; each is a shim to it."""


def compile_rules(build_data: dict[str, Any], say: Callable[[str], None]) -> None:
    """Compile, and put the extension modules into the wheel beside their source.

    ``build_data`` is hatchling's. Raises ``CalledProcessError`` when the compiler fails.
    """
    missing = why_not()
    if missing:
        say(f"the rules are not compiled: {missing}")
        return
    shutil.rmtree(OUT, ignore_errors=True)
    try:
        subprocess.run([sys.executable, __file__, str(OUT)], cwd=SERVER, check=True)  # noqa: S603
    except subprocess.CalledProcessError:
        say("the rules could not be compiled; with CROUPIER_PURE=1 they are left as they are")
        raise
    made = sorted((OUT / "lib").rglob("*.so"))
    build_data["force_include"] |= {str(path): str(path.relative_to(OUT / "lib")) for path in made}
    build_data["pure_python"] = False
    build_data["infer_tag"] = True


def why_not() -> str:
    """What keeps the rules from being compiled here; empty when nothing does."""
    if os.environ.get("CROUPIER_PURE") == "1":
        return "CROUPIER_PURE is 1"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        return f"there is no C compiler {compiler}"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "there are no headers of Python (Python.h)"
    if not all(importlib.util.find_spec(name) for name in ("mypyc", "setuptools")):
        return "mypyc needs mypy and setuptools"
    return ""


def main(out: Path) -> None:
    """Compile into ``out/lib``. Runs in a process of its own: mypyc goes by the working folder."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    files = [
        str(path.relative_to(SERVER))
        for pattern in COMPILED
        for path in sorted((SERVER / "croupier_games").glob(pattern))
    ]
    settings = ["--config-file=", "--strict", f"--cache-dir={out / 'mypy'}"]
    extensions = mypycify([*settings, *files], debug_level="0", target_dir=str(out), group_name=LIBRARY)
    for extension in extensions:  # another compiler's new warning must not stop an install
        extension.extra_compile_args = [each for each in extension.extra_compile_args if each != "-Werror"]
    build = Distribution({"name": LIBRARY, "ext_modules": extensions}).get_command_obj("build_ext")
    build.build_lib, build.build_temp = str(out / "lib"), str(out)
    build.ensure_finalized()
    build.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
