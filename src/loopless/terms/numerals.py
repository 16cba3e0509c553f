"""Numbers as people write them: the ends of types by their names, large powers of two as powers."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field
from typing import Final

from loopless.limits.terms import FIRST_SHOWN_POWER, MAX_DISTANCE_TO_END
from loopless.records import dataclass
from loopless.terms.build import Polynomial, from_polynomial
from loopless.terms.memory_names import Layout, ReadAs
from loopless.terms.nodes import Folding, Term, Var

_LIMITS: Final = {
    "INT_MAX": (1 << 31) - 1,
    "INT_MIN": -(1 << 31),
    "UINT_MAX": (1 << 32) - 1,
    "INT64_MAX": (1 << 63) - 1,
    "INT64_MIN": -(1 << 63),
    "UINT64_MAX": (1 << 64) - 1,
}
"""The ends of types, by the names of C; ``int`` has 32 bits."""


@dataclass(frozen=True, slots=True)
class Style:
    """How terms and conditions are written: ``numerals`` for people (``INT_MAX``, ``2^31``, ``fits_int(x)``) instead of
    digits; ``quantified``: that nothing is found in a sequence as what all of it is; the names ``taken`` by variables,
    which no function has. ``pointers``: the names of pointers, by variables that are 0 where one is null, and by
    those of one bit that say whether it is; ``halves``: by those of them that say where a pointer points to, its
    offset there. ``layouts``: what is declared in objects, by their names. ``folds``: names
    of what folds do, by what those of all lengths have in common.
    """

    numerals: bool = False
    quantified: bool = False
    taken: Container[str] = ()
    pointers: Mapping[Var, str] = field(default_factory=dict)
    halves: Mapping[Var, Var] = field(default_factory=dict)
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    folds: Mapping[Folding, str] = field(default_factory=dict)
    told: set[ReadAs] | None = field(default=None, compare=False)
    """Where what is read is told beside the text, it is put here."""

    def function(self, name: str) -> str:
        """What the function is called: in capitals where a variable has its name."""
        if name in self.taken:
            name = name.upper()
        while name in self.taken:
            name += "_"
        return name


PLAIN: Final = Style()
"""C syntax with digits, and functions by their own names."""


def numeral(value: int) -> list[str]:
    """A number as a name, a power of two, or what is near to one, and how far: ``["2^31", "+", "3"]``."""
    for name, end in _LIMITS.items():
        if value == end:
            return [name]
    size = abs(value)
    below = _LIMITS["INT_MAX"] - value
    if 0 < below <= MAX_DISTANCE_TO_END:
        return ["INT_MAX", "-", str(below)]
    if size < 1 << FIRST_SHOWN_POWER:
        return [str(value)]
    near = min((size.bit_length() - 1, size.bit_length()), key=lambda power: abs(size - (1 << power)))
    off = size - (1 << near)
    if abs(off) > MAX_DISTANCE_TO_END:
        return [str(value)]
    shown = [f"{'-' if value < 0 else ''}2^{near}"]
    return shown if off == 0 else [*shown, "+" if (off > 0) == (value > 0) else "-", str(abs(off))]


def addend(value: int, *, first: bool) -> list[str]:
    """A number that is added in a sum, with its sign; ``first``: nothing stands before it."""
    shown, *more = numeral(abs(value))
    if value >= 0:
        return [shown if first else f"+ {shown}", *more]
    turned = {"+": "-", "-": "+"}
    return [f"-{shown}" if first else f"- {shown}", *(turned.get(word, word) for word in more)]


def at_a_limit(relation: str, poly: Polynomial) -> tuple[Term, str, str] | None:
    """The comparison of ``poly`` with 0 as one with the end of a type, all variables on one side (``n - i <= INT_MAX``,
    ``a + b < INT_MIN``): the term, the sign and the other side. None where no end is near.
    """
    left = {monomial: c for monomial, c in poly.items() if monomial}
    signs = {c > 0 for c in left.values()}
    found: list[tuple[int, bool, Polynomial, str, str]] = []
    for sign in (1, -1) if left else ():
        if signs == {sign < 0}:
            continue  # -n > INT_MAX is n < INT_MIN
        turned = {monomial: sign * c for monomial, c in left.items()}
        limit = -sign * poly.get((), 0)
        for name, end in _LIMITS.items():
            if relation == "le":
                # Ends of types are passed strictly, from below at the upper end and from above at the lower one.
                strict = name.endswith("MAX") == (sign < 0)
                off = limit - end + (sign if strict else 0)
                found += _beside(turned, name, off, "<=" if sign > 0 else ">=", strict=strict)
            elif limit == end:
                found.append((0, False, turned, "==" if relation == "eq" else "!=", name))
    if not found:
        return None
    *_, term, sign_shown, shown = min(found, key=lambda one: one[:2])
    return from_polynomial(term), sign_shown, shown


def _beside(
    left: Polynomial, name: str, off: int, sign: str, *, strict: bool
) -> list[tuple[int, bool, Polynomial, str, str]]:
    """``left`` compared with what is ``off`` from the end of a type, behind how far it is told to be from there, and
    whether the end itself is taken the other way.
    """
    if abs(off) > MAX_DISTANCE_TO_END:
        return []
    other = -1 if sign == "<=" else 1
    turned = off == (-other if strict else other)
    if turned:
        off = 0
    if strict != turned:
        sign = sign[0]
    if off == 0:
        return [(0, turned, left, sign, name)]
    if (off > 0) == name.endswith("MAX"):  # beyond the end: only the value on the left can be
        return [] if len(left) == 1 else [(abs(off), turned, {**left, (): -off}, sign, name)]
    return [(abs(off), turned, left, sign, f"{name} {'+' if off > 0 else '-'} {abs(off)}")]


def roundness(value: int) -> int:
    """How many digits a number has as people write it, zeros at its end and powers of two aside."""
    if value == 0:
        return 0
    digits = str(abs(value))
    decimal = len(digits.rstrip("0")) * 2
    size = abs(value)
    binary = 5 if size & (size - 1) == 0 or size & (size + 1) == 0 else decimal
    return min(decimal, binary) if size > 9 else decimal


def counts_up(poly: Polynomial, constant: int, upper: int) -> bool:
    """Whether a rounded-up quotient shows the rounder constant: ceil_div(100 - i, 7), not floor_div(106 - i, 7)."""
    return any(m and c < 0 for m, c in poly.items()) and upper > 0 and roundness(upper) <= roundness(constant)
