"""Values that people give to variables, by the names that they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from loopless import terms as t
from loopless.errors import UsageError
from loopless.queries.call_values.arguments import integer_of
from loopless.queries.call_values.given_memory import (
    Entry,
    GivenMemory,
    Value,
    array_of,
    check_elements,
    given_value,
    place_of,
)
from loopless.report.names import Names

_T = TypeVar("_T")


def values_by_variable(given: Mapping[str, Any], known: Iterable[t.Var], names: Names, where: str) -> dict[t.Var, int]:
    """The values of variables from those of names. Raises ``UsageError`` for a name that is none of ``known``, and for
    what is no value of the variable's type.
    """
    by_name = {names.name(var): var for var in known}
    found = {}
    for name, value in given.items():
        if name not in by_name:
            raise UsageError(f"there is no {name} in {where}; it speaks of {listed(by_name)}")
        var = by_name[name]
        number = integer_of(value, name)
        if var.type != t.INTEGERS and not var.type.holds(number):
            raise UsageError(
                f"{number} is not in the range of {t.type_name(var.type)} {name}: {var.type.min} to {var.type.max}"
            )
        found[var] = number
    return found


def with_memory(
    given: Mapping[str, Entry], known: Iterable[t.Var], names: Names, layouts: Mapping[str, t.Layout], where: str
) -> tuple[dict[t.Var, int], GivenMemory]:
    """The values of variables, and what memory holds, from those of names; elements count from where the pointer of
    their name points to. Raises ``UsageError`` for names and values that there are not.
    """
    numbers: dict[str, int] = {}
    elements: dict[str, Value] = {}
    known = tuple(known)
    by_name = {names.name(var) for var in known}
    for name, value in given.items():
        found = given_value(value, name)
        if isinstance(found, int) and (name in by_name or place_of(layouts, name) is None):
            numbers[name] = found
        elif isinstance(found, int) or array_of(layouts, name) is not None:
            elements[name] = found
            check_elements(layouts, name, found, name, any_size=any(var.type == t.INTEGERS for var in known))
        else:
            raise UsageError(f"there is no array {name} in {where}")
    memory = GivenMemory(layouts, elements)
    numbers |= {name: 0 for name in by_name if name in memory}
    return values_by_variable(numbers, known, names, where), memory


def evaluated(
    answer: Callable[[], _T], given: Mapping[t.Var, int], known: Iterable[t.Var], names: Names, where: str
) -> _T:
    """What ``answer`` gives. Raises ``UsageError`` where it takes a value that is not given, ValueError where a number
    is too large to be told.
    """
    try:
        return answer()
    except t.EvaluationError as error:
        missing = [names.name(var) for var in known if var not in given]
        if missing:
            raise UsageError(f"{where} depends on more: give a value to {listed(missing)} too") from None
        raise ValueError(str(error)) from error


def listed(names: Iterable[str], most: int = 30) -> str:
    """Names one after the other, the first ones of many."""
    found = list(dict.fromkeys(names))
    return ", ".join(found[:most]) + (", …" if len(found) > most else "") or "nothing"
