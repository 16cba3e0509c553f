"""What a limit was chosen by, and other values for limits in a sweep.

A sweep sets ``LOOPLESS_LIMITS`` to other values before Loopless starts, as in
``automaton.MAX_PATHS=96,paths.MAX_PATHS=40``. They reach all processes of a request, since limits are read when their
modules are imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.records import dataclass

VARIABLE: Final = "LOOPLESS_LIMITS"
"""Name of the environment variable that holds a sweep's values."""


@dataclass(frozen=True, slots=True)
class ChosenBy:
    """Why a limit has its value: a measurement, a cost, a reason, or a guess. Stands in the limit's annotation."""

    reason: str


GUESS: Final = ChosenBy("a guess")
"""No measurement stands behind the value: it separates what is usual from what costs too much."""


def varied(module: str) -> None:
    """Give the limits of a module, by the name that it was imported under, the values of a sweep, if there is one.

    Each module of limits calls this at its end. Raises ``UsageError`` for a name that is no limit of the module, and
    for a value that is no number of the limit's type.
    """
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        return
    space, section = vars(sys.modules[module]), module.rpartition(".")[2]
    for assignment in filter(None, (part.strip() for part in chosen.split(","))):
        name, _, text = assignment.partition("=")
        where, _, limit = name.strip().partition(".")
        if not Path(__file__).with_name(f"{where}.py").exists():
            raise UsageError(f"{VARIABLE} sets {name.strip()}; no module of limits is called {where!r}")
        if where != section:
            continue
        if limit not in space.get("__annotations__", {}):
            raise UsageError(f"{VARIABLE} sets {name.strip()}, which is no limit; loopless.limits.{section} lists them")
        kind = type(space[limit])
        try:
            space[limit] = kind(text.replace("_", ""))
        except ValueError as error:
            message = f"{VARIABLE} gives {name.strip()} the value {text!r}, which is no {kind.__name__}"
            raise UsageError(message) from error
