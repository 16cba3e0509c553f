"""Values that the user gives to inputs, ``--at``: whether there are such inputs, and whether they can be so large."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.reads.without_data import without_data
from loopless.errors import UsageError
from loopless.flowgraph.model import Kind
from loopless.queries.bounds.answers import FunctionBound
from loopless.queries.call_values.arguments import characters, number_of, unquoted
from loopless.queries.call_values.given_memory import (
    GivenMemory,
    Value,
    array_of,
    check_elements,
    check_range,
    place_of,
)
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.program import Function
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


def check_values(given: Given, functions: Sequence[Function], spoken_of: Iterable[str] = ()) -> None:
    """Raises ``UsageError`` for a value of what is no input of any of ``functions`` nor ``spoken_of``, and for one that
    the type of an input does not have.
    """
    graphs = [function.graph() for function in functions]
    declared = {function: layouts_in(function) for function in functions} if given else {}
    if not functions or any(isinstance(graph, Refused) for graph in graphs):
        return
    inputs = [(function, name, type) for function in functions for name, type in _inputs(function)]
    known = dict.fromkeys(name for _, name, _ in inputs)
    others, memory = set(spoken_of), {name for function in functions for name in _memory(function)}
    for name, value in given.items():
        in_memory = name in memory if isinstance(value, tuple) else _root_of_element(name) in memory
        declares = array_of if isinstance(value, tuple) else place_of
        in_memory = in_memory or any(declares(layouts, name) is not None for layouts in declared.values())
        if isinstance(value, tuple) and not in_memory and (name in known or name in others):
            raise UsageError(f"{name} is one number: {name}={value[0] if value else 1}")
        if name not in known and not {name, _unnumbered(name)} & others and not in_memory:
            where = ", ".join(function.name for function in functions[:5]) + (", …" if len(functions) > 5 else "")
            listed = ", ".join(list(known)[:30]) + (", …" if len(known) > 30 else "")
            there = f"inputs are {listed}" if listed else "it has none"
            raise UsageError(f"there is no input {name} in {where}; {there}")
        _check_pointers(functions, name, value)
        for function, shown, type in inputs:
            if shown == name and isinstance(value, int) and type is not None:
                check_range((value,), type, f"{name} of {function.name}")
        for function, layouts in declared.items():
            any_size = function.program.settings.mathematical
            check_elements(layouts, name, value, f"{name} of {function.name}", any_size=any_size)


def _check_pointers(functions: Sequence[Function], name: str, value: Value) -> None:
    """Raises ``UsageError`` for a number that is given to a pointer: bounds do not speak of addresses."""
    for function in functions if isinstance(value, int) else ():
        graph = function.graph()
        for parameter in () if isinstance(graph, Refused) else graph.parameters:
            if parameter.name == name and parameter.object is not None and not parameter.shared:
                what = f"{name}=[1,2,3]" if parameter.pointee is not None else f"{name}->x=1"
                raise UsageError(f"{name} of {function.name} is a pointer; give what it points to: {what}")


_ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")


def _root_of_element(name: str) -> str | None:
    """``a`` of ``a[2]``."""
    found = _ELEMENT.fullmatch(name)
    return found[1] if found else None


def _memory(function: Function) -> Iterator[str]:
    """The names of what has elements: what pointers point to, and arrays."""
    graph = function.graph()
    assert not isinstance(graph, Refused)
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


def _inputs(function: Function) -> Iterator[tuple[str, t.IntType | None]]:
    """The names of parameters, globals and what pointers point to, with their types in the source."""
    graph = function.graph()
    assert not isinstance(graph, Refused)
    for parameter in graph.parameters:
        of_value = parameter.var.type if parameter.var is not None and parameter.object is None else None
        pointee = parameter.pointee if parameter.object is not None and not parameter.shared else None
        yield parameter.name, of_value if of_value == t.INTEGERS else parameter.type or of_value or pointee
    for var, info in graph.variables.items():
        if info.kind in (Kind.GLOBAL, Kind.POINTEE):
            yield info.shown, var.type


def names_in_reach(functions: Sequence[Function]) -> set[str]:
    """The names of all variables of ``functions``: what bounds can come to speak of."""
    graphs = [function.graph() for function in functions]
    infos = [info for graph in graphs if not isinstance(graph, Refused) for info in graph.variables.values()]
    found = {name for info in infos for name in (info.var.name, info.shown, _unnumbered(info.var.name))}
    return found | {f"{name}()" for graph in graphs if not isinstance(graph, Refused) for name in graph.callees}


def names_in_bounds(answers: Iterable[FunctionBound]) -> set[str]:
    """The names of the variables that ``answers`` speak of."""
    return {name for answer in answers for var in _spoken_of(answer) for name in _names(var, answer)}


def _names(var: t.Var, found: FunctionBound) -> tuple[str, ...]:
    """What users may call a variable."""
    return var.name, found.shown.get(var, var.name), _unnumbered(var.name)


def _unnumbered(name: str) -> str:
    """``f()`` of ``f()'2``, the second one that the program may come to."""
    return re.sub(r"'\d+$", "", name)


def _spoken_of(found: FunctionBound) -> set[t.Var]:
    """The variables that bounds over inputs are about."""
    nodes: list[t.Node | None] = [found.call.upper, found.call.when, found.call.never, found.over_inputs]
    for bound in found.loops:
        call = bound.call
        nodes += [call.upper, call.when, call.never, bound.any_entry, *(line.upper for line in bound.lines)]
    return set().union(*(node.variables for node in nodes if node is not None))


@dataclass(frozen=True, slots=True)
class AtValues:
    """What a claim comes to at given values.

    ``value``: the number of iterations; ``whatever``: it is so many at most, whatever memory holds. ``never``: the
    loop never ends. ``late``: finding it out takes too long. Else nothing is known: ``needs`` are further inputs on
    which the claim depends, ``contents`` the names of what pointers point to and of arrays, of which elements are
    needed; where there are neither, no bound holds at these values.
    """

    value: int | None = None
    whatever: bool = False
    never: bool = False
    needs: tuple[t.Var, ...] = ()
    contents: tuple[str, ...] = ()
    late: bool = False


def _most_read(given: int) -> int:
    """How often elements are looked at, of which so many are given: some searches go on for ever, and each step of one
    may look at all elements. A guess.
    """
    return 200 + 4 * given * given


def at_values(found: FunctionBound, claim: Claim, given: Given) -> AtValues:
    """What a claim about a call comes to."""
    here = _Here(found, given)
    if here.holds(claim.never):
        return AtValues(never=True)
    value = here.number(claim.upper, claim.when)
    if value is not None:
        return AtValues(value, whatever=claim.upper is not None and here.number(claim.upper, exactly=True) is None)
    if here.left < 0:
        return AtValues(late=True)
    if claim.upper is None or here.holds(~claim.when):
        return AtValues()
    nodes = (claim.upper, claim.when)
    missing = {var for node in nodes for var in node.variables if var not in here.values}
    reads = [part.array for node in nodes for part in t.walk_inside(node) if isinstance(part, t.Read)]
    contents = [array.removeprefix("*") for array in reads]
    needs = [var for var in missing if not set(_names(var, found)) & set(contents)]  # elements count from pointers
    return AtValues(needs=tuple(sorted(needs, key=lambda var: var.key)), contents=tuple(dict.fromkeys(contents)))


class _Here:
    """The values of variables and of elements of memory that are given."""

    def __init__(self, found: FunctionBound, given: Given) -> None:
        meant = {name: value for name, value in given.items() if name not in found.ambiguous}
        self.memory = GivenMemory(found.layouts, meant)
        spoken_of = _spoken_of(found)
        shared = Counter(_unnumbered(var.name) for var in spoken_of)
        self.values: dict[t.Var, int] = {}
        for var in spoken_of:
            for name in _names(var, found):
                number = meant.get(name)
                if isinstance(number, int) and (name in _names(var, found)[:2] or shared[name] == 1):
                    self.values[var] = number
                    break
            else:
                if any(name in self.memory for name in _names(var, found)):
                    self.values[var] = 0  # elements count from where the pointer of this name points to
        self._found, self._given = found, meant
        self.left = _most_read(len(self.memory))
        """How often elements of memory may still be looked at."""

    def number(self, term: t.Term | None, when: t.Condition = t.TRUE, *, exactly: bool = False) -> int | None:
        """What a bound comes to, or without ``exactly`` is at most where it depends on what is read; None where it
        does not hold, or depends on something else.
        """
        for upper in (term,) if exactly or term is None else (term, without_data(term)):
            try:
                if upper is not None and t.holds(when, self._of(when), self._read):
                    return t.evaluate(upper, self._of(upper), self._read)
            except t.EvaluationError:
                continue
        return None

    def holds(self, condition: t.Condition) -> bool:
        """Whether the condition surely holds."""
        try:
            return t.holds(condition, self._of(condition), self._read)
        except t.EvaluationError:
            return False

    def _of(self, node: t.Node) -> dict[t.Var, int]:
        """The values of the variables of a node: those of bounds of one entry, or on costs, may be others."""
        others = (var for var in node.variables if var not in self.values)
        named = {var: self._given.get(self._found.shown.get(var, var.name)) for var in others}
        return self.values | {var: value for var, value in named.items() if isinstance(value, int)}

    def _read(self, array: str, offset: int, type: t.IntType) -> int:
        self.left -= 1
        if self.left < 0:
            raise t.EvaluationError("this takes too long")
        return self.memory.read(array, offset, type)


def number_at(
    found: FunctionBound, term: t.Term | None, when: t.Condition, given: Given | None, *, exactly: bool = False
) -> int | None:
    """The number that a bound comes to, or without ``exactly`` is at most where it depends on what is read; names that
    several variables have give none of them a value. None where it does not hold there, or depends on something else.
    """
    return _Here(found, given or {}).number(term, when, exactly=exactly)


def not_meant(answers: Iterable[FunctionBound], given: Iterable[str] | None) -> list[str]:
    """What to say of the names in ``given`` that several variables have."""
    return [
        f"several variables of {found.name} are called {name}, so --at gives a value to none of them"
        for found in answers
        for name in given or ()
        if name in found.ambiguous
    ]


_OUTSIDE: Final = re.compile(r"""(?:[^,\["]|\[[^\]]*\]|"(?:[^"\\]|\\.)*")+""")
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
