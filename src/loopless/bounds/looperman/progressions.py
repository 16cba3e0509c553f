"""Bounds from closed forms over one path counter: polynomial, geometric and quotient progressions.

Where all iterations change the variables of a measure in the same way, the measure is a known function of the number of
iterations so far, and the iterations end before it first falls below 1. That number is the least solution of an
inequality, a square root or a logarithm in plain cases (Looperman, section 7, the first two cases, and the logarithmic
bounds of section 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm

from loopless import terms as t
from loopless.bounds.looperman.scopes import Iteration
from loopless.bounds.model import TermBound
from loopless.recurrences import solve

_K = t.Var("'k", t.INTEGERS)
Curve = dict[tuple[int, int], t.Term]
"""Σ c·b^k·k^d by (b, d)."""


def by_progression(
    measure: t.Term, iterations: Sequence[Iteration], variables: frozenset[t.Var]
) -> Iterator[TermBound]:
    """A bound on the iterations, each of which needs ``measure`` ≥ 1, where all change its variables alike."""
    update = _common_update(measure, iterations, variables)
    if update is None:
        return
    try:
        solution = solve(update, _K)
        moving = measure.variables & set(update)
        closed = {var: solution.closed[var] for var in moving if var in solution.closed}
        terms = {var: c.term for var, c in closed.items() if c.term is not None and not c.valid_from}
        curve = _curve(t.substitute(measure, terms)) if len(terms) == len(moving) else None
        if curve is None:
            return
        found = t.first_positive(curve)
    except t.TermTooLarge:
        return
    low, high = t.range_of(found)
    if high is not None and high <= 0 and found is not t.ZERO:
        return  # the measure never falls: what is left says that there is no iteration where the first one fails
    grows = (low is not None and low >= 0) or _grows(curve)
    yield TermBound(found, t.TRUE if grows else found.ge(0))


def _common_update(
    measure: t.Term, iterations: Sequence[Iteration], variables: frozenset[t.Var]
) -> Mapping[t.Var, t.Term] | None:
    """What all iterations do to the variables of the measure and those they depend on; None where they differ."""
    update: dict[t.Var, t.Term] = {}
    waiting = sorted(measure.variables)
    while waiting:
        var = waiting.pop()
        if var in update:
            continue
        values = {iteration.values.get(var, var) for iteration in iterations}
        if len(values) != 1:
            return None
        (value,) = values
        if not value.variables <= variables or any(isinstance(node, t.Wrap) for node in t.walk(value)):
            return None
        if value is not var:
            update[var] = value
            waiting += sorted(value.variables)
    return update or None


def _curve(value: t.Term) -> Curve | None:
    """A curve that is positive exactly, or at least only, where ``value`` < 1; None where there is none."""
    quotient = _quotient(value)
    if quotient is not None:
        return quotient
    found: Curve = {(1, 0): t.const(1)}
    factor = 1
    poly = t.polynomial(value)
    for monomial in poly:
        if len(monomial) == 1 and isinstance(monomial[0][0], t.Op) and monomial[0][0].op == "floor_div":
            divisor = monomial[0][0].args[1]
            if not isinstance(divisor, t.Const) or divisor.value <= 0 or monomial[0][1] != 1:
                return None
            factor = lcm(factor, divisor.value)
    # factor·value, quotients replaced by what is at least as much: factor·value ≤ factor - 1 where value < 1
    total: list[t.Term] = []
    for monomial, coefficient in poly.items():
        atom = monomial[0][0] if len(monomial) == 1 else None
        if isinstance(atom, t.Op) and atom.op == "floor_div" and _K in atom.variables:
            divisor = atom.args[1]
            assert isinstance(divisor, t.Const)
            most = atom.args[0] if coefficient > 0 else atom.args[0] - (divisor.value - 1)
            total.append(most * (coefficient * factor // divisor.value))
        else:
            total.append(t.from_polynomial({monomial: coefficient}) * factor)
    found = {}
    for monomial, coefficient in t.polynomial(factor - t.add(*total)).items():
        key, rest = _split(monomial)
        if key is None:
            return None
        found[key] = found.get(key, t.ZERO) + t.from_polynomial({rest: coefficient})
    # value ≥ 1 needs factor - factor·value ≤ 0
    return found


def _split(monomial: tuple[tuple[t.Term, int], ...]) -> tuple[tuple[int, int] | None, tuple[tuple[t.Term, int], ...]]:
    """The power of the counter in a product, and the rest."""
    base, degree = 1, 0
    rest: list[tuple[t.Term, int]] = []
    for atom, exponent in monomial:
        if atom is _K:
            degree += exponent
        elif isinstance(atom, t.Op) and atom.op == "pow" and atom.args[1] is _K and isinstance(atom.args[0], t.Const):
            base *= atom.args[0].value ** exponent
        elif _K in atom.variables:
            return None, ()
        else:
            rest.append((atom, exponent))
    return ((base, degree) if base >= 1 else None), tuple(rest)


def _quotient(value: t.Term) -> Curve | None:
    """c·floor(a / b^k) + e ≥ 1 is a ≥ m·b^k with a constant m."""
    poly = t.polynomial(value)
    constant = poly.pop((), 0)
    if len(poly) != 1:
        return None
    ((monomial, coefficient),) = poly.items()
    if len(monomial) != 1 or monomial[0][1] != 1 or coefficient <= 0:
        return None
    atom = monomial[0][0]
    if not isinstance(atom, t.Op) or atom.op != "floor_div" or _K in atom.args[0].variables:
        return None
    divisor = atom.args[1]
    key, rest = _split(((divisor, 1),))
    if key is None or rest or key[0] < 2 or key[1]:
        return None
    least = -((constant - 1) // coefficient)
    return {key: t.const(least), (1, 0): -atom.args[0]} if least >= 1 else None


def _grows(curve: Curve) -> bool:
    """Whether the curve is positive in the end, whatever the values."""
    moving = {key: c for key, c in curve.items() if c is not t.ZERO}
    top = max(moving)
    low = t.range_of(moving[top])[0]
    return top != (1, 0) and low is not None and low > 0
