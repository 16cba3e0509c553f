"""Checks along a run that are not Presburger: the extremes of a sum decide.

A check G(X_k) ≤ 0 must hold for every k < n. Where G moves one way, one end of the run decides; where its difference
is affine in k, both ends or the turning point do. The result is a condition on the entry values, exact.
Where the value depends on the round's remainder by a small period, each remainder is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd, lcm
from typing import Final

from loopless import terms as t
from loopless.limits.summary import MAX_ROUND_REMAINDERS, RUN_EXTREME_OPERATIONS, RUN_SOLVER_MS, RUN_SOLVER_STEPS
from loopless.logic import BudgetExceeded, NotPresburger, Region, Unbounded, budget, greatest
from loopless.logic.smt import satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.recurrences import sign_over
from loopless.refusals import Reason
from loopless.summary.obligations.powers import powers
from loopless.summary.obligations.signs import never_negative


class Undecided(Exception):
    """It is not known for which entry values the check holds all along; the text says which check."""


def split_conjuncts(
    condition: t.Condition,
    is_plain: Callable[[t.Condition], bool],
    is_check: Callable[[t.Condition], bool],
    refuse: Callable[[Reason, str], Exception],
) -> tuple[list[t.Condition], list[t.Condition]]:
    """The plain conjuncts, and the others, which must all be checks."""
    plain: list[t.Condition] = []
    obligation: list[t.Condition] = []
    for part in t.conjuncts(condition):
        if is_plain(part):
            plain.append(part)
        elif is_check(part):
            obligation.append(part)
        else:
            detail = f"the condition {t.brief(part)} is not affine in the number of iterations"
            raise refuse(Reason.NON_AFFINE_CONDITION, detail)
    return plain, obligation


def all_along(
    condition: t.Condition, shown: t.Condition, counter: t.Var, count: t.Term, region: Region, *, steps: int = 0
) -> t.Condition:
    """The entry values in ``region`` for which ``shown`` (the check ``condition`` after ``counter`` iterations) holds
    for all counters from 0 to ``count`` - 1. Raises :class:`Undecided`.

    ``steps``: of Z3 for each question that is not Presburger, if not the usual number.
    """
    parts = [_one(condition, part, counter, count, region, steps or RUN_SOLVER_STEPS) for part in t.conjuncts(shown)]
    return t.conjunction(parts)


def _one(
    condition: t.Condition, shown: t.Condition, counter: t.Var, count: t.Term, region: Region, steps: int
) -> t.Condition:
    never_runs = count.le(0)
    if _empty(region, ~never_runs):
        return t.TRUE
    if counter not in shown.variables:
        required = shown
    elif isinstance(shown, t.Compare) and shown.relation == "le":
        required = _bounded(condition, shown.term, counter, count, region, steps)
    else:
        raise Undecided(f"whether {t.brief(condition)} holds all along is not decided")
    if _empty(region, never_runs):
        return t.TRUE if _empty(region, ~required) else required
    whole = never_runs | required
    return t.TRUE if _empty(region, ~whole) else whole


def _bounded(
    condition: t.Condition, term: t.Term, counter: t.Var, count: t.Term, region: Region, steps: int
) -> t.Condition:
    """``term`` ≤ 0 for all counters from 0 to count - 1."""
    final = count - 1
    at_first = t.at_most_zero(t.substitute(term, {counter: t.ZERO}))
    at_last = t.at_most_zero(t.substitute(term, {counter: final}))
    move = sign_over(term, counter)
    if move.delta is not None:
        within = counter.ge(0)
        if _is_presburger(final):
            within = within & counter.lt(final)
        if _surely_at_least_0(move.delta, region, within, steps):
            return at_last
        if _surely_at_least_0(-move.delta, region, within, steps):
            return at_first
    if move.kind == "constant" and move.offset is not None:
        rising = move.offset.ge(0)
        return rising & at_last | ~rising & at_first
    if move.kind == "affine" and move.slope is not None and move.sign is None and move.delta is not None:
        # With one sign of the slope the value may only rise, with the other one only fall.
        rising = move.slope.ge(0)
        started = counter.ge(0)
        if _surely_at_least_0(move.delta, region, started & rising, steps) and _surely_at_least_0(
            -move.delta, region, started & ~rising, steps
        ):
            return rising & at_last | ~rising & at_first
    if move.kind == "affine" and move.slope is not None:
        ends = at_first & at_last
        if move.sign == 1:
            return ends
        if move.first_nonpositive is not None:
            extreme = t.minimum(move.first_nonpositive, final)
            at_extreme = t.at_most_zero(t.substitute(term, {counter: extreme}))
            if move.sign == -1:
                return at_extreme
            convex = move.slope.ge(0)
            return convex & ends | ~convex & at_extreme
    known = _at_extremes(term, counter, count)
    if known is not None:
        return known
    period = _period(term, counter)
    if period > 1:
        return _by_residues(condition, term, counter, count, region, period=period, steps=steps)
    raise Undecided(f"whether {t.brief(condition)} holds all along is not decided: its value moves both ways")


def _at_extremes(term: t.Term, counter: t.Var, count: t.Term) -> t.Condition | None:
    """``term`` ≤ 0 for all counters from 0 to ``count`` - 1, where few of them decide or the first failure is known."""
    final = count - 1
    growing = powers(term, counter)
    if growing is not None:
        return t.conjunction(t.at_most_zero(value) for value in growing.extremes(final))
    visit = first_failure(term, counter)
    if visit is not None:
        failing, modulus = visit
        return failing.ge(t.minimum(count, t.const(modulus)))
    if _moves_one_way(term, counter):
        return t.conjunction(t.at_most_zero(t.substitute(term, {counter: k})) for k in (t.ZERO, final))
    return None


def _moves_one_way(term: t.Term, counter: t.Var) -> bool:
    """Whether only one value in ``term`` moves, by being divided again and again."""
    moving = [m for m in t.polynomial(term) if any(counter in atom.variables for atom, _ in m)]
    if len(moving) != 1:
        return False
    atoms = [(atom, exponent) for atom, exponent in moving[0] if counter in atom.variables]
    if len(atoms) != 1 or atoms[0][1] != 1 or not isinstance(atoms[0][0], t.Op):
        return False
    moved, (count, *others) = atoms[0][0].op, atoms[0][0].args
    if moved in ("floor_div", "trunc_div"):
        return isinstance(others[0], t.Const) and others[0].value > 0 and _moves_one_way(count, counter)
    if moved != "divided":
        return False
    step = t.polynomial(count).get(((counter, 1),), 0)
    plain = counter not in (count - counter * step).variables
    return step > 0 and plain and all(counter not in other.variables for other in others)


def first_failure(term: t.Term, counter: t.Var) -> tuple[t.Term, int] | None:
    """The least counter ≥ 0 for which ``term`` ≤ 0 fails, and a number that stands for none, where only one value in
    it moves: by a constant, and wrapping around. None where that is not so.
    """
    items = t.polynomial(term)
    moving = [(m, c) for m, c in items.items() if any(counter in atom.variables for atom, _ in m)]
    if len(moving) != 1 or len(moving[0][0]) != 1 or moving[0][0][0][1] != 1:
        return None
    ((wrapped, _),), factor = moving[0]
    if not isinstance(wrapped, t.Wrap) or wrapped.type.width is None or wrapped.type.min is None:
        return None
    step: list[t.Term] = []
    start: list[t.Term] = []
    for monomial, coefficient in t.polynomial(wrapped.arg).items():
        powers_of = dict(monomial)
        degree = powers_of.pop(counter, 0)
        if degree > 1 or any(counter in atom.variables for atom in powers_of):
            return None
        (step if degree else start).append(t.from_polynomial({tuple(powers_of.items()): coefficient}))
    rest = t.from_polynomial({m: c for m, c in items.items() if m != moving[0][0]})
    # factor·w + rest ≥ 1
    limit = (rest - 1) // abs(factor)
    modulus = 1 << wrapped.type.width
    least = t.const(wrapped.type.min)
    low, high = (-limit - least, t.const(modulus - 1)) if factor > 0 else (t.ZERO, limit - least)
    return t.first_in_range(t.add(*start) - least, t.add(*step), modulus, low, high), modulus


def at_their_widest(shown: t.Condition, counter: t.Var) -> t.Condition:
    """A condition from which ``shown``, a comparison with 0, follows: values that move and wrap around are as far out
    as their types allow. The condition itself where there are none.
    """
    if not isinstance(shown, t.Compare) or shown.relation != "le":
        return shown
    parts: list[t.Term] = []
    for monomial, factor in t.polynomial(shown.term).items():
        value: t.Term = t.from_polynomial({monomial: factor})
        if len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Wrap):
            wrapped = monomial[0][0]
            low, high = wrapped.type.min, wrapped.type.max
            if counter in wrapped.variables and low is not None and high is not None:
                value = t.const(factor * (high if factor > 0 else low))
        parts.append(value)
    return t.at_most_zero(t.add(*parts))


def for_ever(term: t.Term, counter: t.Var) -> t.Condition | None:
    """That ``term`` ≤ 0 for all counters from 0 on, where a few of them decide; None where none do."""
    growing = powers(term, counter)
    most = growing.enough() if growing is not None else None
    if growing is not None and most is not None:
        return t.conjunction(t.at_most_zero(value) for value in growing.extremes(t.const(most + 1)))
    if _moves_one_way(term, counter):
        return t.conjunction(t.at_most_zero(t.substitute(term, {counter: t.const(k)})) for k in (0, _MANY))
    visit = first_failure(term, counter)
    return visit[0].ge(visit[1]) if visit is not None else None


_MANY: Final = 1 << 10
"""More steps than a repeated division of a value of any type changes anything in."""


def _by_residues(
    condition: t.Condition, term: t.Term, counter: t.Var, count: t.Term, region: Region, *, period: int, steps: int
) -> t.Condition:
    """``term`` ≤ 0 for all counters from 0 to count - 1, by their remainders."""
    found = []
    for residue in range(period):
        own = t.substitute(term, {counter: counter * period + residue})
        rounds = (count + (period - 1 - residue)) // period
        found.append(_one(condition, t.at_most_zero(own), counter, rounds, region, steps))
    return t.conjunction(found)


def _period(term: t.Term, counter: t.Var) -> int:
    """The period of the remainders of ``counter`` in ``term``; 1 where there are none, or it is too long."""
    period = 1
    for node in t.walk(term):
        if isinstance(node, t.Op) and node.op in ("mod", "floor_div") and isinstance(node.args[1], t.Const):
            step = t.polynomial(node.args[0]).get(((counter, 1),), 0)
            if step:
                period = lcm(period, node.args[1].value // gcd(step, node.args[1].value))
    return period if period <= MAX_ROUND_REMAINDERS else 1


def tightest(
    condition: t.Condition,
    shown: t.Condition,
    counter: t.Var,
    during: Region,
    known: Iterable[t.Var],
    given: Mapping[t.Var, t.Term] | None = None,
) -> list[t.Condition]:
    """The entry values for which the check ``condition``, ``shown`` after ``counter`` iterations, holds for all
    counters in ``during``: each at the greatest value that its term takes. Raises :class:`Undecided`.

    Variables that are not ``known`` to the logic must not move and stand outside of products. ``given``: what to put
    for further variables of ``during``, such as the length of the run.
    """
    put = dict(given or {})
    stated = {*known, counter}
    undecided = Undecided(f"whether {t.brief(condition)} holds all along is not decided")
    found: list[t.Condition] = []
    for part in t.conjuncts(shown):
        if not isinstance(part, t.Compare) or part.relation != "le":
            raise undecided
        start, moved = _apart(part.term, stated)
        if start is None:
            raise undecided
        try:
            with budget(RUN_EXTREME_OPERATIONS):
                transitions = greatest(moved, counter, during)
        except (NotPresburger, BudgetExceeded, Unbounded):
            raise undecided from None
        for where, value in transitions:
            tight = t.at_most_zero(t.substitute(start + value, put))
            found.append(~t.substitute(where.rough_condition(), put) | tight)
    return found


def _apart(term: t.Term, known: set[t.Var]) -> tuple[t.Term | None, t.Term]:
    """The summands that only speak of other variables than ``known``, and the rest; None where some speak of both."""
    start, moved = [], []
    for monomial, coefficient in t.polynomial(term).items():
        part = t.from_polynomial({monomial: coefficient})
        if part.variables <= known:
            moved.append(part)
        elif part.variables.isdisjoint(known):
            start.append(part)
        else:
            return None, term
    return t.add(*start), t.add(*moved)


def growth(term: t.Term, counter: t.Var, region: Region) -> int | None:
    """How ``term`` moves as ``counter`` goes on: 0 if it exceeds every bound from all entry values in ``region``; a
    period p if its greatest value is one of its first p from all of them; None where neither is known.
    """
    started = counter.ge(0)
    for period in _PERIODS:
        later = t.substitute(term, {counter: counter + period})
        if _surely_empty(region, started & later.le(term)):
            return 0
        if _surely_empty(region, started & term.lt(later)):
            return period
    return None


def repeats(condition: t.Condition, counter: t.Var, period: int, region: Region) -> bool:
    """Whether ``condition``, from all entry values in ``region``, surely held ``period`` rounds before it holds."""
    later = t.substitute(condition, {counter: counter + period})
    return _surely_empty(region, counter.ge(0) & later & ~condition)


_PERIODS = (1, 2, 3, 4)


def _is_presburger(term: t.Term) -> bool:
    try:
        Region.of(t.at_most_zero(term))
    except NotPresburger:
        return False
    return True


def _empty(region: Region, condition: t.Condition) -> bool:
    """Whether no point of ``region`` surely satisfies ``condition``; False where that is not Presburger."""
    try:
        return (region & Region.of(condition)).is_empty()
    except NotPresburger:
        return False


def _surely_at_least_0(term: t.Term, region: Region, where: t.Condition, steps: int) -> bool:
    """Whether ``term`` is never negative on ``region``, where ``where`` holds."""
    try:
        if never_negative(term, region & Region.of(where)):
            return True
    except NotPresburger:
        pass
    return _surely_empty(region, where & term.lt(0), steps)


def _surely_empty(region: Region, condition: t.Condition, steps: int = RUN_SOLVER_STEPS) -> bool:
    """As :func:`_empty`, with Z3 for what is not Presburger: a square is never negative."""
    if _empty(region, condition):
        return True
    try:
        Region.of(condition)
    except NotPresburger:
        whole = region.condition() & condition
        return satisfiable(whole, RUN_SOLVER_MS, steps=steps).answer is SmtAnswer.NO
    return False
