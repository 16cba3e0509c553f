"""Arguments of a call as values: what JSON and Python say, as the interpreter takes it."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from loopless.errors import UsageError

if TYPE_CHECKING:
    from loopless.check.interpreter.run import Argument


def characters(text: str) -> list[int]:
    """The bytes of a C string, its terminator included, as values of a signed char."""
    return [byte - 256 if byte > 127 else byte for byte in (*text.encode(), 0)]


def argument_of(value: Any, name: str) -> Argument:
    """An argument from a Python value: an integer, for a pointer what it points to as a string, integers, or the bytes
    of the memory, and None for the null pointer. Integers of other libraries will do.

    ``name`` is for the error. Raises ``UsageError``.
    """
    if value is None or isinstance(value, bytes | bytearray):
        return None if value is None else bytes(value)
    if isinstance(value, str):
        return characters(value)
    with contextlib.suppress(TypeError):  # an array has the method, too
        return int(operator.index(value))
    if isinstance(value, Iterable) and not isinstance(value, Mapping | AbstractSet):
        return [integer_of(part, f"what {name} points to") for part in value]
    raise UsageError(
        f"{value!r} is no value for {name}: give an integer, and for a pointer a list of integers, "
        "a string, bytes or None"
    )


def integer_of(value: Any, name: str) -> int:
    """An integer from a Python value. Raises ``UsageError``."""
    try:
        return int(operator.index(value))
    except TypeError:
        raise UsageError(f"{name} must be an integer, not {value!r}") from None
