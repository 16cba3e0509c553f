"""Questions that keep an engine busy for minutes inside one single call: for tests of the fences outside the process.

Run one with ``python hard_cases.py isl`` or ``python hard_cases.py z3``; a line says when the engine is about to be
called.
"""

from __future__ import annotations

import sys

from loopless import logic
from loopless import terms as t
from loopless.logic import Region, SmtOutcome
from loopless.logic.engine import unlimited_for_tests
from loopless.terms import Condition, Var

STRIPES = 80


def hard_regions() -> tuple[Region, Region]:
    """All of ℤ⁴, and a union of stripes of many moduli, each cut by a plane.

    Subtracting the second from the first takes isl 1 s for 14 stripes, 4 s for 20, 12 s for 26.
    """
    variables = [Var(name, t.INTEGERS) for name in "wxyz"]
    parts = []
    for i in range(STRIPES):
        modulus = 5 + 2 * i
        mixed = t.add(*(t.scale(v, (i * j + j + 1) % modulus) for j, v in enumerate(variables)))
        stripe = t.less(t.mod(mixed, t.const(modulus)), t.const(modulus // 2))
        plane = t.less(t.scale(variables[i % 4], i + 2), t.add(*variables, t.const(i)))
        parts.append(t.conjunction((stripe, plane)))
    return Region.universe(variables), Region.of(t.disjunction(parts), variables)


def run_hard_subtraction() -> Region:
    """One isl subtraction, without a budget, that does not return for minutes."""
    everything, stripes = hard_regions()
    with unlimited_for_tests():
        return everything - stripes


def hard_condition() -> Condition:
    """A sum of two cubes is a cube: no solution in positive integers, and no way for Z3 to see it."""
    a, b, c = (Var(name, t.INTEGERS) for name in "abc")
    positive = [t.greater(v, t.const(0)) for v in (a, b, c)]
    return t.conjunction((*positive, t.equal(t.add(*(t.mul(v, t.mul(v, v)) for v in (a, b))), t.mul(c, t.mul(c, c)))))


def run_hard_query() -> SmtOutcome:
    """One Z3 check with an hour's limit that does not return for minutes."""
    return logic.satisfiable(hard_condition(), timeout_ms=3_600_000)


if __name__ == "__main__":
    sys.stdout.write("started\n")
    sys.stdout.flush()
    if sys.argv[1] == "isl":
        run_hard_subtraction()
    else:
        run_hard_query()
    sys.stdout.write("returned\n")
