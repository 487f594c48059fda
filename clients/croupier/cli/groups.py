"""Parameters of commands that belong together, declared once as a group.

The law of this file: a command is a plain function. A parameter whose type is a ``Group`` stands
for the group's own parameters, which are what the command line shows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Final, Self, get_type_hints

Command = Callable[..., int]
"""A command gives its exit code."""


class Group:
    """A frozen dataclass whose fields are parameters: ``server: Annotated[str, typer.Option(…)] = "…"``."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """The group's parameters; their names are unlike those of every other group."""
        hints = get_type_hints(cls, include_extras=True)
        return [
            _parameter(
                each.name, hints[each.name], inspect.Parameter.empty if _required(each) else each.default
            )
            for each in fields(cls)  # type: ignore[arg-type]  # every group is a dataclass, or overrides this
        ]

    @classmethod
    def gather(cls, **values: Any) -> Self:
        """The group from the values of its parameters."""
        return cls(**values)


def _required(field: Any) -> bool:
    return field.default is MISSING


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def spread(command: Command) -> Command:
    """The command with the parameters of its groups in the place of the groups."""
    hints = get_type_hints(command, include_extras=True)
    shown: list[inspect.Parameter] = []
    groups: Final[dict[str, tuple[type[Group], list[str]]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if inspect.isclass(kind) and issubclass(kind, Group):
            parts = kind.parameters()
            groups[name] = (kind, [part.name for part in parts])
            shown += parts
        else:
            shown.append(_parameter(name, kind, parameter.default))

    @functools.wraps(command)
    def run(**values: Any) -> int:
        for name, (kind, parts) in groups.items():
            values[name] = kind.gather(**{part: values.pop(part) for part in parts})
        return command(**values)

    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run
