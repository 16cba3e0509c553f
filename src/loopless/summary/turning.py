"""What accumulators come to while paths take turns in a rotation (see :mod:`loopless.summary.rotation`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopless.paths.model import Path
from loopless.recurrences import solve
from loopless.summary.effects import COUNTER, closed_form
from loopless.terms import (
    ONE,
    Const,
    Monomial,
    Op,
    Term,
    TermTooLarge,
    Var,
    Wrap,
    add,
    const,
    floor_div,
    floor_sum,
    from_polynomial,
    mul,
    polynomial,
    scale,
    sub,
    substitute,
    wrap,
)


def accumulated(
    var: Var,
    paths: Sequence[Path],
    factors: Mapping[str, Sequence[int]],
    highs: Sequence[Term],
    control: Mapping[Var, Term],
) -> Term | None:
    """The value of ``var`` after :data:`COUNTER` iterations, None where there is no form.

    ``factors`` has for each path the share of iterations that take it, as coefficients of the counter and of the
    ``highs`` (paths whose share has no form are missing); ``control`` the control variables after the same time.
    """
    try:
        if len({path.id for path in paths}) == 1:
            return _of_one_path(var, paths[0])
        updates = [path.update.get(var, var) for path in paths]
        changing = {v for path in paths for v in path.update}
        if all(update is updates[0] for update in updates) and not updates[0].variables & changing:
            return updates[0]
        rings = {update.type if isinstance(update, Wrap) else None for update in updates if update is not var}
        if len(rings) != 1:
            return None
        ring = rings.pop()
        added = [sub(update.arg if isinstance(update, Wrap) else update, var) for update in updates]
        total = _total(paths, added, factors, highs, control, changing)
    except TermTooLarge:
        return None
    if total is None:
        return None
    return add(var, total) if ring is None else wrap(add(var, total), ring)


def _of_one_path(var: Var, path: Path) -> Term | None:
    """Turns of one path that only differ in whether a step wraps around."""
    closed = solve(path.update, COUNTER).closed.get(var)
    return closed_form(closed) if closed is not None else None


def _total(
    paths: Sequence[Path],
    added: Sequence[Term],
    factors: Mapping[str, Sequence[int]],
    highs: Sequence[Term],
    control: Mapping[Var, Term],
    changing: set[Var],
) -> Term | None:
    """The sum of what the paths add: what all add alike over all iterations, the rest by their shares."""
    if all(term is added[0] for term in added):
        common = added[0]
        rests: list[Term] = []
    else:
        common = _common(added, changing)
        rests = [sub(term, common) for term in added]
        if any(rest.variables & changing for rest in rests):
            return None
    total = _summed(common, control, changing)
    if total is None:
        return None
    by_path = {path.id: rest for path, rest in zip(paths, rests, strict=bool(rests))}
    for id, rest in by_path.items():
        if rest is const(0):
            continue
        if id not in factors:
            return None
        times = add(scale(COUNTER, factors[id][0]), *(scale(h, c) for h, c in zip(highs, factors[id][1:], strict=True)))
        total = add(total, mul(rest, times))
    return total


def _common(added: Sequence[Term], changing: set[Var]) -> Term:
    """The summands of the first that speak of variables that change."""
    moving = {m: c for m, c in polynomial(added[0]).items() if any(a.variables & changing for a, _ in m)}
    return from_polynomial(moving)


def _summed(term: Term, control: Mapping[Var, Term], changing: set[Var]) -> Term | None:
    """The sum of ``term`` over the iterations before :data:`COUNTER`: linear in control variables, else None."""
    if not term.variables & changing:
        return mul(term, COUNTER)
    parts: list[Term] = []
    for monomial, coefficient in polynomial(substitute(term, dict(control))).items():
        summed = _sum_of(monomial)
        if summed is None:
            return None
        parts.append(scale(summed, coefficient))
    return add(*parts)


def _sum_of(monomial: Monomial) -> Term | None:
    """The sum of one monomial over the counter: free of it, the counter itself, or a quotient in it."""
    moving = [(atom, exponent) for atom, exponent in monomial if COUNTER in atom.variables]
    fixed = from_polynomial({tuple(pair for pair in monomial if pair not in moving): 1})
    if not moving:
        return mul(fixed, COUNTER)
    if len(moving) > 1 or moving[0][1] != 1:
        return None
    atom = moving[0][0]
    if atom is COUNTER:
        return mul(fixed, floor_div(mul(COUNTER, sub(COUNTER, ONE)), const(2)))
    if isinstance(atom, Op) and atom.op == "floor_div" and isinstance(atom.args[1], Const):
        numerator = atom.args[0]
        slope = polynomial(numerator).get(((COUNTER, 1),), 0)
        start = sub(numerator, scale(COUNTER, slope))
        if COUNTER not in start.variables:
            return mul(fixed, floor_sum(COUNTER, atom.args[1].value, const(slope), start))
    return None
