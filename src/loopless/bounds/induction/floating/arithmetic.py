"""The arithmetic of IEEE 754 in binary32 and binary64 as LLVM means it: each operation in the type that it has, rounded
to the nearest number, to the even one where two are as near.

Numbers are Python's, which are binary64. Of two numbers in binary32, the result of +, -, * and / in binary64, rounded
to binary32, is the one rounded once, since 53 ≥ 2·24 + 2 (Figueroa, When is double rounding innocuous?, 1995).
"""

from __future__ import annotations

import math
import operator
import struct
from array import array
from collections.abc import Callable, Mapping
from typing import Final

from loopless.patterns import pattern
from loopless.source.ir import FloatConst

KINDS: Final = frozenset({"float", "double"})
"""The types whose arithmetic this is. ``long double`` of x86 and its like are not."""
_DECIMAL: Final = pattern(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
_BITS: Final = pattern(r"0x[0-9A-Fa-f]{16}")

Operation = Callable[..., float]
Predicate = Callable[[float, float], bool]


def number_of(constant: FloatConst) -> float | None:
    """The number that a constant spells; None where its type is another."""
    if constant.type.kind not in KINDS:
        return None
    if _DECIMAL.fullmatch(constant.text):
        value = float(constant.text)
    elif _BITS.fullmatch(constant.text):  # those of a double, also where the type is float
        (value,) = struct.unpack(">d", bytes.fromhex(constant.text[2:]))
    else:
        return None
    return value if constant.type.kind == "double" or same(rounded(value), value) else None


def rounded(value: float) -> float:
    """The number of binary32 that is nearest; infinite beyond half a step above its largest."""
    return array("f", (value,))[0]


def same(a: float, b: float) -> bool:
    """Whether nothing that computes with numbers tells them apart: so -0 is not 0, and no NaN is another one."""
    return (a == b and math.copysign(1.0, a) == math.copysign(1.0, b)) or (math.isnan(a) and math.isnan(b))


def converted(value: int, kind: str) -> float | None:
    """An integer as a floating-point number; None where it may be rounded twice."""
    if abs(value) > 1 << 53:
        return None
    return rounded(float(value)) if kind == "float" else float(value)


def operation(op: str, kind: str) -> Operation | None:
    """What an instruction with a result of this type computes; None for others."""
    if kind not in KINDS:
        return None
    exact = _EXACT.get(op)
    if exact is not None:
        return exact
    found = _OPERATIONS.get(op)
    if found is None or kind == "double":
        return found
    plain, into = found, array("f", (0.0,))

    def in_binary32(*arguments: float) -> float:
        into[0] = plain(*arguments)
        return into[0]

    return in_binary32


def _quotient(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))


def _same_number(value: float) -> float:
    return value


_EXACT: Final[Mapping[str, Operation]] = {"fneg": operator.neg, "fabs": abs, "fpext": _same_number}
_OPERATIONS: Final[Mapping[str, Operation]] = {
    "fadd": operator.add,
    "fsub": operator.sub,
    "fmul": operator.mul,
    "fdiv": _quotient,
    "fptrunc": _same_number,
}


def _or_unordered(plain: Predicate) -> Predicate:
    return lambda a, b: math.isnan(a) or math.isnan(b) or plain(a, b)


_ORDERED: Final[Mapping[str, Predicate]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "ne": lambda a, b: a < b or a > b,
}
PREDICATES: Final[Mapping[str, Predicate]] = {
    **{f"o{name}": plain for name, plain in _ORDERED.items()},
    **{f"u{name}": _or_unordered(plain) for name, plain in _ORDERED.items()},
    "ord": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "uno": lambda a, b: math.isnan(a) or math.isnan(b),
    "true": lambda _a, _b: True,
    "false": lambda _a, _b: False,
}
"""The predicates of ``fcmp``: ordered ones do not hold of a NaN, unordered ones do."""
