"""What variables of the source are called in a function, so that no two have one name and none that of another."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from loopless.limits.flowgraph import MAX_LITERAL_CHARACTERS
from loopless.patterns import pattern
from loopless.source import ir
from loopless.source.debug import DebugVariable


class GlobalNames:
    """The names of globals, as one function sees them."""

    def __init__(self, function: ir.SourceFunction, module: ir.Module) -> None:
        self._function, self._module = function, module

    def name(self, described: DebugVariable) -> str:
        """What a global is called: as in the source where the function sees it by its name. A static variable of a
        function is ``f::x`` elsewhere, a static of one of several files ``a.c:x``, a global behind a local ``::x``.
        """
        name, place = described.name, described.declared
        there = place.function if place is not None else ""
        if there and (there != self._function.source_name or (name, "") in self._declared):
            return f"{there}::{name}"
        if not there and place is not None and self._declared[name, ""] > 1:
            return f"{PurePath(place.file).name}:{name}"
        return f"::{name}" if not there and name in self._locals else name

    @functools.cached_property
    def _declared(self) -> Counter[tuple[str, str]]:
        """How many variables of each name there are in the module, with the function that each is local to."""
        described = (found.debug for found in self._module.globals.values() if found.debug is not None)
        return Counter((d.name, d.declared.function if d.declared is not None else "") for d in described)

    @functools.cached_property
    def _locals(self) -> frozenset[str]:
        """The names of the function's own variables."""
        own = (v for v in self._function.variables.values() if v.declared is None or v.declared.inlined_at is None)
        parameters = (p.debug.name for p in self._function.params if p.debug is not None)
        return frozenset((*(v.name for v in own), *parameters))


def numbered(name: str, declared: object) -> Iterator[str]:
    """A name, and what else is called so: ``x@7`` was declared in line 7."""
    yield name
    if isinstance(declared, ir.Loc) and declared.line:
        yield f"{name}@{declared.line}"
    yield from (f"{name}#{number}" for number in itertools.count(2))


_OF_RANGE: Final = pattern(r"__(begin|end|range)\d+")
"""What the compiler calls the variables of a loop over a range."""


def qualified(name: str, declared: ir.Loc | None) -> str:
    """Variables of inlined functions carry that function's name; those that a loop over a range has by itself are told
    by its line.
    """
    made = _OF_RANGE.fullmatch(name)
    if made is not None and declared is not None:
        name = f"{made[1]}(line {declared.line})"
    if declared is not None and declared.inlined_at is not None and declared.function:
        return f"{declared.function}::{name}"
    return name


def literal(found: ir.GlobalVar) -> str | None:
    """How C writes a string literal; None for what is none, or is not short and of plain characters."""
    if not found.name.startswith(".str") or not found.constant or not isinstance(found.initializer, ir.BytesConst):
        return None
    text, end = found.initializer.data[:-1], found.initializer.data[-1:]
    plain = all(32 <= byte < 127 and byte not in b'"\\' for byte in text)
    return f'"{text.decode("ascii")}"' if plain and end == b"\0" and len(text) <= MAX_LITERAL_CHARACTERS else None
