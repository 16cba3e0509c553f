"""Visits of a block that is come to in every p-th iteration only: where a counter has some residue.

A variable that each iteration moves by c has a residue r modulo m in one of p = m / gcd(c, m) iterations in a row, or
in none. Where a measure is at least 1 at each visit, and each iteration lowers it by d, visits are among the first
ceil(measure / d) iterations, and one in p of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from loopless import terms as t
from loopless.bounds.induction.loop_counts import LoopCounts
from loopless.bounds.induction.measures import entails
from loopless.bounds.looperman.scopes import Scope, SymbolicState
from loopless.bounds.model import TermBound, ceiling, plus, positive
from loopless.limits.bounds import MAX_MODULUS


def visits_by_residue(counter: LoopCounts, scope: Scope, label: str) -> Iterator[TermBound]:
    """Bounds on the visits of a block of a loop during one entry of the loop, where it is come to for some residues of
    a counter only.
    """
    states = scope.visits.get(label, ())
    if not states or scope.loop is None or not scope.iterations:
        return
    for var, modulus in sorted(_asked(states), key=lambda found: (found[0].key, found[1])):
        step = _step(scope, var)
        allowed = frozenset[int]().union(*(_residues(state, var, modulus) for state in states))
        if step is None or len(allowed) == modulus:
            continue
        start = counter.constants.get(scope.header, {}).get(var)
        for measure in counter.measures(scope):
            fall = _fall(scope, measure, var, step)
            if fall is None or not all(entails(state.holds, measure.ge(1)) for state in states):
                continue
            times = positive(ceiling(measure, t.const(fall)))
            first = start.value if isinstance(start, t.Const) else None
            yield TermBound(_in_all(times, step, modulus, sorted(allowed), first), t.TRUE)


def _in_all(times: t.Term, step: int, modulus: int, allowed: list[int], first: int | None) -> t.Term:
    """How many of the first ``times`` iterations have one of the residues; ``first``: the value in the first one."""
    period = modulus // math.gcd(step, modulus)
    if first is None:
        # Of p iterations in a row each has another residue.
        return plus(*(ceiling(times, t.const(period)) for _ in range(min(len(allowed), period))))
    reached = [at for at in range(period) if (first + step * at) % modulus in allowed]
    return plus(t.ZERO, *(positive(ceiling(times - at, t.const(period))) for at in reached))


def _asked(states: tuple[SymbolicState, ...]) -> set[tuple[t.Var, int]]:
    """The variables and moduli of which every state says something."""
    pairs = set.intersection(*({(var, m) for var, m, _ in _remainders(state)} for state in states))
    return {(var, m) for var, m in pairs if 1 < m <= MAX_MODULUS}


def _remainders(state: SymbolicState) -> Iterator[tuple[t.Var, int, t.Op]]:
    """The remainders of variables of which a condition speaks."""
    for node in t.walk(state.holds):
        if isinstance(node, t.Op) and node.op in ("mod", "trunc_rem"):
            var, modulus = node.args
            if isinstance(var, t.Var) and isinstance(modulus, t.Const):
                yield var, modulus.value, node


def _residues(state: SymbolicState, var: t.Var, modulus: int) -> frozenset[int]:
    """The residues that a variable may have at the beginning of an iteration that comes to a state."""
    allowed = set(range(modulus))
    for node in {node for found, m, node in _remainders(state) if found is var and m == modulus}:
        # The remainder of a division rounded to 0 may be negative: both of that residue are tried.
        values = range(1 - modulus, modulus) if node.op == "trunc_rem" else range(modulus)
        holding = (v for v in values if t.replace_terms(state.holds, {node: t.const(v)}) is not t.FALSE)
        allowed &= {value % modulus for value in holding}
    return frozenset(allowed)


def _step(scope: Scope, var: t.Var) -> int | None:
    """By how much each iteration moves a variable, where it is always the same."""
    steps: set[int] = set()
    for iteration in scope.iterations:
        value = iteration.values.get(var, var)
        plain = value.arg if isinstance(value, t.Wrap) else value
        by = plain - var
        if not isinstance(by, t.Const) or (plain is not value and not entails(iteration.condition, value.eq(plain))):
            return None
        steps.add(by.value)
    (step,) = steps if len(steps) == 1 else (0,)
    return step or None


def _fall(scope: Scope, measure: t.Term, var: t.Var, step: int) -> int | None:
    """By how much each iteration lowers a measure that is linear in the variable, and moves with it alone."""
    items = t.polynomial(measure)
    slope = next((c for m, c in items.items() if m == ((var, 1),)), 0)
    rest = [atom for m in items if m != ((var, 1),) for atom, _ in m]
    if any(var in atom.variables or not atom.variables.isdisjoint(scope.changed) for atom in rest):
        return None
    return -slope * step if slope * step < 0 else None
