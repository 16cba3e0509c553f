"""Sums of bounds over arithmetic progressions, in closed form."""

from __future__ import annotations

from loopless.bounds.model import ceiling, positive
from loopless.recurrences.expoly import NoClosedForm
from loopless.recurrences.sums import sum_over
from loopless.terms import (
    INTEGERS,
    ONE,
    ZERO,
    Const,
    Op,
    Term,
    Var,
    add,
    const,
    floor_div,
    minimum,
    mul,
    polynomial,
    range_of,
    scale,
    sub,
    substitute,
)


def sum_of_progression(shape: Term, place: Var, floor: Term, start: Term, slope: int, times: Term) -> Term | None:
    """A bound on Σ shape[place := max(floor, start + slope·K)] for 0 ≤ K < ``times`` ≥ 0.

    ``shape`` is a polynomial of ``place``, or the quotient of one by a positive constant rounded down, that does not
    decrease in ``place`` where that is at least ``floor``. None where there is no closed form.
    """
    if floor is not ZERO:
        lifted = substitute(shape, {place: add(place, floor)})
        return sum_of_progression(lifted, place, ZERO, sub(start, floor), slope, times)
    dividend, divisor = _quotient(shape)
    if not _grows(dividend, place):
        return None
    base = substitute(dividend, {place: ZERO})
    above = sub(dividend, base)
    if slope == 0:
        total = mul(times, substitute(dividend, {place: positive(start)}))
        return floor_div(total, const(divisor))
    if slope < 0:
        count = minimum(times, positive(ceiling(start, const(-slope))))
        first = start
    elif (range_of(start)[0] or -1) >= 0 or start is ZERO:
        counter = Var("'k", INTEGERS)
        summand = substitute(dividend, {place: add(start, scale(counter, slope))})
        return _of_all(summand, counter, times, divisor)
    else:
        # Counted from the end: the last summand is the largest.
        first = add(start, scale(sub(times, ONE), slope))
        count = minimum(times, positive(ceiling(first, const(slope))))
    counter = Var("'k", INTEGERS)
    total_count = Var("'n", INTEGERS)
    first_one = Var("'first", INTEGERS)
    try:
        summand = substitute(above, {place: sub(first_one, scale(counter, abs(slope)))})
        found = sum_over(summand, counter, ZERO, total_count)
    except NoClosedForm:
        return None
    if count is positive(first):
        # Where there are summands at all, their number is the first one.
        found = substitute(found, {first_one: total_count})
    found = substitute(found, {total_count: count, first_one: first})
    return floor_div(add(found, mul(times, base)), const(divisor))


def _of_all(summand: Term, counter: Var, times: Term, divisor: int) -> Term | None:
    """The sum where no summand is negative."""
    total_count = Var("'n", INTEGERS)
    try:
        found = sum_over(summand, counter, ZERO, total_count)
    except NoClosedForm:
        return None
    return floor_div(substitute(found, {total_count: times}), const(divisor))


def _quotient(shape: Term) -> tuple[Term, int]:
    if isinstance(shape, Op) and shape.op == "floor_div":
        dividend, divisor = shape.args
        if isinstance(divisor, Const) and divisor.value > 0:
            return dividend, divisor.value
    return shape, 1


def _grows(shape: Term, place: Var) -> bool:
    """Whether a polynomial of ``place`` surely does not decrease for values from 0 on."""
    for monomial, coefficient in polynomial(shape).items():
        atoms = [atom for atom, _ in monomial]
        if place not in {v for atom in atoms for v in atom.variables}:
            continue
        if coefficient < 0 or any(atom is not place and place in atom.variables for atom in atoms):
            return False
        if any(atom is not place and (range_of(atom)[0] or -1) < 0 and range_of(atom)[0] != 0 for atom in atoms):
            return False
    return True
