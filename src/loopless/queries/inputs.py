"""Values that the user gives to inputs, ``--at``: whether there are such inputs, and whether they can be so large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from loopless.bounds.without_data import without_data
from loopless.errors import UsageError
from loopless.flowgraph.model import Kind
from loopless.queries.bound_answers import FunctionBound
from loopless.queries.program import Function
from loopless.refusals import Refused
from loopless.terms import (
    INTEGERS,
    Condition,
    EvaluationError,
    IntType,
    Term,
    Var,
    evaluate,
    holds,
    type_name,
)


def given_values(text: str) -> dict[str, int]:
    """``n=10,m=3``, no name twice. Raises ``UsageError``."""
    found = parse_values(text)
    names = [part.partition("=")[0].strip() for part in text.split(",")]
    for name in found:
        if names.count(name) > 1:
            raise UsageError(f"--at gives {name} more than one value")
    return found


def check_values(given: Mapping[str, int], functions: Sequence[Function], spoken_of: Iterable[str] = ()) -> None:
    """Raises ``UsageError`` for a value of what is no input of any of ``functions`` nor ``spoken_of``, and for one that
    the type of an input does not have.
    """
    graphs = [function.graph() for function in functions]
    if not functions or any(isinstance(graph, Refused) for graph in graphs):
        return
    inputs = [(function, name, type) for function in functions for name, type in _inputs(function)]
    known = dict.fromkeys(name for _, name, _ in inputs)
    others = set(spoken_of)
    for name, value in given.items():
        if name not in known and name not in others:
            where = ", ".join(function.name for function in functions[:5]) + (", …" if len(functions) > 5 else "")
            listed = ", ".join(list(known)[:30]) + (", …" if len(known) > 30 else "")
            there = f"inputs are {listed}" if listed else "it has none"
            raise UsageError(f"there is no input {name} in {where}; {there}")
        for function, shown, type in inputs:
            if shown == name and type is not None and type != INTEGERS and not type.holds(value):
                raise UsageError(
                    f"{value} is not in the range of {type_name(type)} {name} of {function.name}: "
                    f"{type.min} to {type.max}"
                )


def _inputs(function: Function) -> Iterator[tuple[str, IntType | None]]:
    """The names of parameters, globals and what pointers point to, with their types in the source."""
    graph = function.graph()
    assert not isinstance(graph, Refused)
    for parameter in graph.parameters:
        of_value = parameter.var.type if parameter.var is not None and parameter.object is None else None
        yield parameter.name, of_value if of_value == INTEGERS else parameter.type or of_value
    for var, info in graph.variables.items():
        if info.kind in (Kind.GLOBAL, Kind.POINTEE):
            yield info.shown, var.type


def names_in_reach(functions: Sequence[Function]) -> set[str]:
    """The names of all variables of ``functions``: what bounds can come to speak of."""
    graphs = [function.graph() for function in functions]
    infos = [info for graph in graphs if not isinstance(graph, Refused) for info in graph.variables.values()]
    return {name for info in infos for name in (info.var.name, info.shown)}


def names_in_bounds(answers: Iterable[FunctionBound]) -> set[str]:
    """The names of the variables that ``answers`` speak of."""
    found: set[str] = set()
    for answer in answers:
        nodes = [answer.call.upper, answer.call.when]
        for bound in answer.loops:
            nodes += [bound.call.upper, bound.call.when, bound.any_entry, *(line.upper for line in bound.lines)]
        variables: set[Var] = set().union(*(node.variables for node in nodes if node is not None))
        found.update(name for var in variables for name in (var.name, answer.shown.get(var, var.name)))
    return found


def number_at(
    found: FunctionBound, term: Term | None, when: Condition, given: Mapping[str, int] | None
) -> int | None:
    """The number that a bound comes to; names that several variables have give none of them a value."""
    values = {name: value for name, value in (given or {}).items() if name not in found.ambiguous}
    return value_at(term, when, values, found.shown)


def not_meant(answers: Iterable[FunctionBound], given: Mapping[str, int] | None) -> list[str]:
    """What to say of the names in ``given`` that several variables have."""
    return [
        f"several variables of {found.name} are called {name}, so --at gives a value to none of them"
        for found in answers
        for name in given or ()
        if name in found.ambiguous
    ]


def value_at(term: Term | None, when: Condition, given: Mapping[str, int], shown: Mapping[Var, str]) -> int | None:
    """The number that a bound comes to at these values, by the names of the source, or is at most where it depends on
    what is read; None where it does not hold there, or depends on something else.
    """
    term = without_data(term) if term is not None else None
    if term is None:
        return None
    variables = term.variables | when.variables
    values = {var: given[name] for var in variables if (name := shown.get(var, var.name)) in given}
    try:
        return evaluate(term, values) if holds(when, values) else None
    except EvaluationError:
        return None


def parse_values(text: str) -> dict[str, int]:
    """``n=10,m=3``. Raises ``UsageError``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        try:
            found[name.strip()] = int(value.strip(), 0)
        except ValueError:
            sign = ""
        if not sign or not name.strip():
            raise UsageError(f"--at takes values like n=10,m=3, not {part.strip()!r}")
    return found
