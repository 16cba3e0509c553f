"""Values that users give to inputs, as ``--at`` takes them: which inputs there are, and what their types hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph, Kind
from loopless.patterns import pattern
from loopless.queries.call_values.arguments import characters, number_of, unquoted
from loopless.queries.call_values.given_memory import (
    Value,
    array_of,
    check_elements,
    check_range,
    place_of,
)
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.program import AnalyzedFunction
from loopless.records import dataclass
from loopless.refusals import Refused

Given = Mapping[str, Value]
"""Values by the names of inputs; ``a[2]`` is one element of what ``a`` points to."""


def given_values(texts: Sequence[str]) -> dict[str, Value]:
    """``n=10,m=3``, several of them added up, no name twice. Raises ``UsageError``."""
    found: dict[str, Value] = {}
    for text in texts:
        for name, value in parse_values(text):
            if name in found:
                raise UsageError(f"--at gives {name} more than one value")
            found[name] = value
    return found


@dataclass(frozen=True, slots=True)
class DeclaredInputs:
    """The inputs of a function, as a value.

    ``inputs``: the names of parameters, globals and what pointers point to, with their types in the source; ``memory``:
    the names of what has elements; ``pointers``: parameters of which bounds know no address, with whether they point to
    plain integers; ``layouts``: what is declared in objects, by their names; ``any_size``: whether integers have no
    width.
    """

    function: str
    inputs: tuple[tuple[str, t.IntType | None], ...]
    memory: frozenset[str]
    pointers: tuple[tuple[str, bool], ...]
    layouts: Mapping[str, t.Layout]
    any_size: bool


def declared_inputs(function: AnalyzedFunction) -> DeclaredInputs | None:
    """The inputs of a function; None where it cannot be read."""
    graph = function.graph()
    if isinstance(graph, Refused):
        return None
    pointers = tuple(
        (parameter.name, parameter.pointee is not None)
        for parameter in graph.parameters
        if parameter.object is not None and not parameter.shared
    )
    memory, layouts = frozenset(_memory(graph)), layouts_in(function)
    any_size = function.program.settings.mathematical
    return DeclaredInputs(function.name, tuple(_inputs(graph)), memory, pointers, layouts, any_size)


def check_values(given: Given, declared: Sequence[DeclaredInputs | None], spoken_of: Iterable[str] = ()) -> None:
    """Raises ``UsageError`` for a value of what is no input of any function in ``declared`` nor ``spoken_of``, and for
    one that the type of an input does not have. Says nothing where a function cannot be read.
    """
    functions = [one for one in declared if one is not None]
    if not given or not functions or len(functions) < len(declared):
        return
    known = dict.fromkeys(name for function in functions for name, _ in function.inputs)
    others, memory = set(spoken_of), {name for function in functions for name in function.memory}
    for name, value in given.items():
        in_memory = name in memory if isinstance(value, tuple) else _root_of_element(name) in memory
        declares = array_of if isinstance(value, tuple) else place_of
        in_memory = in_memory or any(declares(function.layouts, name) is not None for function in functions)
        if isinstance(value, tuple) and not in_memory and (name in known or name in others):
            raise UsageError(f"{name} is one number: {name}={value[0] if value else 1}")
        if name not in known and not {name, unnumbered(name)} & others and not in_memory:
            where = ", ".join(function.function for function in functions[:5]) + (", …" if len(functions) > 5 else "")
            listed = ", ".join(list(known)[:30]) + (", …" if len(known) > 30 else "")
            there = f"inputs are {listed}" if listed else "it has none"
            raise UsageError(f"there is no input {name} in {where}; {there}")
        for function in functions:
            _check_value(name, value, function)


def _check_value(name: str, value: Value, function: DeclaredInputs) -> None:
    """Raises ``UsageError`` for a value that an input of the function does not take."""
    whose = f"{name} of {function.function}"
    for pointer, has_elements in function.pointers if isinstance(value, int) else ():
        if pointer == name:  # bounds do not speak of addresses
            what = f"{name}=[1,2,3]" if has_elements else f"{name}->x=1"
            raise UsageError(f"{whose} is a pointer; give what it points to: {what}")
    for shown, type in function.inputs:
        if shown == name and isinstance(value, int) and type is not None:
            check_range((value,), type, whose)
    check_elements(function.layouts, name, value, whose, any_size=function.any_size)


_ELEMENT: Final = pattern(r"(.+)\[(\d+)\]")


def _root_of_element(name: str) -> str | None:
    """``a`` of ``a[2]``."""
    found = _ELEMENT.fullmatch(name)
    return found[1] if found else None


def _memory(graph: Flowgraph) -> Iterator[str]:
    """The names of what has elements: what pointers point to, and arrays."""
    for parameter in graph.parameters:
        if parameter.object is not None:
            yield parameter.name
    for object in graph.objects.values():
        if object.kind in ("global", "parameter", "pointee", "reached") and not object.constant:
            yield object.name.removeprefix("*")
    for var in graph.variables:
        pointee = graph.pointee_name(var)
        if pointee is not None:
            yield pointee.removeprefix("*")


def _inputs(graph: Flowgraph) -> Iterator[tuple[str, t.IntType | None]]:
    """The names of parameters, globals and what pointers point to, with their types in the source."""
    for parameter in graph.parameters:
        of_value = parameter.var.type if parameter.var is not None and parameter.object is None else None
        pointee = parameter.pointee if parameter.object is not None and not parameter.shared else None
        yield parameter.name, of_value if of_value == t.INTEGERS else parameter.type or of_value or pointee
    for var, info in graph.variables.items():
        if info.kind in (Kind.GLOBAL, Kind.POINTEE):
            yield info.shown, var.type


def names_in_reach(functions: Sequence[AnalyzedFunction]) -> set[str]:
    """The names of all variables of ``functions``: what bounds can come to speak of."""
    graphs = [function.graph() for function in functions]
    infos = [info for graph in graphs if not isinstance(graph, Refused) for info in graph.variables.values()]
    found = {name for info in infos for name in (info.var.name, info.shown, unnumbered(info.var.name))}
    return found | {f"{name}()" for graph in graphs if not isinstance(graph, Refused) for name in graph.callees}


def unnumbered(name: str) -> str:
    """``f()`` of ``f()'2``, the second one that the program may come to."""
    return re.sub(r"'\d+$", "", name)


_OUTSIDE: Final = pattern(r"""(?:[^,\["]|\[[^\]]*\]|"(?:[^"\\]|\\.)*")+""")
"""What stands between commas that are in no brackets and in no string."""


def parse_values(text: str) -> list[tuple[str, Value]]:
    """``n=10,m=3``, ``a=[1,2]``, ``s="text"``. Raises ``UsageError``."""
    parts = _OUTSIDE.findall(text)
    if ",".join(parts) != text or not parts:
        raise UsageError(f"--at takes values like n=10,m=3, not {text!r}")
    return [_parsed(part) for part in parts]


def _parsed(part: str) -> tuple[str, Value]:
    name, _, word = (side.strip() for side in part.partition("="))
    value = _value(word) if name else None
    if value is None:
        raise UsageError(f"--at takes values like n=10,m=3, not {part.strip()!r}")
    return name, value


def _value(word: str) -> Value | None:
    """A number, elements in brackets, or a string."""
    if word.startswith("[") and word.endswith("]"):
        inside = word[1:-1].strip()
        numbers = [number_of(part) for part in inside.split(",")] if inside else []
        return None if None in numbers else tuple(number for number in numbers if number is not None)
    if len(word) >= 2 and word.startswith('"') and word.endswith('"'):
        try:
            return characters(unquoted(word))
        except ValueError:
            return None
    return number_of(word)
