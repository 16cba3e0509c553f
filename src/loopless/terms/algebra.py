"""Python's operators on terms and conditions: ``i + 1``, ``2 * n``, ``-x``, ``(i + 1).le(n)``, ``a & b``, ``~a``.

They are the functions of :mod:`loopless.terms.build` and :mod:`loopless.terms.conditions` under short names; an operand
may be an ``int``. ``==`` is identity, which for interned nodes is equality of structure, and ``<`` the order of keys by
which nodes are sorted; so comparisons have the names ``le``, ``lt``, ``ge``, ``gt``, ``eq`` and ``ne``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from loopless.terms.build import add, add_constant, floor_div, mod, mul, neg, scale, sub
from loopless.terms.conditions import at_most_zero, conjunction, disjunction, equals_zero, negate, not_zero
from loopless.terms.nodes import Condition, Const, Term


def _operator(of_terms: Callable[[Term, Term], Term], of_int: Callable[[Term, int], Term]) -> Callable[..., Any]:
    """``of_int`` is what an ``int`` on the right needs, without a node for it."""

    def method(self: Term, other: object) -> Any:
        if isinstance(other, Term):
            return of_terms(self, other)
        return of_int(self, other) if isinstance(other, int) else NotImplemented

    return method


def _reflected(of_int: Callable[[Term, int], Term]) -> Callable[..., Any]:
    def method(self: Term, other: object) -> Any:
        return of_int(self, other) if isinstance(other, int) else NotImplemented

    return method


def _comparison(
    of_zero: Callable[[Term], Condition], *, strict: bool = False, swapped: bool = False
) -> Callable[[Term, Term | int], Condition]:
    """What ``of_zero`` says of the difference: of ``self - other``, with 1 more where it is ``strict``."""
    sign, more = (-1 if swapped else 1), int(strict)

    def method(self: Term, other: Term | int) -> Condition:
        if isinstance(other, Term):
            difference = sub(other, self) if swapped else sub(self, other)
            return of_zero(add_constant(difference, more))
        return of_zero(add_constant(scale(self, sign), more - sign * other))

    return method


def _of_conditions(
    function: Callable[[tuple[Condition, Condition]], Condition],
) -> Callable[[Condition, object], Condition]:
    def method(self: Condition, other: object) -> Condition:
        return function((self, other)) if isinstance(other, Condition) else NotImplemented

    return method


OF_TERMS: Final = {
    "__add__": _operator(add, add_constant),
    "__radd__": _reflected(add_constant),
    "__sub__": _operator(sub, lambda term, number: add_constant(term, -number)),
    "__rsub__": _reflected(lambda term, number: add_constant(scale(term, -1), number)),
    "__mul__": _operator(mul, scale),
    "__rmul__": _reflected(scale),
    "__floordiv__": _operator(floor_div, lambda term, number: floor_div(term, Const(number))),
    "__rfloordiv__": _reflected(lambda term, number: floor_div(Const(number), term)),
    "__mod__": _operator(mod, lambda term, number: mod(term, Const(number))),
    "__rmod__": _reflected(lambda term, number: mod(Const(number), term)),
    "__neg__": neg,
    "le": _comparison(at_most_zero),
    "lt": _comparison(at_most_zero, strict=True),
    "ge": _comparison(at_most_zero, swapped=True),
    "gt": _comparison(at_most_zero, strict=True, swapped=True),
    "eq": _comparison(equals_zero),
    "ne": _comparison(not_zero),
}
OF_CONDITIONS: Final = {
    "__and__": _of_conditions(conjunction),
    "__or__": _of_conditions(disjunction),
    "__invert__": negate,
}

for _name, _method in OF_TERMS.items():
    setattr(Term, _name, _method)
for _name, _method in OF_CONDITIONS.items():
    setattr(Condition, _name, _method)
