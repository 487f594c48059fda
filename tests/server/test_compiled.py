"""What a move goes through in the server: interpreted in a checkout, compiled in a wheel.

``make test-wheel`` sets ``CROUPIER_WHEEL`` and runs tests of this folder on an installed wheel.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[2] / "server"
MODULES = sorted(SERVER.glob("croupier_server/**/*.py"))


def compiled() -> set[Path]:
    """The files that ``compile_wheel`` lists."""
    spec = importlib.util.spec_from_file_location("compile_wheel", SERVER / "compile_wheel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {SERVER / "croupier_server" / name for name in module.MOVES}


COMPILED = compiled()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_what_each_move_goes_through_is_compiled_in_a_wheel(module: Path) -> None:
    name = ".".join(module.relative_to(SERVER).with_suffix("").parts)
    spec = importlib.util.find_spec(name.removesuffix(".__init__"))
    assert spec is not None
    assert spec.origin is not None
    wheel = "CROUPIER_WHEEL" in os.environ
    assert Path(spec.origin).suffix == (".so" if wheel and module in COMPILED else ".py")


def bound_twice(source: str) -> Iterator[str]:
    """Names that a function binds in two ``except`` clauses: compiled, such a name has one type."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            handlers = [node for node in ast.walk(function) if isinstance(node, ast.ExceptHandler)]
            counted = Counter(handler.name for handler in handlers if handler.name)
            yield from (f"{function.name}: {name}" for name, times in counted.items() if times > 1)


@pytest.mark.parametrize("module", sorted(COMPILED), ids=lambda path: path.stem)
def test_no_compiled_function_names_two_errors_alike(module: Path) -> None:
    assert list(bound_twice(module.read_text())) == []


def test_such_a_function_would_be_found() -> None:
    source = "async def f():\n try: g()\n except OSError as e: h(e)\n except ValueError as e: h(e)\n"
    assert list(bound_twice(source)) == ["f: e"]
