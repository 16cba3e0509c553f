"""Which functions, loops and variables a question is about: ``--function``, ``--loop``, ``--vars``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from loopless import terms as t
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.patterns import pattern
from loopless.queries.program import AnalyzedLoop, AnalyzedProgram
from loopless.refusals import Refused

_LINE = pattern(r"(.+):(\d+)")
_PLACE = pattern(r"(.+:)?\d+(:\d+)?([~@].*)?", re.DOTALL)
"""What a place looks like: a line, a file and a line, with a column, or a loop's full name with its suffix."""


def select_loops(
    program: AnalyzedProgram, functions: Sequence[str] = (), places: Sequence[str] = ()
) -> tuple[AnalyzedLoop, ...]:
    """The loops in any of ``functions`` (by name) and at any of ``places``; all loops where nothing is named.

    A place is a loop's full name, ``FILE:LINE``, or ``LINE`` where the program has one file. Raises ``UsageError``
    for a function that is not there and for a place without a loop.
    """
    named = [program[name] for name in functions]
    inside = [one for one in program.functions if (one in named if named else one.is_listed)]
    everything = [loop for function in inside for loop in function.loops]
    own = [loop for loop in everything if loop.id.inlined_from is None]
    if not places:
        return tuple(own)
    found: dict[AnalyzedLoop, None] = {}
    for place in places:
        matching = [loop for loop in everything if loop.name == place] or [loop for loop in own if _is_at(loop, place)]
        if not matching:
            raise UsageError(_no_loop(program, own, place))
        found.update(dict.fromkeys(matching))
    return tuple(loop for loop in everything if loop in found)


def _is_at(loop: AnalyzedLoop, place: str) -> bool:
    if place.isdigit():
        return loop.line == int(place)
    plain = f"{loop.id.file}:{loop.line}:{loop.id.column}"
    if place == plain or loop.name.startswith(f"{place}~") or loop.name.startswith(f"{place}@"):
        return True
    match = _LINE.fullmatch(place)
    return match is not None and loop.line == int(match[2]) and _same_file(loop.id.file, match[1])


def _same_file(file: str, named: str) -> bool:
    """Whether ``named`` is the file, or the end of its path."""
    a, b = os.path.normpath(file), os.path.normpath(named)
    return a == b or a.endswith(os.sep + b) or os.path.realpath(a) == os.path.realpath(b)


def _no_loop(program: AnalyzedProgram, loops: Sequence[AnalyzedLoop], place: str) -> str:
    where = ", ".join(program.files)
    if _PLACE.fullmatch(place) is None:
        raise UsageError(
            f"{place!r} is no place of a loop: give FILE:LINE, LINE, or the name that loopless loops shows"
        )
    if not loops:
        return f"there is no loop at {place}; {where} has no loops"
    known = [f"{loop.id.file}:{loop.line}" for loop in loops]
    shown = ", ".join(dict.fromkeys(known[:12])) + (", …" if len(known) > 12 else "")
    return f"there is no loop at {place}; there are loops at {shown}"


def check_variables(loops: Iterable[AnalyzedLoop], names: Sequence[str]) -> None:
    """Raises ``UsageError`` if a name is no variable of any of the functions that hold ``loops``."""
    functions = list(dict.fromkeys(loop.function for loop in loops))
    known: dict[str, None] = {}
    unread = False
    for function in functions:
        graph = function.graph()
        if isinstance(graph, Refused):
            unread = True  # it is answered with the refusal; which names it has is not known
        else:
            known.update(dict.fromkeys(shown_names(graph)))
    for name in names:
        if name not in known and not unread:
            where = ", ".join(function.name for function in functions[:5])
            listed = ", ".join(list(known)[:30]) or "none"
            raise UsageError(f"there is no variable {name} in {where or 'the program'}; known ones: {listed}")


def shown_names(graph: Flowgraph) -> tuple[str, ...]:
    """The names of variables that users know, each once, in the order of the flowgraph."""
    return tuple(dict.fromkeys(i.shown for i in graph.variables.values() if i.is_source and i.pointer_part != "object"))


def variables_named(graph: Flowgraph, name: str, occurring: Iterable[t.Var]) -> tuple[t.Var, ...]:
    """The variables that the source calls ``name`` (or that have this very name inside): those that occur in the loop
    where there are some, else all.
    """
    exact = [var for var in graph.variables if var.name == name and ("#" in name or "@" in name)]
    if exact:
        return tuple(exact)
    named = [v for v, i in graph.variables.items() if i.shown == name and i.is_source and i.pointer_part != "object"]
    inside = set(occurring)
    return tuple(v for v in named if v in inside) or tuple(named)
