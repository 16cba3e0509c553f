"""What follows about quotients by constants: a quotient is what it divides, but for a remainder in an interval.

For b ≥ 1, e = b·floor(e / b) + r with 0 ≤ r ≤ b - 1; where division rounds to 0, r has the sign of e. So a linear term
with quotients, times the divisors, is a linear term without, but for an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lcm

from loopless import terms as t
from loopless.limits.bounds import MAX_NESTED_QUOTIENTS


def divided(atom: t.Term) -> tuple[t.Term, int] | None:
    """What a quotient divides, and by what constant, at least 2; None for what is no such quotient."""
    match atom:
        case t.Op(op="floor_div" | "trunc_div", args=(dividend, t.Const(value=by))) if by >= 2:
            return dividend, by
        case _:
            return None


def divisors(term: t.Term) -> frozenset[int]:
    """By what the quotients of a linear term divide."""
    found = (divided(monomial[0][0]) for monomial in t.polynomial(term) if len(monomial) == 1)
    return frozenset(quotient[1] for quotient in found if quotient is not None)


def without_quotients(term: t.Term, below: Callable[[t.Term], bool]) -> tuple[int, t.Term, int]:
    """A factor ≥ 1, a linear term without the outermost quotients of ``term``, and a number: the factor times ``term``
    is no more than their sum. ``below``: whether a term is surely ≤ 0.
    """
    factor = lcm(*divisors(term))
    parts: list[t.Term] = []
    high = 0
    for monomial, coefficient in t.polynomial(term).items():
        single = len(monomial) == 1 and monomial[0][1] == 1
        quotient = divided(monomial[0][0]) if single else None
        if quotient is None:
            parts.append(t.from_polynomial({monomial: coefficient}) * factor)
            continue
        dividend, divisor = quotient
        rounds_down = isinstance(monomial[0][0], t.Op) and monomial[0][0].op == "floor_div"
        least = 0 if rounds_down or below(-dividend) else 1 - divisor
        most = 0 if not rounds_down and below(dividend) else divisor - 1
        times = coefficient * (factor // divisor)
        parts.append(dividend * times)
        high -= min(times * least, times * most)
    return factor, t.add(*parts), high


def undivided(linear: t.Term, most: int) -> tuple[t.Term, int]:
    """``linear`` ≤ ``most`` in other words where all that it says is how large a quotient, rounded down, is."""
    for _ in range(MAX_NESTED_QUOTIENTS):
        items = list(t.polynomial(linear).items())
        if len(items) != 1 or len(items[0][0]) != 1 or items[0][0][0][1] != 1:
            break
        ((monomial, coefficient),) = items
        quotient = divided(monomial[0][0])
        if quotient is None or not isinstance(monomial[0][0], t.Op) or monomial[0][0].op != "floor_div":
            break
        dividend, by = quotient
        if coefficient > 0:  # q ≤ floor(most / c): what is divided is less than b·(q + 1)
            linear, most = dividend, by * (most // coefficient) + by - 1
        else:  # q ≥ ceil(most / c): what is divided is at least b·q
            linear, most = -dividend, by * (most // -coefficient)
        constant = t.polynomial(linear).get((), 0)
        linear, most = linear - constant, most - constant
    return linear, most
