"""Compiles the rules and what bots think with for a wheel, with mypyc; elsewhere they run interpreted.

The law of this file: compiled and interpreted modules differ in speed alone. So what meets
untrusted data first (options, deals, records, texts, a bot's view) stays interpreted or is not
annotated tighter than it checks, and ``make test-wheel`` runs the tests of both on a compiled wheel.

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
CLIENTS = SERVER.parent / "clients"
OUT = SERVER.parent / "build" / "rules"
RULES = ("cards.py", "immutable.py", "basic_rummy/*.py", "doudizhu/*.py", "hidden_unders/*.py")
"""The files of ``croupier_games`` that play goes through."""
BOTS = (
    "basic_rummy/melds.py",
    "basic_rummy/playing.py",
    "doudizhu/clues.py",
    "doudizhu/hands.py",
    "doudizhu/plans.py",
    "doudizhu/playout.py",
    "doudizhu/policy.py",
    "doudizhu/solver.py",
    "hidden_unders/rounds.py",
    "hidden_unders/tree.py",
)
"""The files of ``croupier.bots`` that a playout goes through; they know cards as ints, and no view."""
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

    rules, bots = SERVER / "croupier_games", alone(out / "source")
    files = [
        os.path.relpath(path, SERVER)
        for folder, patterns in ((rules, RULES), (bots, BOTS))
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
    ]
    settings = ["--config-file=", "--strict", f"--cache-dir={out / 'mypy'}"]
    extensions = mypycify([*settings, *files], debug_level="0", target_dir=str(out), group_name=LIBRARY)
    for extension in extensions:  # another compiler's new warning must not stop an install
        extension.extra_compile_args = [each for each in extension.extra_compile_args if each != "-Werror"]
    build = Distribution({"name": LIBRARY, "ext_modules": extensions}).get_command_obj("build_ext")
    build.build_lib, build.build_temp = str(out / "lib"), str(out)
    build.ensure_finalized()
    build.run()


def alone(source: Path) -> Path:
    """Copy ``BOTS`` below ``source``, in packages that are empty but for them; their folder.

    The packages that they are in import all of the client, which mypy would follow and, where a
    wheel is built, has no types for.
    """
    target = source / "croupier" / "bots"
    for module in BOTS:
        (target / module).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CLIENTS / "croupier" / "bots" / module, target / module)
    for package in (target.parent, target, *{(target / module).parent for module in BOTS}):
        (package / "__init__.py").touch()
    return target


if __name__ == "__main__":
    main(Path(sys.argv[1]))
