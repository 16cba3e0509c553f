"""Checks along a run that are not Presburger: the extremes of a sum decide (prototype-widths, section 3, C).

A check G(X_k) ≤ 0 must hold for every k < n. Where G moves one way, one end of the run decides; where its difference
is affine in k, both ends or the turning point do. The result is a condition on the entry values, exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from loopless.logic import BudgetExceeded, NotPresburger, Region, Unbounded, budget, greatest
from loopless.logic.smt import Answer, satisfiable
from loopless.recurrences import sign_over
from loopless.refusals import Reason
from loopless.terms import (
    ONE,
    TRUE,
    ZERO,
    Compare,
    Condition,
    Term,
    Var,
    add,
    at_most_zero,
    brief,
    conjunction,
    conjuncts,
    const,
    disjunction,
    from_polynomial,
    greater_equal,
    less,
    less_equal,
    minimum,
    negate,
    polynomial,
    sub,
    substitute,
)


class Undecided(Exception):
    """It is not known for which entry values the check holds all along; the text says which check."""


def split_conjuncts(
    condition: Condition,
    is_plain: Callable[[Condition], bool],
    is_check: Callable[[Condition], bool],
    refuse: Callable[[Reason, str], Exception],
) -> tuple[list[Condition], list[Condition]]:
    """The plain conjuncts, and the others, which must all be checks."""
    plain: list[Condition] = []
    side: list[Condition] = []
    for part in conjuncts(condition):
        if is_plain(part):
            plain.append(part)
        elif is_check(part):
            side.append(part)
        else:
            detail = f"the condition {brief(part)} is not affine in the number of iterations"
            raise refuse(Reason.NON_AFFINE_CONDITION, detail)
    return plain, side


def all_along(condition: Condition, shown: Condition, counter: Var, count: Term, region: Region) -> Condition:
    """The entry values in ``region`` for which ``shown`` (the check ``condition`` after ``counter`` iterations) holds
    for all counters from 0 to ``count`` - 1. Raises :class:`Undecided`.
    """
    parts = [_one(condition, part, counter, count, region) for part in conjuncts(shown)]
    return conjunction(parts)


def _one(condition: Condition, shown: Condition, counter: Var, count: Term, region: Region) -> Condition:
    never_runs = less_equal(count, ZERO)
    if _empty(region, negate(never_runs)):
        return TRUE
    if counter not in shown.variables:
        required = shown
    elif isinstance(shown, Compare) and shown.relation == "le":
        required = _bounded(condition, shown.term, counter, count, region)
    else:
        raise Undecided(f"whether {brief(condition)} holds all along is not decided")
    if _empty(region, never_runs):
        return TRUE if _empty(region, negate(required)) else required
    whole = disjunction((never_runs, required))
    return TRUE if _empty(region, negate(whole)) else whole


def _bounded(condition: Condition, term: Term, counter: Var, count: Term, region: Region) -> Condition:
    """``term`` ≤ 0 for all counters from 0 to count - 1."""
    final = sub(count, ONE)
    at_first = at_most_zero(substitute(term, {counter: ZERO}))
    at_last = at_most_zero(substitute(term, {counter: final}))
    move = sign_over(term, counter)
    if move.delta is not None:
        within = less_equal(ZERO, counter)
        if _is_presburger(final):
            within = conjunction((within, less(counter, final)))
        if _surely_empty(region, conjunction((within, less(move.delta, ZERO)))):
            return at_last
        if _surely_empty(region, conjunction((within, less(ZERO, move.delta)))):
            return at_first
    if move.kind == "constant" and move.offset is not None:
        rising = greater_equal(move.offset, ZERO)
        return disjunction((conjunction((rising, at_last)), conjunction((negate(rising), at_first))))
    if move.kind == "affine" and move.slope is not None:
        ends = conjunction((at_first, at_last))
        if move.sign == 1:
            return ends
        if move.first_nonpositive is not None:
            turn = minimum(move.first_nonpositive, final)
            at_turn = at_most_zero(substitute(term, {counter: turn}))
            if move.sign == -1:
                return at_turn
            convex = greater_equal(move.slope, ZERO)
            return disjunction((conjunction((convex, ends)), conjunction((negate(convex), at_turn))))
    raise Undecided(f"whether {brief(condition)} holds all along is not decided: its value moves both ways")


def tightest(
    condition: Condition,
    shown: Condition,
    counter: Var,
    during: Region,
    known: Iterable[Var],
    given: Mapping[Var, Term] | None = None,
) -> list[Condition]:
    """The entry values for which the check ``condition``, ``shown`` after ``counter`` iterations, holds for all
    counters in ``during``: each at the greatest value that its term takes. Raises :class:`Undecided`.

    Variables that are not ``known`` to the logic must not move and stand outside of products. ``given``: what to put
    for further variables of ``during``, such as the length of the run.
    """
    put = dict(given or {})
    stated = {*known, counter}
    undecided = Undecided(f"whether {brief(condition)} holds all along is not decided")
    found: list[Condition] = []
    for part in conjuncts(shown):
        if not isinstance(part, Compare) or part.relation != "le":
            raise undecided
        start, moved = _apart(part.term, stated)
        if start is None:
            raise undecided
        try:
            with budget(_OPERATIONS):
                pieces = greatest(moved, counter, during)
        except (NotPresburger, BudgetExceeded, Unbounded):
            raise undecided from None
        for where, value in pieces:
            tight = at_most_zero(substitute(add(start, value), put))
            found.append(disjunction((negate(substitute(where.rough_condition(), put)), tight)))
    return found


def _apart(term: Term, known: set[Var]) -> tuple[Term | None, Term]:
    """The summands that only speak of other variables than ``known``, and the rest; None where some speak of both."""
    start, moved = [], []
    for monomial, coefficient in polynomial(term).items():
        part = from_polynomial({monomial: coefficient})
        if part.variables <= known:
            moved.append(part)
        elif part.variables.isdisjoint(known):
            start.append(part)
        else:
            return None, term
    return add(*start), add(*moved)


def growth(term: Term, counter: Var, region: Region) -> int | None:
    """How ``term`` moves as ``counter`` goes on: 0 if it exceeds every bound from all entry values in ``region``; a
    period p if its greatest value is one of its first p from all of them; None where neither is known.
    """
    started = less_equal(ZERO, counter)
    for period in _PERIODS:
        later = substitute(term, {counter: add(counter, const(period))})
        if _surely_empty(region, conjunction((started, less_equal(later, term)))):
            return 0
        if _surely_empty(region, conjunction((started, less(term, later)))):
            return period
    return None


def repeats(condition: Condition, counter: Var, period: int, region: Region) -> bool:
    """Whether ``condition``, from all entry values in ``region``, surely held ``period`` rounds before it holds."""
    later = substitute(condition, {counter: add(counter, const(period))})
    return _surely_empty(region, conjunction((less_equal(ZERO, counter), later, negate(condition))))


_PERIODS = (1, 2, 3, 4)
_OPERATIONS = 1_000_000


def _is_presburger(term: Term) -> bool:
    try:
        Region.of(at_most_zero(term))
    except NotPresburger:
        return False
    return True


def _empty(region: Region, condition: Condition) -> bool:
    """Whether no point of ``region`` surely satisfies ``condition``; False where that is not Presburger."""
    try:
        return (region & Region.of(condition)).is_empty()
    except NotPresburger:
        return False


_SOLVER_STEPS = 400_000
_SOLVER_MS = 5_000
"""A limit in time that the steps do not reach, so that the answer is the same on every machine."""


def _surely_empty(region: Region, condition: Condition) -> bool:
    """As :func:`_empty`, with Z3 for what is not Presburger: a square is never negative."""
    if _empty(region, condition):
        return True
    try:
        Region.of(condition)
    except NotPresburger:
        whole = conjunction((region.condition(), condition))
        return satisfiable(whole, _SOLVER_MS, steps=_SOLVER_STEPS).answer is Answer.NO
    return False
