"""The games are pure: nothing in them can reach a clock, chance, the system or the wire."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import croupier_games

PURE = {
    *("__future__", "abc", "bisect", "collections", "collections.abc", "dataclasses", "enum", "functools"),
    *("hashlib", "heapq", "hmac", "itertools", "json", "math", "operator", "re", "string", "types", "typing"),
}
"""The standard library's modules that compute and do nothing else."""
IMPURE = {
    *("open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"),
    *("globals", "id"),
}
"""Built-in functions that reach outside, or whose results differ from run to run."""

ROOT = Path(croupier_games.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def imported(tree: ast.AST) -> set[str]:
    """The modules that a file imports, wherever in it."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add("croupier_games" if node.level else node.module or "")
    return modules


def test_there_are_files_to_look_at() -> None:
    assert {"__init__.py", "dealing.py", "records.py"} <= {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_pure_modules_are_imported(path: Path) -> None:
    modules = imported(ast.parse(path.read_text(encoding="utf-8")))
    assert {module for module in modules if module.split(".")[0] != "croupier_games"} <= PURE


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_built_in_function_reaches_outside(path: Path) -> None:
    names = {n.id for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Name)}
    assert not names & IMPURE


@pytest.mark.parametrize(
    "line", ["import os", "from os import path", "import os as o", "def f():\n    import os"]
)
def test_an_import_is_found_however_it_is_written(line: str) -> None:
    assert imported(ast.parse(line)) == {"os"}
