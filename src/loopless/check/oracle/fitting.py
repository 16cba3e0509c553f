"""Whether arguments fit a function, and how the process of native runs is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopless.check.oracle.adapters import RESULT
from loopless.check.oracle.runtime import MAX_ARGUMENTS
from loopless.check.oracle.signature import CType, Opaque, Parameter, PointerType, Signature
from loopless.errors import UsageError

Argument = int | Sequence[int] | Mapping[str, Any] | None
"""An integer, or the elements that a pointer points to, or ``None`` for the null pointer. What else a pointer points to
is given as ``content``, its bytes in hexadecimal digits, and ``pointers``, each the byte where it lies, what it points
to, likewise, and the byte of that; instead of what is there, ``same`` says which argument, by its number, or which
pointer, by its ``name``, leads there, too. The argv of ``main`` is given as its ``words``, in hexadecimal digits,
without their zeros."""

IN_REGISTERS = ("pointer", "float", "double")
"""Results that take no memory of the caller's, and so can be left where they are."""


def wire(ctype: CType) -> tuple[int, bool, bool]:
    """An integer type, as the process is told of it."""
    return (ctype.bits, ctype.signed, ctype.name == "_Bool")


def check_result(function: str, signature: Signature) -> None:
    """Raises ``UsageError`` where the result cannot be told."""
    if isinstance(signature.result, Opaque):
        raise UsageError(f"{function} returns {signature.result.name}, which native runs do not support")


def wire_params(function: str, signature: Signature) -> list[tuple[str, tuple[int, bool, bool] | None]]:
    """The parameters, as the process is told of them. Raises ``UsageError`` where one cannot be given."""
    if len(signature.params) > MAX_ARGUMENTS:
        raise UsageError(f"{function} has more than {MAX_ARGUMENTS} parameters, which native runs do not support")
    wired: list[tuple[str, tuple[int, bool, bool] | None]] = []
    for index, param in enumerate(signature.params):
        match param:
            case CType():
                wired.append(("integer", wire(param)))
            case PointerType(element):
                wired.append(("pointer", wire(element)))
            case Opaque(name):
                if function != "main" and name not in ("pointer", RESULT.name):
                    raise UsageError(f"parameter {index + 1} of {function} is {name}, which native runs do not support")
                wired.append(("argv" if function == "main" and index == 1 else "null", None))
    return wired


def check_argument(function: str, argument: Argument, param: Parameter) -> None:
    """Raises ``UsageError`` where an argument is not of its parameter's type."""
    match param:
        case CType(name, low=low, high=high):
            if not isinstance(argument, int):
                raise UsageError(f"{function}: {argument!r} is given for a parameter of type {name}")
            if not low <= argument <= high:
                raise UsageError(f"{function}: {argument} is outside the range of {name}, {low} to {high}")
        case PointerType(element):
            if isinstance(argument, int | Mapping):
                raise UsageError(f"{function}: a pointer parameter takes a list of values, not {argument}")
            for value in argument or ():
                if not element.low <= value <= element.high:
                    raise UsageError(f"{function}: {value} is outside the range of {element.name}")
        case Opaque(name):
            if argument is not None and not (name == "pointer" and isinstance(argument, Mapping)):
                raise UsageError(f"{function}: a parameter of type {name} takes only the null pointer")
