"""Whether a condition can be fulfilled at all: asked at every branch while paths are built, so it must be quick."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.limits.logic import (
    FEASIBILITY_OPERATIONS,
    FEASIBILITY_SOLVER_MS,
    FEASIBILITY_SOLVER_STEPS,
    MAX_ISL_VARIABLES,
    REMEMBERED_CONDITIONS,
    SEARCH_CHARGE,
)
from loopless.logic.abstraction import over_approximation
from loopless.logic.engine import BudgetExceeded, budget, charge, metered
from loopless.logic.intervals import Intervals
from loopless.logic.smt import satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.logic.translate import frame_of, is_quasi_affine
from loopless.logic.witness import is_found, is_near_ends
from loopless.terms.ranges import EVERYTHING, Range, both, is_empty

_known: dict[tuple[t.Condition, bool], bool] = {}
_subjects: dict[t.Condition, tuple[str, ...]] = {}


def feasible(condition: t.Condition, *, solver: bool = True) -> bool:
    """False only if surely no values within the types' ranges fulfil ``condition``; True also when undecided.

    Exact for Presburger conditions within :data:`FEASIBILITY_OPERATIONS`. Others are relaxed to Presburger, then put to
    Z3 if ``solver``, for at most :data:`FEASIBILITY_SOLVER_STEPS`.
    """
    if isinstance(condition, t.Truth):
        return condition.value
    found = _known.get((condition, solver))
    if found is not None:
        return found
    return all(_group_feasible(group, solver=solver) for group in independent(t.conjuncts(condition)))


def independent(parts: Sequence[t.Condition]) -> Sequence[t.Condition]:
    """The conjunctions of ``parts`` that share no variable or memory object: each can be fulfilled for itself."""
    if len(parts) <= 1:
        return parts
    above: dict[str, str] = {}  # a forest over names: those of one tree have something in common

    def root(name: str) -> str:
        while above[name] != name:
            above[name] = name = above[above[name]]
        return name

    for part in parts:
        first, *others = _names(part)
        head = root(above.setdefault(first, first))
        for other in others:
            above[root(above.setdefault(other, other))] = head
    groups: dict[str, list[t.Condition]] = {}
    for part in parts:
        groups.setdefault(root(_names(part)[0]), []).append(part)
    return [group[0] if len(group) == 1 else t.And(tuple(group)) for group in groups.values()]


def _names(part: t.Condition) -> tuple[str, ...]:
    """What the condition is about: the keys of its variables, the names of the objects that it reads;
    the empty name where it is about nothing.
    """
    found = _subjects.get(part)
    if found is None:
        arrays = {f"memory {node.array}" for node in t.walk_inside(part) if isinstance(node, t.Read)}
        found = tuple(sorted({variable.key for variable in part.variables} | arrays)) or ("",)
        if len(_subjects) > REMEMBERED_CONDITIONS:
            _subjects.clear()
        _subjects[part] = found
    return found


def _group_feasible(group: t.Condition, *, solver: bool) -> bool:
    found = _known.get((group, solver))
    if found is None:
        intervals: _Intervals = {}
        found = _by_intervals(group, intervals)
        if found is None:
            try:
                charge(SEARCH_CHARGE * len(t.conjuncts(group)))
            except BudgetExceeded:
                return True
            if is_near_ends(group, intervals):
                found = True
        if found is None:
            known = Intervals((group,))
            found = False if not known.possible else None
            if found is None and not _is_quick(group) and is_found(group, known):
                found = True
        certain = found is not None
        if found is None:
            found, certain = _by_isl(group, solver=solver)
        if certain:
            if len(_known) > REMEMBERED_CONDITIONS:
                _known.clear()
            _known[group, solver] = found
    return found


def _is_quick(group: t.Condition) -> bool:
    """Whether isl answers faster than the dearer search for a point: where all variables are in ℤ and nothing is
    multiplied, it takes a third of a millisecond, the search four times as long.
    """
    return all(var.type.width is None for var in group.variables) and is_quasi_affine(group)


_Intervals = dict[t.Var, Range]


def _by_intervals(group: t.Condition, bounds: _Intervals) -> bool | None:
    """The answer where the conjuncts bound single variables, None where it takes more. ``bounds`` is filled with what
    they say of variables.
    """
    excluded: dict[t.Var, set[int]] = {}
    plain = True
    for part in t.conjuncts(group):
        single = _single(part) if isinstance(part, t.Compare) else None
        if single is None:
            plain = False
            continue
        relation, variable, sign, constant = single
        limit = -constant * sign
        if relation == "ne":
            excluded.setdefault(variable, set()).add(limit)
            ends = EVERYTHING
        elif relation == "eq":
            ends = limit, limit
        else:
            ends = (None, limit) if sign > 0 else (limit, None)
        ends = both(bounds.get(variable, (variable.type.min, variable.type.max)), ends)
        if is_empty(ends):
            return False
        bounds[variable] = ends
    for variable, values in excluded.items():
        low, high = bounds[variable]
        if low is not None and high is not None and all(v in values for v in range(low, min(high, low + 64) + 1)):
            if high <= low + 64:
                return False
            plain = False
    return True if plain else None


def _single(part: t.Compare) -> tuple[str, t.Var, int, int] | None:
    """(relation, v, ±1, k) where the part is ±v + k ~ 0."""
    term = part.term
    if isinstance(term, t.Var):
        return part.relation, term, 1, 0
    if not isinstance(term, t.Sum) or len(term.items) > 2:
        return None
    constant = 0
    found: tuple[t.Var, int] | None = None
    for monomial, coefficient in term.items:
        if not monomial:
            constant = coefficient
        elif (
            len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Var) and coefficient in (1, -1)
        ):
            found = (monomial[0][0], coefficient)
        else:
            return None
    return None if found is None or len(term.items) - (constant != 0) != 1 else (part.relation, *found, constant)


def _by_isl(group: t.Condition, *, solver: bool) -> tuple[bool, bool]:
    """The answer, and whether it is one for all times: not where an outer budget cut the question short."""
    with budget(FEASIBILITY_OPERATIONS) as granted:
        if granted == FEASIBILITY_OPERATIONS and len(group.variables) > MAX_ISL_VARIABLES:
            found = satisfiable(group, FEASIBILITY_SOLVER_MS, steps=FEASIBILITY_SOLVER_STEPS).answer
            if found is not SmtAnswer.UNKNOWN:
                return found is SmtAnswer.YES, True
        if is_quasi_affine(group):
            try:
                return not _is_empty(group), True
            except BudgetExceeded:
                return True, granted == FEASIBILITY_OPERATIONS
        try:
            relaxed = over_approximation(group).condition
            if relaxed is t.FALSE or _is_empty(relaxed):
                return False, True
        except BudgetExceeded:
            if granted != FEASIBILITY_OPERATIONS:
                return True, False
    if not solver:
        return True, True
    return satisfiable(group, FEASIBILITY_SOLVER_MS, steps=FEASIBILITY_SOLVER_STEPS).answer is not SmtAnswer.NO, True


@metered
def _is_empty(condition: t.Condition) -> bool:
    frame = frame_of(condition.variables)
    return frame.points(condition).intersect(frame.box).is_empty()
