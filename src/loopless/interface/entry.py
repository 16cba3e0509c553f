"""Values that people give to variables, by the names that they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from loopless.errors import UsageError
from loopless.queries.arguments import integer_of
from loopless.report.names import Names
from loopless.terms import INTEGERS, EvaluationError, Var, type_name

_T = TypeVar("_T")


def values_by_variable(
    given: Mapping[str, Any], known: Iterable[Var], names: Names, where: str
) -> dict[Var, int]:
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
        if var.type != INTEGERS and not var.type.holds(number):
            raise UsageError(
                f"{number} is not in the range of {type_name(var.type)} {name}: {var.type.min} to {var.type.max}"
            )
        found[var] = number
    return found


def evaluated(answer: Callable[[], _T], given: Mapping[Var, int], known: Iterable[Var], names: Names, where: str) -> _T:
    """What ``answer`` gives. Raises ``UsageError`` where it takes a value that is not given, ValueError where a number
    is too large to be told.
    """
    try:
        return answer()
    except EvaluationError as error:
        missing = [names.name(var) for var in known if var not in given]
        if missing:
            raise UsageError(f"{where} depends on more: give a value to {listed(missing)} too") from None
        raise ValueError(str(error)) from error


def listed(names: Iterable[str], most: int = 30) -> str:
    """Names one after the other, the first ones of many."""
    found = list(dict.fromkeys(names))
    return ", ".join(found[:most]) + (", …" if len(found) > most else "") or "nothing"
