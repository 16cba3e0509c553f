"""Sums of bounds over arithmetic progressions, in closed form."""

from __future__ import annotations

from loopless import terms as t
from loopless.bounds.model import ceiling, positive
from loopless.recurrences.expoly import NoClosedForm
from loopless.recurrences.sums import sum_over


def sum_of_progression(
    shape: t.Term, place: t.Var, floor: t.Term, start: t.Term, slope: int, times: t.Term
) -> t.Term | None:
    """A bound on Σ shape[place := max(floor, start + slope·K)] for 0 ≤ K < ``times`` ≥ 0.

    ``shape`` is a polynomial of ``place``, or the quotient of one by a positive constant rounded down, that does not
    decrease in ``place`` where that is at least ``floor``. None where there is no closed form.
    """
    if floor is not t.ZERO:
        lifted = t.substitute(shape, {place: place + floor})
        return sum_of_progression(lifted, place, t.ZERO, start - floor, slope, times)
    dividend, divisor = _quotient(shape)
    if not _grows(dividend, place):
        return None
    base = t.substitute(dividend, {place: t.ZERO})
    above = dividend - base
    if slope == 0:
        total = times * t.substitute(dividend, {place: positive(start)})
        return total // divisor
    if slope < 0:
        count = t.minimum(times, positive(ceiling(start, t.const(-slope))))
        first = start
    elif (t.range_of(start)[0] or -1) >= 0 or start is t.ZERO:
        counter = t.Var("'k", t.INTEGERS)
        summand = t.substitute(dividend, {place: start + counter * slope})
        return _of_all(summand, counter, times, divisor)
    else:
        # Counted from the end: the last summand is the largest.
        first = start + (times - 1) * slope
        count = t.minimum(times, positive(ceiling(first, t.const(slope))))
    counter = t.Var("'k", t.INTEGERS)
    total_count = t.Var("'n", t.INTEGERS)
    first_one = t.Var("'first", t.INTEGERS)
    try:
        summand = t.substitute(above, {place: first_one - counter * abs(slope)})
        found = sum_over(summand, counter, t.ZERO, total_count)
    except NoClosedForm:
        return None
    if count is positive(first):
        # Where there are summands at all, their number is the first one.
        found = t.substitute(found, {first_one: total_count})
    found = t.substitute(found, {total_count: count, first_one: first})
    return (found + times * base) // divisor


def _of_all(summand: t.Term, counter: t.Var, times: t.Term, divisor: int) -> t.Term | None:
    """The sum where no summand is negative."""
    total_count = t.Var("'n", t.INTEGERS)
    try:
        found = sum_over(summand, counter, t.ZERO, total_count)
    except NoClosedForm:
        return None
    return t.substitute(found, {total_count: times}) // divisor


def _quotient(shape: t.Term) -> tuple[t.Term, int]:
    if isinstance(shape, t.Op) and shape.op == "floor_div":
        dividend, divisor = shape.args
        if isinstance(divisor, t.Const) and divisor.value > 0:
            return dividend, divisor.value
    return shape, 1


def _grows(shape: t.Term, place: t.Var) -> bool:
    """Whether a polynomial of ``place`` surely does not decrease for values from 0 on."""
    for monomial, coefficient in t.polynomial(shape).items():
        atoms = [atom for atom, _ in monomial]
        if place not in {v for atom in atoms for v in atom.variables}:
            continue
        if coefficient < 0 or any(atom is not place and place in atom.variables for atom in atoms):
            return False
        if any(atom is not place and (t.range_of(atom)[0] or -1) < 0 and t.range_of(atom)[0] != 0 for atom in atoms):
            return False
    return True
